// Implements PendingReleases.
#include "engine/heap/pending_releases.h"

namespace gantry::heap {
namespace {

constexpr uint32_t kMaxExamined = 16; // How many ranges one search examines.

} // namespace

void PendingReleases::add(uint32_t index, uint64_t rangeBytes) {
  handles_.record(index).flags |= kPending;
  RecordTail &tail = handles_.tail(index);
  tail.newerPending = kNone;
  tail.olderPending = newest_;
  (newest_ == kNone ? oldest_ : handles_.tail(newest_).newerPending) = index;
  newest_ = index;
  bytes_ += rangeBytes;
  count_ += 1;
}

void PendingReleases::remove(uint32_t index, uint64_t rangeBytes) {
  handles_.record(index).flags &= static_cast<uint16_t>(~kPending);
  const RecordTail &tail = handles_.tail(index);
  (tail.olderPending == kNone ? oldest_ : handles_.tail(tail.olderPending).newerPending) =
      tail.newerPending;
  (tail.newerPending == kNone ? newest_ : handles_.tail(tail.newerPending).olderPending) =
      tail.olderPending;
  bytes_ -= rangeBytes;
  count_ -= 1;
}

uint32_t PendingReleases::findPassed(const Timelines &timelines) const {
  uint32_t examined = 0;
  for (uint32_t i = oldest_; i != kNone && examined < kMaxExamined; ++examined) {
    if (timelines.passed(handles_.tail(i).points))
      return i;
    i = handles_.tail(i).newerPending;
  }
  return kNone;
}

} // namespace gantry::heap
