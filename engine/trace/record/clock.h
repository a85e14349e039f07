// Clock conversion: TickClock converts ticks to nanoseconds, and DeviceClock converts times of a
// device's clock to the host's clock.
//
// TickClock reads the processor's counter and the system's monotonic clock together, in start() and
// in each advance(), and interpolates linearly between two readings. The result is exact at the
// readings and needs no known rate of the counter. The last three readings are kept, so ticks
// between the first and the second of them are converted as they were before the last advance(). A
// later tick therefore never gives an earlier time, even if an advance() lies between the two
// conversions. Ticks before the first or after the last kept reading are extrapolated, without this
// guarantee.
//
// DeviceClock interpolates in the same way between the ClockEvents of one device.
//
// Thread safety: one thread at a time per object.
#pragma once

#include "engine/trace/events.h"
#include "engine/trace/record/ticks.h"

#include <vector>

namespace gantry::trace {

class TickClock {
public:
  /// Takes the first reading. The results of toNs() count from this moment.
  void start() {
    older_ = before_ = now_ = read();
    originNs_ = now_.ns;
  }
  /// Takes a new reading. toNs() then interpolates for ticks between the previous reading and this
  /// one, and extrapolates for later ticks.
  void advance() {
    const Reading next = read();
    if (next.ticks <= now_.ticks)
      return;
    older_ = before_;
    olderScale_ = scale_;
    before_ = now_;
    now_ = next;
    scale_ = static_cast<uint64_t>((static_cast<unsigned __int128>(now_.ns - before_.ns) << 32) /
                                   (now_.ticks - before_.ticks));
  }
  /// Returns the nanoseconds from start() to these ticks; 0 for ticks before start(). Until
  /// advance() has been called once, the result is 0 for all ticks.
  uint64_t toNs(uint64_t ticks) const {
    if (ticks >= before_.ticks)
      return before_.ns - originNs_ + scaled(ticks - before_.ticks, scale_);
    const uint64_t base = older_.ns - originNs_;
    if (ticks >= older_.ticks)
      return base + scaled(ticks - older_.ticks, olderScale_);
    const uint64_t back = scaled(older_.ticks - ticks, olderScale_);
    return back < base ? base - back : 0;
  }
  /// Returns the time of the monotonic clock at start(), in nanoseconds.
  uint64_t originNs() const { return originNs_; }
  /// Returns the measured rate of the counter; 0 before the first advance().
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
  static uint64_t scaled(uint64_t ticks, uint64_t scale) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(ticks) * scale) >> 32);
  }
  Reading older_;
  Reading before_;
  Reading now_;
  uint64_t originNs_ = 0;
  // Nanoseconds per tick, times 2^32: from before_ to now_, and from older_ to before_.
  uint64_t scale_ = 0;
  uint64_t olderScale_ = 0;
};

class DeviceClock {
public:
  /// Adds a record that correlates the two clocks. Records must be added in the order in
  /// which they lie in the capture, with ascending deviceNs.
  void add(const ClockEvent &event) { points_.push_back(event); }
  bool isKnown() const { return !points_.empty(); }
  /// Converts a time of the device's clock to the host's clock, both in nanoseconds. Interpolates
  /// between two records; before the first and after the last record, adds the clocks' difference
  /// at that record. Without any record, returns the device's time. *errorNs, if errorNs is not
  /// null, receives the larger error of the records that were used, or 0 without records.
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
