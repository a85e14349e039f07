// The waiting parts of Lock and SpinLock.
#include "engine/base/lock.h"

#include <sched.h>

namespace gantry {

void Lock::lockSlowly() {
  while (state_.exchange(2, std::memory_order_acquire) != 0)
    state_.wait(2, std::memory_order_relaxed);
}

void Lock::wakeOne() { state_.notify_one(); }

void SpinLock::waitUntilFree() {
  for (int i = 0; taken_.load(std::memory_order_relaxed); ++i) {
    if (i < 64)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      sched_yield();
  }
}

} // namespace gantry
