// Implements StepCurve: appends to the pyramid, and searches the sampled times.
#include "profiler_gui/model/capture/step_curve.h"

#include "profiler_gui/model/capture/shrink.h"

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
  if (index % kSample == 0)
    samples_.push_back(timeNs);
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
      if (level > 0) {
        // The first group of the new level covers the first kGroup groups of the level below. The
        // last group below is the one that this step has just begun; it is not part of them.
        ValueRange first = levels_[level - 1][0];
        for (size_t i = 1; i < kGroup; ++i)
          widen(first, levels_[level - 1][i]);
        levels_[level].push_back(first);
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
  const size_t after = stepAt(timeNs, true, 0);
  return after == 0 ? 0 : values_[after - 1];
}

ValueRange StepCurve::rangeOfSteps(size_t first, size_t last) const {
  ValueRange range{UINT64_MAX, 0};
  while (first < last) {
    // Finds the largest aligned group that begins at `first` and ends by `last`.
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

size_t StepCurve::stepAt(uint64_t timeNs, bool above, size_t from) const {
  const auto before = [&](uint64_t time) { return above ? time <= timeNs : time < timeNs; };
  // Galloping search in the samples: doubles the distance until it passes timeNs, then bisects.
  const size_t count = samples_.size();
  size_t low = from / kSample; // The samples of steps before `from` need not be searched.
  size_t ahead = 1;
  while (low + ahead < count && before(samples_[low + ahead])) {
    low += ahead;
    ahead *= 2;
  }
  size_t high = std::min(count, low + ahead);
  while (low + 1 < high) {
    const size_t middle = low + (high - low) / 2;
    (before(samples_[middle]) ? low : high) = middle;
  }
  const auto first =
      times_.begin() + static_cast<ptrdiff_t>(std::max(from, std::min(low * kSample, size())));
  const auto last = times_.begin() + static_cast<ptrdiff_t>(std::min((low + 1) * kSample, size()));
  return static_cast<size_t>(std::partition_point(first, std::max(first, last), before) -
                             times_.begin());
}

ValueRange StepCurve::range(uint64_t beginNs, uint64_t endNs) const {
  const size_t first = stepAt(beginNs, true, 0);
  const size_t last = std::max(first, stepAt(endNs, false, first));
  const uint64_t initial = first == 0 ? 0 : values_[first - 1];
  ValueRange range{initial, initial};
  if (first != last)
    widen(range, rangeOfSteps(first, last));
  return range;
}

void StepCurve::ranges(std::span<const uint64_t> bounds, std::vector<ValueRange> *found) const {
  found->clear();
  size_t first = 0;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    first = stepAt(bounds[i], true, first);
    const size_t last = std::max(first, stepAt(bounds[i + 1], false, first));
    const uint64_t initial = first == 0 ? 0 : values_[first - 1];
    found->push_back({initial, initial});
    if (first != last)
      widen(found->back(), rangeOfSteps(first, last));
    first = last; // The next range begins here or later.
  }
}

void StepCurve::shrink() {
  times_.shrink();
  samples_.shrink();
  values_.shrink();
  for (std::vector<ValueRange> &level : levels_)
    profiler::shrink(level);
}

uint64_t StepCurve::memoryBytes() const {
  uint64_t bytes =
      (times_.capacity() + values_.capacity() + samples_.capacity()) * sizeof(uint64_t);
  for (const std::vector<ValueRange> &level : levels_)
    bytes += level.capacity() * sizeof(ValueRange);
  return bytes;
}

} // namespace gantry::profiler
