// Counters of live and reserved bytes for each memory kind.
//
// Each arena (arena.h) counts its own live buffers under its lock (LiveCounter). It adds the change
// to the totals of its kind (KindTotals) when its live bytes have grown by 1 MiB or shrunk by 16
// MiB since it last did so, or by 1/32 of the live bytes that it added if that is more. Most
// operations, those of large buffers too, therefore write no cache line that other threads write.
// The peak of live bytes is exact if one thread allocates. With several threads, each arena beyond
// the first may make the peak too large by about 16 MiB, or too small by 1 MiB, or by 1/32 of the
// arena's live bytes if that is more.
// Units: bytes. Threads: a KindTotals may be used by any thread; the arena's lock guards a
// LiveCounter.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gantry::heap {

/// The totals of one memory kind over all arenas.
struct KindTotals {
  std::atomic<int64_t> publishedLive{0}; // Live bytes that the arenas have added.
  std::atomic<int64_t> peakLive{0};
  std::atomic<uint64_t> reserved{0}; // Bytes of slabs.
  std::atomic<uint64_t> peakReserved{0};
  std::atomic<uint32_t> arenas{0}; // Number of arenas.
};

/// The live bytes and buffers of one arena. "Published" bytes are those that publish() has added to
/// the totals.
class LiveCounter {
public:
  int64_t live() const { return live_; }
  uint64_t buffers() const { return buffers_; }
  /// The peak of live bytes since the last publish(), minus the published bytes.
  int64_t unpublishedPeak() const { return high_ - published_; }

  /// Counts a buffer. Returns whether the caller must call publish().
  bool add(uint64_t bytes) {
    live_ += static_cast<int64_t>(bytes);
    ++buffers_;
    high_ = std::max(high_, live_);
    return high_ - published_ >= std::max(kMinGrowth, published_ / kPublishFraction);
  }
  /// Removes a buffer from the count. Returns whether the caller must call publish().
  bool remove(uint64_t bytes) {
    live_ -= static_cast<int64_t>(bytes);
    --buffers_;
    return published_ - live_ >= std::max(kMinShrinkage, published_ / kPublishFraction);
  }
  /// Adds the change of live bytes since the last publish() to the totals, and updates their peak.
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
  static constexpr int64_t kMinGrowth = 1 << 20;
  static constexpr int64_t kMinShrinkage = 16 << 20;
  static constexpr int64_t kPublishFraction = 32;
  int64_t live_ = 0;
  int64_t high_ = 0; // The largest live_ since the last publish().
  int64_t published_ = 0;
  uint64_t buffers_ = 0;
};

} // namespace gantry::heap
