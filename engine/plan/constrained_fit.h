// Greedy placement under every constraint: the items in some order, each at the lowest place, or
// the tightest, that is left for it. Several orders are tried and the best result is kept.
//
// Pisarchyk & Lee 2020, "Efficient Memory Management for Deep Neural Net Inference", greedy by
// size, is the first of the orders. O(n²) at worst; problems of plain boxes are what fast_tier.h is
// for.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

enum class Fit {
  kFirst, // the lowest place
  kBest,  // the tightest
};

/// Places all items in this order. Nothing where the height would reach notAbove, or where the
/// meter is exhausted.
std::optional<Placement> placeInOrder(const Problem &problem, const std::vector<uint32_t> &order,
                                      Fit fit, uint64_t notAbove, WorkMeter &meter);

/// Always returns a valid placement of all items, of whatever height; stops between two orders once
/// it is at the bound or the meter is exhausted.
Placement placeConstrained(const Problem &problem, WorkMeter &meter);

} // namespace gantry::plan
