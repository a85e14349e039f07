// Implements LevelOfDetail.
#include "profiler_gui/model/index/level_of_detail.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// A raster extends beyond the view on each side by 1/kMarginShare of the view.
constexpr uint32_t kMarginShare = 8;
/// A raster of at most this many columns is refined in the same frame in which it is started.
constexpr uint32_t kSmallRaster = 64;
/// A raster is filled with differences between neighbouring cells, whose running sums are the final
/// values of the cells. Summing this many cells costs as much as visiting one block.
constexpr uint64_t kCellsPerBlock = 16;

/// Returns the exponent of the smallest power of two above unitsPerPixel, at least 0. A cell of
/// this size is between one and two pixels large, or larger if a pixel is less than half a unit.
uint32_t shiftFor(double unitsPerPixel) {
  int exponent = 0;
  std::frexp(unitsPerPixel, &exponent); // unitsPerPixel is in [2^(exponent-1), 2^exponent).
  return static_cast<uint32_t>(std::clamp(exponent, 0, 62));
}

uint64_t floorUnits(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(value); }

/// Returns the raster that covers a view and, on each side, 1/marginShare of the view's extent; a
/// marginShare of 0 means no margin. The raster is clipped at time 0 and address 0.
Raster clippedRaster(const SpaceView &view, uint32_t timeShift, uint32_t addressShift,
                     uint32_t marginShare) {
  Raster raster;
  raster.timeShift = timeShift;
  raster.addressShift = addressShift;
  const uint64_t firstColumn = floorUnits(view.beginNs) >> timeShift;
  const uint64_t lastColumn = floorUnits(std::ceil(view.endNs)) >> timeShift;
  const uint64_t firstRow = floorUnits(view.lowAddress) >> addressShift;
  const uint64_t lastRow = floorUnits(std::ceil(view.highAddress)) >> addressShift;
  const uint64_t columns = lastColumn + 1 - firstColumn, rows = lastRow + 1 - firstRow;
  const uint64_t beside = marginShare == 0 ? 0 : columns / marginShare + 1;
  const uint64_t above = marginShare == 0 ? 0 : rows / marginShare + 1;
  raster.firstColumn = firstColumn - std::min(firstColumn, beside);
  raster.firstRow = firstRow - std::min(firstRow, above);
  raster.columns = static_cast<uint32_t>(lastColumn + 1 + beside - raster.firstColumn);
  raster.rows = static_cast<uint32_t>(lastRow + 1 + above - raster.firstRow);
  return raster;
}

bool contains(const Raster &outer, const Raster &inner) {
  return outer.timeShift == inner.timeShift && outer.addressShift == inner.addressShift &&
         outer.firstColumn <= inner.firstColumn && outer.firstRow <= inner.firstRow &&
         outer.firstColumn + outer.columns >= inner.firstColumn + inner.columns &&
         outer.firstRow + outer.rows >= inner.firstRow + inner.rows;
}

/// Whether a block with this lifetime and size is drawn as a rectangle.
bool isExact(uint64_t lifeNs, uint64_t sizeBytes, const Raster &raster) {
  return (lifeNs >> raster.timeShift) >= LevelOfDetail::kExactCells &&
         (sizeBytes >> raster.addressShift) >= LevelOfDetail::kExactCells;
}

uint64_t lifeOf(const BlockTable &table, uint32_t row, uint64_t nowNs) {
  const uint64_t end = std::min(table.endNs(row), nowNs);
  return end > table.beginNs(row) ? end - table.beginNs(row) : 0;
}

Window windowOf(const SpaceView &view) {
  return {floorUnits(view.beginNs), floorUnits(std::ceil(view.endNs)), floorUnits(view.lowAddress),
          floorUnits(std::ceil(view.highAddress))};
}

Window windowOf(const Raster &raster) {
  return {raster.beginNs(), raster.endNs(), raster.lowAddress(), raster.highAddress()};
}

/// Area of a node's box up to endNs, in bytes × ns.
double boxArea(const BlockIndex::Node &node, uint64_t endNs) {
  return static_cast<double>(endNs - node.beginNs) *
         static_cast<double>(node.highAddress - node.lowAddress);
}

/// Whether a node lies inside one cell of the raster and none of its blocks is live.
bool isOneCell(const BlockIndex::Node &node, const Raster &raster, const Window &window,
               uint64_t nowNs) {
  return node.endNs > node.beginNs && node.endNs <= nowNs && node.beginNs >= window.beginNs &&
         node.endNs <= window.endNs && node.lowAddress >= window.lowAddress &&
         node.highAddress <= window.highAddress &&
         (node.beginNs >> raster.timeShift) == ((node.endNs - 1) >> raster.timeShift) &&
         (node.lowAddress >> raster.addressShift) ==
             ((node.highAddress - 1) >> raster.addressShift);
}

struct ExactVisitor {
  const BlockTable &table;
  const Raster &raster;
  uint64_t nowNs;
  std::vector<uint32_t> &rows;
  bool enter(const BlockIndex::Node &node) const {
    return isExact(node.longestNs, node.largestBytes, raster);
  }
  void block(uint32_t row) {
    if (isExact(lifeOf(table, row, nowNs), table.sizeBytes(row), raster))
      rows.push_back(row);
  }
};

} // namespace

Raster LevelOfDetail::rasterFor(const SpaceView &view) {
  if (view.endNs <= view.beginNs || view.highAddress <= view.lowAddress || view.widthPixels < 1 ||
      view.heightPixels < 1)
    return {};
  return clippedRaster(view, shiftFor((view.endNs - view.beginNs) / view.widthPixels),
                       shiftFor((view.highAddress - view.lowAddress) / view.heightPixels), 0);
}

void LevelOfDetail::chooseExact(const BlockTable &table, const BlockIndex &index,
                                const SpaceView &view, uint64_t nowNs) {
  exact_.clear();
  const Raster raster = rasterFor(view);
  ExactVisitor visitor{table, raster, nowNs, exact_};
  index.visit(table, windowOf(view), visitor);
}

void LevelOfDetail::addRow(const BlockTable &table, uint32_t row) {
  const uint64_t end = std::min(table.endNs(row), nowNs_);
  if (end <= table.beginNs(row) || isExact(end - table.beginNs(row), table.sizeBytes(row), raster_))
    return;
  working_.add(table.hue(row), table.beginNs(row), end, table.offset(row),
               table.offset(row) + table.sizeBytes(row));
}

void LevelOfDetail::start(const BlockTable &table, const BlockIndex &index, const Raster &raster,
                          uint64_t nowNs) {
  raster_ = raster;
  working_ = DensityGrid(raster);
  pending_.clear();
  finishedHues_ = 0;
  nowNs_ = nowNs;
  runsAtStart_ = index.runs().size();
  indexedAtStart_ = index.indexedRows();
  rowsAtStart_ = table.size();
  const Window window = windowOf(raster);
  for (size_t run = 0; run < index.runs().size(); ++run) {
    const size_t levels = index.runs()[run].levels.size();
    if (levels > 0)
      collectPending(table, index,
                     {static_cast<uint32_t>(run), static_cast<uint32_t>(levels - 1), 0}, window);
  }
  for (uint32_t row = index.indexedRows(); row < table.size(); ++row) {
    if (BlockIndex::meets(table, row, window))
      addRow(table, row);
  }
  valid_ = true;
  complete_ = false;
}

/// Divides the tree at `at`: a node without any block that is large enough for a rectangle goes to
/// pending_; the blocks of a leaf that may have such a block are visited at once. The estimate
/// therefore never includes a block that is drawn as a rectangle.
void LevelOfDetail::collectPending(const BlockTable &table, const BlockIndex &index,
                                   const Pending &at, const Window &window) {
  const BlockIndex::Run &run = index.runs()[at.run];
  const BlockIndex::Node &node = run.levels[at.level][at.index];
  if (!BlockIndex::meets(node, window))
    return;
  if (!isExact(node.longestNs, node.largestBytes, raster_)) {
    pending_.push_back(at);
    return;
  }
  if (at.level == 0) {
    addNode(table, index, at, window);
    return;
  }
  const uint32_t first = at.index * BlockIndex::kFanout;
  const uint32_t last = std::min<uint32_t>(first + BlockIndex::kFanout,
                                           static_cast<uint32_t>(run.levels[at.level - 1].size()));
  for (uint32_t child = first; child < last; ++child)
    collectPending(table, index, {at.run, at.level - 1, child}, window);
}

/// Adds a node as a whole or block by block, or puts its children on the stack. Returns the number
/// of nodes and blocks that were visited.
uint64_t LevelOfDetail::addNode(const BlockTable &table, const BlockIndex &index, const Pending &at,
                                const Window &window) {
  const BlockIndex::Run &run = index.runs()[at.run];
  const BlockIndex::Node &node = run.levels[at.level][at.index];
  if (!BlockIndex::meets(node, window))
    return 1;
  if (isOneCell(node, raster_, window, nowNs_)) {
    // Neighbours in the tree usually have the same hue, so the first block's hue is used for all.
    working_.add(table.hue(run.row(node.firstRow)), node.beginNs, node.endNs, node.lowAddress,
                 node.highAddress, node.byteNs / boxArea(node, node.endNs));
    return 1;
  }
  if (at.level == 0) {
    for (uint32_t i = 0; i < node.rowCount; ++i) {
      const uint32_t row = run.row(node.firstRow + i);
      if (BlockIndex::meets(table, row, window))
        addRow(table, row);
    }
    return 1 + node.rowCount;
  }
  const uint32_t first = at.index * BlockIndex::kFanout;
  const uint32_t last = std::min<uint32_t>(first + BlockIndex::kFanout,
                                           static_cast<uint32_t>(run.levels[at.level - 1].size()));
  for (uint32_t child = last; child-- > first;)
    pending_.push_back({at.run, at.level - 1, child});
  return 1;
}

/// Sets shown_ to the visited part of the raster plus the bytes × ns of each pending node, spread
/// evenly over its box. Pending nodes with live blocks are left out.
void LevelOfDetail::estimate(const BlockTable &table, const BlockIndex &index) {
  shown_ = working_;
  for (const Pending &at : pending_) {
    const BlockIndex::Run &run = index.runs()[at.run];
    const BlockIndex::Node &node = run.levels[at.level][at.index];
    const uint64_t end = std::min(node.endNs, nowNs_);
    if (end <= node.beginNs || node.endNs == kStillHeld)
      continue;
    shown_.add(table.hue(run.row(node.firstRow)), node.beginNs, end, node.lowAddress,
               node.highAddress, std::min(1.0, node.byteNs / boxArea(node, end)));
  }
  for (uint32_t hue = finishedHues_; hue < BlockHue::kCount; ++hue)
    shown_.finish(BlockHue::at(hue));
  ++revision_;
}

void LevelOfDetail::refine(const BlockTable &table, const BlockIndex &index, const SpaceView &view,
                           uint64_t nowNs, uint64_t budgetBlocks) {
  chooseExact(table, index, view, nowNs);
  const Raster needed = rasterFor(view);
  if (needed.columns == 0) {
    valid_ = false;
    complete_ = true;
    shown_ = DensityGrid();
    return;
  }
  const bool restart = isOutdated(table, index, needed, nowNs);
  if (restart)
    start(table, index, clippedRaster(view, needed.timeShift, needed.addressShift, kMarginShare),
          nowNs);
  if (complete_)
    return;
  // If budgetBlocks limits the work, the first frame of a large raster only makes the estimate.
  const bool estimateOnly = restart && budgetBlocks != 0 && raster_.columns > kSmallRaster;
  spend(table, index, budgetBlocks, !estimateOnly);
  complete_ = pending_.empty() && finishedHues_ == BlockHue::kCount;
  if (complete_) {
    shown_ = std::move(working_);
    working_ = DensityGrid();
    ++revision_;
  } else if (restart) {
    estimate(table, index);
  }
}

bool LevelOfDetail::isOutdated(const BlockTable &table, const BlockIndex &index,
                               const Raster &needed, uint64_t nowNs) const {
  const bool treesChanged =
      runsAtStart_ != index.runs().size() || indexedAtStart_ != index.indexedRows();
  const bool grown = rowsAtStart_ != table.size() || (nowNs_ != nowNs && raster_.endNs() > nowNs_);
  return !valid_ || treesChanged || (complete_ && grown) || !contains(raster_, needed);
}

/// Visits pending nodes if `visitNodes` is set. Once no node is pending, sums the cells of the
/// raster (kCellsPerBlock), one hue of the blocks after the other. Stops when the visits and the
/// sums together cost as much as the visits of budgetBlocks blocks; 0 means no limit.
void LevelOfDetail::spend(const BlockTable &table, const BlockIndex &index, uint64_t budgetBlocks,
                          bool visitNodes) {
  const Window window = windowOf(raster_);
  uint64_t work = 0;
  while (visitNodes && !pending_.empty() && (budgetBlocks == 0 || work < budgetBlocks)) {
    const Pending at = pending_.back();
    pending_.pop_back();
    work += addNode(table, index, at, window);
  }
  const uint64_t hueCost = uint64_t{raster_.columns} * raster_.rows / kCellsPerBlock;
  while (pending_.empty() && finishedHues_ < BlockHue::kCount &&
         (budgetBlocks == 0 || work < budgetBlocks)) {
    const BlockHue hue = BlockHue::at(finishedHues_++);
    work += working_.has(hue) ? hueCost : 0;
    working_.finish(hue);
  }
}

double LevelOfDetail::shownByteNs(const BlockTable &table, const SpaceView &view,
                                  uint64_t nowNs) const {
  double sum = 0;
  for (const uint32_t row : exact_) {
    const double begin = std::max(static_cast<double>(table.beginNs(row)), view.beginNs);
    const double end = std::min(static_cast<double>(std::min(table.endNs(row), nowNs)), view.endNs);
    const double low = std::max(static_cast<double>(table.offset(row)), view.lowAddress);
    const double high =
        std::min(static_cast<double>(table.offset(row) + table.sizeBytes(row)), view.highAddress);
    if (end > begin && high > low)
      sum += (end - begin) * (high - low);
  }
  for (uint32_t hue = 0; hue < BlockHue::kCount; ++hue)
    sum += shown_.byteNs(BlockHue::at(hue), view.beginNs, view.endNs, view.lowAddress,
                         view.highAddress);
  return sum;
}

} // namespace gantry::profiler
