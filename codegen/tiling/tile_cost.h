// Predicts the cost of a kernel with a given tile: the part of the kernel's result that one
// invocation, subgroup or workgroup computes (tile_shape.h).
//
// The cost of a kernel is the weighted number of operations of one invocation, times the number of
// invocations. If a kernel has fewer invocations than the device needs to be busy, the number that
// the device needs is taken instead. The code that emits the kernel counts the operations
// (emitter/kernel_emitter.h with a CountingSink, which builds nothing). The weight of an operation
// is the time in which a whole subgroup executes it, relative to that of an addition. Costs
// under different cost models cannot be compared.
//
// Threads: pure.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace gantry::codegen {

/// How a kernel accesses memory, which determines the weights of loads and stores. kStorageBuffers:
/// through storage buffers. kTexels: operands through texel buffers. Both have the weights of a
/// software device. kStaged: through storage buffers, with the weights of a GPU, whether or not
/// the kernel uses shared memory.
enum class CostModel : uint8_t { kStorageBuffers, kTexels, kStaged };

/// Returns the model for kernels of this kind that are generated for the profile. If the
/// profile prefers texel loads, texel kernels have kTexels and other kernels kStorageBuffers.
/// Otherwise all kernels have one model: kStaged if the profile stages operands in shared memory
/// (stageOperands) or knows a subgroup size above 1, and otherwise kStorageBuffers.
CostModel costModelOf(const DeviceProfile &profile, TileKind kind);

struct PredictedTile {
  double cost = 0;           // The cost of the whole kernel.
  double tileCost = 0;       // The cost of one tile.
  double buildMs = 0;        // The driver's time to compile the kernel under kTexels; else 0.
  double accesses = 0;       // The loads and stores of one invocation, shared memory excluded.
  double vectorAccesses = 0; // The part of `accesses` that loads or stores vectors.
  bool isSupported = true;   // Whether the kernel can be computed with this tile.
  // The sizes of the boxes, the parts of tensors in shared memory, in words of 4 bytes.
  std::vector<int64_t> boxWords{};
  // Whether the last box holds the result. It is used only after the others, so it may
  // share their memory.
  bool resultInPool = false;
};

/// Predicts the cost of the kernel, given as a function on tensors (tile_choice.h), with this tile.
/// resultShape: the result's extents, with an assumed number for each dynamic one.
PredictedTile predictTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
                          const TileShape &tile, llvm::ArrayRef<int64_t> resultShape);

} // namespace gantry::codegen
