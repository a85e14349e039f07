// Implements tile_search.h.
#include "codegen/tiling/tile_search.h"

#include "codegen/tiling/lane_tiles.h"
#include "codegen/tiling/sink/kernel_sink.h"
#include "codegen/tiling/tile_text.h"

#include <algorithm>
#include <limits>
#include <set>

namespace gantry::codegen {

using namespace mlir;

namespace {

// The limit on points times steps of a tile that unrolls all steps of a sum.
constexpr int64_t kMaxUnrolledSum = 4096;
// A tile replaces another if its cost is below this fraction of the other's cost.
constexpr double kMinGain = 0.999;
// The cost of a millisecond of the driver's compiler is kBuildShare for each loop step of a run of
// the program (KernelAttr's program_steps), but at least kMinBuildCost. The unit is the time of an
// addition (tile_cost.h). If a step takes as long as 1.3 additions, a second of the compiler counts
// as 3 % of a run; if a device does 50 additions in a nanosecond, the second counts as at least 0.2
// ms of a run.
constexpr double kBuildShare = 4e-5, kMinBuildCost = 10000;

/// Returns the numbers of unrolled steps to try for a reduction dimension: the divisors of
/// `divisor` that are at most 16. `divisor` divides the dimension's extent; if the extent is
/// dynamic, only a divisor of it is known.
llvm::SmallVector<int64_t> unrollsFor(int64_t divisor) {
  llvm::SmallVector<int64_t> sizes{1};
  for (int64_t size = 2; size <= 16 && size <= divisor; ++size)
    if (divisor % size == 0)
      sizes.push_back(size);
  return sizes;
}

/// Returns the cost of a millisecond of the driver's compiler.
double buildCostOf(func::FuncOp kernel) {
  const auto module = kernel->getParentOfType<ModuleOp>();
  const auto marked = module ? attributeOf<KernelAttr>(module) : KernelAttr();
  return std::max(kMinBuildCost, marked ? kBuildShare * double(marked.getProgramSteps()) : 0);
}

} // namespace

TileSearch::TileSearch(func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
                       bool keepsAll, int64_t dynamicExtent)
    : kernel_(kernel), profile_(profile), model_(model), extents_(extentsOf(kernel)),
      keepsAll_(keepsAll), wantsSlices_(wantsSlices(kernel, extents_)),
      buildCost_(buildCostOf(kernel)) {
  extents_.dynamicExtent = dynamicExtent;
}

bool TileSearch::allows(const TileShape &tile) const {
  if (isAllowed(tile, profile_, extents_))
    return true;
  const int64_t points = volumeOf(tile.result);
  return model_ == CostModel::kTexels && llvm::equal(tile.reduction, extents_.reduction) &&
         points <= profile_.registerTileElements &&
         points * volumeOf(tile.reduction) <= kMaxUnrolledSum;
}

PredictedTile TileSearch::predict(const TileShape &tile) {
  ++compared_;
  PredictedTile predicted = predictTile(kernel_, profile_, model_, tile, extents_.assumedResult());
  if (keepsAll_ && predicted.isSupported)
    all_.push_back({tile, withBuild(predicted), predicted.tileCost});
  return predicted;
}

bool TileSearch::wantsSlices(func::FuncOp kernel, const KernelExtents &extents) {
  auto type = cast<RankedTensorType>(kernel.getResultTypes().front());
  return extents.reduction.empty() && type.hasStaticShape() &&
         type.getNumElements() > kMinBindingBytes * 8 / std::max(8u, type.getElementTypeBitWidth());
}

bool TileSearch::isDivided(const TileShape &tile) const {
  for (auto [d, extent] : llvm::enumerate(tile.spaceOf(extents_.result)))
    if (extent > tile.extent(d))
      return extent % tile.extent(d) == 0;
  return true;
}

CostedTile TileSearch::costed(const TileShape &tile) {
  const PredictedTile predicted = predict(tile);
  if (!predicted.isSupported || (wantsSlices_ && !isDivided(tile)))
    return {tile, std::numeric_limits<double>::infinity()};
  return {tile, withBuild(predicted), predicted.tileCost};
}

TileChoice TileSearch::cheapest(llvm::ArrayRef<TileShape> tiles) {
  CostedTile best{{}, std::numeric_limits<double>::infinity()};
  for (const TileShape &tile : tiles)
    if (const PredictedTile predicted = predict(tile);
        predicted.isSupported && withBuild(predicted) < best.cost)
      best = {tile, withBuild(predicted), predicted.tileCost};
  return {best.tile, best.tileCost, compared_};
}

void TileSearch::descend(CostedTile &from) {
  auto space = from.tile.spaceOf(extents_.result);
  for (bool improved = true; improved;) {
    improved = false;
    const TileShape current = from.tile;
    const auto consider = [&](const TileShape &candidate) {
      const auto [known, isNew] = met_.try_emplace({candidate.result, candidate.reduction}, 0);
      if (!isNew && known->second >= from.cost * kMinGain)
        return;
      CostedTile next = costed(candidate);
      known->second = next.cost;
      if (next.cost < from.cost * kMinGain) {
        from = std::move(next);
        improved = true;
      }
    };
    for (size_t d = 0; d < space.size(); ++d) {
      for (int64_t size : sizesFor(space[d])) {
        TileShape candidate = current;
        candidate.result[d] = size;
        if (size == current.result[d])
          continue;
        if (allows(candidate))
          consider(candidate);
        else
          considerFewerSteps(candidate, consider);
      }
    }
    for (size_t q = 0; q < extents_.reduction.size(); ++q) {
      for (int64_t size : unrollsFor(extents_.reductionDivisors[q])) {
        TileShape candidate = current;
        candidate.reduction[q] = size;
        if (size != current.reduction[q] && allows(candidate))
          consider(candidate);
      }
    }
  }
}

void TileSearch::considerFewerSteps(const TileShape &tile,
                                    llvm::function_ref<void(const TileShape &)> consider) const {
  for (size_t q = 0; q < extents_.reduction.size(); ++q) {
    const llvm::SmallVector<int64_t> sizes = unrollsFor(extents_.reductionDivisors[q]);
    for (int64_t size : llvm::reverse(sizes)) {
      TileShape fewer = tile;
      fewer.reduction[q] = size;
      if (size < tile.reduction[q] && allows(fewer)) {
        consider(fewer);
        break;
      }
    }
  }
}

CostedTile TileSearch::ranked(const CostedTile &best, size_t candidate) {
  std::stable_sort(all_.begin(), all_.end(),
                   [](const CostedTile &a, const CostedTile &b) { return a.cost < b.cost; });
  std::set<std::string> cheaper{exactTile(best.tile)};
  for (const CostedTile &other : all_)
    if (cheaper.insert(exactTile(other.tile)).second && cheaper.size() > candidate)
      return other;
  return best;
}

} // namespace gantry::codegen
