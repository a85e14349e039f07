#include "codegen/tiling/tile_choice.h"

#include <algorithm>
#include <cmath>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Relative to one multiplication or addition of a whole subgroup. A load through a storage buffer
// costs the software device a loop over its lanes; GPUs hide most of it, but the ratio between
// tiles is the same. Carried accumulators cost the software device one blend per step.
constexpr double kScalarLoad = 24, kVectorLoad = 30, kStore = 24, kLoopStep = 1, kInvocation = 30;
constexpr int64_t kMaxUnrolledPoints = 512;
constexpr double kTypicalDynamicExtent = 64;

struct Search {
  func::FuncOp kernel;
  const DeviceProfile &profile;
  llvm::SmallVector<int64_t> resultShape, reductionShape; // kDynamic where the inputs decide
  int32_t candidates = 0;

  double cost(const TileShape &tile) {
    ++candidates;
    KernelEvaluator evaluator(kernel, tile, nullptr, {}, {});
    llvm::SmallVector<Value> none(resultShape.size());
    evaluator.run(none);
    const OperationCounts &counts = evaluator.counts();
    double each = counts.scalarLoads * kScalarLoad + counts.vectorLoads * kVectorLoad +
                  counts.stores * kStore + counts.arithmetic + counts.loopSteps * kLoopStep +
                  kInvocation;
    double invocations = 1;
    for (auto [extent, points] : llvm::zip(resultShape, tile.result))
      invocations *= ShapedType::isDynamic(extent)
                         ? std::ceil(kTypicalDynamicExtent / points)
                         : static_cast<double>((extent + points - 1) / points);
    // Fewer invocations than fill the device leave the rest of it idle.
    double filling = 32.0 * std::max<uint32_t>(profile.subgroupSize, 1);
    return each * std::max(invocations, filling);
  }
};

/// Sizes worth trying for a dimension: powers of two up to 16, and the extent or a divisor of it
/// where that avoids a ragged edge.
llvm::SmallVector<int64_t> sizesFor(int64_t extent) {
  llvm::SmallVector<int64_t> sizes;
  if (ShapedType::isDynamic(extent))
    return {1, 2, 4};
  for (int64_t size = 1; size <= 16 && size <= extent; ++size)
    if ((size & (size - 1)) == 0 || extent % size == 0)
      sizes.push_back(size);
  return sizes;
}

llvm::SmallVector<int64_t> unrollsFor(int64_t extent) {
  llvm::SmallVector<int64_t> sizes{1};
  if (ShapedType::isDynamic(extent))
    return sizes;
  for (int64_t size = 2; size <= 16 && size <= extent; ++size)
    if (extent % size == 0)
      sizes.push_back(size);
  return sizes;
}

} // namespace

TileChoice chooseTile(func::FuncOp kernel, const DeviceProfile &profile) {
  Search search{kernel, profile, {}, {}};
  Value result = kernel.getBody().front().getTerminator()->getOperand(0);
  auto type = cast<RankedTensorType>(result.getType());
  search.resultShape.assign(type.getShape().begin(), type.getShape().end());
  kernel.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    llvm::SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    auto ranges = op.getStaticLoopRanges();
    for (unsigned dim : dims)
      search.reductionShape.push_back(ranges[dim]);
  });

  TileShape best{llvm::SmallVector<int64_t>(search.resultShape.size(), 1),
                 llvm::SmallVector<int64_t>(search.reductionShape.size(), 1)};
  double bestCost = search.cost(best);
  int64_t maxPoints = std::max<uint32_t>(profile.registerTileElements, 4);
  auto product = [](llvm::ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes)
      result *= size;
    return result;
  };
  for (bool improved = true; improved;) {
    improved = false;
    TileShape current = best;
    auto tryDimension = [&](llvm::SmallVector<int64_t> TileShape::*which, size_t d,
                            llvm::ArrayRef<int64_t> sizes) {
      for (int64_t size : sizes) {
        TileShape candidate = current;
        if ((candidate.*which)[d] == size)
          continue;
        (candidate.*which)[d] = size;
        int64_t points = product(candidate.result);
        if (points > maxPoints || points * product(candidate.reduction) > kMaxUnrolledPoints)
          continue;
        double cost = search.cost(candidate);
        if (cost < bestCost * 0.999) {
          bestCost = cost;
          best = candidate;
          improved = true;
        }
      }
    };
    for (size_t d = 0; d < search.resultShape.size(); ++d)
      tryDimension(&TileShape::result, d, sizesFor(search.resultShape[d]));
    for (size_t q = 0; q < search.reductionShape.size(); ++q)
      tryDimension(&TileShape::reduction, q, unrollsFor(search.reductionShape[q]));
  }
  return {best, bestCost, search.candidates};
}

std::string describeTile(const TileShape &tile) {
  std::string text = tile.result.empty() ? "1" : "";
  for (size_t d = 0; d < tile.result.size(); ++d) {
    if (d)
      text += "x";
    text += std::to_string(tile.result[d]);
  }
  text += text == "1" ? " point" : " points";
  int64_t unrolled = 1;
  for (int64_t size : tile.reduction)
    unrolled *= size;
  if (unrolled > 1)
    text += ", reduction unrolled " + std::to_string(unrolled);
  return text;
}

} // namespace gantry::codegen
