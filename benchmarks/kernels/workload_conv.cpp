// Workloads: one 3×3 convolution, or a chain of them.
#include "benchmarks/kernels/handwritten.h"
#include "benchmarks/kernels/workloads.h"

namespace gantry::bench {

namespace {

constexpr float kWeightScale = 0x1p-2F; // Keeps the values of a chain at a similar magnitude.
constexpr uint32_t kChannels = 64;

struct Plane {
  uint32_t rows, columns;
  size_t padded() const { return size_t{rows + 2} * (columns + 2); }
};

std::vector<float> weightsOf(uint32_t layer) {
  return pattern(size_t{kChannels} * kChannels * 9, kWeightSeed + layer, kWeightScale);
}

/// Converts [C][rows][columns] to [C / 4][rows + 2][columns + 2] vectors of four channels.
std::vector<float> packImage(const std::vector<float> &dense, Plane plane) {
  std::vector<float> packed(kChannels * plane.padded());
  for (uint32_t c = 0; c < kChannels; ++c)
    for (uint32_t y = 0; y < plane.rows; ++y)
      for (uint32_t x = 0; x < plane.columns; ++x)
        packed[(c / 4 * plane.padded() + size_t{y + 1} * (plane.columns + 2) + x + 1) * 4 + c % 4] =
            dense[(size_t{c} * plane.rows + y) * plane.columns + x];
  return packed;
}

std::vector<float> unpackImage(const std::vector<float> &packed, Plane plane) {
  std::vector<float> dense(size_t{kChannels} * plane.rows * plane.columns);
  for (uint32_t c = 0; c < kChannels; ++c)
    for (uint32_t y = 0; y < plane.rows; ++y)
      for (uint32_t x = 0; x < plane.columns; ++x)
        dense[(size_t{c} * plane.rows + y) * plane.columns + x] =
            packed[(c / 4 * plane.padded() + size_t{y + 1} * (plane.columns + 2) + x + 1) * 4 +
                   c % 4];
  return dense;
}

/// Converts [out][in][3][3] to [in / 4][3][3][out] vectors of four input channels.
std::vector<float> packWeights(const std::vector<float> &dense) {
  std::vector<float> packed(dense.size());
  size_t at = 0;
  for (uint32_t in0 = 0; in0 < kChannels; in0 += 4)
    for (uint32_t tap = 0; tap < 9; ++tap)
      for (uint32_t out = 0; out < kChannels; ++out)
        for (uint32_t i = 0; i < 4; ++i)
          packed[at++] = dense[(size_t{out} * kChannels + in0 + i) * 9 + tap];
  return packed;
}

std::vector<float> convolve(const std::vector<float> &x, const std::vector<float> &w, Plane plane) {
  std::vector<float> y(x.size());
  std::vector<double> sums(plane.columns);
  for (uint32_t out = 0; out < kChannels; ++out)
    for (uint32_t row = 0; row < plane.rows; ++row) {
      std::fill(sums.begin(), sums.end(), 0);
      for (uint32_t in = 0; in < kChannels; ++in)
        for (uint32_t tap = 0; tap < 9; ++tap) {
          const uint32_t source = row + tap / 3, shift = tap % 3; // Position in the padded image.
          if (source < 1 || source > plane.rows)
            continue;
          const double factor = w[(size_t{out} * kChannels + in) * 9 + tap];
          const float *line = &x[(size_t{in} * plane.rows + source - 1) * plane.columns];
          const uint32_t first = shift == 0 ? 1 : 0;
          const uint32_t last = shift == 2 ? plane.columns - 1 : plane.columns;
          for (uint32_t c = first; c < last; ++c)
            sums[c] += factor * line[c + shift - 1];
        }
      for (uint32_t c = 0; c < plane.columns; ++c)
        y[(size_t{out} * plane.rows + row) * plane.columns + c] = static_cast<float>(sums[c]);
    }
  return y;
}

} // namespace

Workload convWorkload(Sizes sizes, uint32_t layers) {
  const Plane plane = sizes == Sizes::kFull ? Plane{56, 56} : Plane{6, 28};
  const std::vector<float> x = pattern(size_t{kChannels} * plane.rows * plane.columns, kInputSeed);
  std::vector<float> expected = x;
  for (uint32_t layer = 0; layer < layers; ++layer)
    expected = convolve(expected, weightsOf(layer), plane);
  Workload workload;
  workload.name = layers == 1 ? "conv3x3" : "conv3x3_chain";
  workload.shape = (layers == 1 ? "" : std::to_string(layers) + " of ") + "64 to 64, " +
                   std::to_string(plane.rows) + " x " + std::to_string(plane.columns);
  workload.work = 2.0 * layers * kChannels * kChannels * 9 * plane.rows * plane.columns;
  workload.inputs = {{{1, kChannels, plane.rows, plane.columns}, x}};
  workload.error = [expected](std::span<const float> result) {
    return relativeError(result, expected);
  };
  workload.reference = [=](Gpu &gpu) -> std::unique_ptr<Contestant> {
    // A workgroup computes a tile of pixels and output channels (conv3x3.comp). With a subgroup of
    // eight lanes (a software device), 28 pixels by four channel vectors fill each lane's
    // registers.
    const uint32_t lanes = gpu.info().subgroupSize, channelVectors = lanes > 8 ? 1 : 4;
    const uint32_t tile = 28;
    auto run = std::make_unique<Handwritten>(gpu);
    const GpuBuffer *image = run->buffer(packImage(x, plane));
    const GpuKernel *kernel =
        run->kernel("conv3x3", {true, true, false},
                    {lanes, plane.rows, plane.columns, kChannels, kChannels, tile, channelVectors});
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const GpuBuffer *weights = run->buffer(packWeights(weightsOf(layer)));
      const GpuBuffer *next = // The kernel does not write the border, which stays zero.
          run->buffer(uint64_t{kChannels} * plane.padded());
      run->dispatch({kernel,
                     {{image}, {weights}, {next}},
                     {kChannels / (channelVectors * lanes), plane.columns / tile, plane.rows},
                     {}});
      image = next;
    }
    run->resultIs(image,
                  [plane](const std::vector<float> &packed) { return unpackImage(packed, plane); });
    run->ready();
    return run;
  };
  return workload;
}

} // namespace gantry::bench
