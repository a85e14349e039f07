#include "engine/heap/bias.h"

#include "engine/base/process_barrier.h"

#include <algorithm>

#include <sched.h>

namespace gantry::heap {
namespace {

// A revocation costs as much as some hundred times without a bias.
constexpr uint32_t kMostInARow = 1 << 14;

} // namespace

void Bias::turnOn() {
  if (hasProcessBarrier())
    state_.store(kOn, std::memory_order_release);
}

void Bias::revokeSlowly() {
  state_.store(kRevoking, std::memory_order_relaxed);
  processBarrier();
  while (busy_.load(std::memory_order_acquire))
    sched_yield();
  state_.store(kOff, std::memory_order_release);
}

void BiasedLock::lock() {
  const uint64_t key = currentCache.key;
  if (key != 0 && owner_.load(std::memory_order_relaxed) == key && bias_.enter()) [[likely]]
    plain_ = true;
  else
    lockShared(key);
}

void BiasedLock::lockShared(uint64_t key) {
  spin_.lock();
  if (owner_.load(std::memory_order_relaxed) != 0) {
    bias_.revoke();
    owner_.store(0, std::memory_order_relaxed);
    enough_ = std::min(4 * enough_, kMostInARow);
  }
  inARow_ = key == last_ ? inARow_ + 1 : 0;
  last_ = key;
  if (key != 0 && inARow_ >= enough_ && hasProcessBarrier()) {
    inARow_ = 0;
    bias_.turnOn();
    owner_.store(key, std::memory_order_relaxed);
  }
}

} // namespace gantry::heap
