// Whether a kernel can have a tile that someone else chose: what the evaluator and emit-kernels
// take for granted of the tiles that tile_choice.cpp makes.
#include "codegen/tiling/attention.h"
#include "codegen/tiling/structure.h"
#include "codegen/tiling/tile_choice.h"
#include "codegen/tiling/tile_text.h"

#include <functional>
#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Of points times steps in one body: far above what pays, below what takes long to compile.
constexpr int64_t kMostUnrolled = 8192;

Status misfit(const std::string &why) { return Status(StatusCode::kInvalidArgument, why); }

int64_t productOf(llvm::ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), [](int64_t a, int64_t b) {
    return std::min(a * b, kMostUnrolled + 1); // sizes are at most 65536
  });
}

std::string number(int64_t value) { return std::to_string(value); }

Status checkSteps(const TileShape &tile, llvm::ArrayRef<int64_t> extents) {
  if (tile.reduction.size() != extents.size())
    return misfit("it has " + number(tile.reduction.size()) + " steps, the kernel " +
                  number(extents.size()) + " reduction dimensions");
  for (auto [steps, extent] : llvm::zip(tile.reduction, extents))
    if (steps > 1 && (ShapedType::isDynamic(extent) || extent % steps != 0))
      return misfit(number(steps) + " steps do not divide a reduction over " +
                    (ShapedType::isDynamic(extent) ? "an unknown extent" : number(extent)));
  return {};
}

Status checkLanes(const TileShape &tile, llvm::ArrayRef<int64_t> space,
                  const DeviceProfile &profile) {
  if (tile.lanes == 1)
    return tile.run == 1 ? Status() : misfit("runs are of tiles with lanes");
  if (tile.lanes != static_cast<int64_t>(profile.subgroupSize))
    return misfit(number(tile.lanes) + " lanes are not a subgroup of " +
                  number(profile.subgroupSize));
  if (tile.laneDim >= space.size())
    return misfit("its lanes lie along dimension " + number(tile.laneDim) + " of " +
                  number(space.size()));
  if (llvm::any_of(space, ShapedType::isDynamic))
    return misfit("lanes need extents that are known");
  if (tile.result[tile.laneDim] % tile.run != 0 || space[tile.laneDim] % tile.run != 0 ||
      space[tile.laneDim] == 0)
    return misfit("runs of " + number(tile.run) + " do not divide " +
                  number(tile.result[tile.laneDim]) + " points of " + number(space[tile.laneDim]));
  return {};
}

} // namespace

Result<TileChoice> measuredTile(func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                                const std::string &text) {
  if (kernel->hasAttr("gantry.rows"))
    return misfit("a kernel over rows has one tile only");
  if (attentionIn(kernel))
    return misfit("attentions have tiles of their own");
  GANTRY_ASSIGN_OR_RETURN(TileShape tile, parseTile(text));
  const KernelExtents extents = extentsOf(kernel);
  if (tile.merged != ~0u && (tile.merged >= extents.result.size() ||
                             llvm::any_of(extents.result, ShapedType::isDynamic) ||
                             llvm::is_contained(extents.result, 0)))
    return misfit("dimensions from " + number(tile.merged) + " on cannot be merged");
  const llvm::SmallVector<int64_t> space = tile.spaceOf(extents.result);
  if (tile.result.size() != space.size())
    return misfit("it has points along " + number(tile.result.size()) +
                  " dimensions, the kernel's result " + number(space.size()));
  if (kind != TileKind::texel && tile.lanes > 1)
    return misfit("a baseline's tile has no lanes");
  if (tile.dots != (kind == TileKind::dots))
    return misfit(tile.dots ? "dot products are not of its kind" : "it has no dot products");
  GANTRY_RETURN_IF_ERROR(checkSteps(tile, extents.reduction));
  if (tile.dots &&
      (!hasDotProducts(kernel) || tile.reduction[*dotDimensionOf(extents.reduction)] % 4 != 0))
    return misfit("the kernel has no fours of products of bytes in such steps");
  GANTRY_RETURN_IF_ERROR(checkLanes(tile, space, profile));
  if (productOf({productOf(tile.result), productOf(tile.reduction)}) > kMostUnrolled)
    return misfit("it has more than " + number(kMostUnrolled) + " points times steps");
  KernelEvaluator evaluator(kernel, tile, nullptr, {}, {});
  llvm::SmallVector<Value> none(space.size());
  evaluator.run(none, {});
  if (evaluator.unsupported())
    return misfit("the kernel cannot be computed in such tiles");
  return TileChoice{tile, 0, 1};
}

} // namespace gantry::codegen
