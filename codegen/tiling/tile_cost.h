// Predicts the cost of a kernel with a given tile.
//
// The cost of a tile is the weighted number of operations of one invocation, times the number of
// invocations. If a kernel has fewer invocations than the device needs to be busy, the device's
// number is taken instead. The code that emits the kernel counts the operations
// (emitter/kernel_emitter.h with a CountingSink). The weight of an operation is its time relative
// to that of an addition, where a whole subgroup executes each of them. Costs under different cost
// models cannot be compared.
//
// Threads: pure.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace gantry::codegen {

/// How a kernel accesses memory, which determines the weights of loads and stores.
enum class CostModel : uint8_t { kStorageBuffers, kTexels, kStaged };

/// The model with which kernels of this kind can be compared with the profile's other kernels.
CostModel costModelOf(const DeviceProfile &profile, TileKind kind);

struct PredictedTile {
  double cost = 0;           // The cost of the whole kernel.
  double tileCost = 0;       // The cost of one tile.
  double buildMs = 0;        // Under kTexels, the time that the driver takes to compile the kernel.
  double accesses = 0;       // The loads and stores of one invocation, shared memory excluded.
  double vectorAccesses = 0; // Those of vectors.
  bool isSupported = true;   // False: the kernel cannot be computed with this tile.
  std::vector<int64_t> boxWords{}; // Sizes of the boxes (tile_shape.h), in words of 4 bytes.
  bool resultInPool = false;       // The last box holds the result and is needed after all others.
};

/// Predicts the cost of the kernel (the outlined function on tensors) with this tile. resultShape:
/// the result's extents, or those that are assumed where they are dynamic.
PredictedTile predictTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
                          const TileShape &tile, llvm::ArrayRef<int64_t> resultShape);

} // namespace gantry::codegen
