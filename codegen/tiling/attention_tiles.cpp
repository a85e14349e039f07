// Implements attentionTiles() of attention.h: the candidate tiles of attention kernels.
#include "codegen/tiling/attention.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cassert>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Limits per lane and block of keys. A block is the keys whose scores the lanes hold at a time
// (emitter/online_softmax.h).
constexpr int64_t kMaxSums = 128, kMaxScores = 128; // Accumulators of the result, and scores.
constexpr int64_t kMaxUnrolledSums = 4096;          // Multiplications of weights by values.
constexpr int64_t kMaxUnrolledScores = 1024; // Multiplications in a round of the scores' matmul.
// Numbers of unrolled steps of the scores' matmul; the first that its reduction may have is used.
constexpr int64_t kSteps[] = {8, 4};

/// Follows a loop of `product`, the attention's second matmul, through the operations between it
/// and the kernel's result. Returns the dimension of the result whose index is the loop's counter,
/// or none. A slice among these operations has the rank of its operand and begins at index 0 of
/// each dimension (isCornerSlice in fusion_groups.cpp), so it changes no index.
std::optional<unsigned> resultDimOf(linalg::GenericOp product, unsigned loop) {
  linalg::GenericOp op = product;
  while (true) {
    std::optional<unsigned> position =
        op.getIndexingMapsArray().back().getResultPosition(getAffineDimExpr(loop, op.getContext()));
    Value value = op.getResult(0);
    if (!position || value.use_empty())
      return std::nullopt;
    OpOperand *use = &*value.getUses().begin();
    while (auto slice = dyn_cast<tensor::ExtractSliceOp>(use->getOwner()))
      use = &*slice->getUses().begin();
    op = dyn_cast<linalg::GenericOp>(use->getOwner());
    if (!op) // The function returns the value.
      return position;
    auto dim = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(use).getResult(*position));
    if (!dim)
      return std::nullopt;
    loop = dim.getPosition();
  }
}

int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

} // namespace

std::vector<TileShape> attentionTiles(func::FuncOp kernel, const Attention &attention,
                                      const DeviceProfile &profile, TileKind kind) {
  linalg::GenericOp product = attention.product, scores;
  for (linalg::GenericOp member : attention.members)
    if (factorsOf(member))
      scores = member;
  const AffineMap read = product.getMatchingIndexingMap(attention.weights);
  const auto extents = product.getStaticLoopRanges();
  const auto valueDim = resultDimOf(product, attention.valueLoop());
  std::optional<unsigned> rowDim;
  for (AffineExpr expr : llvm::reverse(read.getResults().drop_back()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && !rowDim)
      rowDim = resultDimOf(product, loop.getPosition());
  assert(valueDim && "only permutations, elementwise operators and corners follow an attention");
  const int64_t keys = extents[attention.keyLoop()];
  const auto result = cast<RankedTensorType>(kernel.getResultTypes().front());
  // A slice after `product` may leave fewer elements along this dimension than `product` computes.
  // It may end within a run only if its extent is static (TileShape).
  const bool isStatic = !result.isDynamicDim(*valueDim);
  const int64_t computed = extents[attention.valueLoop()];
  const int64_t values = isStatic ? result.getDimSize(*valueDim) : computed;

  TileShape tile;
  tile.result.assign(result.getRank(), 1);
  tile.lanes = sharesTiles(kind) ? profile.subgroupSize : 1;
  tile.laneDim = *valueDim;
  tile.run = isStatic && computed >= 4 && tile.lanes > 1 ? 4 : 1;
  tile.result[*valueDim] = roundUp(values, tile.run * tile.lanes) / tile.lanes;
  llvm::SmallVector<unsigned> reduced;
  scores.getReductionDims(reduced);
  tile.reduction.assign(reduced.size(), 1);
  const int64_t depth = scores.getStaticLoopRanges()[reduced.back()];
  for (int64_t steps : kSteps)
    if (depth % steps == 0 || (tile.mayHaveRest() && depth >= 2 * steps)) {
      tile.reduction.back() = steps;
      break;
    }
  std::vector<TileShape> tiles;
  const int64_t sums =
      sharesTiles(kind) ? kMaxSums : std::max<int64_t>(profile.registerTileElements, 4);
  for (int64_t rows : {1, 2, 4, 8, 16, 32}) {
    if (rows > 1 && (!rowDim || rows * tile.result[*valueDim] > sums))
      break;
    if (rowDim)
      tile.result[*rowDim] = rows;
    for (int64_t held : {1, 2, 4, 8}) {
      for (int64_t run : {1, 4}) {
        tile.keys = held;
        tile.keyRun = run;
        const int64_t block = held * tile.lanes;
        const bool whole = run == 1 || (!ShapedType::isDynamic(keys) && keys % run == 0);
        if (held % run != 0 || !whole || rows * held > kMaxScores ||
            (held > run && !ShapedType::isDynamic(keys) && keys <= block / 2) ||
            rows * held * tile.reduction.back() > kMaxUnrolledScores ||
            rows * tile.result[*valueDim] * block > kMaxUnrolledSums)
          continue;
        tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

} // namespace gantry::codegen
