#include "profiler_gui/model/step_curve.h"

#include <algorithm>

namespace gantry::profiler {
namespace {

void widen(ValueRange &range, const ValueRange &other) {
  range.low = std::min(range.low, other.low);
  range.high = std::max(range.high, other.high);
}

} // namespace

void StepCurve::append(uint64_t timeNs, uint64_t value) {
  size_t index = times_.size();
  times_.push_back(timeNs);
  values_.push_back(value);
  if (value > peak_) {
    peak_ = value;
    peakNs_ = timeNs;
  }
  for (size_t level = 0;; ++level) {
    index /= kGroup;
    if (level == levels_.size()) {
      if (index == 0 && level > 0)
        break;
      levels_.emplace_back();
      if (level > 0) { // the first group of a new level spans what was there before
        ValueRange whole = levels_[level - 1][0];
        for (const ValueRange &range : levels_[level - 1])
          widen(whole, range);
        levels_[level].push_back(whole);
      }
    }
    std::vector<ValueRange> &ranges = levels_[level];
    if (index == ranges.size())
      ranges.push_back({value, value});
    else
      widen(ranges[index], {value, value});
  }
}

uint64_t StepCurve::at(uint64_t timeNs) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), timeNs);
  return after == times_.begin() ? 0 : values_[static_cast<size_t>(after - times_.begin()) - 1];
}

ValueRange StepCurve::rangeOfSteps(size_t first, size_t last) const {
  ValueRange range{UINT64_MAX, 0};
  while (first < last) {
    // The largest aligned group that begins here and fits.
    size_t span = 1;
    size_t level = 0;
    while (level < levels_.size() && first % (span * kGroup) == 0 &&
           first + span * kGroup <= last) {
      span *= kGroup;
      ++level;
    }
    if (level == 0)
      widen(range, {values_[first], values_[first]});
    else
      widen(range, levels_[level - 1][first / span]);
    first += span;
  }
  return range;
}

ValueRange StepCurve::range(uint64_t beginNs, uint64_t endNs) const {
  const auto first = std::upper_bound(times_.begin(), times_.end(), beginNs);
  const auto last = std::lower_bound(first, times_.end(), endNs);
  const uint64_t initial =
      first == times_.begin() ? 0 : values_[static_cast<size_t>(first - times_.begin()) - 1];
  ValueRange range{initial, initial};
  if (first != last)
    widen(range, rangeOfSteps(static_cast<size_t>(first - times_.begin()),
                              static_cast<size_t>(last - times_.begin())));
  return range;
}

void StepCurve::shrink() {
  times_.shrink_to_fit();
  values_.shrink_to_fit();
  for (std::vector<ValueRange> &level : levels_)
    level.shrink_to_fit();
}

uint64_t StepCurve::memoryBytes() const {
  uint64_t bytes = (times_.capacity() + values_.capacity()) * sizeof(uint64_t);
  for (const std::vector<ValueRange> &level : levels_)
    bytes += level.capacity() * sizeof(ValueRange);
  return bytes;
}

} // namespace gantry::profiler
