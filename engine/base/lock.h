// Two locks, and a value that is read without a lock. The locks are neither recursive nor fair.
//
// Lock: a mutex of four bytes (U. Drepper, "Futexes Are Tricky", 2011, the second mutex), for
// sections that may take long. Waiting threads sleep.
// SpinLock: for short sections. Waiting threads spin and then yield the processor. unlock() is a
// plain store: on x86 an atomic exchange would wait for all earlier stores, and the stores of a
// suballocator often miss the cache.
#pragma once

#include <atomic>
#include <cstdint>

namespace gantry {

class Lock {
public:
  void lock() {
    uint32_t free = 0;
    if (!state_.compare_exchange_strong(free, 1, std::memory_order_acquire))
      lockSlowly();
  }
  void unlock() {
    if (state_.exchange(0, std::memory_order_release) == 2)
      wakeOne();
  }

private:
  void lockSlowly(); // lock.cpp
  void wakeOne();
  std::atomic<uint32_t> state_{0}; // 0: free; 1: taken; 2: taken, and a thread may be waiting
};

class SpinLock {
public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire))
      waitUntilFree();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

private:
  void waitUntilFree(); // lock.cpp
  std::atomic<bool> taken_{false};
};

/// A value that is written only under the lock of the object that contains it. Any thread may read
/// it without the lock; the value may then be out of date.
template <typename T> class Watched {
public:
  Watched(T value) : value_(value) {}
  operator T() const { return value_.load(std::memory_order_relaxed); }
  Watched &operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  Watched &operator+=(T value) { return *this = *this + value; }
  Watched &operator-=(T value) { return *this = *this - value; }
  Watched &operator|=(T value) { return *this = *this | value; }
  Watched &operator&=(T value) { return *this = *this & value; }

private:
  std::atomic<T> value_;
};

/// Holds a Lock or a SpinLock during its lifetime.
template <typename L> class Locked {
public:
  explicit Locked(L &lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  L &lock_;
};

} // namespace gantry
