// Lowers a placement (an offset for each item, problem.h) towards the lower bound: several searches
// take turns to reduce its height, the largest offset + size.
//
// The goal is the height at which the descent ends: the proven lower bound, or the caller's target
// if that is higher. If the sizes are nearly multiples of a coarser unit (coarse_sizes.h), the
// problem in that unit is tried first. The rest of the work is divided into rounds, each with twice
// the work of the round before. In a round, the large-neighbourhood search (large_neighbourhood.h)
// runs first. Then the portfolio of exact searches (portfolio.h) and the ejection search
// (ejection_search.h) try to reach the goal itself. After a failure they try heights halfway
// between the last height that failed and the best placement's height. The exact search can prove
// that no placement is as low as a given height, which raises the proven bound.
//
// Threads: calls share no state; each changes only its meter, which counts the work (work_meter.h).
// Deterministic where the meter has no deadline.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

namespace gantry::plan {

struct Optimum {
  Placement best;
  uint64_t bound = 0; // Proven: no placement is lower. In bytes.
};

/// Lowers `start`, which must be a valid placement. Stops at a height of `targetBytes` or lower, at
/// a proven optimum, or when the meter is exhausted.
Optimum minimise(const Problem &problem, Placement start, uint64_t targetBytes, WorkMeter &meter);

} // namespace gantry::plan
