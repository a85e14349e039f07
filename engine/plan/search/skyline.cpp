// Implements Skyline.
#include "engine/plan/search/skyline.h"
#include "engine/base/align.h"

#include <algorithm>

namespace gantry::plan {

namespace {

constexpr uint32_t kNoItem = ValleyIndex::kNone;

std::vector<uint32_t> mirrored(std::span<const uint32_t> moments, uint32_t stepCount) {
  std::vector<uint32_t> result;
  result.reserve(moments.size());
  for (const uint32_t moment : moments)
    result.push_back(stepCount - moment);
  return result;
}

} // namespace

Skyline::Skyline(const Problem &problem)
    : problem_(problem), mirroredBegin_(mirrored(problem.end, problem.stepCount)),
      mirroredEnd_(mirrored(problem.begin, problem.stepCount)),
      byBegin_(problem.begin, problem.end, problem.stepCount),
      byEnd_(mirroredBegin_, mirroredEnd_, problem.stepCount) {
  mirroredBegin_ = {};
  mirroredEnd_ = {};
}

uint32_t Skyline::choose(uint32_t begin, uint32_t end, Prefer prefer) {
  if (prefer == Prefer::kTouching) {
    const uint32_t both = byBegin_.bestExactly(begin, end);
    if (both != kNoItem)
      return both;
    const uint32_t left = byBegin_.best(begin, begin, end);
    const uint32_t mirroredEdge = problem_.stepCount - end;
    const uint32_t right = byEnd_.best(mirroredEdge, mirroredEdge, problem_.stepCount - begin);
    if (left != kNoItem && right != kNoItem)
      return byBegin_.rankOf(left) > byBegin_.rankOf(right) ? left : right;
    if (left != kNoItem || right != kNoItem)
      return left != kNoItem ? left : right;
  }
  return byBegin_.best(begin, end - 1, end);
}

uint32_t Skyline::addSegment(uint32_t begin, uint32_t end, uint64_t height, uint32_t previous,
                             uint32_t next) {
  uint32_t segment = 0;
  if (freeSegments_.empty()) {
    segment = static_cast<uint32_t>(segments_.size());
    segments_.push_back({});
  } else {
    segment = freeSegments_.back();
    freeSegments_.pop_back();
  }
  const uint32_t version = segments_[segment].version + 1;
  segments_[segment] = {begin, end, height, previous, next, version};
  if (previous != kNoItem)
    segments_[previous].next = segment;
  if (next != kNoItem)
    segments_[next].previous = segment;
  return segment;
}

/// Orders the heap: the lowest segment comes first; among equal heights, the earliest segment.
bool Skyline::isHigher(const HeapEntry &a, const HeapEntry &b) {
  return a.height != b.height ? a.height > b.height : a.begin > b.begin;
}

void Skyline::pushSegment(uint32_t segment) {
  Segment &entry = segments_[segment];
  ++entry.version;
  heap_.push_back({entry.height, entry.begin, segment, entry.version});
  std::push_heap(heap_.begin(), heap_.end(), isHigher);
  // Remove invalid entries, whose segments have changed, once there are over 64 more of them than
  // valid entries.
  if (heap_.size() <= 64 + 2 * (segments_.size() - freeSegments_.size()))
    return;
  std::erase_if(heap_, [&](const HeapEntry &entry) {
    return segments_[entry.segment].version != entry.version;
  });
  std::make_heap(heap_.begin(), heap_.end(), isHigher);
}

uint32_t Skyline::popLowest() {
  for (;;) {
    const HeapEntry lowest = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), isHigher);
    heap_.pop_back();
    if (segments_[lowest.segment].version == lowest.version)
      return lowest.segment;
  }
}

void Skyline::removeSegment(uint32_t segment) {
  ++segments_[segment].version;
  freeSegments_.push_back(segment);
}

/// Merges a segment with its neighbours of the same height and puts it into the heap.
void Skyline::settle(uint32_t segment) {
  Segment &entry = segments_[segment];
  if (entry.previous != kNoItem && segments_[entry.previous].height == entry.height) {
    const uint32_t previous = entry.previous;
    entry.begin = segments_[previous].begin;
    entry.previous = segments_[previous].previous;
    if (entry.previous != kNoItem)
      segments_[entry.previous].next = segment;
    removeSegment(previous);
  }
  if (entry.next != kNoItem && segments_[entry.next].height == entry.height) {
    const uint32_t next = entry.next;
    entry.end = segments_[next].end;
    entry.next = segments_[next].next;
    if (entry.next != kNoItem)
      segments_[entry.next].previous = segment;
    removeSegment(next);
  }
  pushSegment(segment);
}

/// Fills a valley up to the lower of its two edges. The valley must have an edge. One without edges
/// spans all of time, so every remaining item fits into it and it is never filled.
void Skyline::raise(uint32_t segment) {
  Segment &entry = segments_[segment];
  uint64_t edge = UINT64_MAX;
  if (entry.previous != kNoItem)
    edge = segments_[entry.previous].height;
  if (entry.next != kNoItem)
    edge = std::min(edge, segments_[entry.next].height);
  entry.height = edge;
  settle(segment);
}

/// Puts an item onto the floor of a valley. The parts of the floor before and after the item become
/// segments of their own.
void Skyline::cover(uint32_t segment, uint32_t item, uint64_t top) {
  const uint32_t begin = problem_.begin[item];
  const uint32_t end = problem_.end[item];
  const Segment floor = segments_[segment];
  if (floor.begin < begin) {
    const uint32_t left = addSegment(floor.begin, begin, floor.height, floor.previous, segment);
    pushSegment(left);
  }
  if (end < floor.end) {
    const uint32_t right = addSegment(end, floor.end, floor.height, segment, floor.next);
    pushSegment(right);
  }
  segments_[segment].begin = begin;
  segments_[segment].end = end;
  segments_[segment].height = top;
  settle(segment);
}

std::optional<Placement> Skyline::place(std::span<const uint32_t> rank, Prefer prefer,
                                        uint64_t heightLimit, WorkMeter &meter) {
  const uint32_t count = problem_.count();
  Placement placement{std::vector<uint64_t>(count, 0), 0};
  if (count == 0)
    return placement;
  byBegin_.reset(rank);
  if (prefer == Prefer::kTouching)
    byEnd_.reset(rank);
  segments_.clear();
  freeSegments_.clear();
  heap_.clear();
  pushSegment(addSegment(0, problem_.stepCount, 0, kNoItem, kNoItem));

  uint64_t counted = byBegin_.visits() + byEnd_.visits();
  for (uint32_t left = count; left > 0;) {
    const uint32_t valley = popLowest();
    const uint32_t item = choose(segments_[valley].begin, segments_[valley].end, prefer);
    const uint64_t visits = byBegin_.visits() + byEnd_.visits();
    if (!meter.spend(visits - counted + 1))
      return std::nullopt;
    counted = visits;
    if (item == kNoItem) {
      raise(valley);
      continue;
    }
    const uint64_t offset = roundUp(segments_[valley].height, problem_.alignmentOf(item));
    const uint64_t top = offset + problem_.size[item];
    if (top >= heightLimit)
      return std::nullopt;
    placement.offset[item] = offset;
    placement.height = std::max(placement.height, top);
    byBegin_.remove(item);
    if (prefer == Prefer::kTouching)
      byEnd_.remove(item);
    cover(valley, item, top);
    --left;
  }
  return placement;
}

} // namespace gantry::plan
