// Implements the functions of tile_choice.h that compare tiles, except chooseStagedTiles()
// (staged_tiles.cpp). The candidates of rows are in row_tiles.cpp, measured tiles in
// measured_tile.cpp.
#include "codegen/tiling/tile_choice.h"

#include "codegen/tiling/attention.h"
#include "codegen/tiling/emitter/kernel_shapes.h"
#include "codegen/tiling/lane_tiles.h"
#include "codegen/tiling/linalg_patterns.h"
#include "codegen/tiling/sink/counting_sink.h"
#include "codegen/tiling/tile_search.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr size_t kMaxStarts = 4;     // Max starts of descents, apart from that of a short sum.
constexpr int64_t kMaxShortSum = 64; // Max steps of a sum that may be unrolled as a whole.

/// Returns the tiles that descents start from: one point, and the cheapest blocks, which are tiles
/// with several points along two dimensions. A descent from one point may miss a block, because
/// growing one dimension alone may raise the cost. For the same reason the cheapest block that
/// unrolls all steps of a short sum, such as the window of a depthwise convolution, is a start too.
std::vector<CostedTile> startsOf(TileSearch &search, TileKind kind) {
  const KernelExtents &extents = search.extents();
  const size_t rank = extents.result.size();
  TileShape point{llvm::SmallVector<int64_t>(rank, 1),
                  llvm::SmallVector<int64_t>(extents.reduction.size(), 1)};
  if (kind == TileKind::kDots) {
    point.dots = true;
    point.reduction[*dotDimensionOf(extents.reduction)] = 4;
  }
  TileShape wholeSum = point;
  wholeSum.reduction = extents.reduction;
  const bool isShort = kind == TileKind::kTexel &&
                       volumeOf(point.reduction) < volumeOf(wholeSum.reduction) &&
                       llvm::none_of(extents.reduction, ShapedType::isDynamic) &&
                       volumeOf(extents.reduction) <= kMaxShortSum;
  std::vector<CostedTile> starts{search.costed(point)};
  std::optional<CostedTile> whole;
  const auto addBlocks = [&](const TileShape &from) {
    const auto space = from.spaceOf(extents.result);
    for (size_t a = 0; a < space.size(); ++a) {
      for (size_t b = a + 1; b < space.size(); ++b) {
        for (int64_t limit : {4, 8}) {
          TileShape block = from;
          block.result[a] = blockFor(space[a], limit);
          block.result[b] = blockFor(space[b], limit);
          if (block.result[a] == 1 || block.result[b] == 1)
            continue;
          if (search.allows(block))
            starts.push_back(search.costed(block));
          block.reduction = wholeSum.reduction;
          if (!isShort || !search.allows(block))
            continue;
          CostedTile unrolled = search.costed(block);
          if (!whole || unrolled.cost < whole->cost)
            whole = std::move(unrolled);
        }
      }
    }
  };
  addBlocks(point);
  // The rows of an image may begin at any address although the size of the whole image is a
  // multiple of a vector. Blocks of a tile that merges the rows of an image then consist of aligned
  // vectors.
  TileShape image = point;
  if (rank >= 3) {
    image.merged = static_cast<unsigned>(rank) - 2;
    image.result.pop_back();
    if (kind == TileKind::kTexel && extents.reduction.empty() &&
        extents.resultDivisors.back() % 4 != 0 && extents.spansOf(image).back().divisor % 4 == 0)
      addBlocks(image);
  }
  std::stable_sort(starts.begin() + 1, starts.end(),
                   [](const CostedTile &a, const CostedTile &b) { return a.cost < b.cost; });
  if (starts.size() > kMaxStarts)
    starts.erase(starts.begin() + kMaxStarts, starts.end());
  if (whole)
    starts.push_back(std::move(*whole));
  return starts;
}

} // namespace

llvm::SmallVector<KernelExtents::Span> KernelExtents::spansOf(const TileShape &tile) const {
  llvm::SmallVector<Span> spans;
  for (auto [d, extent] : llvm::enumerate(result)) {
    if (d <= tile.merged)
      spans.emplace_back();
    Span &span = spans.back();
    const bool isDynamic = ShapedType::isDynamic(extent);
    span.extent *= isDynamic ? dynamicExtent : extent;
    span.divisor *= resultDivisors[d];
    span.isDynamic |= isDynamic;
  }
  return spans;
}

KernelExtents extentsOf(func::FuncOp kernel) {
  auto type = cast<RankedTensorType>(kernel.getResultTypes().front());
  IndexSpace space;
  CountingSink sink;
  KernelShapes shapes(kernel, space, sink, {});
  KernelExtents extents;
  extents.result.assign(type.getShape().begin(), type.getShape().end());
  extents.resultDivisors = shapes.divisorsOf(shapes.result());
  kernel.walk([&](linalg::GenericOp op) {
    llvm::append_range(extents.reduction, reductionExtentsOf(op));
    llvm::SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    const auto loops = shapes.loopExtents(op);
    for (unsigned dim : dims)
      extents.reductionDivisors.push_back(space.divisor(loops[dim]));
  });
  return extents;
}

bool hasDotProducts(func::FuncOp kernel) {
  bool all = true;
  kernel.walk([&](linalg::GenericOp op) {
    all &= op.getNumReductionLoops() == 0 || byteFactorsOf(op).has_value();
  });
  return all && dotDimensionOf(extentsOf(kernel).reduction).has_value();
}

TileChoice chooseTile(func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                      size_t candidate, int64_t dynamicExtent) {
  const bool baseline = kind != TileKind::kTexel;
  TileSearch search(kernel, profile, baseline ? CostModel::kStorageBuffers : CostModel::kTexels,
                    /*keepsAll=*/candidate > 0, dynamicExtent);
  if (isOverRows(kernel)) {
    const auto tiles =
        rowTiles(cast<RankedTensorType>(kernel.getResultTypes().front()), profile, kind);
    TileChoice cheapest = search.cheapest(tiles);
    // If no tile works, emitting the kernel with any of them reports the operation at fault.
    if (!cheapest.tile.rowLength)
      cheapest.tile = tiles.front();
    return cheapest;
  }
  if (const auto attention = attentionIn(kernel)) {
    const auto tiles = attentionTiles(kernel, *attention, profile, kind);
    TileChoice cheapest = search.cheapest(tiles);
    if (cheapest.tile.result.empty()) // As above.
      cheapest.tile = tiles.front();
    return cheapest;
  }
  const std::vector<CostedTile> starts = startsOf(search, kind);
  CostedTile best = starts.front();
  for (CostedTile start : starts) {
    search.descend(start);
    if (start.cost < best.cost)
      best = std::move(start);
  }
  if (!baseline) {
    std::vector<TileShape> tiles = laneTiles(search.extents(), profile);
    llvm::append_range(tiles, reducedRowTiles(kernel, profile, kind));
    for (const TileShape &tile : tiles) {
      // If costs are equal, the tile that merges more dimensions is taken: it covers a contiguous
      // range of memory.
      const CostedTile other = search.costed(tile);
      if (other.cost < best.cost || (other.cost == best.cost && tile.merged < best.tile.merged))
        best = other;
    }
  }
  if (candidate > 0)
    best = search.ranked(best, candidate);
  return {best.tile, best.tileCost, search.compared()};
}

std::optional<TileChoice> chooseSubgroupTile(func::FuncOp kernel, const DeviceProfile &profile,
                                             llvm::ArrayRef<TileShape> others) {
  constexpr TileKind kKind = TileKind::kSubgroup;
  std::vector<TileShape> tiles;
  if (isOverRows(kernel))
    tiles = rowTiles(cast<RankedTensorType>(kernel.getResultTypes().front()), profile, kKind);
  else if (const auto attention = attentionIn(kernel))
    tiles = attentionTiles(kernel, *attention, profile, kKind);
  else
    tiles = reducedRowTiles(kernel, profile, kKind);
  llvm::erase_if(tiles, [](const TileShape &tile) { return tile.lanes < 2; });
  TileSearch search(kernel, profile, CostModel::kStaged);
  TileChoice choice = search.cheapest(tiles);
  if (choice.tile.result.empty())
    return std::nullopt;
  const double cost = search.costed(choice.tile).cost;
  if (llvm::any_of(others,
                   [&](const TileShape &other) { return search.costed(other).cost < cost; }))
    return std::nullopt;
  return choice;
}

} // namespace gantry::codegen
