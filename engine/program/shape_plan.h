// The memory plan of a program for one set of shapes: the sizes and offsets of its values, and its
// barriers.
//
// A static program contains its plan and its barriers, which are checked by the validator and the
// hazard checker of engine/plan. A bounded program contains a plan for all of its sizes, which is
// checked for the sizes of the run. For other dynamic programs, and if guards are requested, the
// planner places the slots. Transients that share storage in place form one slot, which is alive
// from the earliest first use to the latest last use of its values.
//
// Units: bytes. Threads: pure functions; a ShapePlan is immutable.
#pragma once

#include "engine/plan/plan.h"
#include "engine/program/program.h"

namespace gantry::program {

inline constexpr uint64_t kNoOffset = UINT64_MAX;

/// A range of the arena that one value uses, or several values in place.
struct Slot {
  uint32_t value = 0; // The largest of its values, whose name stands for the slot in messages.
  uint64_t offset = kNoOffset;
  uint64_t sizeBytes = 0; // Without the guard.
  uint64_t alignment = 1;
  uint32_t firstUse = 0; // Index of a command, inclusive.
  uint32_t lastUse = 0;  // Index of a command, inclusive.
  bool donated = false;  // A donated input lies in the slot before the first command.
};

struct ShapePlan {
  std::vector<int64_t> exprs;        // Value of each expression of the program.
  std::vector<uint64_t> sizeBytes;   // Per value.
  std::vector<uint64_t> offsets;     // Per value: offset in the arena; kNoOffset: not transient.
  std::vector<uint64_t> hostOffsets; // Per value: offset in the host arena; kNoOffset: not in it.
  std::vector<Slot> slots;
  std::vector<bool> barrierBefore; // Per command.
  uint64_t arenaBytes = 0;         // Height of the plan.
  uint64_t hostBytes = 0;          // Size of the host arena, for transients that are evicted.
  uint64_t lowerBoundBytes = 0;    // Lower bound of arenaBytes.
  uint32_t peakCommand = 0;        // The command at which the live bytes peak.
};

struct ShapePlanOptions {
  uint64_t guardBytes = 0;   // Bytes that stay free behind each slot.
  uint64_t minAlignment = 1; // Min alignment of each slot; a slot may need a larger one.
};

/// Makes the plan for the given symbol values. Returns kInvalidArgument if the values violate a
/// bound or a size overflows, and kDataLoss if the artifact's plan is wrong.
Result<ShapePlan> makeShapePlan(const artifact::Program &program, std::span<const int64_t> symbols,
                                const ShapePlanOptions &options);

/// Returns the size of the storage for the arena: arenaBytes rounded up to the granularity of
/// Storage; the smallest storage if all transients are empty; 0 if there are no transients.
uint64_t arenaBytesOf(const ShapePlan &plan);

} // namespace gantry::program
