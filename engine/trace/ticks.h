// The clock behind a trace: the processor's own counter, which is read without a system call.
//
// Its rate is not known here and need not be: the collector reads it together with the system's
// monotonic clock every few milliseconds and converts what lies in between (clock.h). On x86 it is
// the time-stamp counter, which on every processor since about 2008 runs at one rate and alike on
// all cores; on 64-bit ARM the generic timer; elsewhere the monotonic clock itself.
//
// Threads: pure functions. Units: ticks, and nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gantry::trace {

/// The system's monotonic clock.
inline uint64_t monotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t readTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return monotonicNs();
#endif
}

} // namespace gantry::trace
