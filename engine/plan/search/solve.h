// Solves one planning problem: chooses offsets for items (problem.h). A greedy placement comes
// first (fast_tier.h). Unless its height is the lower bound, local searches and an exact search
// then lower it in turns (descent.h).
//
// Threads: calls share no state; each changes only its meter, which counts the work (work_meter.h).
#pragma once

#include "engine/plan/search/descent.h"

namespace gantry::plan {

/// Places all items. The searches stop at a height of `enoughBytes` or lower, at a proven optimum,
/// or when the meter is exhausted. Always returns a placement.
Optimum solve(const Problem &problem, uint64_t enoughBytes, WorkMeter &meter);

} // namespace gantry::plan
