// The pending releases of an arena (arena.h): ranges that belonged to
// released buffers and that submitted work may still use.
//
// The record of a released buffer (buffer_record.h) stays in use until its range is free again. Its
// second part, RecordTail, contains the timeline points (types.h) to wait for. The records form a
// list in the order of their release. A search for a range whose points have passed starts with the
// oldest range and examines at most 16.
// Threads: the arena's lock guards the object; isEmpty() may be called without it, and its result
// may then be out of date. Units: bytes, and record indices.
#pragma once

#include "engine/heap/handle_table.h"
#include "engine/heap/timelines.h"

namespace gantry::heap {

class PendingReleases {
public:
  explicit PendingReleases(const HandleTable &handles) : handles_(handles) {}

  bool isEmpty() const { return count_ == 0; }
  /// The sum of the lengths of all pending ranges.
  uint64_t bytes() const { return bytes_; }

  /// Adds a record, whose RecordTail::points the caller has set. rangeBytes is the length of its
  /// range.
  void add(uint32_t index, uint64_t rangeBytes);
  void remove(uint32_t index, uint64_t rangeBytes);

  /// The oldest record whose points have passed, among the 16 oldest records; kNone if there is
  /// none.
  uint32_t findPassed(const Timelines &timelines) const;

  /// The oldest record; RecordTail::newerPending leads to the next one.
  uint32_t oldest() const { return oldest_; }

private:
  const HandleTable &handles_;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  Watched<uint32_t> count_ = 0;
  uint64_t bytes_ = 0;
};

} // namespace gantry::heap
