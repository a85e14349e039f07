// What one address space shows in one view: blocks large enough to be rectangles, and a raster for
// all others. Together they show every byte × ns of the view, once.
//
// A block is drawn as a rectangle where it is at least kExactCells cells wide and high; a cell is
// between 1 and 2 pixels. All others go into the raster, which is computed a little larger than the
// view, and stays valid while the view pans inside it and the zoom stays within a factor of two.
//
// The raster is computed in slices, so that no frame waits for it: refine() looks at so many blocks
// and goes on at the next call. Until a raster is complete, a first estimate stands in, in which
// what was not looked into is spread evenly over the boxes of the index's nodes. A tree node inside
// one cell is taken whole, without looking at its blocks.
//
// Live, a raster is made again when blocks were added or time went on inside it.
//
// Threads: none of its own.
#pragma once

#include "profiler_gui/model/block_index.h"
#include "profiler_gui/model/density_grid.h"

#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// One address space on the screen: its window and the pixels that show it.
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
  static constexpr uint32_t kExactCells = 2;

  /// The raster that a view needs, without margin. Empty where the view is.
  static Raster rasterFor(const SpaceView &view);

  /// Chooses rectangles and brings the raster forward. nowNs: the capture's last moment, where
  /// blocks that are still held end for now. budgetBlocks: how many blocks and nodes may be looked
  /// at for the raster in this call; 0: all.
  void refine(const BlockTable &table, const BlockIndex &index, const SpaceView &view,
              uint64_t nowNs, uint64_t budgetBlocks);

  /// Rows to draw as rectangles, those that meet the view.
  const std::vector<uint32_t> &exact() const { return exact_; }
  /// The raster of all others. Finished sums, even while it is not complete().
  const DensityGrid &density() const { return shown_; }
  bool complete() const { return complete_; }
  /// Counts each new content of density(), so that a copy elsewhere knows when to follow.
  uint64_t revision() const { return revision_; }

  /// What is shown inside the view, in bytes × ns: rectangles clipped to it, and the raster's
  /// share.
  double shownByteNs(const BlockTable &table, const SpaceView &view, uint64_t nowNs) const;

  void invalidate() { valid_ = false; }

private:
  struct Pending {
    uint32_t run;
    uint32_t level;
    uint32_t index;
  };
  void start(const BlockTable &table, const BlockIndex &index, const Raster &raster,
             uint64_t nowNs);
  void addRow(const BlockTable &table, uint32_t row);
  uint64_t lookInto(const BlockTable &table, const BlockIndex &index, const Pending &at,
                    const Window &window);
  void sift(const BlockTable &table, const BlockIndex &index, const Pending &at,
            const Window &window);
  void estimate(const BlockTable &table, const BlockIndex &index);
  void chooseExact(const BlockTable &table, const BlockIndex &index, const SpaceView &view,
                   uint64_t nowNs);

  std::vector<uint32_t> exact_;
  Raster raster_;       // of both grids, or of the one in the making
  DensityGrid working_; // sums of what was looked into; empty when complete
  DensityGrid shown_;   // the finished one, or a first estimate
  std::vector<Pending> pending_;
  uint32_t finishedHues_ = 0;
  size_t runsAtStart_ = 0;
  uint32_t indexedAtStart_ = 0;
  uint32_t rowsAtStart_ = 0;
  uint64_t nowNs_ = 0;
  uint64_t revision_ = 0;
  bool valid_ = false;
  bool complete_ = false;
};

} // namespace gantry::profiler
