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
  Slot &slot = slots[index];
  SlotTail &tail = tails[index];
  std::fill(std::begin(tail.points), std::end(tail.points), 0);
  for (const TimelinePoint &point : after)
    tail.points[point.timeline] = std::max(tail.points[point.timeline], point.value);
  if (!SlotInfo::of(slot.info.load(std::memory_order_relaxed)).dedicated)
    joinPending(pool, index);
  SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  const uint64_t sizeBytes =
      info.dedicated ? slabs[slabOf(slot.place.load(std::memory_order_relaxed))].sizeBytes
                     : pool.tlsf.sizeOf(slot.block);
  info.sizeBytes = sizeBytes;
  info.pending = true;
  slot.info.store(info.packed(), std::memory_order_relaxed);
  tail.newerPending = kNone;
  tail.olderPending = pool.newestPending;
  (pool.newestPending == kNone ? pool.oldestPending : tails[pool.newestPending].newerPending) =
      index;
  pool.newestPending = index;
  uint32_t &bin = pool.bins[binOf(sizeBytes)];
  tail.previousInBin = kNone;
  tail.nextInBin = bin;
  if (bin != kNone)
    tails[bin].previousInBin = index;
  bin = index;
  pool.pendingBytes += sizeBytes;
  pool.pendingCount += 1;
}

// Takes up pending neighbours with the same points, so that larger requests find them.
void HeapImpl::joinPending(Pool &pool, uint32_t index) {
  Slot &slot = slots[index];
  const auto absorb = [&](uint32_t neighbour, bool before) {
    const Tlsf::Range range = neighbour == kNone ? Tlsf::Range{} : pool.tlsf.at(neighbour);
    // Only the pending slot's other fields are this lock's to read.
    if (!range.used || range.user >= slots.capacity() ||
        !SlotInfo::of(slots[range.user].info.load(std::memory_order_relaxed)).pending ||
        slots[range.user].block != neighbour ||
        !std::equal(std::begin(tails[index].points), std::end(tails[index].points),
                    std::begin(tails[range.user].points)))
      return;
    removePending(pool, range.user);
    const uint32_t mine = slot.block;
    pool.tlsf.join(before ? neighbour : mine, before ? mine : neighbour);
    slot.block = before ? neighbour : mine;
    giveSlotShared(range.user);
  };
  absorb(pool.tlsf.nextOf(slot.block), false);
  absorb(pool.tlsf.previousOf(slot.block), true);
  pool.tlsf.setUser(slot.block, index);
  slot.place.store(pool.placeOfBlock(slot.block), std::memory_order_relaxed);
}

void HeapImpl::removePending(Pool &pool, uint32_t index) {
  const SlotTail &tail = tails[index];
  SlotInfo info = SlotInfo::of(slots[index].info.load(std::memory_order_relaxed));
  const uint64_t sizeBytes = info.sizeBytes;
  info.pending = false;
  slots[index].info.store(info.packed(), std::memory_order_relaxed);
  (tail.olderPending == kNone ? pool.oldestPending : tails[tail.olderPending].newerPending) =
      tail.newerPending;
  (tail.newerPending == kNone ? pool.newestPending : tails[tail.newerPending].olderPending) =
      tail.olderPending;
  if (tail.nextInBin != kNone)
    tails[tail.nextInBin].previousInBin = tail.previousInBin;
  (tail.previousInBin == kNone ? pool.bins[binOf(sizeBytes)]
                               : tails[tail.previousInBin].nextInBin) = tail.nextInBin;
  pool.pendingBytes -= sizeBytes;
  pool.pendingCount -= 1;
}

// The slot of a pending range that the request may have at once, or kNone. What is left of a larger
// range stays pending, under the points of the whole.
uint32_t HeapImpl::takeOrdered(Pool &pool, const BufferRequest &request, ThreadCache &cache,
                               Found *found) {
  if (pool.pendingCount == 0)
    return kNone;
  uint64_t points[kMaxTimelines];
  for (uint32_t t = 0; t < kMaxTimelines; ++t)
    points[t] = completed[t].load(std::memory_order_acquire);
  for (const TimelinePoint &point : request.orderedAfter)
    points[point.timeline] = std::max(points[point.timeline], point.value);
  const uint64_t size = alignUp(request.sizeBytes, uint64_t{1} << kGranuleLog2);
  const uint32_t spare = takeSlot(cache); // for what is left
  const Locked locked(pool.lock);
  uint32_t index = kNone;
  uint64_t bestBytes = 0;
  for (uint32_t bin = binOf(size); bin < Pool::kBins && index == kNone; ++bin) {
    uint32_t tries = kTriesPerBin;
    for (uint32_t i = pool.bins[bin]; i != kNone && tries > 0; i = tails[i].nextInBin, --tries) {
      const Slot &slot = slots[i];
      const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
      bool fits =
          info.sizeBytes >= size &&
          (offsetOf(slot.place.load(std::memory_order_relaxed)) & (request.alignment - 1)) == 0 &&
          !isRetired(slot.state.load(std::memory_order_relaxed));
      if (info.dedicated)
        fits = fits && info.sizeBytes - size <= size / 8;
      else
        fits = fits && pool.tlsf.regionOf(slot.block) != pool.draining;
      for (uint32_t t = 0; t < kMaxTimelines; ++t)
        fits = fits && tails[i].points[t] <= points[t];
      if (fits && (index == kNone || info.sizeBytes < bestBytes)) {
        index = i;
        bestBytes = info.sizeBytes;
      }
    }
  }
  if (index == kNone) {
    if (spare != kNone)
      giveSlot(cache, spare);
    return kNone;
  }
  Slot &slot = slots[index];
  removePending(pool, index);
  const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  uint32_t rest = kNone;
  if (spare != kNone && !info.dedicated && pool.tlsf.sizeOf(slot.block) > size)
    rest = pool.tlsf.split(slot.block, size);
  if (rest != kNone) {
    Slot &left = slots[spare];
    left.block = rest;
    left.info.store(info.packed(), std::memory_order_relaxed);
    left.place.store(pool.placeOfBlock(rest), std::memory_order_relaxed);
    pool.tlsf.setUser(rest, spare);
    TimelinePoint after[kMaxTimelines];
    for (uint32_t t = 0; t < kMaxTimelines; ++t)
      after[t] = {t, tails[index].points[t]};
    addPending(pool, spare, after);
  } else if (spare != kNone) {
    giveSlot(cache, spare);
  }
  orderedReuses.fetch_add(1, std::memory_order_relaxed);
  *found = {HeapCode::kOk, info.dedicated, true, slot.block,
            slot.place.load(std::memory_order_relaxed)};
  return index;
}

// Frees the oldest ranges whose points have passed. Under the pool's lock.
void HeapImpl::reclaim(Pool &pool) {
  uint32_t past = 0;
  for (uint32_t index = pool.oldestPending; index != kNone && past < kLookPast;) {
    const uint32_t newer = tails[index].newerPending;
    if (passed(tails[index].points)) {
      removePending(pool, index);
      freeRange(pool, slots[index].block, slots[index].place.load(std::memory_order_relaxed));
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
    for (uint32_t i = pool->oldestPending; i != kNone; i = tails[i].newerPending)
      last = std::max(last, tails[i].points[0]);
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
