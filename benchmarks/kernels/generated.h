// The measured implementation (contestant) that Gantry generated: an artifact, which is a model
// that `gantry compile` compiled, run through the public API gantry.h.
//
// On a software device, inputs and outputs are buffers that host and device share. On a GPU,
// seconds() uses buffers in device memory, and result() is a separate run with shared buffers.
// Times: on a software device the CPU time of gantry_session_run, including the runtime's own
// overhead; on a GPU the time between the run's timestamps on the device, which does not include
// the runtime's overhead on the host.
//
// Threads: used by one thread. Errors: GpuError with the runtime's message.
#pragma once

#include "benchmarks/kernels/contestant.h"

#include <gantry/gantry.h>

namespace gantry::bench {

/// A device of the runtime, opened once for all artifacts.
class Runtime {
public:
  /// `selector` is as for gantry_device_create(): an index or a part of a name.
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

/// A loaded artifact with a session, which binds it to the device and runs it, and with buffers of
/// its own.
class Generated : public Contestant {
public:
  /// Loads the artifact at the path `artifact` and fills its inputs with `inputs`. The artifact
  /// must have inputs of the same types and shapes, and one output of f32 or f16. `runtime` must
  /// outlive this object.
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
  std::vector<gantry_tensor_t> inputs_, outputs_;           // In memory that the host can access.
  std::vector<gantry_tensor_t> timedInputs_, timedOutputs_; // In device memory on a GPU.
  uint32_t repeats_ = 1;
};

} // namespace gantry::bench
