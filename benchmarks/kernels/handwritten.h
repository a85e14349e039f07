// Contestants made from the kernels of shaders/bench: the references and the device's ceilings.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Returns the SPIR-V of shaders/bench/<name>.comp, with texel loads if `texel` is set.
std::span<const uint32_t> shaderCode(const std::string &name, bool texel);

/// Buffers, kernels and a recorded list of dispatches. Its creator adds buffers, kernel, dispatches
/// and result in this order, and then calls ready().
class Handwritten : public Contestant {
public:
  explicit Handwritten(Gpu &gpu) : gpu_(gpu) {}

  /// Inputs of kernels are bound in the device's fastest way: as texels on a software device.
  Access readAccess() const { return gpu_.info().software ? Access::kTexel : Access::kStorage; }
  const GpuBuffer *buffer(std::span<const float> content);
  const GpuBuffer *buffer(uint64_t elements);
  /// `accesses` has one element per binding, true for buffers that are only read.
  const GpuKernel *kernel(const std::string &shader, const std::vector<bool> &reads,
                          const std::vector<uint32_t> &constants);
  void dispatch(Dispatch dispatch) { dispatches_.push_back(std::move(dispatch)); }
  /// Converts the buffer's content to the dense result.
  void resultIs(const GpuBuffer *buffer,
                std::function<std::vector<float>(std::vector<float>)> unpack);
  /// Runs once, so that the driver compiles, and records as many repetitions as take about 50 ms.
  void ready();

  double seconds() override { return commands_->run(); }
  std::vector<float> result() override;

private:
  Gpu &gpu_;
  std::vector<std::unique_ptr<GpuBuffer>> buffers_;
  std::vector<std::unique_ptr<GpuKernel>> kernels_;
  std::vector<Dispatch> dispatches_;
  const GpuBuffer *result_ = nullptr;
  std::function<std::vector<float>(std::vector<float>)> unpack_;
  std::unique_ptr<Commands> commands_;
};

/// A ceiling: its work and the contestant that measures it.
struct CeilingRun {
  double work = 0; // Operations or bytes of one repetition.
  std::unique_ptr<Contestant> contestant;
};

/// Makes the ceilings. Memory streams use `elements` floats per tensor, a multiple of 65536.
CeilingRun ceilingRun(Gpu &gpu, Ceiling ceiling, uint64_t elements);

/// Returns the dispatches of a kernel of shaders/bench/stream.glsl over `elements` floats. They are
/// split if the data exceeds the device's limit for a storage buffer or a texel buffer. The result
/// is the first of `ranges`.
void dispatchStream(Handwritten &run, Gpu &gpu, const std::string &shader,
                    const std::vector<const GpuBuffer *> &buffers, uint64_t elements);

} // namespace gantry::bench
