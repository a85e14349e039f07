// Where everything of a program lies for one set of shapes, and where the barriers are.
//
// A static program brings its plan and barriers along; they are judged (validator, hazard checker)
// and taken; a bounded one brings a plan that holds for all its sizes, judged for those of the run.
// For any other dynamic program, and where guards are asked for, the planner places the slots:
// transients that share storage in place are one slot, alive from the first use of any to the last
// use of all.
//
// Threads: pure; a ShapePlan is immutable.
#pragma once

#include "engine/plan/plan.h"
#include "engine/program/program.h"

namespace gantry::program {

inline constexpr uint64_t kNoOffset = UINT64_MAX;

/// A stretch of the arena, used by one value or by several in place.
struct Slot {
  uint32_t value = 0; // the largest of its values; its name stands for the slot
  uint64_t offset = kNoOffset;
  uint64_t sizeBytes = 0; // without guard
  uint64_t alignment = 1;
  uint32_t firstUse = 0;
  uint32_t lastUse = 0;
  bool donated = false; // a donated input lies in it before the first command
};

struct ShapePlan {
  std::vector<int64_t> exprs;        // per expression of the program
  std::vector<uint64_t> sizeBytes;   // per value
  std::vector<uint64_t> offsets;     // per value: in the arena, kNoOffset for what is not transient
  std::vector<uint64_t> hostOffsets; // per value: in the host's memory, kNoOffset for all others
  std::vector<Slot> slots;
  std::vector<bool> barrierBefore; // per command
  uint64_t arenaBytes = 0;
  uint64_t hostBytes = 0; // of transients that are away for a while
  uint64_t lowerBoundBytes = 0;
  uint32_t peakCommand = 0;
};

struct ShapePlanOptions {
  uint64_t guardBytes = 0;   // kept free behind each slot
  uint64_t minAlignment = 1; // of each slot, besides its own
};

Result<ShapePlan> makeShapePlan(const artifact::Program &program, std::span<const int64_t> symbols,
                                const ShapePlanOptions &options);

/// The storage that the arena takes: its height as memory is given, and something to bind where all
/// transients are empty. 0 where there are none.
uint64_t arenaBytesOf(const ShapePlan &plan);

} // namespace gantry::program
