// Solves one problem: makes a greedy placement, then runs the searches unless the placement is at
// the lower bound.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/search/descent.h"

namespace gantry::plan {

/// Places all items. The searches stop at a height of `enoughBytes` or lower, at a proven optimum,
/// or when the meter is exhausted. Always returns a placement.
Optimum solve(const Problem &problem, uint64_t enoughBytes, WorkMeter &meter);

} // namespace gantry::plan
