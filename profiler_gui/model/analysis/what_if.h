// Answers "what if" questions about a plan of a capture: how the arena would look if one value had
// another size, if the operators ran in another order, or if the arena had to fit into a budget. A
// plan is an order of commands, and an offset in the arena for each transient, a value that exists
// only during a run.
//
// The planner (engine/plan) computes all answers with a small limit on the work of its search
// (PlanRequest::workLimit in engine/plan/plan.h), so that an answer takes about one or two frames
// of the window. Each answer also has the arena size of the unchanged plan, planned with the same
// limit, so that the two sizes can be compared. In an answer about a size, values that share a
// slot, a range of the arena, keep their offsets within the slot.
//
// For another order or a budget, the dependencies between operators follow from the accesses that
// the capture records for each command (what_if_graph.h).
//
// A budget is met by recomputing values or by moving them to the host and back. Recomputing costs
// the command's mean time in the capture; moving costs 1/kHostBytesPerNs nanoseconds per byte and
// direction.
//
// Threads: pure functions. Errors: those of planSlots(), searchOrder() and fitBudget();
// kInvalidArgument for an index or a factor out of range.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/model/capture/capture_model.h"

#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// Assumed bandwidth between device and host: 16 GB/s, about PCI Express 4.0 with 8 lanes.
inline constexpr double kHostBytesPerNs = 16;

/// The place of a value in the new arena while the commands at the positions firstUse to lastUse of
/// the new order run. A value that leaves the arena and comes back has several places.
struct WhatIfPlace {
  uint32_t entry = 0; // Index in model.planEntries().
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0;
  uint32_t lastUse = 0; // Inclusive.
};

struct WhatIf {
  enum class Kind : uint8_t { kNone, kSize, kOrder, kBudget };
  Kind kind = Kind::kNone;
  uint32_t plan = 0; // Index in model.plans().
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
  uint64_t arenaBefore = 0; // Arena size in bytes without the change, with the same work limit.
  std::vector<WhatIfPlace> places;

  // Valid for kSize.
  uint64_t valueBytes = 0; // The value's changed size.

  // Valid for kOrder.
  std::vector<uint32_t> order;           // Commands in the new order.
  uint32_t commandsMoved = 0;            // Number of commands at another position than before.
  uint32_t stages = 0, stagesBefore = 0; // Number of groups of commands between barriers.
  bool optimal = false;                  // Proven: no order has a lower peak of live bytes.

  // Valid for kBudget.
  uint64_t budgetBytes = 0;
  bool fits = false;
  uint64_t minBytes = 0;    // Bytes that the largest single command needs: the min possible budget.
  uint32_t minCommand = 0;  // Index of this command in the plan.
  uint32_t recomputed = 0;  // Number of values that are computed again.
  uint32_t movedToHost = 0; // Number of values that are moved to the host and back.
  uint64_t hostBytes = 0;   // Sum of the bytes moved in either direction.
  double extraNs = 0;       // Additional time of each run.
};

/// Plans the arena with a transient's size multiplied by `factor`. `entry` is an index in
/// model.planEntries(); the factor must be above 0 and at most 1024.
Result<WhatIf> whatIfSize(const CaptureModel &model, uint32_t entry, double factor);
/// Searches the order of commands with the lowest peak of live bytes, and plans the arena for it.
/// `plan` is an index in model.plans().
Result<WhatIf> whatIfOrder(const CaptureModel &model, uint32_t plan);
/// Plans the arena within a budget. If no plan within the budget was found, `fits` is false, and
/// the arena is that of the last attempt or, if the budget is below minBytes, the unchanged arena.
Result<WhatIf> whatIfBudget(const CaptureModel &model, uint32_t plan, uint64_t budgetBytes);

} // namespace gantry::profiler
