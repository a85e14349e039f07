// Picks among the tiers for one problem: greedy first, then the exact search where it is small
// enough and the bound was missed.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/descent.h"

namespace gantry::plan {

/// The best greedy placement: the fast tier for plain boxes, constrained_fit.h otherwise.
Placement placeGreedily(const Problem &problem, WorkMeter &meter);

/// Lowers it as far as the meter allows; stops at `enough` or lower. Never fails to place: where
/// the meter is exhausted at once, the first greedy placement is returned.
Optimum solve(const Problem &problem, uint64_t enough, WorkMeter &meter);

} // namespace gantry::plan
