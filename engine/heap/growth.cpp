// Finding storage for an allocation: in the pools, in slabs that are kept, in new ones; and the
// ladder that it climbs when there are none.
#include "engine/heap/impl.h"

#include <algorithm>
#include <chrono>

namespace gantry::heap {
namespace {

constexpr const char *kPoolNames[] = {"gantry device slab", "gantry upload slab",
                                      "gantry readback slab", "gantry unified slab"};
constexpr const char *kDedicatedNames[] = {"gantry device buffer", "gantry upload buffer",
                                           "gantry readback buffer", "gantry unified buffer"};

// A thread that waits for a core is not at rest.
constexpr int64_t kRestNs = 10'000'000;

// Small buffers go between large ones only where few of those would fit.
constexpr uint64_t kGapBytes = 8 * kSmallBytes;

// An empty slab may be so many times as large as the new ones of a full heap, or as the request.
constexpr uint64_t kMostAdopted = 2;

// Bytes of a request in a region whose free range may be misaligned.
uint64_t needOf(const BufferRequest &request) {
  return Retention::round(request.sizeBytes +
                          (request.alignment > 256 ? request.alignment - 256 : 0));
}

} // namespace

// ---- finding storage ---------------------------------------------------------------------------

bool HeapImpl::tryPool(Pool &pool, uint64_t sizeBytes, uint64_t alignment, uint32_t index,
                       Found *found, uint64_t mostBytes) {
  const Locked locked(pool.lock);
  uint32_t block = pool.tlsf.allocate(sizeBytes, alignment, index, pool.draining, mostBytes);
  if (block == kNone && pool.draining != kNone && mostBytes == UINT64_MAX)
    block = pool.tlsf.allocate(sizeBytes, alignment, index);
  if (block == kNone) {
    if (pool.tlsf.hostExhausted())
      found->code = HeapCode::kHostExhausted;
    return false;
  }
  *found = {HeapCode::kOk, false, false, block, pool.tlsf.placeOf(block)};
  return true;
}

// Whether the pool's threads have not allocated or released for a while, as far as looks can tell.
bool HeapImpl::isAtRest(Pool &pool) const {
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  int64_t work = 0;
  const Locked locked(cachesLock);
  for (const ThreadCache *cache = caches; cache != nullptr; cache = cache->next)
    if (cache->owned && cache->index % kShards == pool.index % kShards)
      work += cache->kinds[pool.kind].counters.live();
  if (work != pool.seenWork)
    pool.seenNs = now;
  pool.seenWork = work;
  return now - pool.seenNs >= kRestNs;
}

// Other pools of the kind: under pressure all of them; else those for its size of threads that are
// at rest, since threads that work in one pool wait for each other all the time, and for a small
// buffer the gaps between this thread's large ones.
bool HeapImpl::tryOthers(const BufferRequest &request, const Pool &own, bool pressed,
                         uint32_t index, Found *found) {
  const uint32_t first = static_cast<uint32_t>(request.kind) * kPoolsPerKind;
  for (uint32_t i = first; i < first + kPoolsPerKind; ++i) {
    Pool &pool = *pools[i];
    if (&pool != &own && (pressed || (pool.small == own.small && isAtRest(pool))) &&
        pool.tlsf.mayFit(request.sizeBytes) &&
        tryPool(pool, request.sizeBytes, request.alignment, index, found))
      return true;
  }
  return !pressed && own.small &&
         tryPool(*pools[own.index - kShards], request.sizeBytes, request.alignment, index, found,
                 kGapBytes);
}

// The smallest empty slab that has at least and at most so many bytes, out of whichever pool of the
// kind knew it, first those of the same threads; of dedicated ones alone, or of all. kNone: there
// is none.
uint32_t HeapImpl::takeEmpty(const Pool &near, uint64_t leastBytes, uint64_t mostBytes,
                             bool dedicated) {
  uint32_t best = kNone;
  for (uint32_t shard = near.index; shard < near.index + kShards && best == kNone; ++shard)
    for (const uint32_t half : {0U, kShards}) {
      const Pool &pool = *pools[near.kind * kPoolsPerKind + shard % kShards + half];
      for (uint32_t i = nextEmpty(pool, 0); i != kNone; i = nextEmpty(pool, i + 1))
        if (const Slab &slab = slabs[i];
            slab.sizeBytes >= leastBytes && slab.sizeBytes <= mostBytes &&
            (best == kNone || slab.sizeBytes < slabs[best].sizeBytes) &&
            (!dedicated || slab.state == SlabState::kDedicatedFree))
          best = i;
    }
  return best != kNone && takeOut(best) ? best : kNone;
}

bool HeapImpl::reuseDedicated(const BufferRequest &request, Found *found) {
  const uint64_t need = std::min(Retention::round(request.sizeBytes), mostBytes);
  const auto kind = static_cast<uint32_t>(request.kind);
  const Pool &pool = *pools[kind * kPoolsPerKind];
  if (pool.dedicatedFreeBytes < need)
    return false;
  const uint32_t slab = takeEmpty(pool, need, need + totals[kind].retention.spareBytes(need), true);
  if (slab == kNone)
    return false;
  slabs[slab].state = SlabState::kDedicated;
  *found = {HeapCode::kOk, true, false, kNone, placeOf(slab, 0)};
  return true;
}

HeapCode HeapImpl::growDedicated(const BufferRequest &request, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const uint64_t size = std::min(Retention::round(request.sizeBytes), mostBytes);
  uint32_t slab = kNone;
  const HeapCode code =
      newSlab(request.kind, size, request.priority, kDedicatedNames[kind], true, &slab);
  if (code == HeapCode::kOk)
    *found = {HeapCode::kOk, true, false, kNone, placeOf(slab, 0)};
  return code;
}

// From now on a slab that no pool knows is this one's; false where the host has no memory.
bool HeapImpl::addSlab(Pool &pool, uint32_t index) {
  Slab &slab = slabs[index];
  const Locked locked(pool.lock);
  if (!pool.tlsf.addRegion(index, slab.sizeBytes))
    return false;
  slab.pool = pool.index;
  if (slab.state.exchange(SlabState::kPool) != SlabState::kPool && isObserved())
    for (const auto type : {HeapEvent::Type::kSlabFree, HeapEvent::Type::kSlabAllocate})
      notify(type, slab.kind, 0, 0, placeOf(index, 0), slab.sizeBytes); // dedicated no more
  return true;
}

// An empty slab of another pool, or a dedicated one, comes to this pool instead of a new one of at
// most so many bytes.
bool HeapImpl::adopt(Pool &pool, const BufferRequest &request, uint64_t mostBytes, uint32_t index,
                     Found *found) {
  const uint32_t slab =
      takeEmpty(pool, std::min(needOf(request), this->mostBytes), mostBytes, false);
  if (slab == kNone)
    return false;
  if (addSlab(pool, slab))
    return tryPool(pool, request.sizeBytes, request.alignment, index, found);
  freeSlab(slab);
  return false;
}

// A slab of so many bytes, or just what the request needs where that is more or all there is.
HeapCode HeapImpl::grow(Pool &pool, const BufferRequest &request, uint32_t index,
                        uint64_t wantedBytes, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const uint64_t need = std::min(needOf(request), mostBytes);
  uint64_t size = std::max(need, std::min(wantedBytes, mostBytes));
  uint32_t slab = kNone;
  HeapCode code = newSlab(request.kind, size, 0.5f, kPoolNames[kind], false, &slab);
  if (code != HeapCode::kOk && code != HeapCode::kDeviceLost && size > need) {
    size = need;
    code = newSlab(request.kind, size, 0.5f, kPoolNames[kind], false, &slab);
  }
  if (code == HeapCode::kOk && !addSlab(pool, slab)) {
    freeSlab(slab);
    code = HeapCode::kHostExhausted;
  }
  if (code != HeapCode::kOk)
    return code;
  if (index == kNone || tryPool(pool, request.sizeBytes, request.alignment, index, found))
    return HeapCode::kOk;
  return found->code == HeapCode::kHostExhausted ? found->code : HeapCode::kExhausted;
}

HeapCode HeapImpl::findStorage(ThreadCache &cache, const BufferRequest &request, uint32_t index,
                               Found *found) {
  if (!request.dedicated && request.sizeBytes <= kSmallBytes) {
    leaveAll(cache.kinds[static_cast<uint32_t>(request.kind)]);
    if (tryMagazines(cache, poolFor(request.kind, request.sizeBytes, cache.index), request, index,
                     found))
      return HeapCode::kOk;
    if (found->code == HeapCode::kHostExhausted)
      return found->code;
    flush(cache, static_cast<uint32_t>(request.kind));
  }
  const Locked locked(growth);
  return findStorageLocked(cache, request, index, found);
}

HeapCode HeapImpl::findStorageLocked(ThreadCache &cache, const BufferRequest &request,
                                     uint32_t index, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  if (gpu->isLost())
    return HeapCode::kDeviceLost;
  Pool &pool = poolFor(request.kind, request.sizeBytes, cache.index);
  bool pending = false;
  for (uint32_t i = kind * kPoolsPerKind; i < (kind + 1) * kPoolsPerKind; ++i)
    pending = pending || pools[i]->pendingCount != 0;
  if (pending) {
    if (const HeapCode code = refreshCompleted(); code != HeapCode::kOk)
      return code;
    reclaimAll();
  }
  if (!request.dedicated && tryPool(pool, request.sizeBytes, request.alignment, index, found))
    return HeapCode::kOk;
  if (found->code == HeapCode::kHostExhausted)
    return found->code;
  publish(cache, kind);
  KindTotals &all = totals[kind];
  const auto liveNow =
      static_cast<uint64_t>(std::max<int64_t>(0, all.liveBytes.load(std::memory_order_relaxed)) +
                            static_cast<int64_t>(request.sizeBytes));
  const uint64_t live =
      std::max(liveNow, static_cast<uint64_t>(all.peakLiveBytes.load(std::memory_order_relaxed)));
  const uint64_t peakReserved = all.peakReservedBytes.load(std::memory_order_relaxed);
  all.retention.beginGrowth(live, peakReserved);
  const bool large = request.dedicated || request.sizeBytes >= options.dedicatedBytes;
  if (large && reuseDedicated(request, found))
    return HeapCode::kOk;
  const bool repeats = all.retention.repeats();
  const bool dedicated = request.dedicated || (large && !repeats);

  // While the heap is filled again, an empty slab from elsewhere is taken rather than a new one.
  // Where it would pass its slack, ranges of threads at rest and gaps are taken first, and
  // empty slabs go.
  flush(cache, kind);
  const uint64_t reserved = all.reservedBytes.load(std::memory_order_relaxed);
  const uint64_t target = all.retention.targetBytes(live, peakReserved, options.growthSlack);
  const uint64_t step =
      dedicated ? Retention::round(request.sizeBytes)
                : std::max(needOf(request), all.retention.slabBytes(pool.small, reserved, liveNow));
  const uint64_t usual = all.retention.slabBytes(pool.small, reserved, reserved);
  if (repeats && !dedicated &&
      adopt(pool, request, kMostAdopted * std::max(needOf(request), usual), index, found))
    return HeapCode::kOk;
  if (reserved + step > target) {
    if (!request.dedicated && tryOthers(request, pool, false, index, found))
      return HeapCode::kOk;
    releaseEnough(kind, reserved + step - target);
  }

  const HeapCode code =
      dedicated ? growDedicated(request, found) : grow(pool, request, index, step, found);
  switch (code) {
  case HeapCode::kExhausted:
  case HeapCode::kOverBudget:
    return climb(cache, request, pool, index, code, found);
  default:
    return code;
  }
}

// ---- the ladder --------------------------------------------------------------------------------

HeapCode HeapImpl::climb(ThreadCache &cache, const BufferRequest &request, Pool &pool,
                         uint32_t index, HeapCode refusal, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const bool dedicated = request.dedicated || request.sizeBytes >= options.dedicatedBytes;
  const auto attempt = [&]() {
    if (!request.dedicated && (tryPool(pool, request.sizeBytes, request.alignment, index, found) ||
                               tryOthers(request, pool, true, index, found)))
      return HeapCode::kOk;
    if (dedicated && reuseDedicated(request, found))
      return HeapCode::kOk;
    refusal = dedicated ? growDedicated(request, found) : grow(pool, request, index, 0, found);
    return refusal;
  };
  const auto final = [](HeapCode code) {
    return code != HeapCode::kExhausted && code != HeapCode::kOverBudget;
  };

  // Wait for what is in flight.
  if (const HeapCode waited = waitForPending(); waited != HeapCode::kOk)
    return waited;
  if (const HeapCode code = attempt(); final(code))
    return code;

  // Trim.
  attention.fetch_add(2, std::memory_order_relaxed);
  flushAll(cache);
  releaseEmpty(0);
  if (const HeapCode code = attempt(); final(code))
    return code;

  // Compact.
  for (bool more = true; more;) {
    CompactResult moved;
    if (compactLocked(UINT64_MAX, &moved) != HeapCode::kOk || moved.movedBytes == 0)
      break;
    more = moved.more;
    if (const HeapCode waited = waitForPending(); waited != HeapCode::kOk)
      return waited;
    releaseEmpty(0);
    if (const HeapCode code = attempt(); final(code))
      return code;
  }

  // Spill.
  while (options.allowSpill && spillLargest(kind, request.sizeBytes) == HeapCode::kOk) {
    releaseEmpty(0);
    if (const HeapCode code = attempt(); final(code))
      return code;
  }
  return refusal;
}

// ---- the public side ---------------------------------------------------------------------------

uint64_t Heap::trim(uint64_t keepBytes) {
  HeapImpl &heap = HeapImpl::of(*this);
  heap.attention.fetch_add(2, std::memory_order_relaxed);
  if (ThreadCache *cache = heap.cacheOfThread(); cache != nullptr)
    heap.flushAll(*cache);
  if (!heap.gpu->isLost())
    (void)heap.refreshCompleted();
  heap.reclaimAll();
  const Locked locked(heap.growth);
  for (KindTotals &kind : heap.totals)
    kind.retention.forget();
  return heap.releaseEmpty(keepBytes);
}

HeapCode Heap::setLimit(uint32_t deviceHeap, uint64_t bytes) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (deviceHeap >= heap.gpu->info().memoryHeaps.size())
    return HeapCode::kInvalidArgument;
  heap.limits[deviceHeap].store(bytes, std::memory_order_relaxed);
  heap.trace.recordBudgets();
  return HeapCode::kOk;
}

void Heap::traceBudgets() const { HeapImpl::of(*this).trace.recordBudgets(); }

} // namespace gantry::heap
