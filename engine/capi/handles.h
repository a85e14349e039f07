// The definitions of the opaque structs of gantry.h except gantry_buffer, and the functions that
// turn a Status into a code and a message. Each struct holds a reference to one object of the
// engine; gantry_device holds two, to the device and to its heap (the manager of the device's
// memory).
//
// Threads: report() and nullArgument() keep one message per thread.
#pragma once

#include "engine/include/gantry/gantry.h"
#include "engine/program/session.h"

#include <cstring>
#include <memory>
#include <string>

struct gantry_device {
  std::shared_ptr<gantry::device::Device> device;
  // The heap owns all memory of the device. Buffers keep it alive after the device is released.
  std::shared_ptr<gantry::heap::Heap> heap;
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

struct gantry_state {
  std::shared_ptr<gantry::program::State> state;
};

namespace gantry::capi {

/// The struct gantry_buffer is never defined. The value of a gantry_buffer_t pointer is the 64-bit
/// handle of a buffer, and heap::Heap::of() finds the buffer's heap from the handle. A buffer
/// therefore needs no object apart from its record in the heap.
static_assert(sizeof(void *) == sizeof(heap::BufferHandle));
inline heap::BufferHandle handleOf(const gantry_buffer_t *buffer) {
  return {reinterpret_cast<uintptr_t>(buffer)};
}
inline gantry_buffer_t *bufferOf(heap::BufferHandle handle) {
  return reinterpret_cast<gantry_buffer_t *>(handle.bits);
}

/// Returns the number stored in an enum that comes from C. C code may store any int in it, and
/// reading a number outside the C++ enum's range as that enum would be undefined behaviour.
template <typename Enum> int rawValue(const Enum &value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int raw;
  std::memcpy(&raw, &value, sizeof(raw));
  return raw;
}

/// Stores the message for gantry_last_error(), if the status is an error, and returns the code.
gantry_status_t report(const Status &status);

/// Reports INVALID_ARGUMENT for an argument that is NULL.
gantry_status_t nullArgument(const char *function, const char *argument);

/// Fills *info; its strings belong to the program.
void fillPort(const program::Port &port, gantry_port_info_t *info);

} // namespace gantry::capi
