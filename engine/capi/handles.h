// What stands behind the opaque types of gantry.h, and how a Status becomes a code and a message.
#pragma once

#include "engine/include/gantry/gantry.h"
#include "engine/program/session.h"

#include <cstring>
#include <memory>
#include <string>

struct gantry_device {
  std::shared_ptr<gantry::device::Device> device;
  std::shared_ptr<gantry::heap::Heap> heap; // all memory of the device
};

struct gantry_buffer {
  std::shared_ptr<gantry::program::Storage> storage;
  uint64_t sizeBytes = 0; // as asked for; the storage may be larger
};

struct gantry_program {
  std::shared_ptr<const gantry::program::Program> program;
};

struct gantry_session {
  std::shared_ptr<gantry::program::Session> session;
};

struct gantry_run {
  std::shared_ptr<gantry::program::Run> run;
};

namespace gantry::capi {

/// The number behind an enum that comes from C, where any int may stand in it: loading such a value
/// as the enum would be undefined.
template <typename Enum> int rawValue(const Enum &value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int raw;
  std::memcpy(&raw, &value, sizeof(raw));
  return raw;
}

/// Keeps the message for gantry_last_error() and returns the code.
gantry_status_t report(const Status &status);

/// The refusal of an argument that is null.
gantry_status_t nullArgument(const char *function, const char *argument);

/// Copies a port's description; the strings stay the program's.
void fillPort(const program::Port &port, gantry_port_info_t *info);

} // namespace gantry::capi
