#include "engine/plan/solve.h"
#include "engine/plan/constrained_fit.h"
#include "engine/plan/fast_tier.h"

namespace gantry::plan {

Placement placeGreedily(const Problem &problem, WorkMeter &meter) {
  if (problem.count() == 0)
    return {};
  if (isPlain(problem))
    return placeFast(problem, meter);
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
