// The completed value of each timeline (TimelinePoint): all work up to this value is done.
//
// Timeline 0 belongs to the device; its values are the tickets of Device::submit. The other
// timelines belong to the caller, who advances them. A completed value never decreases.
// Threads: any, without a lock. Errors: none; arguments are checked by the callers.
#pragma once

#include "engine/heap/types.h"

#include <array>
#include <atomic>

namespace gantry::heap {

class Timelines {
public:
  /// The number of timelines that exist, including timeline 0.
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  uint64_t completed(uint32_t timeline) const {
    return completed_[timeline].load(std::memory_order_acquire);
  }
  /// Adds a timeline and returns its number; 0 if kMaxTimelines exist.
  uint32_t add() {
    uint32_t next = count_.load();
    do {
      if (next == kMaxTimelines)
        return 0;
    } while (!count_.compare_exchange_weak(next, next + 1));
    return next;
  }
  /// Sets the completed value, unless it is larger already.
  void advance(uint32_t timeline, uint64_t value) {
    uint64_t known = completed_[timeline].load(std::memory_order_relaxed);
    while (known < value && !completed_[timeline].compare_exchange_weak(known, value)) {
    }
  }
  /// Whether the timelines of all points exist.
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
