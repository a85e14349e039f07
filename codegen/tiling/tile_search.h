// Compares tiles of one kernel by their predicted cost, and improves them. A tile is the part of
// the kernel's result that one invocation, subgroup or workgroup computes (tile_shape.h).
//
// The cost of a tile is that of one run of the kernel (tile_cost.h) plus, under CostModel::kTexels,
// a share of the time that the driver takes to compile the kernel. A tile that makes the driver
// take longer is therefore chosen only if it makes the runs faster by enough.
//
// Threads: a search belongs to one kernel and one thread.
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
  /// `kernel` is a kernel's function on tensors (tile_choice.h). `profile` must outlive the search.
  /// keepsAll: whether to keep all compared tiles for ranked(). dynamicExtent: see KernelExtents.
  TileSearch(mlir::func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
             bool keepsAll = false, int64_t dynamicExtent = kTypicalDynamicExtent);

  const KernelExtents &extents() const { return extents_; }
  /// The number of calls of predict(), including those from other functions of this class.
  int32_t compared() const { return compared_; }

  /// Returns whether a tile is small enough to be unrolled. If the kernel loads texels, a tile that
  /// unrolls all steps of a sum may be larger than isAllowed() (lane_tiles.h) permits, because its
  /// predicted cost contains the time of the driver's compiler, which grows with the code.
  bool allows(const TileShape &tile) const;
  /// Predicts the cost of a tile.
  PredictedTile predict(const TileShape &tile);
  /// Like predict(). The cost is infinite if the kernel cannot be computed with the tile. It is
  /// also infinite if the kernel needs slices and cannot have them with the tile. Slices are
  /// launches that each compute a part of the result, for devices that cannot bind the whole
  /// result.
  CostedTile costed(const TileShape &tile);
  /// Returns the cheapest of these tiles that the kernel can be computed with. If there is none,
  /// the tile is empty.
  TileChoice cheapest(llvm::ArrayRef<TileShape> tiles);
  /// Improves a tile by coordinate descent. A change sets one element of TileShape::result or
  /// TileShape::reduction to another value. If a change gives the tile more points than the limit
  /// on the size of the code allows, the change also unrolls fewer steps. Makes the change that
  /// lowers the cost most, and repeats this until no change lowers the cost by at least 0.1 %. All
  /// descents of one search share a cache of costs, whose key is these two members. Two tiles
  /// passed to descend() that differ in another member must therefore differ in their number of
  /// tile dimensions, so that their keys differ.
  void descend(CostedTile &from);
  /// Ranks the different tiles that were compared: `best` has rank 0, the others follow by cost.
  /// Returns the tile with rank `candidate`, or `best` if there are fewer. Needs keepsAll.
  CostedTile ranked(const CostedTile &best, size_t candidate);

private:
  /// Returns the predicted cost of a run plus the cost of the driver's compilation.
  double withBuild(const PredictedTile &predicted) const {
    return predicted.cost + buildCost_ * predicted.buildMs;
  }
  /// Calls `consider` with a copy of the tile for each reduction dimension. The copy unrolls fewer
  /// steps of that dimension: the largest number with which allows() holds. A dimension without
  /// such a number is left out.
  void considerFewerSteps(const TileShape &tile,
                          llvm::function_ref<void(const TileShape &)> consider) const;
  /// Returns whether the result is too large for the bindings of some devices, so that a launch
  /// must be cut into slices there. Returns false for dynamic shapes, and for kernels with a
  /// reduction: these may be several times slower with the tiles that allow slices.
  static bool wantsSlices(mlir::func::FuncOp kernel, const KernelExtents &extents);
  /// Returns whether the tiles divide, without a remainder, the outermost tile dimension that has
  /// several tiles. Slices need this.
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
