// How full each cell of a raster over time × address is, exactly: the picture of blocks that are
// too small to be drawn as rectangles.
//
// A cell is 2^timeShift ns wide and 2^addressShift bytes high, and cell boundaries are multiples of
// that, so that the raster does not depend on where the view begins. A block adds to each cell the
// share of it that the block covers; the sum over all cells is the blocks' bytes × time inside the
// raster. Skipping small blocks would lose memory from sight, and inflating them to a pixel would
// make a heap look full.
//
// Algorithm: summed differences (Crow 1984, in reverse). A rectangle's coverage is the product of
// two ramps, one in each direction, whose differences are not zero in at most four places; 16 sums
// per block whatever its extent, and one pass of prefix sums at the end. Single precision suffices:
// prefix sums stay near the number of blocks that overlap, and rounding near 1e-5 of a cell.
//
// Planes are kept apart by hue, and made when a hue first occurs.
// Threads: none of its own.
#pragma once

#include "profiler_gui/model/block_table.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::profiler {

struct Raster {
  uint32_t timeShift = 0;
  uint32_t addressShift = 0;
  uint64_t firstColumn = 0; // in cells from time 0
  uint64_t firstRow = 0;    // in cells from address 0
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

  /// Adds weight × the rectangle, clipped to the raster.
  void add(BlockHue hue, uint64_t beginNs, uint64_t endNs, uint64_t lowAddress,
           uint64_t highAddress, double weight = 1.0);

  /// Sums up what was added to one hue, once, after the last add().
  void finish(BlockHue hue);
  void finish();

  /// The share of a cell that blocks of a hue cover, 0 to 1 (more only where blocks overlap).
  float coverage(BlockHue hue, uint32_t column, uint32_t row) const {
    const std::vector<float> &plane = planes_[hue.index()];
    return plane.empty() ? 0.0f : plane[row * stride() + column];
  }
  bool has(BlockHue hue) const { return !planes_[hue.index()].empty(); }
  /// A row of the same; empty where the hue does not occur.
  std::span<const float> coverageRow(BlockHue hue, uint32_t row) const {
    const std::vector<float> &plane = planes_[hue.index()];
    return plane.empty() ? std::span<const float>()
                         : std::span<const float>(plane).subspan(row * stride(), raster_.columns);
  }

  /// Bytes × ns of one hue inside a window, after finish(). A cell that is cut counts by the share
  /// that lies inside.
  double byteNs(BlockHue hue, double beginNs, double endNs, double low, double high) const;

private:
  size_t stride() const { return raster_.columns + 2; } // two differences fall behind the last cell

  Raster raster_;
  // (columns + 2) × (rows + 2) differences, which finish() turns into coverage
  std::array<std::vector<float>, BlockHue::kCount> planes_;
};

} // namespace gantry::profiler
