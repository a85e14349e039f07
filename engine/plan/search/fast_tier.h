// The fast tier: a good placement in microseconds to milliseconds, for graphs of any size. A
// placement gives each item (a buffer with a size and a lifetime) an offset; its height is the
// largest offset + size (problem.h).
//
// placeFast() runs two O(n log n) heuristics and keeps the placement with the smallest height:
//   1. Items are joined to boxes (series_parallel.h), and the skyline heuristic (skyline.h) places
//      the boxes like items. If a million items were made by cutting one rectangle of time and
//      addresses into pieces, this rejoins the pieces in a fraction of a second. If the items are
//      at least 64 times as many as the boxes, heuristic 2 is skipped.
//   2. The skyline places the items in several orders (OrderKey), with and without a preference for
//      items that touch the edges of a valley (skyline.h), until a placement reaches the lower
//      bound. The graphs of most models reach the bound here.
// The searches (descent.h) start from the result.
//
// Deterministic where the meter has no deadline, because the work is counted (work_meter.h).
// Threads: calls share no state; each changes only its meter.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// Places all items. Always returns a valid placement: the first placement is completed even where
/// the meter is exhausted. A problem of up to 30,000 items takes at most about 10^8 units of work.
Placement placeFast(const Problem &problem, WorkMeter &meter);

/// The weight by which an order ranks items: items with larger weights come first. Duration is the
/// number of time steps in which the item is alive.
enum class OrderKey {
  kDuration, // Long-lived items form the bottom of the placement.
  kArea,     // Duration × size.
  kSize,     // Greedy by size: Pisarchyk & Lee 2020.
  kEdge,     // Duration × √size (the edge of a square of that size), between duration and area.
};

/// Returns the weights of all items.
std::vector<double> weightsBy(const Problem &problem, OrderKey key);

/// Returns the ranks of all items: unique numbers from 1 on. Of the items that fit, a heuristic
/// places the one with the largest rank. An item's rank is larger than another's if its weight is
/// larger; among equal weights, if its size is larger; among equal sizes, if its number is lower.
std::vector<uint32_t> ranksOf(const Problem &problem, const std::vector<double> &weight);

} // namespace gantry::plan
