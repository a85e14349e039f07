// Greedy placement around fixed items. The items are placed in some order, each in the lowest gap
// or in the tightest gap in which it fits. Several orders are tried, and the lowest placement is
// kept.
//
// The first order is the greedy-by-size order of Pisarchyk & Lee 2020, "Efficient Memory Management
// for Deep Neural Net Inference". Time: O(n² log n) in the worst case. For problems without fixed
// items, fast_tier.h has a faster and better heuristic.
//
// Threads: calls share no state; each call changes only the meter that it is given.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

namespace gantry::plan {

/// Returns a valid placement of all items. The first order always runs to its end. Further orders
/// are tried until a placement is at the lower bound or the meter is exhausted.
Placement placeConstrained(const Problem &problem, WorkMeter &meter);

} // namespace gantry::plan
