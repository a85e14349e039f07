// Counts the work of a search and says when the search must stop.
//
// A unit of work is the examination of one item to be placed, which takes 10 to 30 ns. A limit in
// units stops a search at the same point on every machine and in every run; a clock does not. A
// caller that does not need reproducible results may add a deadline. With a
// deadline, the meter reads the clock once every kUnitsPerReading units.
//
// Threads: one at a time per object.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace gantry::plan {

class WorkMeter {
public:
  using Clock = std::chrono::steady_clock;

  explicit WorkMeter(uint64_t limit) : limit_(limit) {}
  WorkMeter(uint64_t limit, Clock::time_point deadline)
      : limit_(limit), deadline_(deadline), hasDeadline_(true) {}

  /// Adds units. Returns whether the search may go on: false once the limit is reached or the meter
  /// has observed that the deadline passed.
  bool spend(uint64_t units) {
    spent_ += units;
    if (spent_ >= limit_)
      return false;
    if (!hasDeadline_)
      return true;
    if (spent_ >= nextReading_) {
      nextReading_ = spent_ + kUnitsPerReading;
      late_ = late_ || Clock::now() >= deadline_;
    }
    return !late_;
  }
  bool exhausted() { return !spend(0); }

  /// Returns a meter for at most `units` of the remaining work, with the same deadline. The caller
  /// passes it to settle() afterwards.
  WorkMeter part(uint64_t units) const {
    WorkMeter meter = *this;
    meter.limit_ = std::min(units, limit_ - std::min(limit_, spent_));
    meter.spent_ = 0;
    meter.nextReading_ = 0;
    return meter;
  }
  /// Adds the work that a part has spent, and takes over whether it saw the deadline pass.
  void settle(const WorkMeter &part) {
    spent_ += part.spent_;
    late_ = late_ || part.late_;
  }

  uint64_t spent() const { return spent_; }
  uint64_t limit() const { return limit_; }

private:
  static constexpr uint64_t kUnitsPerReading = 20'000;

  uint64_t limit_;
  uint64_t spent_ = 0;
  uint64_t nextReading_ = 0;
  Clock::time_point deadline_;
  bool hasDeadline_ = false;
  bool late_ = false;
};

} // namespace gantry::plan
