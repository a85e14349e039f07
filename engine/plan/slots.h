// Plans slots: ranges of the arena (plan.h) whose bytes are in use at different times.
//
// A slot is the storage of one or several tensors. The parts of a concatenation, for example, are
// written one after another, so that most of their storage is free while the first parts are alive.
// A slot is divided into pieces: ranges of bytes that are in use from one command to another.
//
// Algorithm: planArena() first plans the slots as rectangles: each slot as if all of its bytes were
// in use from its first to its last use. If some slot has several pieces, a second plan is made.
// The slots are placed one after another, each at the lowest offset at which its pieces overlap no
// piece of an earlier slot. One of the slots that reach the height then gets an earlier place in
// the order, and all are placed again, until the height is at most the lower bound of the pieces or
// PlanRequest::enoughBytes, or until an eighth of the work limit is used up. The plan with the
// smaller height is returned.
//
// Threads: pure functions. Units: bytes. Errors: planSlots() returns those of planArena();
// validateSlots() returns kInternal for a plan that is wrong.
#pragma once

#include "engine/plan/plan.h"

namespace gantry::plan {

/// A range of a slot's bytes that is in use from one command to another, inclusive.
struct SlotUse {
  uint64_t offset = 0; // From the start of the slot.
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0;
  uint32_t lastUse = 0;
};

struct Slot {
  uint64_t alignment = 1;    // The slot begins at a multiple of this power of two.
  std::vector<SlotUse> uses; // At least one. They may overlap; their ends fit 64 bits.
};

/// The pieces of several slots, slot by slot, each with the alignment of its slot.
struct SlotPieces {
  std::vector<Value> values;     // The pieces of all slots.
  std::vector<uint32_t> slots;   // Per piece: its slot.
  std::vector<uint64_t> offsets; // Per piece: bytes from the start of its slot.
};

/// Divides the slots into pieces. A piece is alive from the first to the last use of its bytes. It
/// begins at a multiple of its slot's alignment, so some of its bytes may be in use for a shorter
/// time than it is alive.
SlotPieces piecesOf(const std::vector<Slot> &slots);

/// Places all slots. Plan::offsets has one offset per slot. The height is at most the height that
/// planArena() reaches for the slots as rectangles. The lower bounds in the plan are computed from
/// the pieces, or from the rectangles if each slot has one piece or all slots together have 2^60
/// bytes or more.
Result<Plan> planSlots(const std::vector<Slot> &slots, const PlanRequest &request = {});

/// Checks that no two slots use a byte at the same command, and that each slot is aligned and lies
/// within the plan's height. A byte of a slot is in use from the first to the last command of all
/// uses that contain it. Shares no code with planSlots(). O(n log n) for n uses, if each byte of a
/// slot lies in few of them.
Status validateSlots(const std::vector<Slot> &slots, const Plan &plan);

} // namespace gantry::plan
