// Compares tiles of one kernel by their predicted cost, and improves them.
//
// Threads: one search per kernel and thread.
#pragma once

#include "codegen/tiling/tile_choice.h"
#include "codegen/tiling/tile_cost.h"

namespace gantry::codegen {

/// A tile and its predicted cost.
struct CostedTile {
  TileShape tile;
  double cost;
};

class TileSearch {
public:
  /// keepsAll: ranked() will be asked for more than the best tile.
  TileSearch(mlir::func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
             bool keepsAll = false)
      : kernel_(kernel), profile_(profile), model_(model), extents_(extentsOf(kernel)),
        keepsAll_(keepsAll) {}

  const KernelExtents &extents() const { return extents_; }
  /// How many tiles were compared.
  int32_t compared() const { return compared_; }

  PredictedTile predict(const TileShape &tile);
  CostedTile costed(const TileShape &tile) { return {tile, predict(tile).cost}; }
  /// The cheapest tile that the kernel can be computed in.
  TileChoice cheapest(llvm::ArrayRef<TileShape> tiles);
  /// Changes one size of the tile at a time, the one that lowers the cost most, until none does
  /// (coordinate descent).
  void descend(CostedTile &from);
  /// The tile that comes after so many others, of which `best` is the first and the rest are all
  /// tiles that were compared, by cost. Returns `best` if there are fewer. Needs keepsAll.
  CostedTile ranked(const CostedTile &best, size_t candidate);

private:
  mlir::func::FuncOp kernel_;
  const DeviceProfile &profile_;
  const CostModel model_;
  const KernelExtents extents_;
  const bool keepsAll_;
  int32_t compared_ = 0;
  std::vector<CostedTile> all_; // The supported tiles that were compared, if they are kept.
};

} // namespace gantry::codegen
