// Greedy placement around fixed items: the items in some order, each at the lowest gap or the
// tightest gap in which it fits. Several orders are tried and the lowest placement is kept.
//
// The first order is the greedy-by-size order of Pisarchyk & Lee 2020, "Efficient Memory Management
// for Deep Neural Net Inference". Time: O(n² log n) at worst. Problems without fixed items have a
// faster and better heuristic: fast_tier.h.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

namespace gantry::plan {

/// Returns a valid placement of all items, of any height. The first order always runs to its end;
/// the function stops between two orders once a placement is at the lower bound or the meter is
/// exhausted.
Placement placeConstrained(const Problem &problem, WorkMeter &meter);

} // namespace gantry::plan
