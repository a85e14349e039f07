// Decides how the blocks of one address space (allocated address ranges; block_table.h) are drawn
// in one view: large blocks as rectangles, all others in a raster (density_grid.h). Rectangles and
// raster together show every byte × ns of the view exactly once.
//
// A block is drawn as a rectangle if it is at least kExactCells cells wide and high; a cell is 1 to
// 2 pixels wide and high (more if a pixel is less than half a ns or byte). The raster is computed
// slightly larger than the view. It stays valid while the view lies inside it and the zoom needs
// the same cell size, a power of two.
//
// The raster is computed incrementally, so that no frame waits for it: each refine() visits a
// limited number of blocks. Until the raster is complete, an estimate is shown, which spreads the
// bytes × ns of unvisited index nodes (block_index.h) evenly over their boxes. An index node that
// lies inside one cell is added as a whole, without visiting its blocks.
//
// For a live capture, a new raster is computed when blocks were added, or when the time of the
// latest event, up to which live blocks are drawn, has advanced inside the raster's range of time.
//
// Threads: one at a time.
#pragma once

#include "profiler_gui/model/index/block_index.h"
#include "profiler_gui/model/index/density_grid.h"

#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// The window of an address space that is on the screen, and its size in pixels. Times are ns,
/// addresses are bytes.
struct SpaceView {
  double beginNs = 0;
  double endNs = 0;
  double lowAddress = 0;
  double highAddress = 0;
  double widthPixels = 0;
  double heightPixels = 0;
};

class LevelOfDetail {
public:
  static constexpr uint32_t kExactCells = 2; // Min extent of a rectangle, in cells.

  /// The raster that covers a view, without margin. Empty for an empty view.
  static Raster rasterFor(const SpaceView &view);

  /// Chooses the rectangles of a view and continues to compute the raster. nowNs is the time of the
  /// capture's latest event; live blocks are shown up to it. budgetBlocks limits the number of
  /// blocks and index nodes that this call visits for the raster; 0 means no limit.
  void refine(const BlockTable &table, const BlockIndex &index, const SpaceView &view,
              uint64_t nowNs, uint64_t budgetBlocks);

  /// The rows of the blocks to draw as rectangles.
  const std::vector<uint32_t> &exact() const { return exact_; }
  /// The finished grid of all other blocks: an estimate until complete().
  const DensityGrid &density() const { return shown_; }
  bool complete() const { return complete_; }
  /// Increases with each new grid of density(), so that the owner of a copy can detect that the
  /// copy is outdated.
  uint64_t revision() const { return revision_; }

  /// The bytes × ns that rectangles and raster together show inside the view. Used by tests.
  double shownByteNs(const BlockTable &table, const SpaceView &view, uint64_t nowNs) const;

private:
  /// An index node that is not in the raster yet.
  struct Pending {
    uint32_t run;
    uint32_t level;
    uint32_t index;
  };
  void start(const BlockTable &table, const BlockIndex &index, const Raster &raster,
             uint64_t nowNs);
  void addRow(const BlockTable &table, uint32_t row);
  uint64_t addNode(const BlockTable &table, const BlockIndex &index, const Pending &at,
                   const Window &window);
  void collectPending(const BlockTable &table, const BlockIndex &index, const Pending &at,
                      const Window &window);
  bool isOutdated(const BlockTable &table, const BlockIndex &index, const Raster &needed,
                  uint64_t nowNs) const;
  void spend(const BlockTable &table, const BlockIndex &index, uint64_t budgetBlocks,
             bool visitNodes);
  void estimate(const BlockTable &table, const BlockIndex &index);
  void chooseExact(const BlockTable &table, const BlockIndex &index, const SpaceView &view,
                   uint64_t nowNs);

  std::vector<uint32_t> exact_;
  Raster raster_;                // The raster of the last start().
  DensityGrid working_;          // The unfinished grid; empty when complete.
  DensityGrid shown_;            // The finished grid, or an estimate.
  std::vector<Pending> pending_; // A stack of nodes to visit.
  uint32_t finishedHues_ = 0;    // Number of hues for which working_.finish() was called.
  // The state of the index and the table at the last start(), with which isOutdated() detects
  // changes.
  size_t runsAtStart_ = 0;
  uint32_t indexedAtStart_ = 0;
  uint32_t rowsAtStart_ = 0;
  uint64_t nowNs_ = 0; // The time up to which live blocks are in the raster.
  uint64_t revision_ = 0;
  bool valid_ = false; // Whether raster_ is in use.
  bool complete_ = false;
};

} // namespace gantry::profiler
