#include "engine/heap/pending_releases.h"

#include <algorithm>
#include <bit>

namespace gantry::heap {
namespace {

constexpr uint32_t kMaxWaitingPassedOver = 16; // ranges that still wait, in one search

} // namespace

uint32_t PendingReleases::binOf(uint64_t rangeBytes) {
  return std::min<uint32_t>(static_cast<uint32_t>(std::bit_width(rangeBytes >> kGranuleLog2)),
                            kBins - 1);
}

void PendingReleases::add(uint32_t index, uint64_t rangeBytes) {
  handles_.record(index).flags |= kPending;
  RecordTail &tail = handles_.tail(index);
  tail.newerPending = kNone;
  tail.olderPending = newest_;
  (newest_ == kNone ? oldest_ : handles_.tail(newest_).newerPending) = index;
  newest_ = index;
  uint32_t &bin = bins_[binOf(rangeBytes)];
  tail.previousInBin = kNone;
  tail.nextInBin = bin;
  if (bin != kNone)
    handles_.tail(bin).previousInBin = index;
  bin = index;
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
  if (tail.nextInBin != kNone)
    handles_.tail(tail.nextInBin).previousInBin = tail.previousInBin;
  (tail.previousInBin == kNone ? bins_[binOf(rangeBytes)]
                               : handles_.tail(tail.previousInBin).nextInBin) = tail.nextInBin;
  bytes_ -= rangeBytes;
  count_ -= 1;
}

uint32_t PendingReleases::findPassed(const Timelines &timelines) const {
  uint32_t waiting = 0;
  for (uint32_t i = oldest_; i != kNone && waiting < kMaxWaitingPassedOver; ++waiting) {
    if (timelines.passed(handles_.tail(i).points))
      return i;
    i = handles_.tail(i).newerPending;
  }
  return kNone;
}

bool PendingReleases::isOrderedBefore(uint32_t index,
                                      const uint64_t (&points)[kMaxTimelines]) const {
  for (uint32_t t = 0; t < kMaxTimelines; ++t)
    if (handles_.tail(index).points[t] > points[t])
      return false;
  return true;
}

} // namespace gantry::heap
