// The fast tier: a good plan in microseconds to milliseconds, for graphs of any size.
//
// Several heuristics, each O(n log n) with indexed structures, the lowest result kept; it stops at
// the lower bound. In this order:
//   1. boxes (series_parallel.h), then the skyline over the boxes that are left: what was cut from
//      one block is put together again, a million items in a fraction of a second. First of equal
//      sizes, then of sizes that differ by a thousandth and by a hundredth; where that leaves next
//      to nothing, nothing else is tried;
//   2. the skyline (skyline.h) over the items by duration, area and size, with and without a
//      preference for what fits a valley's edges: models' graphs mostly reach the bound here.
// Problems with fixed items or obstacles, which the skyline does not know, are placed by
// constrained_fit.h instead; with segments, which it takes for boxes, by both.
//
// Its result is where the exact tier and the large-neighbourhood search begin.
//
// Deterministic where the meter has no deadline: the work is counted. Threads: no shared state.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// Places all items; always returns a valid placement, even where the meter is exhausted before the
/// first heuristic ends (then that one is run to its end). No problem of 30,000 items or fewer
/// takes more than some 10^8 units.
///
/// There may be no valid placement at all where fixed items lie across each other or regions are
/// smaller than an item; that is for the caller to exclude (problem.h's invariants).
Placement placeFast(const Problem &problem, WorkMeter &meter);

/// What an order sorts by, the largest first.
enum class OrderKey {
  kDuration, // the long-lived form the floor
  kArea,     // duration × size
  kSize,     // Pisarchyk & Lee 2020, greedy by size
  kEdge,     // duration × √size: between duration and area
  kBegin,    // the earliest first, of equal ones the longest: as an allocator would see them
};

/// The items' weights under a key.
std::vector<double> weightsBy(const Problem &problem, OrderKey key);

/// The items' ranks by weight: unique, from 1, the highest goes first. Ties go by size, then by
/// number.
std::vector<uint32_t> ranksOf(const Problem &problem, const std::vector<double> &weight);

} // namespace gantry::plan
