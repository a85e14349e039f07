// A quantity that stays until it changes: live bytes of a heap, its slabs, a budget.
//
// Steps are appended in the order of time. A pyramid keeps the least and the greatest value of each
// group of 16 steps, and of 16 such groups, so that the range within a pixel costs a few look-ups
// however many steps it holds: a peak of one nanosecond is never lost.
//
// Threads: none of its own; one writer, or several readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

struct ValueRange {
  uint64_t low = 0;
  uint64_t high = 0;
};

class StepCurve {
public:
  static constexpr size_t kGroup = 16;

  /// timeNs is not below the last one. A second step at the same moment keeps both values visible.
  void append(uint64_t timeNs, uint64_t value);

  bool empty() const { return times_.empty(); }
  size_t size() const { return times_.size(); }
  /// The value at a moment; 0 before the first step.
  uint64_t at(uint64_t timeNs) const;
  /// The least and the greatest value within [beginNs, endNs), the value it begins with included.
  ValueRange range(uint64_t beginNs, uint64_t endNs) const;
  uint64_t last() const { return values_.empty() ? 0 : values_.back(); }
  uint64_t peak() const { return peak_; }
  uint64_t peakNs() const { return peakNs_; }
  uint64_t memoryBytes() const;
  /// Gives back what was reserved for more.
  void shrink();

private:
  ValueRange rangeOfSteps(size_t first, size_t last) const;

  std::vector<uint64_t> times_, values_;
  std::vector<std::vector<ValueRange>> levels_; // level 0: of kGroup steps each
  uint64_t peak_ = 0;
  uint64_t peakNs_ = 0;
};

} // namespace gantry::profiler
