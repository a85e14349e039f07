// The check of memory at run time: what a run writes outside of its values, and what it reads
// before writing, becomes visible.
//
// Each slot of the arena, and each output that lies in the session's own memory, is followed by a
// guard of kGuardBytes. Before its first use the guard is filled with canaries and the slot with
// poison (a NaN, so that a value that is read too early spoils the result); after its last use the
// guard is copied aside for the host to look at, and the slot is poisoned again (so that a value
// that is read too late does).
//
// It finds writes past the end of a value by up to kGuardBytes, reads of what is not yet or no
// longer there. It does not find writes that land inside another live value; the plan's validator
// (engine/plan) excludes those that come from wrong offsets.
//
// Threads: one at a time.
#pragma once

#include "engine/program/recorder.h"

#include <string>

namespace gantry::program {

inline constexpr uint64_t kGuardBytes = 256;
inline constexpr uint32_t kPoisonWord = 0x7FC0DEAD; // a quiet NaN
inline constexpr uint32_t kCanaryWord = 0xCA9A41E5;

/// Bytes of the guard's copy: from the value's end, which need not be a multiple of 4, rounded
/// down.
inline constexpr uint64_t kGuardCopyBytes = kGuardBytes + 4;

/// Canaries behind the range, poison in it. The range's offset is a multiple of 4, and the memory
/// goes on for kGuardBytes after its size rounded up to 4.
Status recordPoison(Recorder &recorder, const device::BufferRange &range);

/// Copies the guard of the range to `aside`, of kGuardCopyBytes.
Status recordGuardCopy(Recorder &recorder, const device::BufferRange &range,
                       const device::BufferRange &aside);

/// Looks at a guard that was copied aside: kInternal names the value and the first byte that was
/// overwritten.
Status checkGuard(const uint8_t *copy, uint64_t valueBytes, const std::string &name);

} // namespace gantry::program
