// How many bytes are live and reserved, by memory kind.
//
// Each arena counts its own buffers under its lock (LiveCounter) and adds the change to the kind's
// totals when it has grown by 1 MiB or shrunk by 16 MiB, so that threads share no cache line for
// every operation. A single thread's peak is exact; with several threads it may be off by these
// amounts for each arena.
// Units: bytes. Threads: KindTotals any; a LiveCounter is guarded by its arena's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gantry::heap {

struct KindTotals {
  std::atomic<int64_t> publishedLive{0};
  std::atomic<int64_t> peakLive{0};
  std::atomic<uint64_t> reserved{0}; // Bytes of slabs.
  std::atomic<uint64_t> peakReserved{0};
  std::atomic<uint32_t> arenas{0}; // Number of arenas.
};

class LiveCounter {
public:
  int64_t live() const { return live_; }
  uint64_t buffers() const { return buffers_; }
  /// By how much the peak since the last publication lies above what is published.
  int64_t unpublishedPeak() const { return high_ - published_; }

  /// Returns whether publish() is due.
  bool add(uint64_t bytes) {
    live_ += static_cast<int64_t>(bytes);
    ++buffers_;
    high_ = std::max(high_, live_);
    return high_ - published_ >= kPublishGrowth;
  }
  bool remove(uint64_t bytes) {
    live_ -= static_cast<int64_t>(bytes);
    --buffers_;
    return published_ - live_ >= kPublishShrinkage;
  }
  void publish(KindTotals &totals) {
    const int64_t peak =
        totals.publishedLive.fetch_add(live_ - published_, std::memory_order_relaxed) +
        unpublishedPeak();
    int64_t known = totals.peakLive.load(std::memory_order_relaxed);
    while (peak > known && !totals.peakLive.compare_exchange_weak(known, peak)) {
    }
    published_ = live_;
    high_ = live_;
  }

private:
  static constexpr int64_t kPublishGrowth = 1 << 20;
  static constexpr int64_t kPublishShrinkage = 16 << 20;
  int64_t live_ = 0;
  int64_t high_ = 0; // the largest live_ since the last publication
  int64_t published_ = 0;
  uint64_t buffers_ = 0;
};

} // namespace gantry::heap
