// Relating clocks: ticks to nanoseconds, and a device's clock to the host's.
//
// TickClock reads the processor's counter and the system's monotonic clock together, again and
// again, and interpolates between the last two readings: exact at both ends, without a rate that
// would have to be measured first, and never backwards.
//
// DeviceClock does the same for the ClockEvents of one device, as a reader gets them.
//
// Threads: an object is used by one thread at a time.
#pragma once

#include "engine/trace/events.h"
#include "engine/trace/ticks.h"

#include <vector>

namespace gantry::trace {

class TickClock {
public:
  /// Times count from now on.
  void start() {
    before_ = now_ = read();
    originNs_ = now_.ns;
  }
  /// A new reading; toNs() is exact for ticks between the one before and this one.
  void advance() {
    const Reading next = read();
    if (next.ticks <= now_.ticks)
      return;
    before_ = now_;
    now_ = next;
    scale_ = static_cast<uint64_t>((static_cast<unsigned __int128>(now_.ns - before_.ns) << 32) /
                                   (now_.ticks - before_.ticks));
  }
  /// Since start(); 0 for what lies before it.
  uint64_t toNs(uint64_t ticks) const {
    const uint64_t base = before_.ns - originNs_;
    if (ticks >= before_.ticks)
      return base + scaled(ticks - before_.ticks);
    const uint64_t back = scaled(before_.ticks - ticks);
    return back < base ? base - back : 0;
  }
  uint64_t originNs() const { return originNs_; } // of the monotonic clock
  uint64_t ticksPerSecond() const {
    return scale_ == 0 ? 0
                       : static_cast<uint64_t>(4294967296.0 * 1e9 / static_cast<double>(scale_));
  }

private:
  struct Reading {
    uint64_t ticks = 0;
    uint64_t ns = 0;
  };
  static Reading read() {
    const uint64_t ticks = readTicks();
    return {ticks, monotonicNs()};
  }
  uint64_t scaled(uint64_t ticks) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(ticks) * scale_) >> 32);
  }
  Reading before_;
  Reading now_;
  uint64_t originNs_ = 0;
  uint64_t scale_ = 0; // nanoseconds per tick, times 2^32
};

class DeviceClock {
public:
  /// In the order in which they come.
  void add(const ClockEvent &event) { points_.push_back(event); }
  bool isKnown() const { return !points_.empty(); }
  /// The host's time for a time of the device: between two records by interpolation, outside of
  /// them by the nearest. *errorNs: how far off it may be.
  uint64_t toHostNs(uint64_t deviceNs, uint64_t *errorNs = nullptr) const {
    if (errorNs != nullptr)
      *errorNs = 0;
    if (points_.empty())
      return deviceNs;
    size_t above = 0;
    while (above < points_.size() && points_[above].deviceNs <= deviceNs)
      ++above;
    const ClockEvent &low = points_[above == 0 ? 0 : above - 1];
    const ClockEvent &high = points_[above == points_.size() ? above - 1 : above];
    if (errorNs != nullptr)
      *errorNs = low.errorNs > high.errorNs ? low.errorNs : high.errorNs;
    if (low.deviceNs == high.deviceNs || deviceNs < low.deviceNs)
      return low.hostNs + (deviceNs - low.deviceNs);
    const double part = static_cast<double>(deviceNs - low.deviceNs) /
                        static_cast<double>(high.deviceNs - low.deviceNs);
    const double hostSpan = static_cast<double>(high.hostNs) - static_cast<double>(low.hostNs);
    return low.hostNs + static_cast<uint64_t>(static_cast<int64_t>(part * hostSpan));
  }

private:
  std::vector<ClockEvent> points_;
};

} // namespace gantry::trace
