// Predicts what a kernel costs with a given tile.
//
// The cost of a tile is what one invocation does, weighted by kind of operation, times the number
// of invocations, or times the number that fills the device where there are fewer. The operations
// are counted by the walk that emits the kernel (emitter/kernel_emitter.h with a CountingSink). The
// unit is one multiplication or addition of a whole subgroup; costs of different models do not
// compare.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace gantry::codegen {

/// How a device accesses memory, which decides what its loads and stores cost.
enum class CostModel : uint8_t { kStorageBuffers, kTexels, kStaged };

struct PredictedTile {
  double cost = 0;
  bool isSupported = true;         // False: the kernel cannot be computed in such a tile.
  std::vector<int64_t> boxWords{}; // The boxes in shared memory, in words of 4 bytes.
  bool resultInPool = false;       // The last box is the result's, needed after all others.
};

PredictedTile predictTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
                          const TileShape &tile);

} // namespace gantry::codegen
