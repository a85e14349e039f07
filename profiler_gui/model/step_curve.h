// A quantity that stays until it changes: live bytes of a heap, its slabs, a budget.
//
// Steps are appended in the order of time. A pyramid keeps the least and the greatest value of each
// group of 16 steps, and of 16 such groups, so that the range within a pixel costs a few look-ups
// however many steps it holds: a peak of one nanosecond is never lost. Every 64th time is kept
// apart as well, so that looking for a moment touches little memory.
//
// Threads: none of its own; one writer, or several readers.
#pragma once

#include "profiler_gui/model/growing_list.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::profiler {

struct ValueRange {
  uint64_t low = 0;
  uint64_t high = 0;
};

class StepCurve {
public:
  static constexpr size_t kGroup = 16;
  static constexpr size_t kSample = 64;

  /// timeNs is not below the last one. A second step at the same moment keeps both values visible.
  void append(uint64_t timeNs, uint64_t value);

  bool empty() const { return times_.empty(); }
  size_t size() const { return times_.size(); }
  /// The value at a moment; 0 before the first step.
  uint64_t at(uint64_t timeNs) const;
  /// The least and the greatest value within [beginNs, endNs), the value it begins with included.
  ValueRange range(uint64_t beginNs, uint64_t endNs) const;
  /// The ranges of stretches that follow each other, as columns of pixels do: number i is
  /// [bounds[i], bounds[i + 1]). Bounds never descend. Much faster than one after the other.
  void ranges(std::span<const uint64_t> bounds, std::vector<ValueRange> *found) const;
  uint64_t last() const { return values_.empty() ? 0 : values_.back(); }
  uint64_t peak() const { return peak_; }
  uint64_t peakNs() const { return peakNs_; }
  uint64_t memoryBytes() const;
  /// Gives back what was reserved for more.
  void shrink();

private:
  ValueRange rangeOfSteps(size_t first, size_t last) const;
  /// The first step at or after `from` whose time is not below timeNs (above it, with `above`).
  size_t stepAt(uint64_t timeNs, bool above, size_t from) const;

  GrowingList<uint64_t> times_, values_;
  GrowingList<uint64_t> samples_;               // the time of every kSample-th step
  std::vector<std::vector<ValueRange>> levels_; // level 0: of kGroup steps each
  uint64_t peak_ = 0;
  uint64_t peakNs_ = 0;
};

} // namespace gantry::profiler
