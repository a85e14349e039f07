// A step function of time: the live bytes of a heap, its reserved bytes, or a budget.
//
// Steps are appended in order of time. A pyramid holds the minimum and maximum of each group of
// kGroup steps, of each group of kGroup such groups, and so on. The range of values inside one
// pixel column therefore takes a few look-ups however many steps the column covers, and a peak of
// one nanosecond is never lost. Every kSample-th time is stored again in a short array, so that the
// search for a time touches little memory.
//
// Times are nanoseconds from the capture's start; values are bytes.
// Threads: one writer, or several readers.
#pragma once

#include "profiler_gui/model/capture/growing_list.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::profiler {

/// Minimum and maximum, both inclusive.
struct ValueRange {
  uint64_t low = 0;
  uint64_t high = 0;
};

class StepCurve {
public:
  static constexpr size_t kGroup = 16;  // Children of one pyramid node.
  static constexpr size_t kSample = 64; // Steps per sampled time.

  /// Appends a step to `value`. timeNs must not be below the last step's time. Several steps at one
  /// time are all kept, so that range() covers each of their values.
  void append(uint64_t timeNs, uint64_t value);

  bool empty() const { return times_.empty(); }
  size_t size() const { return times_.size(); }
  /// The value at a time; 0 before the first step.
  uint64_t at(uint64_t timeNs) const;
  /// Minimum and maximum of the value at beginNs and of all later steps before endNs.
  ValueRange range(uint64_t beginNs, uint64_t endNs) const;
  /// Replaces *found with the results of range(bounds[i], bounds[i + 1]) for each i. The bounds
  /// must not descend. For adjacent pixel columns, ranges() is much faster than one range() call
  /// per column.
  void ranges(std::span<const uint64_t> bounds, std::vector<ValueRange> *found) const;
  /// The value after the last step; 0 without steps.
  uint64_t last() const { return values_.empty() ? 0 : values_.back(); }
  /// The maximum value, and the first time at which it was reached.
  uint64_t peak() const { return peak_; }
  uint64_t peakNs() const { return peakNs_; }
  /// Bytes allocated by the curve.
  uint64_t memoryBytes() const;
  /// Frees unused capacity.
  void shrink();

private:
  ValueRange rangeOfSteps(size_t first, size_t last) const;
  /// The first step at index `from` or later whose time is at least timeNs or, if `above` is true,
  /// greater than timeNs.
  size_t stepAt(uint64_t timeNs, bool above, size_t from) const;

  GrowingList<uint64_t> times_, values_;
  GrowingList<uint64_t> samples_;               // The time of every kSample-th step.
  std::vector<std::vector<ValueRange>> levels_; // Level 0 has one range per kGroup steps.
  uint64_t peak_ = 0;
  uint64_t peakNs_ = 0;
};

} // namespace gantry::profiler
