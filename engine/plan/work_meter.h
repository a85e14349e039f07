// Counts the work of a search and says when it must stop.
//
// A unit is one item looked at, some ten nanoseconds: a limit in units stops at the same point on
// every machine and in every run, which a clock does not. A deadline may be added where the result
// need not be reproducible; the clock is read rarely.
//
// Threads: one at a time.
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

  /// False once the limit or the deadline has passed; it stays false.
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

  /// A meter for a part of what is left, at most `units` of it; settle() takes what it spent.
  WorkMeter part(uint64_t units) const {
    WorkMeter meter = *this;
    meter.limit_ = std::min(units, limit_ - std::min(limit_, spent_));
    meter.spent_ = 0;
    meter.nextReading_ = 0;
    return meter;
  }
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
