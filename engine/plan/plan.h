// The static memory planner: where each transient value of a program lies in the arena.
//
// A problem is a list of values, each with a size, an alignment and the first and last of the
// commands during which it must keep its bytes. A plan gives each value an offset, a multiple of
// its alignment, such that values alive at the same time do not overlap; its height is the arena's
// size. A value occupies its size rounded up to the smallest alignment of all values: every offset
// is a multiple of that, so nothing is lost. What lies between a value's end and the next multiple
// of its own alignment is free for others. The lower bound is the largest sum of what is occupied
// at one moment: no plan can be lower.
//
// Constraints may be added: values at fixed offsets, gaps inside a lifetime, values that must or
// may share storage, ranges that nothing may use, and a cap on the size of one arena with several
// arenas.
//
// It is not an allocator: nothing here knows MLIR, GPUs or memory. Three rooms ask it the same
// question: the compiler (static shapes), the session (a dynamic shape not seen before) and the
// profiler (what if).
//
// Algorithm: greedy placements first, the best kept (fast_tier.h); where they miss the bound,
// local searches (large_neighbourhood.h, ejection_search.h) and an exact one (valley_search.h) in
// slices of many styles (portfolio.h) in turns (descent.h), at the bound first and then between it
// and the best plan. Most real graphs end at their bound, which proves them
// optimal. Deterministic: equal requests give equal plans, since the work is bounded by a count and
// not by a clock, unless a deadline is asked for.
//
// Threads: all functions are pure and may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::plan {

/// One value to place.
struct Value {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 1; // a power of two
  uint32_t firstUse = 0;  // index of the command that writes it first
  uint32_t lastUse = 0;   // index of the last command that reads or writes it; inclusive
};

/// A value whose place is known: part of a plan that is kept, or memory of the caller. A request
/// with pins is first planned without them, with a part of the work: where they come from an
/// earlier plan of the same values, that is found again.
struct Pin {
  uint32_t value = 0;
  uint64_t offset = 0; // in its arena; a multiple of the value's alignment
  uint32_t arena = 0;
};

/// Commands strictly inside a value's life during which it need not keep its bytes, because it is
/// written anew afterwards. Its offset stays the same.
struct Gap {
  uint32_t value = 0;
  uint32_t firstCommand = 0;
  uint32_t lastCommand = 0; // inclusive
};

/// Two values that may lie at the same offset even while both are alive, as an operator's result
/// may take the place of its operand. Otherwise they are apart like any others; they never overlap
/// in part. Where it is required they have the same offset.
struct Sharing {
  uint32_t first = 0;
  uint32_t second = 0;
  bool required = false;
};

/// Bytes that no value may use during these commands. They do not count as the plan's height.
struct Zone {
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0;
  uint32_t lastUse = UINT32_MAX; // inclusive
  uint32_t arena = 0;
};

struct Constraints {
  std::vector<Pin> pins = {}; // at most one for a value
  std::vector<Gap> gaps = {};
  std::vector<Sharing> sharings = {};
  std::vector<Zone> zones = {};
  uint64_t arenaCapBytes = UINT64_MAX; // no arena is larger
  uint32_t mostArenas = 1;
};

/// About a second at most; most plans need a thousandth of it.
inline constexpr uint64_t kDefaultWork = 70'000'000;

struct PlanRequest {
  Constraints constraints = {};
  uint64_t enoughBytes = 0;          // a plan this low ends the search; 0: as low as possible
  uint64_t workLimit = kDefaultWork; // items looked at by the search, ten to thirty ns each
  double deadlineSeconds = 0;        // 0: none, and the result is the same on every machine
};

struct Plan {
  std::vector<uint64_t> offsets; // per value, bytes from its arena's start
  uint64_t heightBytes = 0;      // max(offset + what it occupies), summed over arenas
  uint64_t lowerBoundBytes = 0;  // the largest sum of sizes alive at one command
  uint32_t peakCommand = 0;      // a command at which the lower bound is reached
  uint64_t provenBoundBytes = 0; // ≥ lowerBoundBytes; equal to the height of a plan proven optimal
  std::vector<uint32_t> arenas;  // per value; empty where there is one arena
  std::vector<uint64_t> arenaHeights; // empty where there is one arena
};

/// Places all values. Fails with kInvalidArgument on a non-power-of-two alignment, on
/// firstUse > lastUse, where sizes overflow 64 bits, or where constraints contradict each other;
/// with kOutOfMemory where no plan within the cap and the number of arenas was found. The message
/// names the value and the numbers.
Result<Plan> planArena(const std::vector<Value> &values);
Result<Plan> planArena(const std::vector<Value> &values, const PlanRequest &request);

/// The largest sum of what the values alive at one command occupy.
uint64_t lowerBound(const std::vector<Value> &values, uint32_t *peakCommand = nullptr);

/// The independent judge: shares no code with the solver; O(n log n). kOk, or an internal error
/// that names the first two values that overlap, or the value that is misaligned, outside of the
/// height, or against a constraint.
Status validatePlan(const std::vector<Value> &values, const Plan &plan);
Status validatePlan(const std::vector<Value> &values, const Plan &plan,
                    const Constraints &constraints);

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
