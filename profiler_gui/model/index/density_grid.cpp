// Implements DensityGrid.
#include "profiler_gui/model/index/density_grid.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

constexpr float kRounding = 1e-4f; // Coverage below this is a rounding error and becomes 0.

/// The coverage of a row of cells by an interval, as differences between neighbouring cells: cell
/// place[i] has value[i] more coverage than the cell before it. Differences at equal places add up.
struct Ramp {
  std::array<uint32_t, 4> place;
  std::array<double, 4> value;
};

Ramp rampOf(double begin, double end) {
  const double first = std::floor(begin);
  const double last = std::floor(end);
  const uint32_t i = static_cast<uint32_t>(first);
  const uint32_t j = static_cast<uint32_t>(last);
  return {{i, i + 1, j, j + 1},
          {1.0 - (begin - first), begin - first, -(1.0 - (end - last)), -(end - last)}};
}

/// A coordinate in cells from the raster's origin, clipped to [0, count].
double inCells(uint64_t value, uint64_t origin, double cell, uint32_t count) {
  if (value <= origin)
    return 0.0;
  return std::min(static_cast<double>(value - origin) / cell, static_cast<double>(count));
}

/// The length of the intersection of [begin, end) with the cell [cell, cell + 1).
double overlap(double begin, double end, double cell) {
  return std::max(0.0, std::min(end, cell + 1.0) - std::max(begin, cell));
}

} // namespace

void DensityGrid::add(BlockHue hue, uint64_t beginNs, uint64_t endNs, uint64_t lowAddress,
                      uint64_t highAddress, double weight) {
  const double x0 = inCells(beginNs, raster_.beginNs(), raster_.cellNs(), raster_.columns);
  const double x1 = inCells(endNs, raster_.beginNs(), raster_.cellNs(), raster_.columns);
  const double y0 = inCells(lowAddress, raster_.lowAddress(), raster_.cellBytes(), raster_.rows);
  const double y1 = inCells(highAddress, raster_.lowAddress(), raster_.cellBytes(), raster_.rows);
  if (x1 <= x0 || y1 <= y0)
    return;
  std::vector<float> &plane = planes_[hue.index()];
  if (plane.empty())
    plane.resize(stride() * (raster_.rows + 2));
  const Ramp across = rampOf(x0, x1);
  const Ramp up = rampOf(y0, y1);
  for (size_t r = 0; r < 4; ++r) {
    float *line = plane.data() + up.place[r] * stride();
    const double factor = up.value[r] * weight;
    for (size_t c = 0; c < 4; ++c)
      line[across.place[c]] += static_cast<float>(factor * across.value[c]);
  }
}

void DensityGrid::finish(BlockHue hue) {
  std::vector<float> &plane = planes_[hue.index()];
  if (plane.empty())
    return;
  const size_t width = stride();
  for (size_t row = 1; row < raster_.rows; ++row) {
    const float *above = plane.data() + (row - 1) * width;
    float *line = plane.data() + row * width;
    for (size_t column = 0; column < width; ++column)
      line[column] += above[column];
  }
  for (size_t row = 0; row < raster_.rows; ++row) {
    float *line = plane.data() + row * width;
    float sum = 0;
    for (size_t column = 0; column < raster_.columns; ++column) {
      sum += line[column];
      line[column] = sum < kRounding ? 0.0f : sum;
    }
  }
}

void DensityGrid::finish() {
  for (uint32_t hue = 0; hue < BlockHue::kCount; ++hue)
    finish(BlockHue::at(hue));
}

double DensityGrid::byteNs(BlockHue hue, double beginNs, double endNs, double low,
                           double high) const {
  if (!has(hue))
    return 0;
  const double columns = raster_.columns;
  const double rows = raster_.rows;
  const double x0 = std::clamp(
      (beginNs - static_cast<double>(raster_.beginNs())) / raster_.cellNs(), 0.0, columns);
  const double x1 =
      std::clamp((endNs - static_cast<double>(raster_.beginNs())) / raster_.cellNs(), 0.0, columns);
  const double y0 = std::clamp(
      (low - static_cast<double>(raster_.lowAddress())) / raster_.cellBytes(), 0.0, rows);
  const double y1 = std::clamp(
      (high - static_cast<double>(raster_.lowAddress())) / raster_.cellBytes(), 0.0, rows);
  double cells = 0;
  for (uint32_t row = static_cast<uint32_t>(y0); row < raster_.rows && row < y1; ++row) {
    const std::span<const float> line = coverageRow(hue, row);
    double along = 0;
    for (uint32_t column = static_cast<uint32_t>(x0); column < raster_.columns && column < x1;
         ++column) {
      const bool whole = column >= x0 && column + 1 <= x1;
      along += static_cast<double>(line[column]) * (whole ? 1.0 : overlap(x0, x1, column));
    }
    cells += along * overlap(y0, y1, row);
  }
  return cells * raster_.cellNs() * raster_.cellBytes();
}

} // namespace gantry::profiler
