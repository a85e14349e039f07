// The process-wide barrier on Linux, by membarrier(2).
#include "engine/base/process_barrier.h"

#include <atomic>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gantry {

#if defined(__linux__)

namespace {

bool ask() { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0; }

} // namespace

bool hasProcessBarrier() {
  static std::atomic<int> answer{-1};
  int known = answer.load(std::memory_order_relaxed);
  if (known < 0) {
    known = ask() ? 1 : 0;
    answer.store(known, std::memory_order_relaxed);
  }
  return known != 0;
}

void processBarrier() { (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

#else

bool hasProcessBarrier() { return false; }
void processBarrier() {}

#endif

} // namespace gantry
