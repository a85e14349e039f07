// FailingHost: a HostAllocator whose k-th allocation fails and, if wanted, a second one. It counts
// calls, failures and live bytes.
#pragma once

#include "engine/base/host_memory.h"

#include <atomic>

namespace gantry {

class FailingHost {
public:
  explicit FailingHost(uint64_t failAt = UINT64_MAX, uint64_t failAgainAt = UINT64_MAX)
      : failAt_(failAt), failAgainAt_(failAgainAt) {}

  HostAllocator allocator() { return {&FailingHost::allocate, &FailingHost::release, this}; }
  uint64_t calls() const { return calls_; }
  uint64_t failures() const { return failures_; }
  uint64_t liveBytes() const { return liveBytes_; }

  /// Restarts the counts of calls and failures. From now on, the allocations number k and
  /// failAgainAt fail; number 1 is the next one.
  void failAt(uint64_t k, uint64_t failAgainAt = UINT64_MAX) {
    calls_ = 0;
    failures_ = 0;
    failAt_ = k;
    failAgainAt_ = failAgainAt;
  }

private:
  static void *allocate(void *user, size_t bytes) {
    auto *self = static_cast<FailingHost *>(user);
    const uint64_t call = ++self->calls_;
    void *memory =
        call == self->failAt_ || call == self->failAgainAt_ ? nullptr : std::malloc(bytes);
    if (memory == nullptr)
      ++self->failures_;
    else
      self->liveBytes_ += bytes;
    return memory;
  }
  static void release(void *user, void *memory, size_t bytes) {
    static_cast<FailingHost *>(user)->liveBytes_ -= bytes;
    std::free(memory);
  }

  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> failures_{0};
  std::atomic<uint64_t> liveBytes_{0};
  uint64_t failAt_;
  uint64_t failAgainAt_;
};

} // namespace gantry
