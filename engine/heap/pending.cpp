// Ranges that were released while work may still use them: kept, freed when their points have
// passed, or handed to an allocation that is ordered after them.
#include "engine/heap/impl.h"

#include <algorithm>
#include <bit>

namespace gantry::heap {
namespace {

constexpr uint32_t kTriesPerBin = 8;
constexpr uint32_t kLookPast = 16; // pending ranges behind one that has not passed

uint32_t binOf(uint64_t sizeBytes) {
  return std::min<uint32_t>(static_cast<uint32_t>(std::bit_width(sizeBytes >> kGranuleLog2)),
                            Pool::kBins - 1);
}

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

} // namespace

bool HeapImpl::passed(const uint64_t *points) const {
  for (uint32_t t = 0; t < kMaxTimelines; ++t)
    if (points[t] > completed[t].load(std::memory_order_acquire))
      return false;
  return true;
}

// A pending slot keeps its block; the size in its info is from now on the range's.
void HeapImpl::addPending(Pool &pool, uint32_t index, std::span<const TimelinePoint> after) {
  uint64_t *points = slots.tail(index).points;
  std::fill_n(points, kMaxTimelines, 0);
  for (const TimelinePoint &point : after)
    points[point.timeline] = std::max(points[point.timeline], point.value);
  if (!SlotInfo::of(slots[index].info.load(std::memory_order_relaxed)).dedicated)
    index = joinPending(pool, index);
  Slot &slot = slots[index];
  SlotTail &tail = slots.tail(index);
  SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  const uint64_t sizeBytes = info.dedicated ? slabs[slabOf(placeOfSlot(index))].sizeBytes
                                            : pool.tlsf.sizeOf(blockOfSlot(index));
  info.sizeBytes = sizeBytes;
  info.pending = true;
  slot.info.store(info.packed(), std::memory_order_relaxed);
  tail.newerPending = kNone;
  tail.olderPending = pool.newestPending;
  (pool.newestPending == kNone ? pool.oldestPending : slots.tail(pool.newestPending).newerPending) =
      index;
  pool.newestPending = index;
  uint32_t &bin = pool.bins[binOf(sizeBytes)];
  tail.previousInBin = kNone;
  tail.nextInBin = bin;
  if (bin != kNone)
    slots.tail(bin).previousInBin = index;
  bin = index;
  pool.pendingBytes += sizeBytes;
  pool.pendingCount += 1;
}

// Joins a range that is to be pending with pending neighbours of the same points, so that larger
// requests find it. The slot of the whole, which is that of its first block.
uint32_t HeapImpl::joinPending(Pool &pool, uint32_t index) {
  const uint32_t block = blockOfSlot(index);
  const uint32_t behind = pool.tlsf.nextOf(block);
  const uint32_t before = pool.tlsf.previousOf(block);
  const auto slotOfAlike = [&](uint32_t neighbour) {
    const Tlsf::Range range = neighbour == kNone ? Tlsf::Range{} : pool.tlsf.at(neighbour);
    // Only a pending slot's other fields are this lock's to read.
    return range.used &&
                   SlotInfo::of(slots[range.user].info.load(std::memory_order_relaxed)).pending &&
                   blockOfSlot(range.user) == neighbour &&
                   std::equal(std::begin(slots.tail(index).points),
                              std::end(slots.tail(index).points),
                              std::begin(slots.tail(range.user).points))
               ? range.user
               : kNone;
  };
  if (const uint32_t other = slotOfAlike(behind); other != kNone) {
    removePending(pool, other);
    pool.tlsf.join(block, behind);
    giveSlotShared(other);
  }
  if (const uint32_t other = slotOfAlike(before); other != kNone) {
    removePending(pool, other);
    pool.tlsf.join(before, block);
    giveSlotShared(index);
    return other;
  }
  return index;
}

void HeapImpl::removePending(Pool &pool, uint32_t index) {
  const SlotTail &tail = slots.tail(index);
  SlotInfo info = SlotInfo::of(slots[index].info.load(std::memory_order_relaxed));
  const uint64_t sizeBytes = info.sizeBytes;
  info.pending = false;
  slots[index].info.store(info.packed(), std::memory_order_relaxed);
  (tail.olderPending == kNone ? pool.oldestPending : slots.tail(tail.olderPending).newerPending) =
      tail.newerPending;
  (tail.newerPending == kNone ? pool.newestPending : slots.tail(tail.newerPending).olderPending) =
      tail.olderPending;
  if (tail.nextInBin != kNone)
    slots.tail(tail.nextInBin).previousInBin = tail.previousInBin;
  (tail.previousInBin == kNone ? pool.bins[binOf(sizeBytes)]
                               : slots.tail(tail.previousInBin).nextInBin) = tail.nextInBin;
  pool.pendingBytes -= sizeBytes;
  pool.pendingCount -= 1;
}

// Gives the slot a pending range that the request may have at once; false where there is none. What
// is left of a larger range stays pending, under the points of the whole.
bool HeapImpl::takeOrdered(Pool &pool, const BufferRequest &request, uint32_t index, Found *found) {
  if (pool.pendingCount == 0)
    return false;
  uint64_t points[kMaxTimelines];
  for (uint32_t t = 0; t < kMaxTimelines; ++t)
    points[t] = completed[t].load(std::memory_order_acquire);
  for (const TimelinePoint &point : request.orderedAfter)
    points[point.timeline] = std::max(points[point.timeline], point.value);
  const uint64_t size = alignUp(request.sizeBytes, uint64_t{1} << kGranuleLog2);
  const Locked locked(pool.lock);
  uint32_t old = kNone;
  uint64_t bestBytes = 0;
  for (uint32_t bin = binOf(size); bin < Pool::kBins && old == kNone; ++bin) {
    uint32_t tries = kTriesPerBin;
    for (uint32_t i = pool.bins[bin]; i != kNone && tries > 0;
         i = slots.tail(i).nextInBin, --tries) {
      const SlotInfo info = SlotInfo::of(slots[i].info.load(std::memory_order_relaxed));
      const uint64_t place = placeOfSlot(i);
      bool fits = info.sizeBytes >= size && (offsetOf(place) & (request.alignment - 1)) == 0;
      if (info.dedicated)
        fits = fits && info.sizeBytes - size <= size / 8;
      else
        fits = fits && slabOf(place) != pool.draining;
      for (uint32_t t = 0; t < kMaxTimelines; ++t)
        fits = fits && slots.tail(i).points[t] <= points[t];
      if (fits && (old == kNone || info.sizeBytes < bestBytes)) {
        old = i;
        bestBytes = info.sizeBytes;
      }
    }
  }
  if (old == kNone)
    return false;
  removePending(pool, old);
  const SlotInfo info = SlotInfo::of(slots[old].info.load(std::memory_order_relaxed));
  const uint32_t block = info.dedicated ? kNone : blockOfSlot(old);
  const SlotTail &tail = slots.tail(old);
  const uint32_t rest = info.dedicated ? kNone : pool.tlsf.split(block, size);
  if (rest != kNone) {
    if (const uint32_t left = ownSlot(pool, rest); left != kNone) {
      pool.tlsf.setUser(rest, left);
      slots[left].info.store(info.packed(), std::memory_order_relaxed);
      TimelinePoint after[kMaxTimelines];
      for (uint32_t t = 0; t < kMaxTimelines; ++t)
        after[t] = {t, tail.points[t]};
      addPending(pool, left, after);
    } else {
      pool.tlsf.join(block, rest);
    }
  }
  if (!info.dedicated)
    pool.tlsf.setUser(block, index);
  std::copy(std::begin(tail.points), std::end(tail.points), std::begin(slots.tail(index).points));
  orderedReuses.fetch_add(1, std::memory_order_relaxed);
  *found = {HeapCode::kOk, info.dedicated, true, block, placeOfSlot(old)};
  giveSlotShared(old);
  return true;
}

// Frees the oldest ranges whose points have passed. Under the pool's lock.
void HeapImpl::reclaim(Pool &pool) {
  uint32_t past = 0;
  for (uint32_t index = pool.oldestPending; index != kNone && past < kLookPast;) {
    const uint32_t newer = slots.tail(index).newerPending;
    if (passed(slots.tail(index).points)) {
      removePending(pool, index);
      freeRange(pool, blockOfSlot(index), placeOfSlot(index));
      giveSlotShared(index);
    } else {
      ++past;
    }
    index = newer;
  }
}

void HeapImpl::reclaimAll() {
  for (Pool *pool : pools) {
    if (pool->pendingCount == 0)
      continue;
    const Locked locked(pool->lock);
    reclaim(*pool);
  }
}

HeapCode HeapImpl::refreshCompleted() {
  const Result<uint64_t> done = gpu->completed();
  if (!done.isOk())
    return codeOf(done.status());
  uint64_t known = completed[0].load(std::memory_order_relaxed);
  while (known < *done && !completed[0].compare_exchange_weak(known, *done)) {
  }
  return HeapCode::kOk;
}

// Waits for all work of the device's own timeline that pending ranges wait for. A lost device is
// done with everything.
HeapCode HeapImpl::waitForPending() {
  uint64_t last = 0;
  for (Pool *pool : pools) {
    if (pool->pendingCount == 0)
      continue;
    const Locked locked(pool->lock);
    for (uint32_t i = pool->oldestPending; i != kNone; i = slots.tail(i).newerPending)
      last = std::max(last, slots.tail(i).points[0]);
  }
  if (last <= completed[0].load(std::memory_order_relaxed))
    return HeapCode::kOk;
  hostWaits.fetch_add(1, std::memory_order_relaxed);
  const Result<bool> waited = gpu->wait(last, UINT64_MAX);
  if (!waited.isOk())
    return codeOf(waited.status());
  const HeapCode code = refreshCompleted();
  reclaimAll();
  return code;
}

// ---- the public side ---------------------------------------------------------------------------

uint32_t Heap::addTimeline() {
  HeapImpl &heap = HeapImpl::of(*this);
  uint32_t next = heap.timelines.load();
  do {
    if (next == kMaxTimelines)
      return 0;
  } while (!heap.timelines.compare_exchange_weak(next, next + 1));
  return next;
}

HeapCode Heap::advance(uint32_t timeline, uint64_t value) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (timeline == 0 || timeline >= heap.timelines.load())
    return HeapCode::kInvalidArgument;
  uint64_t known = heap.completed[timeline].load(std::memory_order_relaxed);
  while (known < value && !heap.completed[timeline].compare_exchange_weak(known, value)) {
  }
  heap.reclaimAll();
  return HeapCode::kOk;
}

HeapCode Heap::poll() {
  HeapImpl &heap = HeapImpl::of(*this);
  const HeapCode code = heap.refreshCompleted();
  heap.reclaimAll();
  return code;
}

} // namespace gantry::heap
