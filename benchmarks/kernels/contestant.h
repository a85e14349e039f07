// Workloads, which are what is measured, and contestants, the implementations that are compared.
//
// A Workload is one operation of one size, for example a matmul: its inputs, its reference, the
// check of a result, and the amount of work. A Contestant is one implementation: it runs the
// workload and returns the time. The contestants for a workload are its reference (a hand-written
// kernel, handwritten.h, or the vendor's library, cublas.h) and the kernel that Gantry generated
// (generated.h). A ceiling is a measured peak rate of the device, such as its memory bandwidth. It
// is measured by a contestant too, which runs a kernel of its own instead of the workload
// (handwritten.h).
//
// Threads: used by one thread. Errors: GpuError.
#pragma once

#include "benchmarks/kernels/gpu.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gantry::bench {

/// The unit in which a workload counts its work.
enum class Unit { kFlops, kBytes };

/// The ceilings, which are the peak rates of: multiply-adds in registers (each counts as two
/// operations), reading memory, copying memory, and two loads and one store with arithmetic between
/// them. A workload is compared with the ceiling of the resource that limits it.
enum class Ceiling { kMultiplyAdd, kRead, kCopy, kTriad };
const char *nameOf(Ceiling ceiling);

class Contestant {
public:
  virtual ~Contestant() = default;
  Contestant() = default;
  Contestant(const Contestant &) = delete;
  Contestant &operator=(const Contestant &) = delete;
  /// Repeats the work for about 50 ms and returns the seconds of one repetition: CPU seconds of
  /// this process on a software device, the device's own time on a GPU.
  virtual double seconds() = 0;
  /// Returns the workload's result, dense and row-major; empty for a ceiling.
  virtual std::vector<float> result() = 0;
};

/// A dense tensor in host memory.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> values;
  bool halves = false; // Stored as f16 on the device; the values are exact in f16 (halves.h).
};

/// Thrown by Workload::reference if this machine lacks the library or the device that it needs.
struct Unavailable : GpuError {
  using GpuError::GpuError;
};

struct Workload {
  std::string name;  // For example "matmul"; its compiled model is the file matmul.gantry.
  std::string shape; // Readable text: "1024 x 1024 x 1024".
  Unit unit = Unit::kFlops;
  Ceiling ceiling = Ceiling::kMultiplyAdd;
  double work = 0;            // Operations or bytes of one repetition.
  std::vector<Tensor> inputs; // In the order of the compiled model's inputs.
  /// Returns ‖result − expected‖ / ‖expected‖ over all elements; infinite if the size is wrong.
  std::function<double(std::span<const float>)> error;
  double tolerance = 1e-5; // Max value of error() for a correct result.
  const char *referenceName = "hand-written";
  /// Makes the contestant with which the generated kernel is compared, on a device.
  std::function<std::unique_ptr<Contestant>(Gpu &)> reference;
};

/// Returns how often a kernel that takes `seconds` runs in one sample, so that a sample takes 50
/// ms: from 1 to 4096 times.
uint32_t repeatsOf(double seconds);

/// Returns pseudo-random values in [-0.5, 0.5) times `scale`, a power of two. They are the same on
/// every machine. make_models.py has the same function and makes the models' weights with it.
std::vector<float> pattern(size_t count, uint32_t seed, float scale = 1);
/// Seeds of pattern() for the input and for the weights. Layer i of a chain has the seed
/// kWeightSeed + i. make_models.py uses the same seeds for the weights.
inline constexpr uint32_t kInputSeed = 1, kWeightSeed = 2;

/// Returns ‖a − b‖ / ‖b‖ in double precision; infinite if the sizes differ or a value is not
/// finite.
double relativeError(std::span<const float> a, std::span<const float> b);

} // namespace gantry::bench
