// The clock of recorded events: the processor's own counter, which is read without a system call.
//
// The counter's rate is not measured here. The collector reads the counter together with the
// system's monotonic clock in every pass and interpolates between the readings (clock.h). On 64-bit
// x86 the counter is the time-stamp counter; on processors since about 2008 it has a constant rate
// and agrees on all cores. On 64-bit ARM the counter is the generic timer. Elsewhere it is the
// monotonic clock.
//
// Thread safety: pure functions. Units: ticks, and nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gantry::trace {

/// Returns the time of the system's monotonic clock in nanoseconds.
inline uint64_t monotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Returns the processor's counter in ticks.
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
