// How far the device and the caller's timelines have come.
//
// Timeline 0 is the device's own (the tickets of Device::submit). The others belong to the caller,
// who advances them. A value only grows.
// Threads: any, without a lock.
#pragma once

#include "engine/heap/types.h"

#include <array>
#include <atomic>

namespace gantry::heap {

class Timelines {
public:
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  uint64_t completed(uint32_t timeline) const {
    return completed_[timeline].load(std::memory_order_acquire);
  }
  /// A new timeline's number; 0 if kMaxTimelines exist.
  uint32_t add() {
    uint32_t next = count_.load();
    do {
      if (next == kMaxTimelines)
        return 0;
    } while (!count_.compare_exchange_weak(next, next + 1));
    return next;
  }
  void advance(uint32_t timeline, uint64_t value) {
    uint64_t known = completed_[timeline].load(std::memory_order_relaxed);
    while (known < value && !completed_[timeline].compare_exchange_weak(known, value)) {
    }
  }
  /// Whether all of the points exist.
  bool know(std::span<const TimelinePoint> points) const {
    for (const TimelinePoint &point : points)
      if (point.timeline >= count())
        return false;
    return true;
  }
  /// Whether work up to points[t] of every timeline t is done.
  bool passed(const uint64_t (&points)[kMaxTimelines]) const {
    for (uint32_t t = 0; t < kMaxTimelines; ++t)
      if (points[t] > completed(t))
        return false;
    return true;
  }

private:
  std::array<std::atomic<uint64_t>, kMaxTimelines> completed_{};
  std::atomic<uint32_t> count_{1};
};

} // namespace gantry::heap
