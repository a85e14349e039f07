// Implements solve().
#include "engine/plan/search/solve.h"
#include "engine/base/align.h"
#include "engine/plan/search/fast_tier.h"

namespace gantry::plan {

namespace {

/// The greedy placement may spend 1 / kGreedyDivisor of the meter's limit.
constexpr uint64_t kGreedyDivisor = 4;

/// Rounds each size up to a multiple of the item's alignment. Every placement of the result is also
/// a placement of the problem.
Problem roundedToOwnAlignment(Problem problem) {
  for (uint32_t i = 0; i < problem.alignment.size(); ++i)
    problem.size[i] = roundUp(problem.size[i], problem.alignment[i]);
  return problem;
}

/// Always finds a placement, even if the meter is already exhausted.
Placement placeGreedily(const Problem &problem, WorkMeter &meter) {
  if (problem.count() == 0)
    return {};
  if (hasWholeSizes(problem))
    return placeFast(problem, meter);
  // placeFast() combines items into larger boxes only if each size is a multiple of the item's
  // alignment. Rounding the sizes up allows this, so it may give the lower placement.
  Placement rounded = placeFast(roundedToOwnAlignment(problem), meter);
  rounded.height = heightOf(problem, rounded.offset);
  Placement placement = placeFast(problem, meter);
  return placement.height <= rounded.height ? placement : rounded;
}

} // namespace

Optimum solve(const Problem &problem, uint64_t enoughBytes, WorkMeter &meter) {
  WorkMeter greedy = meter.part(meter.limit() / kGreedyDivisor);
  Placement placement = placeGreedily(problem, greedy);
  meter.settle(greedy);
  return minimise(problem, std::move(placement), enoughBytes, meter);
}

} // namespace gantry::plan
