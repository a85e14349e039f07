// A session for the commands of the tool. It runs a program on a device with tensors in host
// memory.
//
// Threads: one thread at a time. Errors: ToolError.
#pragma once

#include "tools/gantry/runtime/model.h"

#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

struct SessionRequest {
  std::string device;           // Value of --device; empty: the default device.
  std::string binding = "auto"; // "auto", "storage-buffer", "address" or "texel".
  bool timestamps = false, checkMemory = false;
  double dispatchLimitMs = 0; // Value of --dispatch-limit, in ms; 0: the engine's default.
};

class HostSession {
public:
  /// Opens the device and creates a session of the program; the session keeps the program alive.
  /// Throws ToolError, also if the device does not support the requested binding, the way in which
  /// kernels access buffers.
  HostSession(gantry_program_t *program, const SessionRequest &request);

  /// Binds the inputs and allocates outputs of the sizes that follow from the inputs; run() may
  /// then be called any number of times. The inputs are not copied: they must live, unchanged,
  /// until the last run. An input that belongs to a state (a buffer that keeps its value from run
  /// to run) is an exception: bind() copies it to the state. If such an input is a default Tensor,
  /// nothing is copied, and the state must have a value already.
  void bind(const std::vector<Tensor> &inputs);
  void run();
  /// Copies the present values of the states to the outputs that belong to them.
  void readStates();
  /// Reads the values of all states from a file, or writes them to one. Throws ToolError, also if
  /// the program has no states.
  void restoreStates(const std::string &path);
  void saveStates(const std::string &path);

  const std::vector<Tensor> &outputs() const { return outputs_; }
  /// Returns the program that the session runs: the variant that was compiled for the profile of
  /// the session's device, or a more general one.
  ProgramHandle program() const;
  gantry_statistics_t statistics() const;
  gantry_device_info_t deviceInfo() const;
  /// Returns the number of messages of the validation layers so far.
  uint64_t validationMessages() const;
  /// Returns the dispatches of the last run in the order of the commands. Their times are measured
  /// only with SessionRequest::timestamps.
  std::vector<gantry_dispatch_info_t> dispatches() const;

private:
  DeviceHandle device_;
  SessionHandle session_;
  StateHandle state_; // Null if the program has no states.
  std::vector<gantry_state_port_t> states_;
  size_t outputCount_ = 0;
  std::vector<Tensor> outputs_;
  std::vector<gantry_tensor_t> inputViews_, outputViews_;
};

/// Returns the device's name and kind: "llvmpipe (LLVM 15.0.6, 256 bits), software".
std::string deviceText(const gantry_device_info_t &info);
const char *deviceKindName(gantry_device_kind_t kind);
const char *bindingName(gantry_binding_t binding);

} // namespace gantry::tool
