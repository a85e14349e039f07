// Implements measuredTile() of tile_choice.h: checks whether a kernel can have a tile from a table
// of measured tiles. Kernel generation relies on the conditions that this file checks; the tiles
// that tile_choice.cpp finds meet them by construction.
#include "codegen/tiling/attention.h"
#include "codegen/tiling/emitter/kernel_emitter.h"
#include "codegen/tiling/sink/counting_sink.h"
#include "codegen/tiling/linalg_patterns.h"
#include "codegen/tiling/tile_choice.h"
#include "codegen/tiling/tile_text.h"

#include <functional>
#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Limit on points times unrolled steps. The fastest tiles are far below it, and kernels at the
// limit still compile quickly.
constexpr int64_t kMaxMeasuredUnroll = 8192;

Status misfit(const std::string &why) { return Status(StatusCode::kInvalidArgument, why); }

/// Returns the product of the sizes, or kMaxMeasuredUnroll + 1 if it is larger.
int64_t productOf(llvm::ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), [](int64_t a, int64_t b) {
    return std::min(a * b, kMaxMeasuredUnroll + 1); // Does not overflow: sizes are at most 65536.
  });
}

std::string number(int64_t value) { return std::to_string(value); }

Status checkSteps(const TileShape &tile, const KernelExtents &extents) {
  if (tile.reduction.size() != extents.reduction.size())
    return misfit("it has steps for " + number(tile.reduction.size()) +
                  " reduction dimensions, but the kernel has " + number(extents.reduction.size()));
  for (auto [steps, extent, divisor] :
       llvm::zip(tile.reduction, extents.reduction, extents.reductionDivisors))
    if (steps > 1 && divisor % steps != 0 &&
        !(tile.mayHaveRest() && !ShapedType::isDynamic(extent) && extent >= 2 * steps))
      return misfit(number(steps) + " steps do not divide a reduction over " +
                    (ShapedType::isDynamic(extent) ? "an unknown extent" : number(extent)));
  return {};
}

Status checkLanes(const TileShape &tile, llvm::ArrayRef<KernelExtents::Span> space,
                  const DeviceProfile &profile) {
  if (tile.lanes == 1)
    return tile.run == 1 ? Status() : misfit("only tiles with lanes have runs");
  if (tile.lanes != static_cast<int64_t>(profile.subgroupSize))
    return misfit(number(tile.lanes) + " lanes are not the subgroup size, " +
                  number(profile.subgroupSize));
  if (tile.laneDim >= space.size())
    return misfit("its lanes lie along dimension " + number(tile.laneDim) + ", but the tile has " +
                  number(space.size()) + " dimensions");
  const KernelExtents::Span &along = space[tile.laneDim];
  // The last run of a static extent may be partial, except in tiles with one dimension.
  const bool mayBePartial = !along.isDynamic && space.size() > 1;
  if (tile.result[tile.laneDim] % tile.run != 0 || along.divisor == 0 ||
      (along.divisor % tile.run != 0 && !mayBePartial))
    return misfit("runs of " + number(tile.run) + " do not divide the " +
                  number(tile.result[tile.laneDim]) + " points of a lane and " +
                  (along.isDynamic ? "any extent" : "the extent " + number(along.extent)));
  return {};
}

} // namespace

Result<TileChoice> measuredTile(func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                                const std::string &text) {
  if (isOverRows(kernel))
    return misfit("a row kernel has only one tile");
  if (attentionIn(kernel))
    return misfit("an attention kernel takes no measured tile");
  if (sharesTiles(kind))
    for (const TileShape &row : reducedRowTiles(kernel, profile, kind))
      if (exactTile(row) == text)
        return TileChoice{row, 0, 1};
  GANTRY_ASSIGN_OR_RETURN(TileShape tile, parseTile(text));
  const KernelExtents extents = extentsOf(kernel);
  if (tile.merged != ~0u &&
      (tile.merged >= extents.result.size() || llvm::is_contained(extents.result, 0)))
    return misfit("dimensions from " + number(tile.merged) +
                  " on cannot be merged: the result must have more dimensions, all with extents "
                  "above 0");
  const llvm::SmallVector<KernelExtents::Span> space = extents.spansOf(tile);
  if (tile.result.size() != space.size())
    return misfit("it has points along " + number(tile.result.size()) +
                  " dimensions, but the kernel's result has " + number(space.size()));
  if (kind != TileKind::kTexel && tile.lanes > 1)
    return misfit("a baseline tile has no lanes");
  if (tile.dots != (kind == TileKind::kDots))
    return misfit(tile.dots ? "a tile of this kind has no dot products"
                            : "a tile of the kind dots needs the word dots");
  GANTRY_RETURN_IF_ERROR(checkSteps(tile, extents));
  if (tile.dots &&
      (!hasDotProducts(kernel) || tile.reduction[*dotDimensionOf(extents.reduction)] % 4 != 0))
    return misfit("dot products need sums of int8 products and a multiple of four steps");
  GANTRY_RETURN_IF_ERROR(checkLanes(tile, space, profile));
  if (productOf({productOf(tile.result), productOf(tile.reduction)}) > kMaxMeasuredUnroll)
    return misfit("its points times steps are more than " + number(kMaxMeasuredUnroll));
  IndexSpace indices;
  CountingSink sink;
  KernelEmitter(kernel, tile, kind == TileKind::kTexel, indices, sink).emit();
  if (sink.unsupported())
    return misfit("the kernel cannot be computed in such tiles");
  return TileChoice{tile, 0, 1};
}

} // namespace gantry::codegen
