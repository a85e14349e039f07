// The contestant that Gantry generated: an artifact of `gantry compile`, run through gantry.h.
//
// Inputs and outputs are buffers in unified memory, bound without a copy. On a GPU they are in
// device memory while time is measured, and the result is checked by a separate run. Times are as
// in contestant.h: everything that a run costs on a software device, the device's own time on a
// GPU.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

#include <gantry/gantry.h>

namespace gantry::bench {

/// A device of the runtime, opened once for all artifacts. Errors: GpuError with the runtime's
/// message.
class Runtime {
public:
  explicit Runtime(const std::string &selector);
  ~Runtime() { gantry_device_release(device_); }
  Runtime(const Runtime &) = delete;
  Runtime &operator=(const Runtime &) = delete;
  gantry_device_t *device() const { return device_; }
  const gantry_device_info_t &info() const { return info_; }
  bool software() const { return info_.kind == GANTRY_DEVICE_SOFTWARE; }

private:
  gantry_device_t *device_ = nullptr;
  gantry_device_info_t info_{};
};

class Generated : public Contestant {
public:
  /// The artifact must take these inputs and have one output, f32 or f16; else GpuError names the
  /// port.
  Generated(Runtime &runtime, const std::string &artifact, const std::vector<Tensor> &inputs);
  ~Generated() override;

  double seconds() override;
  std::vector<float> result() override;

private:
  void bind(const std::vector<Tensor> &inputs);
  gantry_buffer_t *buffer(uint64_t bytes);
  void run(std::vector<gantry_tensor_t> &inputs, std::vector<gantry_tensor_t> &outputs);

  Runtime &runtime_;
  gantry_program_t *program_ = nullptr;
  gantry_session_t *session_ = nullptr;
  std::vector<gantry_buffer_t *> buffers_;
  std::vector<gantry_tensor_t> inputs_, outputs_;           // In memory that the host can read.
  std::vector<gantry_tensor_t> timedInputs_, timedOutputs_; // In the device's fastest memory.
  uint32_t repeats_ = 1;
};

} // namespace gantry::bench
