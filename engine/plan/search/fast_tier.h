// The fast tier: a good placement in microseconds to milliseconds, for graphs of any size.
//
// It runs several O(n log n) heuristics, keeps the lowest placement, and stops at the lower bound:
//   1. Items are joined to boxes (series_parallel.h), and the skyline places the boxes. This
//      reassembles a million items that were cut from one block in a fraction of a second. Sizes
//      must first be equal to be joined, then may differ by a thousandth or a hundredth. Where
//      almost no boxes are left, nothing else is tried.
//   2. The skyline (skyline.h) places the items by duration, area and size, with and without a
//      preference for items that touch the edges of a valley. Graphs of models mostly reach the
//      bound here.
// The skyline does not know fixed items: a problem that has any goes to constrained_fit.h instead.
//
// The searches (descent.h) start from the result.
//
// Deterministic, because the work is counted, unless the meter has a deadline. Threads: no shared
// state.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// Places all items. Always returns a valid placement: the first heuristic runs to its end even
/// where the meter is exhausted. A problem of up to 30,000 items takes at most about 10^8 units.
Placement placeFast(const Problem &problem, WorkMeter &meter);

/// How an order ranks items. The largest weight comes first.
enum class OrderKey {
  kDuration, // Long-lived items form the floor.
  kArea,     // Duration × size.
  kSize,     // Greedy by size: Pisarchyk & Lee 2020.
  kEdge,     // Duration × √size, between duration and area.
};

/// Returns the weights of all items.
std::vector<double> weightsBy(const Problem &problem, OrderKey key);

/// Returns the ranks of all items: unique, from 1 on; the largest weight has the highest rank. Ties
/// go by size, then by number.
std::vector<uint32_t> ranksOf(const Problem &problem, const std::vector<double> &weight);

} // namespace gantry::plan
