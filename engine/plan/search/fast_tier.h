// The fast tier: a good placement in microseconds to milliseconds, for graphs of any size.
//
// placeFast() runs two O(n log n) heuristics and keeps the lowest placement:
//   1. Items are joined to boxes (series_parallel.h), and the skyline places the boxes. This
//      reassembles a million items that were cut from one block in a fraction of a second. If the
//      items are then at least 64 times as many as the boxes, heuristic 2 is skipped.
//   2. The skyline (skyline.h) places the items in orders by duration, area and size, with and
//      without a preference for items that touch the edges of a valley, until a placement reaches
//      the lower bound. The graphs of most models reach the bound here.
// The skyline does not support fixed items: a problem that has any goes to constrained_fit.h
// instead. The searches (descent.h) start from the result.
//
// Deterministic where the meter has no deadline, because the work is counted. Threads: calls share
// no state; each call changes only the meter that it is given.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// Places all items. Always returns a valid placement: the first placement is completed even where
/// the meter is exhausted. A problem of up to 30,000 items takes at most about 10^8 units of work
/// (work_meter.h).
Placement placeFast(const Problem &problem, WorkMeter &meter);

/// The weight by which an order ranks items. The item with the largest weight comes first.
enum class OrderKey {
  kDuration, // Long-lived items form the bottom of the placement.
  kArea,     // Duration × size.
  kSize,     // Greedy by size: Pisarchyk & Lee 2020.
  kEdge,     // Duration × √size, between duration and area.
};

/// Returns the weights of all items.
std::vector<double> weightsBy(const Problem &problem, OrderKey key);

/// Returns the ranks of all items: unique numbers from 1 on. An item has a higher rank than another
/// if its weight is larger; among equal weights, if its size is larger; then, if its number is
/// lower.
std::vector<uint32_t> ranksOf(const Problem &problem, const std::vector<double> &weight);

} // namespace gantry::plan
