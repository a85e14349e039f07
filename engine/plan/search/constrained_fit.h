// Greedy placement around fixed items. An item has a size and a lifetime and gets an offset; the
// offset of a fixed item is given (problem.h). The other items are placed in some order, each in a
// gap: free addresses below, between or above those placed items whose lifetimes overlap its own.
// Each order is tried twice: first every item gets the gap with the lowest addresses into which it
// fits, then the smallest such gap. The placement with the smallest height (largest offset + size)
// is kept.
//
// The first order is the greedy-by-size order of Pisarchyk & Lee 2020, "Efficient Memory Management
// for Deep Neural Net Inference". Time: O(n² log n) in the worst case. For problems without fixed
// items, fast_tier.h has a faster and better heuristic.
//
// Threads: calls share no state; each changes only its meter, which counts the work (work_meter.h).
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

namespace gantry::plan {

/// Returns a valid placement of all items. The first try (the first order, with the lowest gaps)
/// always places all items. Further tries follow until a placement is at the lower bound or the
/// meter is exhausted.
Placement placeConstrained(const Problem &problem, WorkMeter &meter);

} // namespace gantry::plan
