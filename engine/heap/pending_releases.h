// Released ranges that work in flight may still use.
//
// A pending range keeps its record, whose tail holds the points to wait for. The records hang in a
// list by age, so that ranges whose points have passed are found from the oldest on; a search
// looks at a bounded number of ranges.
// Threads: the arena's lock guards the object; isEmpty() may be called without it. Units: bytes.
#pragma once

#include "engine/heap/handle_table.h"
#include "engine/heap/timelines.h"

namespace gantry::heap {

class PendingReleases {
public:
  explicit PendingReleases(const HandleTable &handles) : handles_(handles) {}

  bool isEmpty() const { return count_ == 0; }
  uint64_t bytes() const { return bytes_; }

  /// Adds a record whose tail holds its points. rangeBytes is the length of its range.
  void add(uint32_t index, uint64_t rangeBytes);
  void remove(uint32_t index, uint64_t rangeBytes);

  /// The record of an old range whose points have passed; kNone if none is found.
  uint32_t findPassed(const Timelines &timelines) const;

  /// The records by age: start here and follow RecordTail::newerPending.
  uint32_t oldest() const { return oldest_; }

private:
  const HandleTable &handles_;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  Watched<uint32_t> count_ = 0;
  uint64_t bytes_ = 0;
};

} // namespace gantry::heap
