// Workloads: matmul, and matrix times vector.
#include "benchmarks/kernels/handwritten.h"
#include "benchmarks/kernels/workloads.h"

namespace gantry::bench {

namespace {

std::string shapeOf(std::initializer_list<uint32_t> dims) {
  std::string text;
  for (uint32_t d : dims)
    text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text;
}

/// Converts [rows][K] to [rows / lanes][K / 4][lanes] vectors of four elements along K.
std::vector<float> packRows(const std::vector<float> &dense, uint32_t rows, uint32_t k,
                            uint32_t lanes) {
  std::vector<float> packed(dense.size());
  size_t at = 0;
  for (uint32_t block = 0; block < rows / lanes; ++block)
    for (uint32_t k0 = 0; k0 < k; k0 += 4)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        for (uint32_t i = 0; i < 4; ++i)
          packed[at++] = dense[size_t{block * lanes + lane} * k + k0 + i];
  return packed;
}

/// Converts [K][N] to [N / width][K][width].
std::vector<float> packColumns(const std::vector<float> &dense, uint32_t k, uint32_t n,
                               uint32_t width) {
  std::vector<float> packed(dense.size());
  size_t at = 0;
  for (uint32_t panel = 0; panel < n / width; ++panel)
    for (uint32_t row = 0; row < k; ++row)
      for (uint32_t column = 0; column < width; ++column)
        packed[at++] = dense[size_t{row} * n + panel * width + column];
  return packed;
}

std::vector<float> matmul(const std::vector<float> &a, const std::vector<float> &b, uint32_t m,
                          uint32_t n, uint32_t k) {
  std::vector<float> c(size_t{m} * n);
  std::vector<double> row(n);
  for (uint32_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0);
    for (uint32_t l = 0; l < k; ++l) {
      const double factor = a[size_t{i} * k + l];
      const float *right = &b[size_t{l} * n];
      for (uint32_t j = 0; j < n; ++j)
        row[j] += factor * right[j];
    }
    for (uint32_t j = 0; j < n; ++j)
      c[size_t{i} * n + j] = static_cast<float>(row[j]);
  }
  return c;
}

} // namespace

Workload matmulWorkload(Sizes sizes) {
  const uint32_t m = sizes == Sizes::kFull ? 1024 : 64, n = sizes == Sizes::kFull ? 1024 : 256;
  const uint32_t k = sizes == Sizes::kFull ? 1024 : 128;
  const std::vector<float> a = pattern(size_t{m} * k, kInputSeed);
  const std::vector<float> b = pattern(size_t{k} * n, kWeightSeed);
  Workload workload;
  workload.name = "matmul";
  workload.shape = shapeOf({m, n, k});
  workload.work = 2.0 * m * n * k;
  workload.inputs = {{{m, k}, a}};
  workload.error = [expected = matmul(a, b, m, n, k)](std::span<const float> result) {
    return relativeError(result, expected);
  };
  workload.reference = [=](Gpu &gpu) -> std::unique_ptr<Contestant> {
    // For a subgroup of eight lanes (a software device), the tile is 16 rows by 128 columns: larger
    // tiles spill registers, smaller ones load more.
    const uint32_t lanes = gpu.info().subgroupSize, rowBlocks = lanes > 8 ? 1 : 2;
    const uint32_t columnVectors = lanes > 8 ? 1 : 4, unroll = 1;
    auto run = std::make_unique<Handwritten>(gpu);
    const GpuBuffer *left = run->buffer(packRows(a, m, k, lanes));
    const GpuBuffer *right = run->buffer(packColumns(b, k, n, columnVectors * lanes * 4));
    const GpuBuffer *out = run->buffer(uint64_t{m} * n);
    const GpuKernel *kernel =
        run->kernel("matmul", {true, true, false}, {lanes, n, k, rowBlocks, columnVectors, unroll});
    run->dispatch({kernel,
                   {{left}, {right}, {out}},
                   {m / (rowBlocks * lanes), n / (columnVectors * lanes * 4), 1},
                   {}});
    run->resultIs(out, [](std::vector<float> dense) { return dense; });
    run->ready();
    return run;
  };
  return workload;
}

Workload matvecWorkload(Sizes sizes) {
  const uint32_t n = sizes == Sizes::kFull ? 4096 : 128, k = sizes == Sizes::kFull ? 4096 : 256;
  const std::vector<float> x = pattern(k, kInputSeed);
  const std::vector<float> w = pattern(size_t{n} * k, kWeightSeed);
  Workload workload;
  workload.name = "matvec";
  workload.shape = shapeOf({n, k});
  workload.unit = Unit::kBytes;
  workload.ceiling = Ceiling::kRead;
  workload.work = 4.0 * n * k + 4.0 * n + 4.0 * k;
  workload.inputs = {{{1, k}, x}};
  workload.error = [expected = matmul(w, x, n, 1, k)](std::span<const float> result) {
    return relativeError(result, expected);
  };
  workload.reference = [=](Gpu &gpu) -> std::unique_ptr<Contestant> {
    const uint32_t lanes = gpu.info().subgroupSize, rowBlocks = 1;
    auto run = std::make_unique<Handwritten>(gpu);
    const GpuBuffer *matrix = run->buffer(packRows(w, n, k, lanes)), *vector = run->buffer(x);
    const GpuBuffer *out = run->buffer(uint64_t{n});
    const GpuKernel *kernel = run->kernel("matvec", {true, true, false}, {lanes, k, rowBlocks});
    run->dispatch({kernel, {{matrix}, {vector}, {out}}, {n / (rowBlocks * lanes), 1, 1}, {}});
    run->resultIs(out, [](std::vector<float> dense) { return dense; });
    run->ready();
    return run;
  };
  return workload;
}

} // namespace gantry::bench
