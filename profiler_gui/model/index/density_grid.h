// Computes how much of each cell of a raster over time × address is covered by blocks (address
// ranges that were allocated for a while), as an exact fraction of the cell. The raster shows the
// blocks that are too small to be drawn as rectangles.
//
// A cell is 2^timeShift ns wide and 2^addressShift bytes high. Cell boundaries are multiples of the
// cell's size, so the raster does not depend on where the view begins. A block adds to each cell
// the fraction of the cell that it covers, so the sum over all cells equals the blocks' bytes ×
// time inside the raster. Simpler rasters would mislead: without small blocks, they would hide
// memory, and with blocks that are enlarged to a pixel, a heap would look full.
//
// Algorithm: two-dimensional difference arrays, the inverse of summed-area tables (Crow, 1984). The
// coverage of a rectangle is the product of its coverages along time and along addresses, and each
// of these has at most four non-zero differences between neighbouring cells. Adding a block takes
// 16 additions for any extent of the block; finish() computes the prefix sums in both directions.
// Single precision suffices: prefix sums stay near the number of overlapping blocks, and the
// rounding error near 1e-5 of a cell.
//
// Each hue, the property of a block that selects its colour (BlockHue in block_table.h), has a
// plane of its own, allocated when the hue first occurs. Threads: one at a time.
#pragma once

#include "profiler_gui/model/capture/block_table.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::profiler {

/// The position and resolution of a raster. Columns count along time, rows along addresses.
struct Raster {
  uint32_t timeShift = 0;
  uint32_t addressShift = 0;
  uint64_t firstColumn = 0; // Number of cells between time 0 and the raster.
  uint64_t firstRow = 0;    // Number of cells between address 0 and the raster.
  uint32_t columns = 0;
  uint32_t rows = 0;

  double cellNs() const { return static_cast<double>(uint64_t{1} << timeShift); }
  double cellBytes() const { return static_cast<double>(uint64_t{1} << addressShift); }
  uint64_t beginNs() const { return firstColumn << timeShift; }
  uint64_t endNs() const { return (firstColumn + columns) << timeShift; }
  uint64_t lowAddress() const { return firstRow << addressShift; }
  uint64_t highAddress() const { return (firstRow + rows) << addressShift; }
  bool operator==(const Raster &) const = default;
};

class DensityGrid {
public:
  DensityGrid() = default;
  explicit DensityGrid(const Raster &raster) : raster_(raster) {}

  const Raster &raster() const { return raster_; }

  /// Adds weight × the coverage of a rectangle, clipped to the raster.
  void add(BlockHue hue, uint64_t beginNs, uint64_t endNs, uint64_t lowAddress,
           uint64_t highAddress, double weight = 1.0);

  /// Integrates the differences of one hue into coverage. Call it once, after the last add().
  void finish(BlockHue hue);
  /// Calls finish() for all hues.
  void finish();

  /// After finish(): the fraction of a cell that blocks of a hue cover, 0 to 1, or more if blocks
  /// overlap.
  float coverage(BlockHue hue, uint32_t column, uint32_t row) const {
    const std::vector<float> &plane = planes_[hue.index()];
    return plane.empty() ? 0.0f : plane[row * stride() + column];
  }
  /// Whether anything was added to the hue.
  bool has(BlockHue hue) const { return !planes_[hue.index()].empty(); }
  /// The coverage of one row; empty if the hue does not occur.
  std::span<const float> coverageRow(BlockHue hue, uint32_t row) const {
    const std::vector<float> &plane = planes_[hue.index()];
    return plane.empty() ? std::span<const float>()
                         : std::span<const float>(plane).subspan(row * stride(), raster_.columns);
  }

  /// After finish(): the bytes × ns of one hue inside a window. A cell that lies partly inside the
  /// window counts by the fraction that lies inside.
  double byteNs(BlockHue hue, double beginNs, double endNs, double low, double high) const;

private:
  /// Floats per row: the differences reach two columns beyond the last cell.
  size_t stride() const { return raster_.columns + 2; }

  Raster raster_;
  // Per hue (columns + 2) × (rows + 2) differences, which finish() turns into coverage.
  std::array<std::vector<float>, BlockHue::kCount> planes_;
};

} // namespace gantry::profiler
