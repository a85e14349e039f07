// Contestants from the kernels of shaders/bench: the references and the device's ceilings.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// The SPIR-V of shaders/bench/<name>.comp: with texel loads where `texel`.
std::span<const uint32_t> shaderCode(const std::string &name, bool texel);

/// Buffers, kernels and a recorded list of dispatches. Filled by its maker in this order: buffers,
/// kernel, dispatches, result, then ready().
class Handwritten : public Contestant {
public:
  explicit Handwritten(Gpu &gpu) : gpu_(gpu) {}

  /// What kernels read is bound as the device does it best: texels on a software device.
  Access readAccess() const { return gpu_.info().software ? Access::kTexel : Access::kStorage; }
  const GpuBuffer *buffer(std::span<const float> content);
  const GpuBuffer *buffer(uint64_t elements);
  /// accesses: one per binding, true for what is only read.
  const GpuKernel *kernel(const std::string &shader, const std::vector<bool> &reads,
                          const std::vector<uint32_t> &constants);
  void dispatch(Dispatch dispatch) { dispatches_.push_back(std::move(dispatch)); }
  /// From what the buffer holds to the dense result.
  void resultIs(const GpuBuffer *buffer,
                std::function<std::vector<float>(std::vector<float>)> unpack);
  /// Runs once (the driver compiles) and records as many repeats as take about 50 ms.
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

/// The work of a ceiling, and who does it.
struct CeilingRun {
  double work = 0; // operations or bytes
  std::unique_ptr<Contestant> contestant;
};

/// Streams go through `elements` floats per tensor, a multiple of 65536.
CeilingRun ceilingRun(Gpu &gpu, Ceiling ceiling, uint64_t elements);

/// The dispatches of a kernel of shaders/bench/stream.glsl over `elements` floats, split where a
/// storage buffer or a texel buffer of the device would be too small. ranges: result first.
void dispatchStream(Handwritten &run, Gpu &gpu, const std::string &shader,
                    const std::vector<const GpuBuffer *> &buffers, uint64_t elements);

} // namespace gantry::bench
