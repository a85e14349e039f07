#include "engine/plan/solve.h"
#include "engine/base/align.h"
#include "engine/plan/constrained_fit.h"
#include "engine/plan/fast_tier.h"

namespace gantry::plan {

namespace {

/// Any placement of it is one of the problem.
Problem roundedToOwnAlignment(Problem problem) {
  for (uint32_t i = 0; i < problem.alignment.size(); ++i)
    problem.size[i] = roundUp(problem.size[i], problem.alignment[i]);
  return problem;
}

} // namespace

Placement placeGreedily(const Problem &problem, WorkMeter &meter) {
  if (problem.count() == 0)
    return {};
  if (isPlain(problem) && hasWholeSizes(problem))
    return placeFast(problem, meter);
  if (isPlain(problem)) {
    // Boxes are joined of whole sizes alone.
    Placement rounded = placeFast(roundedToOwnAlignment(problem), meter);
    Placement placement = placeFast(problem, meter);
    rounded.height = heightOf(problem, rounded.offset);
    return placement.height <= rounded.height ? placement : rounded;
  }
  return placeConstrained(problem, meter);
}

Optimum solve(const Problem &problem, uint64_t enough, WorkMeter &meter) {
  // A quarter for the greedy tier: what it leaves is what an exact search is for.
  WorkMeter greedy = meter.part(meter.limit() / 4);
  Placement placement = placeGreedily(problem, greedy);
  meter.settle(greedy);
  return minimise(problem, std::move(placement), enough, meter);
}

} // namespace gantry::plan
