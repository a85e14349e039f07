// Compares tiles of one kernel by their predicted cost, and improves them.
//
// The cost of a tile is that of one run of the kernel (tile_cost.h) and a share of the time that
// the driver takes to compile the kernel. So a kernel that takes longer to load is chosen if its
// runs save enough time, which a large kernel does sooner than a small one.
//
// Threads: one search per kernel and thread.
#pragma once

#include "codegen/tiling/tile_choice.h"
#include "codegen/tiling/tile_cost.h"

#include <map>

namespace gantry::codegen {

struct CostedTile {
  TileShape tile;
  double cost;         // The cost of the kernel and of its compilation by the driver.
  double tileCost = 0; // The cost of one tile in one run.
};

class TileSearch {
public:
  /// `kernel` is the outlined function on tensors. `profile` must outlive the search. keepsAll:
  /// keep all compared tiles for ranked(). dynamicExtent: see KernelExtents.
  TileSearch(mlir::func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
             bool keepsAll = false, int64_t dynamicExtent = kTypicalDynamicExtent);

  const KernelExtents &extents() const { return extents_; }
  /// The number of calls of predict(), also by the other functions.
  int32_t compared() const { return compared_; }

  /// Returns whether a tile is small enough to be unrolled. A tile that unrolls all steps of a sum
  /// may be larger than isAllowed() (lane_tiles.h) permits if the kernel loads texels, because its
  /// predicted cost contains the time of the driver's compiler.
  bool allows(const TileShape &tile) const;
  /// Predicts the cost of a tile.
  PredictedTile predict(const TileShape &tile);
  /// Like predict(). The cost is infinite if the kernel cannot be computed with the tile, or if it
  /// does not allow the slices that the dispatch needs on some devices.
  CostedTile costed(const TileShape &tile);
  /// Returns the cheapest of these tiles that the kernel can be computed with. If there is none,
  /// the tile is empty.
  TileChoice cheapest(llvm::ArrayRef<TileShape> tiles);
  /// Improves a tile by coordinate descent. A change sets one element of TileShape::result or
  /// TileShape::reduction to another value; if more points exceed a limit on the size of the code,
  /// fewer steps are unrolled. Makes the change that lowers the cost most, and repeats
  /// this until no change lowers the cost by at least 0.1 %. All descents of one search must start
  /// from tiles that differ in these members only.
  void descend(CostedTile &from);
  /// Ranks the different tiles that were compared: `best` has rank 0, the others follow by cost.
  /// Returns the tile with rank `candidate`, or `best` if there are not as many. Needs keepsAll.
  CostedTile ranked(const CostedTile &best, size_t candidate);

private:
  /// Returns the predicted cost of the kernel with the share of the driver's time.
  double withBuild(const PredictedTile &predicted) const {
    return predicted.cost + buildCost_ * predicted.buildMs;
  }
  /// Passes the tile to `consider` with fewer steps of one reduction dimension, for each dimension
  /// with which that makes the tile allowed.
  void considerFewerSteps(const TileShape &tile,
                          llvm::function_ref<void(const TileShape &)> consider) const;
  /// Returns whether the result is too large for the bindings of some devices, so that the dispatch
  /// must be cut into slices there. Kernels with a reduction do not count: with the tiles that
  /// allow slices, they may be several times slower.
  static bool wantsSlices(mlir::func::FuncOp kernel, const KernelExtents &extents);
  /// Returns whether the tiles divide the outermost tile dimension that has several tiles, as
  /// slices need it.
  bool isDivided(const TileShape &tile) const;

  mlir::func::FuncOp kernel_;
  const DeviceProfile &profile_;
  const CostModel model_;
  KernelExtents extents_;
  const bool keepsAll_;
  const bool wantsSlices_; // See wantsSlices().
  const double buildCost_; // The cost of a millisecond of the driver's compiler.
  int32_t compared_ = 0;
  // The costs of the tiles that descents have met, by TileShape::result and TileShape::reduction.
  // Descents meet most tiles several times.
  std::map<std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>>, double> met_;
  std::vector<CostedTile> all_; // The supported tiles that were compared; empty without keepsAll.
};

} // namespace gantry::codegen
