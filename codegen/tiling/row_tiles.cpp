// The tile of a row kernel: rowTile() of tile_choice.h.
#include "codegen/tiling/tile_choice.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// Limits on the elements of a row that an invocation holds in registers: in the baseline, and in
// other kernels.
constexpr int64_t kMaxRowPoints = 16, kMaxSharedRowPoints = 128;

} // namespace

TileShape rowTile(RankedTensorType type, const DeviceProfile &profile, bool baseline) {
  TileShape tile;
  tile.result.assign(type.getRank(), 1);
  tile.laneDim = type.getRank() - 1;
  tile.rowLength = type.getShape().back();
  tile.run = tile.rowLength % 4 == 0 ? 4 : 1;
  const int64_t lanes = baseline ? 1 : profile.subgroupSize;
  tile.lanes = tile.rowLength >= 2 * lanes ? lanes : 1;
  const int64_t perLane = (tile.rowLength / tile.run + tile.lanes - 1) / tile.lanes * tile.run;
  const int64_t maxPoints = baseline ? kMaxRowPoints : kMaxSharedRowPoints;
  // A longer row is divided into equal chunks of whole runs.
  const int64_t chunks = (perLane + maxPoints - 1) / maxPoints;
  const int64_t runs = (perLane / tile.run + chunks - 1) / chunks;
  tile.result.back() = runs * tile.run;
  return tile;
}

} // namespace gantry::codegen
