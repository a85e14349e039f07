// Chooses the tile of a kernel by predicted cost (tile_cost.h) for a device profile. A tile is the
// part of the kernel's result that one invocation, subgroup or workgroup computes, together
// with how it is computed (tile_shape.h). A point is one element of the result.
//
// Tiles that one invocation computes in registers are found by coordinate descent. The descents
// start from a tile of one point, from the cheapest blocks (tiles with several points along two
// dimensions) and, if the sum is short, from the cheapest block that unrolls all its steps. For
// devices that prefer texel loads (loads through texel buffers), tiles that a subgroup shares
// (lane_tiles.h) are compared as well. The tiles that stage operands in shared memory are sorted by
// cost, and the cheapest that fits is taken (staged_tiles.cpp).
//
// In all functions, `kernel` is the function on tensors into which the pass outline-kernels moved a
// kernel's operations. It takes tensors, then the sizes of their dynamic dimensions, and returns
// one tensor, or the rows and the positions of a scatter (which stores each row at its position).
// No function changes the kernel.
//
// A row kernel has several reductions over each row of its result, as a softmax has. An attention
// is softmax(queries · keysᵀ) · values (attention.h).
//
// Threads: pure.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace gantry::codegen {

struct TileChoice {
  TileShape tile;
  // The predicted cost of one tile (tile_cost.h). It is 0 for staged tiles and measured tiles.
  double tileCost = 0;
  int32_t candidates = 0;   // The number of tiles that were compared.
  uint32_t boxesBytes = 0;  // The bytes of all boxes (parts of tensors in shared memory).
  uint32_t sharedBytes = 0; // Shared memory of a workgroup; below boxesBytes if boxes share bytes.
  // For staged tiles: one line for each candidate, which says why it is taken or not. Candidates
  // whose boxes could not be placed are first, then the others, cheapest first.
  std::vector<std::string> comparison{};
  // Says that the tile comes from a table of measured tiles (`gantry tune`), or why the table's
  // tile was not taken.
  std::vector<std::string> remarks{};
};

/// Returns whether all reductions of the kernel sum int8 products (byteFactorsOf in
/// linalg_patterns.h) and the steps along one of the kernel's reduction dimensions divide into
/// groups of four.
bool hasDotProducts(mlir::func::FuncOp kernel);

/// Every Vulkan device can bind a storage buffer of this size. Many cannot bind a larger one.
constexpr int64_t kMinBindingBytes = int64_t(1) << 27;

/// The extent that each dynamic dimension of a result is assumed to have unless a caller says
/// otherwise.
constexpr int64_t kTypicalDynamicExtent = 64;

/// Returns whether the lanes (invocations) of a subgroup may share a tile of this kind. The kinds
/// are listed in codegen/dialect/GantryAttributes.td.
inline bool sharesTiles(TileKind kind) {
  return kind == TileKind::kTexel || kind == TileKind::kSubgroup;
}

/// Returns the cheapest tile. kind: kBaseline, kTexel, or, if hasDotProducts(kernel), kDots.
/// candidate: skip this many cheaper tiles; if there are fewer, return the cheapest. For row
/// kernels and attentions `candidate` is ignored. dynamicExtent: the extent that each dynamic
/// dimension of the result is assumed to have.
TileChoice chooseTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                      size_t candidate = 0, int64_t dynamicExtent = kTypicalDynamicExtent);

/// Returns the cheapest staged tile that fits into the profile's shared memory. If this tile uses
/// cooperative matrices, the cheapest fitting tile without them comes before it in the result, for
/// devices whose driver does not offer the matrices.
///
/// The result is empty for row kernels, attentions and scatters. It is also empty if no tile fits,
/// or if no operand has elements that a workgroup reads at least twice on average. The caller then
/// uses the kernel's baseline, which needs no shared memory. candidate: skip this many tiles that
/// fit; the result is empty if no other fits. measured: if not empty, take the tile with this exact
/// text (tile_text.h) instead of the cheapest; the result is empty if no candidate has this text or
/// if the tile does not fit.
std::vector<TileChoice> chooseStagedTiles(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                          size_t candidate = 0, const std::string &measured = {});

/// Returns the tiles of a row kernel with this result type: those with which one invocation
/// computes a row and, if sharesTiles(kind) and the row has at least two elements per lane, also
/// those with which a subgroup computes a row. If some of these tiles hold a whole row in
/// registers, only they are returned.
std::vector<TileShape> rowTiles(mlir::RankedTensorType type, const DeviceProfile &profile,
                                TileKind kind);

/// Returns the tiles with which one invocation, or a subgroup, reduces a row of an operand to one
/// point of the result. There are none unless the kernel has one reduction, over one dimension of
/// static extent, the elements of an operand are neighbours in memory along this dimension, and the
/// row has at least 8 elements. kind: kTexel or kSubgroup.
std::vector<TileShape> reducedRowTiles(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                       TileKind kind);

/// Returns the cheapest of the tiles with which a subgroup processes or reduces a row, or computes
/// a part of an attention. Returns nullopt if the kernel has no such tile, or if one of `others` is
/// cheaper. Call it only for devices that do not prefer texel loads; for other devices, these tiles
/// are among those of chooseTile() for kTexel.
std::optional<TileChoice> chooseSubgroupTile(mlir::func::FuncOp kernel,
                                             const DeviceProfile &profile,
                                             llvm::ArrayRef<TileShape> others);

/// Returns the tile with this exact text (tile_text.h). kind: kBaseline, kTexel, kSubgroup or
/// kDots. Fails with kInvalidArgument and the reason if the text is not a tile or if the kernel
/// cannot have this tile on such a device.
Result<TileChoice> measuredTile(mlir::func::FuncOp kernel, const DeviceProfile &profile,
                                TileKind kind, const std::string &text);

/// The extents of the kernel's result, and of the loops of all its reductions. Dynamic extents are
/// kDynamic. Where a number is needed, `dynamicExtent` is taken for a dynamic extent of the result.
struct KernelExtents {
  llvm::SmallVector<int64_t> result, reduction;
  // The largest known divisor of each: the extent itself if it is static.
  llvm::SmallVector<int64_t> resultDivisors, reductionDivisors;
  int64_t dynamicExtent = kTypicalDynamicExtent;

  /// The extent of the result along a tile dimension: a dimension of the result, or several merged
  /// ones (TileShape::merged).
  struct Span {
    int64_t extent = 1;  // `dynamicExtent` for each dynamic dimension.
    int64_t divisor = 1; // A known divisor of the extent: the extent itself if it is static.
    bool isDynamic = false;
  };
  /// Returns the extents along the tile dimensions.
  llvm::SmallVector<Span> spansOf(const TileShape &tile) const;
  /// Returns the result's extents, with `dynamicExtent` for each that is dynamic.
  llvm::SmallVector<int64_t> assumedResult() const {
    llvm::SmallVector<int64_t> assumed(result);
    for (int64_t &extent : assumed)
      if (mlir::ShapedType::isDynamic(extent))
        extent = dynamicExtent;
    return assumed;
  }
};
KernelExtents extentsOf(mlir::func::FuncOp kernel);

} // namespace gantry::codegen
