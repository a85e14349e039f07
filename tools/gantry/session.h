// A session as the commands use it: a program on a device, run with tensors in host memory.
//
// One thread.
#pragma once

#include "tools/gantry/model.h"

#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

struct SessionRequest {
  std::string device;           // --device
  std::string binding = "auto"; // "auto", "storage-buffer", "address", "texel"
  bool timestamps = false, checkMemory = false;
  double dispatchLimitMs = 0; // 0: the engine's own
};

class HostSession {
public:
  /// Throws ToolError, also where --binding asks for what the device lacks.
  HostSession(gantry_program_t *program, const SessionRequest &request);

  /// Sizes the outputs for these inputs; run() may then be called any number of times. The inputs
  /// must stay as they are until the last run.
  void bind(const std::vector<Tensor> &inputs);
  void run();

  const std::vector<Tensor> &outputs() const { return outputs_; }
  /// The variant that runs.
  ProgramHandle program() const;
  gantry_statistics_t statistics() const;
  gantry_device_info_t deviceInfo() const;
  uint64_t validationMessages() const;
  /// The dispatches of the last run (timestamps on), by command.
  std::vector<gantry_dispatch_info_t> dispatches() const;

private:
  DeviceHandle device_;
  SessionHandle session_;
  size_t outputCount_ = 0;
  std::vector<Tensor> outputs_;
  std::vector<gantry_tensor_t> inputViews_, outputViews_;
};

/// "llvmpipe (LLVM 15.0.6, 256 bits), software".
std::string deviceText(const gantry_device_info_t &info);
const char *deviceKindName(gantry_device_kind_t kind);
const char *bindingName(gantry_binding_t binding);

} // namespace gantry::tool
