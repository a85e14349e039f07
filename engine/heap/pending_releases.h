// Released ranges that work in flight may still use.
//
// A pending range keeps its record. The records hang in two lists: by age, so that ranges whose
// points have passed are found from the oldest on, and by size in bins of one doubling, so that an
// allocation that is ordered after the points finds a range that fits. Both searches look at a
// bounded number of ranges. Freed blocks carry their points as in IREE's "death frontiers".
// Threads: the arena's lock guards the object; isEmpty() may be asked without it.
#pragma once

#include "engine/heap/handle_table.h"
#include "engine/heap/timelines.h"

#include <array>

namespace gantry::heap {

class PendingReleases {
public:
  explicit PendingReleases(const HandleTable &handles) : handles_(handles) { bins_.fill(kNone); }

  bool isEmpty() const { return count_ == 0; }
  uint64_t bytes() const { return bytes_; }

  /// Adds a record whose tail holds its points. rangeBytes is the length of its range.
  void add(uint32_t index, uint64_t rangeBytes);
  void remove(uint32_t index, uint64_t rangeBytes);

  /// The record of an old range whose points have passed; kNone if none is found.
  uint32_t findPassed(const Timelines &timelines) const;

  /// Whether all points of the record are at most `points`.
  bool isOrderedBefore(uint32_t index, const uint64_t (&points)[kMaxTimelines]) const;

  /// The first record of each bin that may hold ranges of rangeBytes or more, for a bounded walk
  /// along RecordTail::nextInBin.
  static uint32_t binOf(uint64_t rangeBytes);
  static constexpr uint32_t kBins = 48;
  static constexpr uint32_t kTriesPerBin = 8;
  uint32_t firstInBin(uint32_t bin) const { return bins_[bin]; }

  /// The records by age: start here and follow RecordTail::newerPending.
  uint32_t oldest() const { return oldest_; }

private:
  const HandleTable &handles_;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  Watched<uint32_t> count_ = 0;
  uint64_t bytes_ = 0;
  std::array<uint32_t, kBins> bins_;
};

} // namespace gantry::heap
