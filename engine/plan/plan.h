// The static memory planner: chooses the offset of each transient value of a program in the arena.
//
// A problem is a list of values. Each value has a size, an alignment, and the first and the last
// command during which it must keep its bytes. A plan gives each value an offset that is a multiple
// of the value's alignment, such that values which are alive at the same command do not overlap.
// The plan's height is the size of the arena. A value occupies its size rounded up to the smallest
// alignment of all values; this wastes nothing, because every offset is a multiple of that
// alignment. The bytes between the end of a value and the next multiple of its own alignment are
// free for other values. The lower bound is the largest sum of occupied bytes at one command: no
// plan can be lower.
//
// Values may be pinned to fixed offsets. A storage that several tensors share (in-place results,
// views) is one value to the planner: the caller decides about sharing before it asks for a plan.
//
// The planner is not an allocator: it knows nothing of MLIR, GPUs or memory. The compiler (static
// shapes), the session (a dynamic shape that it has not seen before), the heap's step plans and the
// profiler (what-if questions) all use it.
//
// Algorithm: greedy placements come first and the best one is kept (search/fast_tier.h). Where that
// misses the lower bound, local searches (search/large_neighbourhood.h, search/ejection_search.h)
// and an exact search (search/valley_search.h) take turns (search/descent.h): first at the bound,
// then at heights between the bound and the best plan. Most real graphs end at their bound, which
// proves the plan optimal. The planner is deterministic: equal requests give equal plans, because
// the work is limited by a count and not by a clock, unless the caller asks for a deadline.
//
// Threads: all functions are pure and may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// One value to place.
struct Value {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 1; // A power of two, in bytes.
  uint32_t firstUse = 0;  // Index of the first command that writes the value.
  uint32_t lastUse = 0;   // Index of the last command that reads or writes it, inclusive.
};

/// A fixed offset for a value, for example from an earlier plan.
struct Pin {
  uint32_t value = 0;  // Index of the value. A value has at most one pin.
  uint64_t offset = 0; // In bytes; a multiple of the value's alignment.
};

/// Allows about one second of search. Most plans need a thousandth of it.
inline constexpr uint64_t kDefaultWork = 70'000'000;

/// How to plan. A request with pins is first planned without them, with a quarter of the work: if
/// the pins come from an earlier plan of the same values, that plan is usually found again.
struct PlanRequest {
  std::vector<Pin> pins = {};
  uint64_t enoughBytes = 0;          // The search ends at this height; 0: as low as possible.
  uint64_t workLimit = kDefaultWork; // In units of 10 to 30 ns (search/work_meter.h).
  double deadlineSeconds = 0;        // 0: no deadline, so the result is the same on every machine.
};

struct Plan {
  std::vector<uint64_t> offsets; // One per value, in bytes from the start of the arena.
  uint64_t heightBytes = 0;      // The largest end of any value.
  uint64_t lowerBoundBytes = 0;  // The largest sum of occupied bytes at one command.
  uint32_t peakCommand = 0;      // A command that reaches the lower bound.
  uint64_t provenBoundBytes = 0; // No plan is lower. At least lowerBoundBytes, at most heightBytes.
};

/// Places all values. Returns kInvalidArgument, with the value and the numbers, where an alignment
/// is no power of two, firstUse > lastUse, the sizes overflow 64 bits, or pins contradict each
/// other. Every other request has a plan.
Result<Plan> planArena(const std::vector<Value> &values);
Result<Plan> planArena(const std::vector<Value> &values, const PlanRequest &request);

/// Returns the largest sum of occupied bytes at one command, UINT64_MAX where it is larger than
/// that, and sets *peakCommand to the first command that reaches it.
uint64_t lowerBound(const std::vector<Value> &values, uint32_t *peakCommand = nullptr);

/// Checks a plan independently of the planner, with which it shares no code, in O(n log n) time.
/// Returns kOk, or kInternal with a message that names the first two values that overlap, or the
/// value that is misaligned, outside of the plan's height, or away from its pin.
Status validatePlan(const std::vector<Value> &values, const Plan &plan);
Status validatePlan(const std::vector<Value> &values, const Plan &plan,
                    const std::vector<Pin> &pins);

// ---- commands and hazards ----------------------------------------------------------------------

/// A range of bytes that a command reads or writes in one memory object. Space 0 is the arena;
/// constants, inputs and outputs have other numbers.
struct Access {
  uint32_t space = 0;
  uint64_t offset = 0; // In bytes.
  uint64_t sizeBytes = 0;
  bool write = false;
};

struct Command {
  std::vector<Access> accesses;
  /// All earlier commands finish, and their writes are visible, before this command starts.
  bool barrierBefore = false;
};

/// Sets barrierBefore on exactly the commands that need it. A command needs a barrier when it
/// conflicts with a command since the last barrier: write after read, read after write, or write
/// after write on overlapping bytes.
void placeBarriers(std::vector<Command> &commands);

/// Checks independently of placeBarriers that a barrier stands between each pair of conflicting
/// commands. Returns kOk, or kInternal with a message that names the pair and the bytes.
Status checkHazards(const std::vector<Command> &commands);

} // namespace gantry::plan
