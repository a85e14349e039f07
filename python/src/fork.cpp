// Implements fork.h.
#include "python/src/fork.h"

#include "python/src/status.h"

#include <atomic>
#include <mutex>
#include <pthread.h>

namespace gantry::python {

namespace {
std::atomic<bool> forked{false};
} // namespace

void watchForks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forked = true; }); });
}

bool isForked() { return forked.load(std::memory_order_relaxed); }

void checkProcess() {
  if (isForked())
    throw StatusError(
        GANTRY_STATUS_FAILED_PRECONDITION,
        "this process was forked from one that had opened a device, whose driver works "
        "only there; start processes with multiprocessing.set_start_method(\"spawn\"), "
        "or fork before the first use of gantry");
}

} // namespace gantry::python
