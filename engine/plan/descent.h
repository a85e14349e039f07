// Lowers a placement towards its bound: the searches in turns.
//
// After a first look at the goal, boxes are tried in coarser units (coarse_sizes.h), the exact
// search favoured.
//
// In rounds of twice the work: the large-neighbourhood search where all items are boxes; then, at
// the goal itself and at capacities between it and the best, the ejection search and the portfolio
// of exact searches, which can prove that a capacity is out of reach; at the goal, where values are
// pinned, the search around them (domain_search.h) too, which can prove that as well.
//
// Threads: pure functions. Deterministic where the meter has no deadline.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

namespace gantry::plan {

/// The best of what was found, and what is proven.
struct Optimum {
  Placement best;
  uint64_t bound = 0; // no placement is lower
  bool proven() const { return best.height == bound; }
};

/// Lowers `start`, a valid placement. Stops at `target` or lower, when the best is proven, or with
/// the meter.
Optimum minimise(const Problem &problem, Placement start, uint64_t target, WorkMeter &meter);

} // namespace gantry::plan
