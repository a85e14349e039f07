#include "codegen/tiling/tile_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Relative to one multiplication or addition of a whole subgroup. A load through a storage buffer
// costs the software device a loop over its lanes; GPUs hide most of it, but the ratio between
// tiles is the same. Carried accumulators cost the software device one blend per step.
constexpr double kScalarLoad = 24, kVectorLoad = 30, kStore = 24, kLoopStep = 1, kInvocation = 30;
constexpr int64_t kMaxUnrolledPoints = 512;
constexpr double kTypicalDynamicExtent = 64;
constexpr double kSubgroupsToFill = 32, kInvocationsToFillUnknown = 2048;

constexpr size_t kStarts = 4;

struct Candidate {
  TileShape tile;
  double cost;
};

struct Search {
  func::FuncOp kernel;
  const DeviceProfile &profile;
  llvm::SmallVector<int64_t> resultShape, reductionShape; // kDynamic where the inputs decide
  int32_t candidates = 0;

  static int64_t product(llvm::ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  }

  bool allowed(const TileShape &tile) const {
    int64_t points = product(tile.result);
    return points <= std::max<int64_t>(profile.registerTileElements, 4) &&
           points * product(tile.reduction) <= kMaxUnrolledPoints;
  }

  /// Changes one size at a time, the one that lowers the cost most, until none does.
  void descend(Candidate &from);

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
    double filling = profile.subgroupSize > 1 ? kSubgroupsToFill * profile.subgroupSize
                                              : kInvocationsToFillUnknown;
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

int64_t blockFor(int64_t extent, int64_t limit) {
  if (ShapedType::isDynamic(extent))
    return 4;
  llvm::SmallVector<int64_t> sizes = sizesFor(extent);
  int64_t block = 1;
  for (int64_t size : sizes)
    if (size <= limit && (size % 4 == 0 || extent % size == 0))
      block = size;
  return block;
}

void Search::descend(Candidate &from) {
  for (bool improved = true; improved;) {
    improved = false;
    TileShape current = from.tile;
    auto tryDimension = [&](llvm::SmallVector<int64_t> TileShape::*which, size_t d,
                            llvm::ArrayRef<int64_t> sizes) {
      for (int64_t size : sizes) {
        TileShape candidate = current;
        if ((candidate.*which)[d] == size)
          continue;
        (candidate.*which)[d] = size;
        if (!allowed(candidate))
          continue;
        double predicted = cost(candidate);
        if (predicted < from.cost * 0.999) {
          from = {candidate, predicted};
          improved = true;
        }
      }
    };
    for (size_t d = 0; d < resultShape.size(); ++d)
      tryDimension(&TileShape::result, d, sizesFor(resultShape[d]));
    for (size_t q = 0; q < reductionShape.size(); ++q)
      tryDimension(&TileShape::reduction, q, unrollsFor(reductionShape[q]));
  }
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

  TileShape one{llvm::SmallVector<int64_t>(search.resultShape.size(), 1),
                llvm::SmallVector<int64_t>(search.reductionShape.size(), 1)};
  std::vector<Candidate> starts{{one, search.cost(one)}};
  // What pays is often a block in two dimensions, of which neither pays alone.
  for (size_t a = 0; a < search.resultShape.size(); ++a) {
    for (size_t b = a + 1; b < search.resultShape.size(); ++b) {
      for (int64_t limit : {4, 8}) {
        TileShape block = one;
        block.result[a] = blockFor(search.resultShape[a], limit);
        block.result[b] = blockFor(search.resultShape[b], limit);
        if (block.result[a] > 1 && block.result[b] > 1 && search.allowed(block))
          starts.push_back({block, search.cost(block)});
      }
    }
  }
  std::stable_sort(starts.begin() + 1, starts.end(),
                   [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
  starts.resize(std::min(starts.size(), kStarts));
  Candidate best = starts.front();
  for (Candidate start : starts) {
    search.descend(start);
    if (start.cost < best.cost)
      best = start;
  }
  return {best.tile, best.cost, search.candidates};
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
