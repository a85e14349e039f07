// The tile of a row kernel: rowTile() of tile_choice.h.
#include "codegen/tiling/tile_choice.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// Limits on the elements of a row that an invocation holds in registers: in the baseline, and in
// other kernels.
constexpr int64_t kMaxRowPoints = 16, kMaxSharedRowPoints = 128;
// Shorter rows are not shifted (TileShape::shiftedRows): most of their runs would be partial.
constexpr int64_t kMinShiftedRow = 24;

} // namespace

TileShape rowTile(RankedTensorType type, const DeviceProfile &profile, bool baseline) {
  TileShape tile;
  tile.result.assign(type.getRank(), 1);
  tile.laneDim = type.getRank() - 1;
  tile.rowLength = type.getShape().back();
  const int64_t lanes = baseline ? 1 : profile.subgroupSize;
  tile.lanes = tile.rowLength >= 2 * lanes ? lanes : 1;
  tile.shiftedRows = !baseline && tile.rowLength % 4 != 0 && tile.rowLength >= kMinShiftedRow;
  tile.run = tile.rowLength % 4 == 0 || tile.shiftedRows ? 4 : 1;
  const int64_t perLane = (tile.coveredRow() / tile.run + tile.lanes - 1) / tile.lanes * tile.run;
  // A shifted row may need one run more than a row of the same length that begins with a whole
  // vector. The limit is higher by this run, so that such a row is not divided because of it.
  const int64_t maxPoints =
      baseline ? kMaxRowPoints : kMaxSharedRowPoints + (tile.shiftedRows ? tile.run : 0);
  // A longer row is divided into equal chunks of whole runs.
  const int64_t chunks = (perLane + maxPoints - 1) / maxPoints;
  const int64_t runs = (perLane / tile.run + chunks - 1) / chunks;
  tile.result.back() = runs * tile.run;
  return tile;
}

} // namespace gantry::codegen
