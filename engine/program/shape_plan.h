// The memory plan of a program for one set of shapes: the sizes and offsets of its values, and its
// barriers.
//
// A static program has fixed sizes; it contains its offsets and its barriers. In a dynamic program,
// sizes depend on symbols (shapes.h). A bounded program is a dynamic program in which every symbol
// has an upper limit; it contains offsets that hold for all of its sizes. makeShapePlan() takes the
// offsets of static and bounded programs and validates them for the given sizes. It calls the
// planner of engine/plan for other dynamic programs, and for all programs if guards are requested
// (ShapePlanOptions::guardBytes). It takes the barriers only from a static program without guards,
// and places them itself otherwise.
//
// A transient is a value that only commands of the same run use. The transients lie in the arena,
// one buffer, whose ranges for them are called slots. A result that overwrites its operand in place
// shares the operand's slot, and the parts of a concatenation share one slot. A byte of a slot is
// in use from the first to the last use of the values that contain it.
//
// The host arena is host memory for transients that a program with a memory budget moves out of
// device memory between two uses.
//
// Units: bytes. Threads: pure functions; a ShapePlan is immutable.
#pragma once

#include "engine/plan/slots.h"
#include "engine/program/program.h"

namespace gantry::program {

inline constexpr uint64_t kNoOffset = UINT64_MAX;

/// A range of the arena in which one value lies, or several values that share it.
struct Slot {
  uint32_t value = 0; // Index of the slot's largest value; messages use the name of this value.
  uint64_t offset = kNoOffset;
  uint64_t sizeBytes = 0; // Without the guard (ShapePlanOptions::guardBytes).
  uint64_t alignment = 1;
  uint32_t firstUse = 0;                // Index of a command, inclusive.
  uint32_t lastUse = 0;                 // Index of a command, inclusive.
  std::vector<plan::SlotUse> uses = {}; // Bytes and lifetimes of its values.
  // Whether a donated input (Port::donated) is copied into the slot before the first command.
  bool donated = false;
};

struct ShapePlan {
  std::vector<int64_t> exprs;      // Value of each expression of the program (artifact.fbs, Expr).
  std::vector<uint64_t> sizeBytes; // Per value: the bytes of its elements.
  // Per value: the bytes to bind, from the value's offset to the end of its last element. They are
  // more than sizeBytes if the value is a box (a range of indices along each dimension) in a larger
  // value, with gaps between its elements.
  std::vector<uint64_t> spanBytes;
  std::vector<uint64_t> offsets; // Per value: offset in the arena; kNoOffset: elsewhere.
  // Per value: offset in the output of which the value is a part; kNoOffset: no part of an output.
  std::vector<uint64_t> partOffsets;
  std::vector<uint64_t> hostOffsets; // Per value: offset in the host arena; kNoOffset: elsewhere.
  std::vector<Slot> slots;
  std::vector<bool> barrierBefore; // Per command.
  uint64_t arenaBytes = 0;         // Height of the plan.
  uint64_t hostBytes = 0;          // Size of the host arena.
  uint64_t lowerBoundBytes = 0;    // Lower bound of arenaBytes.
  uint32_t peakCommand = 0;        // The command at which the live bytes peak.
};

struct ShapePlanOptions {
  uint64_t guardBytes = 0; // Bytes that stay free after each slot.
  // Min alignment of the slots, if the planner places them; a slot may need a larger one.
  uint64_t minAlignment = 1;
};

/// Makes the plan for the given symbol values. Returns kInvalidArgument if the values violate a
/// bound or a size overflows, and kDataLoss if the artifact's plan is wrong.
Result<ShapePlan> makeShapePlan(const artifact::Program &program, std::span<const int64_t> symbols,
                                const ShapePlanOptions &options);

/// Returns the size of the storage for the arena: arenaBytes rounded up to a multiple of 256, but
/// at least 256; 0 if the program has no transients.
uint64_t arenaBytesOf(const ShapePlan &plan);

} // namespace gantry::program
