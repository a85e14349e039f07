// Chooses the tile of a kernel by predicted cost (tile_cost.h) for a device profile.
//
// Register tiles are found by coordinate descent from a single point and from the best blocks in
// two dimensions. For devices with subgroup shuffles, tiles that a subgroup shares (lane_tiles.h)
// are compared as well. Tiles that stage operands in shared memory form a ladder
// (staged_tiles.cpp).
//
// Threads: pure.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace gantry::codegen {

struct TileChoice {
  TileShape tile;
  double predictedCost = 0; // Weighted operations of all invocations; see tile_cost.h.
  int32_t candidates = 0;   // How many tiles were compared.
  uint32_t boxesBytes = 0;  // The bytes of all boxes in shared memory. Boxes may share storage.
  uint32_t sharedBytes = 0; // The bytes of a workgroup's shared memory.
  // Staged tiles: each candidate, cheapest first, and whether it was taken or why not.
  std::vector<std::string> ladder{};
  std::vector<std::string> remarks{}; // About a measured tile, taken or not.
};

/// Whether the kernel's reductions sum int8 products, in groups of four.
bool hasDotProducts(mlir::func::FuncOp kernel);

/// The cheapest tile. `kernel`: the outlined function (tensors, then dims → one tensor). kind:
/// kBaseline, kTexel, or kDots (of a kernel that hasDotProducts).
/// candidate: take the tile that this many of the compared ones are cheaper than; the cheapest if
/// there is no such tile.
TileChoice chooseTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                      size_t candidate = 0);

/// The cheapest staged tile that fits into the profile's shared memory. If it has cooperative
/// matrices, which a device's driver may not offer, the cheapest one without them comes before it.
/// Empty if no tile fits or staging brings nothing: the kernel's baseline serves then.
/// candidate: pass over this many tiles that fit. measured: instead of the cheapest tile, take the
/// one with this exact text (tile_text.h); empty if it is not on the ladder or does not fit.
std::vector<TileChoice> chooseStagedTiles(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                          size_t candidate = 0, const std::string &measured = {});

/// The only tile of a row kernel with such a result: a subgroup shares a row. baseline: without
/// subgroup operations; one invocation takes a row.
TileShape rowTile(mlir::RankedTensorType type, const DeviceProfile &profile, bool baseline);

/// The tile with this exact text (tile_text.h), of the kind kBaseline, kTexel or kDots. An error,
/// which says why, if the kernel cannot have it on such a device.
Result<TileChoice> measuredTile(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                TileKind kind, const std::string &text);

/// The extents of the kernel's result, and of its reductions' loops; kDynamic where the inputs
/// decide.
struct KernelExtents {
  llvm::SmallVector<int64_t> result, reduction;
};
KernelExtents extentsOf(mlir::func::FuncOp kernel);

} // namespace gantry::codegen
