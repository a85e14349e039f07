// The static memory planner: chooses the offset of each transient value (intermediate tensor) of a
// program in the arena, the buffer that holds all of them.
//
// A problem is a list of values. Each value has a size, an alignment, and the indices of the first
// and the last command that use it. A value is alive, and keeps its bytes, from its first to its
// last command. A plan gives each value an offset that is a multiple of the value's alignment.
// Values that are alive at the same command do not overlap. The plan's height is the size of the
// arena. A value occupies its size rounded up to the smallest alignment of all values; this wastes
// nothing, because every offset is a multiple of that alignment. The bytes between the end of a
// value's occupied bytes and the next multiple of its own alignment are free for other values. The
// lower bound is the largest sum of occupied bytes at one command: no plan can be lower.
//
// Several tensors that share one storage (in-place results,
// views) are one value to planArena(): the caller decides about sharing before it calls it. If the
// bytes of such a storage are in use at different times, the caller uses planSlots() (slots.h).
//
// The planner is not an allocator: it computes offsets and depends on neither MLIR nor a GPU API.
// Its callers are the compiler (arenas of programs whose sizes are known or bounded when they are
// compiled; shared memory of kernels), the session (a dynamic shape that it has not seen before),
// the heap's plans for loops (engine/heap/extras/step_plan.h), the profiler (estimates for a
// changed program; programs that never ran) and the command `gantry plan`. validatePlan() checks
// the plans of `gantry plan` and of shared memory, validateSlots() (slots.h) the plans of arenas
// that the compiler and the session make; the others are not checked.
//
// Algorithm: greedy heuristics make several plans, and the plan with the smallest height is kept
// (search/fast_tier.h). If its height exceeds the lower bound, local searches
// (search/large_neighbourhood.h, search/ejection_search.h) and an exact search
// (search/valley_search.h) take turns (search/descent.h). The ejection search and the exact search
// try the bound first, then heights between the bound and the best plan. For most real graphs the
// height equals the lower bound, which proves the plan optimal. The planner is deterministic: equal
// requests give equal plans, because the work is limited by a count and not by a clock. Only a
// request with a deadline is an exception.
//
// Threads: all functions are pure and may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

/// One value to place.
struct Value {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 1; // A power of two, in bytes.
  uint32_t firstUse = 0;  // Index of the first command that uses the value.
  uint32_t lastUse = 0;   // Index of the last command that uses the value, inclusive.
};

/// The default of PlanRequest::workLimit, in its unit: about one second of search. Most plans need
/// about a thousandth of this work.
inline constexpr uint64_t kDefaultWork = 70'000'000;

/// Options of planArena().
struct PlanRequest {
  uint64_t enoughBytes = 0;          // The search stops at this height; 0: at the lower bound.
  uint64_t workLimit = kDefaultWork; // In units of 10 to 30 ns (search/work_meter.h).
  double deadlineSeconds = 0;        // At most 1e9. 0: none, so results are reproducible.
};

struct Plan {
  std::vector<uint64_t> offsets; // One per value, in bytes from the start of the arena.
  uint64_t heightBytes = 0;      // The largest end of any value's occupied bytes.
  uint64_t lowerBoundBytes = 0;  // The largest sum of occupied bytes at one command.
  uint32_t peakCommand = 0;      // The first command that reaches the lower bound.
  uint64_t provenBoundBytes = 0; // No plan is lower. At least lowerBoundBytes, at most heightBytes.
};

/// Places all values. Returns kInvalidArgument, with the offending value and numbers, where
///  - an alignment is not a power of two, or firstUse > lastUse;
///  - the sum of sizes and alignment padding overflows 64 bits;
///  - the deadline is negative or too long.
/// Every other request gets a plan.
Result<Plan> planArena(const std::vector<Value> &values);
Result<Plan> planArena(const std::vector<Value> &values, const PlanRequest &request);

/// Returns the largest sum of occupied bytes at one command, or UINT64_MAX where the sum does not
/// fit 64 bits. Sets *peakCommand, if it is not null, to the first command that reaches the sum.
uint64_t lowerBound(const std::vector<Value> &values, uint32_t *peakCommand = nullptr);

/// Checks a plan in O(n log n) time. The check shares no code with the planner. Returns kOk, or
/// kInternal with a message that names two values that overlap, or a value that is misaligned or
/// outside of the plan's height.
Status validatePlan(const std::vector<Value> &values, const Plan &plan);

} // namespace gantry::plan
