// Hand-written kernels (shaders/bench) that are measured.
//
// A contestant (contestant.h) is one implementation that is measured. This file makes two kinds
// from the kernels: references, with which generated kernels are compared, and the contestants that
// measure ceilings. A ceiling is a measured peak rate of the device, such as multiply-adds or bytes
// per second.
//
// Threads: used by one thread. Errors: GpuError.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Returns the SPIR-V of shaders/bench/<name>.comp. Its inputs are texel buffers if `texel` is set,
/// else storage buffers.
std::span<const uint32_t> shaderCode(const std::string &name, bool texel);

/// Buffers, kernels and a recorded list of dispatches (kernel launches). The code that makes an
/// object adds the buffers and kernels, then the dispatches that use them, sets the buffer of the
/// result, and at last calls ready(). The object owns the buffers and kernels.
class Handwritten : public Contestant {
public:
  explicit Handwritten(Gpu &gpu) : gpu_(gpu) {}

  /// Returns how kernels bind inputs: as texels on a software device, where these are faster than
  /// storage buffers; as storage buffers on a GPU.
  Access readAccess() const { return gpu_.info().software ? Access::kTexel : Access::kStorage; }
  const GpuBuffer *buffer(std::span<const float> content);
  /// Makes a buffer of `elements` floats that are zero.
  const GpuBuffer *buffer(uint64_t elements);
  /// Makes a kernel of shaders/bench. `reads` has one element per binding: true for an input.
  /// `constants` are the values of the specialization constants.
  const GpuKernel *kernel(const std::string &shader, const std::vector<bool> &reads,
                          const std::vector<uint32_t> &constants);
  void dispatch(Dispatch dispatch) { dispatches_.push_back(std::move(dispatch)); }
  /// Sets the buffer that has the result. `unpack` converts its content to the dense result.
  void resultIs(const GpuBuffer *buffer,
                std::function<std::vector<float>(std::vector<float>)> unpack);
  /// Runs the dispatches once to warm up and once to measure, and then records as many repetitions
  /// as take about 50 ms, at most 4096.
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

/// The measurement of a ceiling. The peak rate is `work` divided by the contestant's seconds().
struct CeilingRun {
  double work = 0; // Operations or bytes of one repetition.
  std::unique_ptr<Contestant> contestant;
};

/// Makes the contestant that measures a ceiling. The memory ceilings (kRead, kCopy, kTriad) process
/// tensors of `elements` floats, a multiple of 65536; kMultiplyAdd ignores `elements`.
CeilingRun ceilingRun(Gpu &gpu, Ceiling ceiling, uint64_t elements);

/// Adds to `run` the dispatches of a kernel that includes shaders/bench/stream.glsl, over
/// `elements` floats per buffer. buffers[0] receives the result; the others are inputs. Several
/// dispatches are added if the data exceeds the device's limits for a storage buffer, a texel
/// buffer or a grid.
void dispatchStream(Handwritten &run, Gpu &gpu, const std::string &shader,
                    const std::vector<const GpuBuffer *> &buffers, uint64_t elements);

} // namespace gantry::bench
