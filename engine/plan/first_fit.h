// First fit: the items by rank, each at the lowest place that is left for it.
//
// O(n²) at worst; for problems with fixed items, which the skyline does not know. Alignments,
// regions, fixed items and segments are kept.
//
// Threads: pure function.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <optional>
#include <span>

namespace gantry::plan {

/// Places all items, the highest rank first (unique, from 1). Nothing where the height would reach
/// notAbove, or where the meter is exhausted.
std::optional<Placement> placeFirstFit(const Problem &problem, std::span<const uint32_t> rank,
                                       uint64_t notAbove, WorkMeter &meter);

} // namespace gantry::plan
