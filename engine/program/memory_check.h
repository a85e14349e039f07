// The memory check (SessionOptions::checkMemory): finds kernels that write past the end of a value
// or read a value outside its lifetime. It is for tests, because it slows runs down.
//
// A guard of kGuardBytes follows each output and each slot, the range of the arena for one value or
// for values that share storage (shape_plan.h). With this check, outputs are always in the
// session's own memory. Before the first use of a slot, its guard is filled with canaries and the
// slot with poison. The poison is a NaN, so a value that is read too early spoils the result. After
// the last use, the guard is copied to memory that the host checks, and the slot is poisoned again,
// so a value that is read too late spoils the result as well.
//
// The check finds writes of up to kGuardBytes past the end of a value. It does not find a write
// that goes further and hits another live value.
//
// Units: bytes. Threads: a Recorder is used by one thread at a time.
#pragma once

#include "engine/program/recorder.h"

#include <string>

namespace gantry::program {

inline constexpr uint64_t kGuardBytes = 256;
inline constexpr uint32_t kPoisonWord = 0x7FC0DEAD; // A quiet NaN.
inline constexpr uint32_t kCanaryWord = 0xCA9A41E5;

/// Size of a guard's copy. The copy starts at the end of the value, rounded down to a multiple of 4
/// bytes, so it may begin with up to 3 bytes of the value.
inline constexpr uint64_t kGuardCopyBytes = kGuardBytes + 4;

/// Records commands that fill the range with poison and its guard with canaries. The range's offset
/// must be a multiple of 4. The memory must extend for kGuardBytes beyond the end of the range,
/// where the range's size is rounded up to a multiple of 4.
Status recordPoison(Recorder &recorder, const device::BufferRange &range);

/// Records a copy of the range's guard to `guardCopy`, which has kGuardCopyBytes.
Status recordGuardCopy(Recorder &recorder, const device::BufferRange &range,
                       const device::BufferRange &guardCopy);

/// Checks a guard's copy on the host. Returns kInternal with the value's name and the first
/// overwritten byte.
Status checkGuard(const uint8_t *copy, uint64_t valueBytes, const std::string &name);

} // namespace gantry::program
