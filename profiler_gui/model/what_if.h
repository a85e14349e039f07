// What the planner would do otherwise: with one value of a plan smaller or larger, with the
// operators in another order, or within a budget. The answer is the arena as it would be.
//
// All answers are the planner's own (engine/plan), within a small amount of work, so that they come
// within a frame or two; each is compared with the plan as it is, planned again in the same way.
// Values that share a slot are planned as one.
//
// For an order and a budget the operators' dependencies are taken from what the capture says that
// each command reads and writes. A value that is written again is a new one after that, and its
// writer waits for all who read the old one.
//
// A budget is met by computing values again or by moving them to the host and back. The first costs
// what the operator took in the capture, the second what a link of kHostBytesPerNs takes.
//
// Threads: pure functions. Errors: those of planArena and searchOrder; kInvalidArgument for an
// entry, a plan or a factor that is none.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/model/capture_model.h"

#include <cstdint>
#include <vector>

namespace gantry::profiler {

inline constexpr double kHostBytesPerNs = 16; // 16 GB/s, about PCI Express 4.0 with 8 lanes

/// Where a value would lie, from one position in the order of commands to another, inclusive.
struct WhatIfPlace {
  uint32_t entry = 0; // index in model.planEntries()
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0;
  uint32_t lastUse = 0;
};

struct WhatIf {
  enum class Kind : uint8_t { kNone, kSize, kOrder, kBudget };
  Kind kind = Kind::kNone;
  uint32_t plan = 0; // index in model.plans()
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
  uint64_t arenaBefore = 0; // planned in the same way without the change
  std::vector<WhatIfPlace> places;

  // kSize
  uint64_t valueBytes = 0; // with the change

  // kOrder
  std::vector<uint32_t> order; // commands
  uint32_t commandsMoved = 0;  // that stand elsewhere than before
  uint32_t stages = 0, stagesBefore = 0;
  bool optimal = false; // no order needs fewer bytes at its fullest moment

  // kBudget
  uint64_t budgetBytes = 0;
  bool fits = false;
  uint64_t leastBytes = 0;    // what the largest single command needs; no budget below can be met
  uint32_t leastCommand = 0;  // that command
  uint32_t computedAgain = 0; // values
  uint32_t movedToHost = 0;
  uint64_t hostBytes = 0; // moved, both ways together
  double extraNs = 0;     // of each run
};

/// entry: index in model.planEntries(), a transient. factor: of its size, above 0, 1024 at most.
Result<WhatIf> whatIfSize(const CaptureModel &model, uint32_t entry, double factor);
/// plan: index in model.plans(). The order of least memory that the planner finds.
Result<WhatIf> whatIfOrder(const CaptureModel &model, uint32_t plan);
Result<WhatIf> whatIfBudget(const CaptureModel &model, uint32_t plan, uint64_t budgetBytes);

} // namespace gantry::profiler
