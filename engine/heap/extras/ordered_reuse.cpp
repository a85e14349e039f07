// Implements OrderedReuse.
#include "engine/heap/extras/ordered_reuse.h"

#include "engine/base/align.h"
#include "engine/heap/heap_components.h"

#include <algorithm>

namespace gantry::heap {
namespace {

using Points = uint64_t[kMaxTimelines];

// Returns whether the range of a pending record can serve the request.
bool fits(ArenaAccess &access, uint32_t index, const BufferRequest &request, uint64_t sizeBytes) {
  const BufferRecord &record = access.record(index);
  const uint64_t bytes = access.rangeBytesOf(index);
  const uint64_t place = access.placeOf(index);
  if (bytes < sizeBytes || (offsetOf(place) & (request.alignment - 1)) != 0)
    return false;
  // A dedicated slab is not cut; it fits if at most a ninth of it is wasted. A slab that compaction
  // is emptying gets no new buffers.
  return record.pool == kDedicatedPool ? bytes - sizeBytes <= sizeBytes / 8
                                       : slabOf(place) != access.pool(record.pool).avoidedSlab;
}

// Returns, of the kMaxTries oldest pending records, the one with the shortest range that fits and
// whose points all lie at or before `points`; kNone if there is none.
uint32_t findBest(ArenaAccess &access, const BufferRequest &request, const Points &points) {
  const HandleTable &handles = access.handles();
  const uint64_t size = roundUp(request.sizeBytes, uint64_t{1} << kGranuleLog2);
  uint32_t best = kNone;
  uint32_t tries = OrderedReuse::kMaxTries;
  for (uint32_t i = access.pending().oldest(); i != kNone && tries > 0;
       i = handles.tail(i).newerPending, --tries) {
    const uint64_t(&own)[kMaxTimelines] = handles.tail(i).points;
    const bool inOrder = std::equal(std::begin(own), std::end(own), std::begin(points),
                                    [](uint64_t a, uint64_t b) { return a <= b; });
    if (inOrder && fits(access, i, request, size) &&
        (best == kNone || access.rangeBytesOf(i) < access.rangeBytesOf(best)))
      best = i;
  }
  return best;
}

// Joins a pending range with the range that follows it in memory, if that range is pending too and
// waits for the same points. Returns the index of the second range's record, which is freed; kNone
// if nothing was joined.
uint32_t joinWithNext(ArenaAccess &access, uint32_t index) {
  BufferRecord &record = access.record(index);
  if (record.pool == kDedicatedPool)
    return kNone;
  Tlsf &tlsf = access.pool(record.pool).tlsf;
  const uint32_t nextBlock = tlsf.nextOf(record.block);
  const Tlsf::Range range = nextBlock == kNone ? Tlsf::Range{} : tlsf.at(nextBlock);
  if (!range.used || (access.record(range.user).flags & kPending) == 0 ||
      !std::ranges::equal(access.handles().tail(index).points,
                          access.handles().tail(range.user).points))
    return kNone;
  PendingReleases &pending = access.pending();
  pending.remove(range.user, access.rangeBytesOf(range.user));
  pending.remove(index, access.rangeBytesOf(index));
  tlsf.join(record.block, nextBlock);
  access.giveRecord(range.user);
  record.sizeClass = SizeClasses::kCount;
  pending.add(index, access.rangeBytesOf(index));
  return range.user;
}

// Joins all neighbouring pending ranges that wait for the same points. A joined range moves to the
// end of the list and is visited again. Each join removes a range, so the walk ends.
void joinNeighbours(ArenaAccess &access) {
  const HandleTable &handles = access.handles();
  for (uint32_t i = access.pending().oldest(); i != kNone;) {
    const uint32_t older = handles.tail(i).olderPending;
    const uint32_t freed = joinWithNext(access, i);
    if (freed == kNone)
      i = handles.tail(i).newerPending;
    else // The range left its place in the list. The walk goes on after the range before it,
         // or from the oldest range if that one is gone too.
      i = older == kNone || older == freed ? access.pending().oldest()
                                           : handles.tail(older).newerPending;
  }
}

// Shortens the range of a record to sizeBytes. The rest becomes a pending range with the same
// points. If there is no rest, or the host has no memory, the range stays whole.
void cut(ArenaAccess &access, uint32_t index, uint64_t sizeBytes) {
  Tlsf &tlsf = access.pool(access.record(index).pool).tlsf;
  const uint32_t spare = access.takeRecord();
  if (spare == kNone)
    return;
  const uint32_t block = tlsf.split(access.record(index).block, sizeBytes);
  if (block == kNone) {
    access.giveRecord(spare);
    return;
  }
  tlsf.setUser(block, spare);
  BufferRecord &rest = access.record(spare);
  rest.block = block;
  rest.pool = access.record(index).pool;
  rest.sizeClass = SizeClasses::kCount;
  rest.flags = kHasPoints;
  std::copy_n(access.handles().tail(index).points, kMaxTimelines,
              access.handles().tail(spare).points);
  access.pending().add(spare, access.rangeBytesOf(spare));
}

} // namespace

HeapCode OrderedReuse::takePending(Arena &arena, const BufferRequest &request, const Points &points,
                                   BufferHandle *buffer) {
  if (!arena.hasPending())
    return HeapCode::kExhausted;
  ArenaAccess access(arena);
  uint32_t index = findBest(access, request, points);
  if (index == kNone) {
    joinNeighbours(access);
    index = findBest(access, request, points);
  }
  if (index == kNone)
    return HeapCode::kExhausted;
  if (!access.countName(request.name.index))
    return HeapCode::kHostExhausted;
  access.pending().remove(index, access.rangeBytesOf(index));
  if (access.record(index).pool != kDedicatedPool)
    cut(access, index, request.sizeBytes);
  access.record(index).sizeClass = SizeClasses::kCount;
  reuses_.fetch_add(1, std::memory_order_relaxed);
  *buffer = access.begin(index, request);
  return HeapCode::kOk;
}

HeapCode OrderedReuse::allocate(const BufferRequest &request, std::span<const TimelinePoint> after,
                                BufferHandle *buffer) {
  *buffer = {};
  HeapComponents &components = heap_.components();
  if (!components.timelines.know(after))
    return HeapCode::kInvalidArgument;
  if (const HeapCode code = heap_.check(request); code != HeapCode::kOk)
    return code;
  Points points;
  for (uint32_t t = 0; t < kMaxTimelines; ++t)
    points[t] = components.timelines.completed(t);
  for (const TimelinePoint &point : after)
    points[point.timeline] = std::max(points[point.timeline], point.value);
  const auto kind = static_cast<uint32_t>(request.kind);
  Arena *own = components.arenas.ofThread(kind);
  if (own == nullptr)
    return HeapCode::kHostExhausted;
  HeapCode code = HeapCode::kExhausted;
  if (!after.empty() && !request.dedicated) {
    code = takePending(*own, request, points, buffer);
    if (code == HeapCode::kExhausted)
      components.arenas.any(kind, [&](Arena &other) {
        code = &other == own ? HeapCode::kExhausted : takePending(other, request, points, buffer);
        return code != HeapCode::kExhausted;
      });
  }
  return code == HeapCode::kExhausted ? heap_.allocate(request, buffer) : code;
}

} // namespace gantry::heap
