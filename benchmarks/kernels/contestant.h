// Who takes part in a comparison, and over what.
//
// A Workload is one operation of one size: its inputs, how a result is judged, what it counts, and
// the reference. A Contestant does the work and says what that cost: the reference, which is a
// hand-written kernel (handwritten.h) or the vendor's library (cublas.h), the kernel that Gantry
// made (generated.h), a ceiling of the device.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/gpu.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gantry::bench {

/// What the work of a workload is counted in.
enum class Unit { kFlops, kBytes };

/// What bounds a kernel on any device: multiplications and additions in registers (two operations a
/// pair), reading, copying, or two loads and a store with arithmetic between them.
enum class Ceiling { kMultiplyAdd, kRead, kCopy, kTriad };
const char *nameOf(Ceiling ceiling);

class Contestant {
public:
  virtual ~Contestant() = default;
  Contestant() = default;
  Contestant(const Contestant &) = delete;
  Contestant &operator=(const Contestant &) = delete;
  /// Does the work, often enough to be measured, and returns the seconds of once: CPU seconds on a
  /// software device, the device's own on a GPU.
  virtual double seconds() = 0;
  /// What the last call computed, dense and row-major; empty for a ceiling.
  virtual std::vector<float> result() = 0;
};

/// A dense tensor of the host.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> values;
  bool halves = false; // the device has it as f16, in which the values are exact (halves.h)
};

/// Thrown by the maker of a reference that this machine does not have.
struct Unavailable : GpuError {
  using GpuError::GpuError;
};

struct Workload {
  std::string name;  // also the stem of the artifact: "matmul"
  std::string shape; // for people: "1024 x 1024 x 1024"
  Unit unit = Unit::kFlops;
  Ceiling ceiling = Ceiling::kMultiplyAdd;
  double work = 0;            // operations or bytes of once
  std::vector<Tensor> inputs; // as the compiled model takes them
  /// ‖result − expected‖ / ‖expected‖ over all elements; infinite where the size is wrong.
  std::function<double(std::span<const float>)> error;
  double tolerance = 1e-5;
  const char *referenceName = "hand-written";
  std::function<std::unique_ptr<Contestant>(Gpu &)> reference;
};

/// Pseudo-random values in [-0.5, 0.5) times `scale` (a power of two), the same on every machine
/// and in make_models.py, which writes the models' weights with it.
std::vector<float> pattern(size_t count, uint32_t seed, float scale = 1);

/// ‖a − b‖ / ‖b‖ in double precision; infinite where the sizes differ or a value is not finite.
double relativeError(std::span<const float> a, std::span<const float> b);

} // namespace gantry::bench
