// Implements rowTiles() and reducedRowTiles() of tile_choice.h: the tiles of kernels that process a
// row at a time.
#include "codegen/tiling/emitter/memory/vector_views.h"
#include "codegen/tiling/linalg_patterns.h"
#include "codegen/tiling/tile_choice.h"

#include <functional>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Limits on the elements of a row that an invocation holds in registers: in the baseline, and in
// other kernels.
constexpr int64_t kMaxRowPoints = 16, kMaxSharedRowPoints = 128;
// A run is a group of neighbouring elements that one lane (invocation of a subgroup) takes. In
// texel kernels, rows of at least this length have runs of four elements that begin at multiples of
// four in memory (TileShape::shiftedRows). In shorter rows, too many such runs would lie partly
// beyond the row.
constexpr int64_t kMinShiftedRow = 24;

/// Sets the members of `tile` that divide rows of this length among `lanes` lanes, or that give a
/// row to one lane if it has fewer than two elements per lane. Returns the number of elements that
/// a lane holds at a time.
int64_t divideRow(TileShape &tile, int64_t length, int64_t lanes, TileKind kind) {
  tile.rowLength = length;
  tile.lanes = tile.rowLength >= 2 * lanes ? lanes : 1;
  tile.shiftedRows = kind == TileKind::kTexel && tile.rowLength % kVectorWidth != 0 &&
                     tile.rowLength >= kMinShiftedRow;
  tile.run = tile.rowLength % kVectorWidth == 0 || tile.shiftedRows ? kVectorWidth : 1;
  const int64_t perLane = (tile.coveredRow() / tile.run + tile.lanes - 1) / tile.lanes * tile.run;
  // A shifted row may need one run more than a row of the same length that begins with a whole
  // vector. The limit is higher by this run, so that such a row is not divided into chunks (parts
  // that are held one after the other) because of it.
  const int64_t maxPoints =
      sharesTiles(kind) ? kMaxSharedRowPoints + (tile.shiftedRows ? tile.run : 0) : kMaxRowPoints;
  // A longer row is divided into equal chunks of whole runs.
  const int64_t chunks = (perLane + maxPoints - 1) / maxPoints;
  const int64_t runs = (perLane / tile.run + chunks - 1) / chunks;
  return runs * tile.run;
}

/// Returns `tile` for rows of this length that one invocation processes and, if the row is long
/// enough and sharesTiles(kind), for rows that the lanes of a subgroup share. setHeld(tile, n) must
/// store the number of elements that a lane holds at a time.
std::vector<TileShape> dividedRows(TileShape tile, int64_t length, const DeviceProfile &profile,
                                   TileKind kind,
                                   llvm::function_ref<void(TileShape &, int64_t)> setHeld) {
  std::vector<TileShape> tiles;
  for (const int64_t lanes : {int64_t(1), int64_t(sharesTiles(kind) ? profile.subgroupSize : 1)}) {
    setHeld(tile, divideRow(tile, length, lanes, kind));
    if (tiles.empty() || tile.lanes > 1)
      tiles.push_back(tile);
  }
  return tiles;
}

} // namespace

std::vector<TileShape> rowTiles(RankedTensorType type, const DeviceProfile &profile,
                                TileKind kind) {
  TileShape tile;
  tile.result.assign(type.getRank(), 1);
  tile.laneDim = type.getRank() - 1;
  std::vector<TileShape> tiles =
      dividedRows(tile, type.getShape().back(), profile, kind,
                  [](TileShape &each, int64_t held) { each.result.back() = held; });
  // A lane that holds only a part of its share of a row loads the row again for each reduction and
  // for the result.
  const auto holdsRow = [](const TileShape &each) {
    return each.heldColumns() * each.lanes >= each.coveredRow();
  };
  if (llvm::any_of(tiles, holdsRow))
    llvm::erase_if(tiles, std::not_fn(holdsRow));
  return tiles;
}

std::vector<TileShape> reducedRowTiles(func::FuncOp kernel, const DeviceProfile &profile,
                                       TileKind kind) {
  linalg::GenericOp only;
  bool isOne = kernel.getNumResults() == 1;
  kernel.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    isOne &= !only;
    only = op;
  });
  OpOperand *row = only && isOne ? rowOperandOf(only) : nullptr;
  const int64_t length = row ? reductionExtentsOf(only).front() : 0;
  if (length < 2 * kVectorWidth) // A dynamic length is negative.
    return {};
  TileShape tile;
  tile.result.assign(cast<RankedTensorType>(kernel.getResultTypes().front()).getRank(), 1);
  tile.reducesRows = true;
  return dividedRows(tile, length, profile, kind,
                     [](TileShape &each, int64_t held) { each.reduction = {held}; });
}

} // namespace gantry::codegen
