// The static memory planner: where each transient value of a program lies in the arena.
//
// A problem is a list of values, each with a size, an alignment and the first and last of the
// commands during which it must keep its bytes. A value occupies its size rounded up to its
// alignment. A plan gives each value an offset such that values alive at the same time do not
// overlap; its height is the arena's size. The lower bound is the largest sum of what is occupied
// at one moment: no plan can be lower.
//
// It is not an allocator: nothing here knows MLIR, GPUs or memory. Three rooms ask it the same
// question: the compiler (static shapes), the session (a dynamic shape not seen before) and the
// profiler (what if). Algorithm: first fit and best fit over several decreasing orders (size, area,
// duration, the peak first), the best plan kept; Pisarchyk & Lee 2020, "Efficient Memory Management
// for Deep Neural Net Inference", greedy by size, is the first of them. Deterministic: equal
// problems give equal plans, since the work is bounded by a count and not by a clock.
//
// Threads: all functions are pure and may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::plan {

/// One value to place. Values that share storage in place are merged by the caller beforehand
/// (interval = union) and appear here once.
struct Value {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 1; // a power of two
  uint32_t firstUse = 0;  // index of the command that writes it first
  uint32_t lastUse = 0;   // index of the last command that reads or writes it; inclusive
};

struct Plan {
  std::vector<uint64_t> offsets; // per value, bytes from the arena's start
  uint64_t heightBytes = 0;      // max(offset + size rounded up to its alignment)
  uint64_t lowerBoundBytes = 0;
  uint32_t peakCommand = 0; // a command at which the lower bound is reached
};

/// Places all values. Fails with kInvalidArgument on a non-power-of-two alignment, on
/// firstUse > lastUse, or where sizes overflow 64 bits.
Result<Plan> planArena(const std::vector<Value> &values);

/// The largest sum of sizes (each rounded up to its alignment) alive at one command.
uint64_t lowerBound(const std::vector<Value> &values, uint32_t *peakCommand = nullptr);

/// The independent judge: shares no code with the solver. kOk, or an internal error that names the
/// first two values that overlap, or the value that is misaligned or outside of the height.
Status validatePlan(const std::vector<Value> &values, const Plan &plan);

// ---- commands and hazards ----------------------------------------------------------------------

/// A range of bytes that a command touches, in one memory object (space 0 is the arena; constants,
/// inputs and outputs have spaces of their own).
struct Access {
  uint32_t space = 0;
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  bool write = false;
};

struct Command {
  std::vector<Access> accesses;
  bool barrierBefore =
      false; // all earlier commands finish, and are visible, before this one starts
};

/// Sets barrierBefore on exactly those commands that need one: a command gets a barrier when it
/// conflicts (write-read, read-write, write-write on overlapping bytes) with one since the last
/// barrier.
void placeBarriers(std::vector<Command> &commands);

/// The independent checker: for each pair of conflicting commands there is a barrier between them.
/// kOk, or an internal error that names the pair and the bytes. Shares no code with placeBarriers.
Status checkHazards(const std::vector<Command> &commands);

} // namespace gantry::plan
