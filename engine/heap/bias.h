// Exclusion that costs its usual thread next to nothing.
//
// An atomic exchange waits for every store before it, and the heap's stores often miss the cache:
// on scattered data the exchanges, not the work, are what an operation costs. So what one thread
// uses nearly always is biased to it ("Quickly Reacquirable Locks", Dice, Moir and Scherer, 2003):
// its owner marks itself busy and looks whether the bias is still on, in plain instructions. Who
// else comes turns the bias off first: a store, a barrier on all threads (engine/base/
// process_barrier.h), and a wait until the owner is not busy. From then on everybody takes the
// ordinary, atomic way. Where the system has no such barrier, no bias is ever on.
#pragma once

#include "engine/heap/lock.h"

#include <atomic>
#include <cstdint>

namespace gantry::heap {

class Bias {
public:
  /// The owner's: false where the bias is off; else until leave() nobody else gets past revoke().
  bool enter() {
    busy_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (state_.load(std::memory_order_acquire) == kOn) [[likely]]
      return true;
    busy_.store(false, std::memory_order_relaxed);
    return false;
  }
  void leave() { busy_.store(false, std::memory_order_release); }

  /// Off for good when it returns; any thread but one that has entered. Waits for the owner.
  void revoke() {
    if (state_.load(std::memory_order_acquire) != kOff)
      revokeSlowly();
  }

  /// On, where the system can do it. Nobody may revoke or enter meanwhile.
  void turnOn();

private:
  enum State : uint8_t { kOff, kOn, kRevoking };
  void revokeSlowly();
  std::atomic<uint8_t> state_{kOff};
  std::atomic<bool> busy_{false};
};

struct ThreadCache;

/// What the current thread used last of a heap's caches; the hot paths look here alone.
struct CurrentCache {
  uint64_t heapId = 0;
  ThreadCache *cache = nullptr;
  uint64_t key = 0; // of the cache, unlike that of any other there ever was; 0: none
};
#if defined(__GNUC__)
__attribute__((tls_model("initial-exec")))
#endif
extern constinit thread_local CurrentCache currentCache; // thread_cache.cpp

/// A spin lock that becomes biased to the thread that takes it many times in a row.
class BiasedLock {
public:
  void lock();
  void unlock() {
    if (plain_) {
      plain_ = false;
      bias_.leave();
    } else {
      spin_.unlock();
    }
  }

private:
  void lockShared(uint64_t key);

  std::atomic<uint64_t> owner_{0}; // CurrentCache::key of the thread; 0: not biased
  Bias bias_;
  bool plain_ = false; // taken by the owner without the spin lock; guarded by itself
  SpinLock spin_;
  // Under spin_.
  uint64_t last_ = 0;        // who took it last
  uint32_t inARow_ = 0;      // and how many times
  uint32_t enough_ = 1 << 8; // times that make a bias; more after each that did not last
};

} // namespace gantry::heap
