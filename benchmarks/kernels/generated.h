// The contestant that Gantry made: an artifact of `gantry compile`, run through gantry.h.
//
// Inputs and outputs are buffers that host and device both see, bound without a copy; on a GPU they
// lie in device memory while the time is taken, and the check is a run of its own. Time is that of
// contestant.h: all that a run costs on a software device, the device's own time on a GPU.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

#include <gantry/gantry.h>

namespace gantry::bench {

/// A device of the runtime, opened once for all artifacts. Errors: GpuError with the runtime's own
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
  std::vector<gantry_tensor_t> inputs_, outputs_;           // seen by the host
  std::vector<gantry_tensor_t> timedInputs_, timedOutputs_; // where the device is fastest
  uint32_t repeats_ = 1;
};

} // namespace gantry::bench
