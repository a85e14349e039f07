// Solves one problem: a greedy placement first, then the searches where it misses the lower bound.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/search/descent.h"

namespace gantry::plan {

/// Places all items as low as the meter allows, and stops at a height of `enoughBytes` or lower.
/// Always finds a placement.
Optimum solve(const Problem &problem, uint64_t enoughBytes, WorkMeter &meter);

} // namespace gantry::plan
