// Converts a plan of a capture to the planner's graph of operators and values
// (engine/plan/order/order.h). Used by what_if.cpp only.
//
// In the planner's graph a value is written once, so the graph has one value for each version of a
// plan's value: each write creates a new version, which may take over the storage of the old one.
// The new version's writer must come after all readers of the old version. To express this, each
// reader writes a token, a value of 0 bytes, which the new version's writer reads. Only transients
// that a command writes have a size; all other values have 0 bytes.
//
// Threads: plain data.
#pragma once

#include "engine/plan/order/budget.h"
#include "engine/plan/plan.h"
#include "profiler_gui/model/analysis/what_if.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::profiler {

inline constexpr uint64_t kAlignment = 256; // Alignment of transients in artifacts, in bytes.
inline constexpr uint64_t kPlannerWorkLimit = 2'000'000; // PlanRequest::workLimit.

struct WhatIfGraph {
  /// The graph of model.plans()[plan].
  WhatIfGraph(const CaptureModel &model, uint32_t plan);

  plan::OrderProblem problem;
  /// The plan entry of each value of the graph, as an index in CaptureModel::planEntries();
  /// UINT32_MAX for tokens and for values without an entry.
  std::vector<uint32_t> entries;
  /// Whether each operator may run again later: nothing overwrites its operands, and its results
  /// are transients that no other command writes.
  std::vector<bool> repeatable;
};

/// A range of positions during which a value of the graph is in the arena. A value that is removed
/// and restored later has several live ranges.
struct LiveRange {
  uint32_t value = 0;
  uint32_t firstUse = 0; // Position in the order of operators.
  uint32_t lastUse = 0;  // Inclusive.
};

/// Returns one live range per value if the operators run in this order. Values of 0 bytes have
/// none.
std::vector<LiveRange> liveRangesOf(const WhatIfGraph &graph, const std::vector<uint32_t> &order);

/// Plans the arena for these live ranges, and sets arenaBytes, lowerBoundBytes and places of
/// *answer. An operator's first result takes over the storage of one of the operator's `mayTake`
/// operands (engine/plan/order/order.h) if the operand's last live range ends at this operator.
/// Errors: those of planArena().
Status planLiveRanges(const WhatIfGraph &graph, const std::vector<uint32_t> &order,
                      const std::vector<LiveRange> &ranges, WhatIf *answer);

} // namespace gantry::profiler
