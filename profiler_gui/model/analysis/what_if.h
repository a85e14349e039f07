// Answers "what if" questions about a plan of a capture: one value smaller or larger, the operators
// in another order, or the arena within a memory budget. The answer is the new arena.
//
// The planner (engine/plan) computes all answers with a small work limit, so that they take a frame
// or two. Each answer also has the size of the unchanged plan, planned with the same limit, so that
// the two can be compared. Values that share a slot are planned as one.
//
// For another order or a budget, the dependencies between operators follow from the accesses that
// the capture records for each command. A value that is written again becomes a new value; its
// writer comes after all readers of the old one.
//
// A budget is met by recomputing values or by moving them to the host and back. Recomputing costs
// the operator's mean time in the capture; moving costs 1/kHostBytesPerNs per byte.
//
// Threads: pure functions. Errors: those of planArena(), searchOrder() and fitBudget();
// kInvalidArgument for an index or a factor out of range.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/model/capture/capture_model.h"

#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// Assumed bandwidth between device and host: 16 GB/s, about PCI Express 4.0 with 8 lanes.
inline constexpr double kHostBytesPerNs = 16;

/// A value's place in the new arena, from one position in the order of commands to another.
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
  uint64_t arenaBefore = 0; // Arena size in bytes without the change.
  std::vector<WhatIfPlace> places;

  // Valid for kSize.
  uint64_t valueBytes = 0; // The value's changed size.

  // Valid for kOrder.
  std::vector<uint32_t> order;           // Commands in the new order.
  uint32_t commandsMoved = 0;            // Number of commands at another position than before.
  uint32_t stages = 0, stagesBefore = 0; // Number of stages between barriers.
  bool optimal = false;                  // No order has a lower peak of live bytes.

  // Valid for kBudget.
  uint64_t budgetBytes = 0;
  bool fits = false;
  uint64_t minBytes = 0;    // The need of the largest single command, the min possible budget.
  uint32_t minCommand = 0;  // The command with that need.
  uint32_t recomputed = 0;  // Number of values that are computed again.
  uint32_t movedToHost = 0; // Number of values that are moved to the host and back.
  uint64_t hostBytes = 0;   // Bytes moved in both directions together.
  double extraNs = 0;       // Additional time of each run.
};

/// The arena if a transient's size were multiplied by `factor`. `entry` is an index in
/// model.planEntries(); the factor must be above 0 and at most 1024.
Result<WhatIf> whatIfSize(const CaptureModel &model, uint32_t entry, double factor);
/// The arena with the order of commands that needs the fewest bytes among those the planner finds.
/// `plan` is an index in model.plans().
Result<WhatIf> whatIfOrder(const CaptureModel &model, uint32_t plan);
/// The arena within a budget. If no plan was found, `fits` is false and the arena is that of the
/// last attempt.
Result<WhatIf> whatIfBudget(const CaptureModel &model, uint32_t plan, uint64_t budgetBytes);

} // namespace gantry::profiler
