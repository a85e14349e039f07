// Workloads that memory bandwidth bounds: the sum of two tensors, softmax.
#include "benchmarks/kernels/handwritten.h"
#include "benchmarks/kernels/workloads.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gantry::bench {

namespace {

constexpr uint32_t kFirstSeed = 1, kSecondSeed = 2;
constexpr float kLogitScale = 8; // The inputs of softmax are in [-4, 4), so that exp varies enough.

std::vector<float> softmax(const std::vector<float> &x, uint32_t columns) {
  std::vector<float> y(x.size());
  for (size_t first = 0; first < x.size(); first += columns) {
    const float *row = &x[first];
    const double largest = *std::max_element(row, row + columns);
    double total = 0;
    for (uint32_t c = 0; c < columns; ++c)
      total += std::exp(row[c] - largest);
    for (uint32_t c = 0; c < columns; ++c)
      y[first + c] = static_cast<float>(std::exp(row[c] - largest) / total);
  }
  return y;
}

} // namespace

Workload addWorkload(Sizes sizes) {
  const uint64_t count = sizes == Sizes::kFull ? uint64_t{1} << 26 : uint64_t{1} << 18;
  const std::vector<float> a = pattern(count, kFirstSeed), b = pattern(count, kSecondSeed);
  Workload workload;
  workload.name = "add";
  workload.shape = std::to_string(count) + " floats";
  workload.unit = Unit::kBytes;
  workload.ceiling = Ceiling::kTriad;
  workload.work = 12.0 * static_cast<double>(count);
  const auto rows = static_cast<int64_t>(count / 4096);
  workload.inputs = {{{rows, 4096}, a}, {{rows, 4096}, b}};
  workload.error = [a, b](std::span<const float> result) { // The share of wrong elements.
    if (result.size() != a.size())
      return std::numeric_limits<double>::infinity();
    size_t wrong = 0;
    for (size_t i = 0; i < a.size(); ++i)
      wrong += result[i] == a[i] + b[i] ? 0 : 1;
    return static_cast<double>(wrong) / static_cast<double>(a.size());
  };
  workload.tolerance = 0; // A sum is rounded once, identically on all devices.
  workload.reference = [a, b, count](Gpu &gpu) -> std::unique_ptr<Contestant> {
    auto run = std::make_unique<Handwritten>(gpu);
    const GpuBuffer *left = run->buffer(a), *right = run->buffer(b), *out = run->buffer(count);
    dispatchStream(*run, gpu, "add", {out, left, right}, count);
    run->resultIs(out, [](std::vector<float> dense) { return dense; });
    run->ready();
    return run;
  };
  return workload;
}

Workload softmaxWorkload(Sizes sizes) {
  const uint32_t rows = sizes == Sizes::kFull ? 4096 : 64, columns = 1024;
  const std::vector<float> x = pattern(size_t{rows} * columns, kFirstSeed, kLogitScale);
  Workload workload;
  workload.name = "softmax";
  workload.shape = std::to_string(rows) + " x " + std::to_string(columns);
  workload.unit = Unit::kBytes;
  workload.ceiling = Ceiling::kCopy;
  workload.work = 8.0 * rows * columns;
  workload.inputs = {{{rows, columns}, x}};
  workload.error = [expected = softmax(x, columns)](std::span<const float> result) {
    return relativeError(result, expected);
  };
  workload.reference = [x, rows](Gpu &gpu) -> std::unique_ptr<Contestant> {
    const uint32_t lanes = gpu.info().subgroupSize;
    auto run = std::make_unique<Handwritten>(gpu);
    const GpuBuffer *in = run->buffer(x), *out = run->buffer(uint64_t{rows} * columns);
    const GpuKernel *kernel = run->kernel("softmax", {true, false}, {lanes, columns / 4 / lanes});
    run->dispatch({kernel, {{in}, {out}}, {rows, 1, 1}, {}});
    run->resultIs(out, [](std::vector<float> dense) { return dense; });
    run->ready();
    return run;
  };
  return workload;
}

} // namespace gantry::bench
