// Which register tile an invocation computes, chosen by predicted cost for a device profile.
//
// The cost of a tile is what one invocation does (counted by KernelEvaluator in its counting mode,
// so by the very walk that emits the kernel), weighted per kind of operation, times the number of
// invocations, or times the number that fills the device where there are fewer. The search is
// coordinate descent from one point and from the best blocks in two dimensions: the size that
// lowers the cost most is taken until none does.
//
// Where the profile has subgroup shuffles and there is a reduction, tiles that a subgroup shares
// are compared too: an outer product of what the lanes hold along one dimension and what they load
// in turn along another. (Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra",
// 2008: operands in registers instead of in shared memory.)
//
// Threads: pure.
#pragma once

#include "codegen/tiling/kernel_evaluator.h"
#include "engine/base/device_profile.h"

#include <string>
#include <vector>

namespace gantry::codegen {

enum class TileKind {
  baseline, // for any device: no subgroup operations, no texel buffers, no shared memory
  texel,    // for devices that read texels fastest: a subgroup may share a tile
  staged,   // operands go through shared memory
  matrices, // and the device's matrices multiply them
  dots,     // as the baseline, with the device's dot products of bytes
};

struct TileChoice {
  TileShape tile;
  double predictedCost = 0; // weighted operations, all invocations
  int32_t candidates = 0;   // how many tiles were compared
  uint32_t boxesBytes = 0;  // of all boxes in shared memory, some in the same place
  uint32_t sharedBytes = 0; // of a workgroup
  std::vector<std::string>
      ladder{}; // staged tiles: each candidate, cheapest first, and what came of it
  std::vector<std::string> remarks{}; // on a measured tile, taken or not
};

/// Whether the kernel sums products of bytes, and fours of them.
bool hasDotProducts(mlir::func::FuncOp kernel);

/// `kernel`: the outlined function, tensors then dims → one tensor. kind: baseline, texel, or dots
/// (of a kernel that has such).
/// candidate: the tile with so many cheaper ones among those that were compared; the cheapest where
/// there is none.
TileChoice chooseTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                      size_t candidate = 0);

/// The cheapest staged tile of a ladder that fits into the profile's shared memory. If it
/// multiplies matrices, which a device's driver may not offer, the cheapest that does not comes
/// before it. Empty where none fits, or staging brings nothing: the kernel's baseline serves.
/// candidate: so many that fit are passed over. measured: not the cheapest, but that with this
/// exact text (tile_text.h); empty where it is not on the ladder or does not fit.
std::vector<TileChoice> chooseStagedTiles(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                          size_t candidate = 0, const std::string &measured = {});

/// The tile of a kernel over rows with such a result: a row is shared by a subgroup, or by no one,
/// so there is nothing to search. baseline: without subgroup operations.
TileShape rowTile(mlir::RankedTensorType type, const DeviceProfile &profile, bool baseline);

/// The tile that an exact text tells, of the kind baseline or texel; an error where the kernel
/// cannot have it on such a device: then its reason (measured_tile.cpp).
Result<TileChoice> measuredTile(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                TileKind kind, const std::string &text);

/// The extents of the kernel's result, and of its reductions' loops; kDynamic where the inputs
/// decide.
struct KernelExtents {
  llvm::SmallVector<int64_t> result, reduction;
};
KernelExtents extentsOf(mlir::func::FuncOp kernel);

} // namespace gantry::codegen
