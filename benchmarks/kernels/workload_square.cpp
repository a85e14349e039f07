// Workloads: large matmuls of two inputs. The reference is the vendor's library, cuBLAS.
#include "benchmarks/kernels/cublas.h"
#include "benchmarks/kernels/halves.h"
#include "benchmarks/kernels/workloads.h"

#include <cmath>
#include <limits>

namespace gantry::bench {

namespace {

constexpr uint32_t kLeftSeed = 1, kRightSeed = 2, kSampleSeed = 3;
constexpr uint32_t kSamples = 4096; // Elements of the result that the host computes.

/// Returns relativeError() over a sample of the elements of a · b.
double sampledError(const std::vector<float> &a, const std::vector<float> &b, uint32_t side,
                    std::span<const float> result) {
  if (result.size() != size_t{side} * side)
    return std::numeric_limits<double>::infinity();
  std::vector<float> got, expected;
  for (float place : pattern(kSamples, kSampleSeed)) {
    const auto element =
        static_cast<size_t>((double{place} + 0.5) * static_cast<double>(result.size()));
    const size_t row = element / side, column = element % side;
    double sum = 0;
    for (size_t k = 0; k < side; ++k)
      sum += double{a[row * side + k]} * b[k * side + column];
    got.push_back(result[element]);
    expected.push_back(static_cast<float>(sum));
  }
  return relativeError(got, expected);
}

} // namespace

Workload squareWorkload(uint32_t side, bool halves) {
  const size_t count = size_t{side} * side;
  const auto factors = std::make_shared<const std::vector<Tensor>>(
      std::vector<Tensor>{{{side, side}, halfPattern(count, kLeftSeed), halves},
                          {{side, side}, halfPattern(count, kRightSeed), halves}});
  Workload workload;
  workload.name = std::string("matmul_") + (halves ? "f16_" : "f32_") + std::to_string(side);
  const std::string text = std::to_string(side);
  workload.shape = text + " x " + text + " x " + text;
  workload.work = 2.0 * side * side * side;
  workload.inputs = *factors;
  workload.error = [factors, side](std::span<const float> result) {
    return sampledError((*factors)[0].values, (*factors)[1].values, side, result);
  };
  workload.tolerance = halves ? 1e-3 : 1e-5; // With halves the result is rounded to f16.
  workload.referenceName = "cuBLAS";
  workload.reference = [factors](Gpu &gpu) {
    return makeCublas(gpu, (*factors)[0], (*factors)[1]);
  };
  return workload;
}

} // namespace gantry::bench
