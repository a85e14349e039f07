#include "engine/heap/thread_cache.h"

#include "engine/base/thread_exit.h"
#include "engine/heap/impl.h"

#include <algorithm>
#include <utility>

namespace gantry::heap {

constinit thread_local CurrentCache currentCache;

namespace {

constexpr uint64_t kMostCached = 4096; // ranges
constexpr uint64_t kCachedFreely = 8 << 20;
constexpr int64_t kLatestPublishBytes = 16 << 20;
constexpr uint32_t kHeapsPerThread = 8; // caches that a thread keeps; the oldest gives way

Lock liveHeapsLock;
HeapImpl *liveHeaps = nullptr;

HeapImpl *findLive(uint64_t id) { // under liveHeapsLock
  for (HeapImpl *heap = liveHeaps; heap != nullptr; heap = heap->nextHeap)
    if (heap->id == id)
      return heap;
  return nullptr;
}

void detach(const CurrentCache &entry) {
  const Locked locked(liveHeapsLock); // the heap cannot go meanwhile
  HeapImpl *heap = findLive(entry.heapId);
  if (heap == nullptr)
    return;
  heap->flushAll(*entry.cache);
  const Locked lockedCaches(heap->cachesLock);
  entry.cache->owned = false;
}

// The caches of a thread, which are left when it ends.
struct ThreadCaches {
  CurrentCache entries[kHeapsPerThread];
  uint32_t next = 0;
  bool isArmed = false;
};
constinit thread_local ThreadCaches threadCaches;

void leaveCaches(void *caches) {
  auto *mine = static_cast<ThreadCaches *>(caches);
  for (CurrentCache &entry : mine->entries)
    if (entry.cache != nullptr)
      detach(std::exchange(entry, {}));
  mine->isArmed = false; // a later destructor of the thread may use the heap again
  currentCache = {};
}

bool armExit(ThreadCaches &caches) {
  static ThreadExit exit(leaveCaches);
  return exit.arm(&caches);
}

ThreadCache *adoptOrMake(HeapImpl &heap) {
  const Locked locked(heap.cachesLock);
  for (ThreadCache *cache = heap.caches; cache != nullptr; cache = cache->next) {
    if (!cache->owned) {
      cache->owned = true;
      return cache;
    }
  }
  auto *cache = hostNew<ThreadCache>(heap.options.host);
  if (cache == nullptr)
    return nullptr;
  cache->index = heap.cacheCount++;
  for (uint32_t i = 0; i < kMemoryKinds; ++i) {
    ThreadCache::KindCache &kind = cache->kinds[i];
    kind.plainInfo = SlotInfo::plain(i);
    kind.limit = Cached::upTo(heap.options.magazineBytes);
    kind.leaving.fill(kNone);
    kind.leavingPool = heap.pools[0]; // whichever: it is never nullptr
  }
  cache->flushed = heap.lastFlush();
  if (cache->index < kMaxOwners) {
    cache->number = static_cast<uint8_t>(cache->index + 1);
    cache->bias.turnOn();
    heap.owners[cache->number].store(cache, std::memory_order_release);
  }
  cache->ownBits = static_cast<uint32_t>(stateOf(0, 1, cache->number));
  cache->owned = true;
  cache->next = heap.caches;
  heap.caches = cache;
  return cache;
}

} // namespace

void registerHeap(HeapImpl &heap) {
  const Locked locked(liveHeapsLock);
  heap.nextHeap = liveHeaps;
  liveHeaps = &heap;
}

void unregisterHeap(HeapImpl &heap) {
  const Locked locked(liveHeapsLock);
  HeapImpl **at = &liveHeaps;
  while (*at != &heap)
    at = &(*at)->nextHeap;
  *at = heap.nextHeap;
}

ThreadCache *attachThreadCache(HeapImpl &heap) {
  ThreadCaches &mine = threadCaches;
  for (const CurrentCache &entry : mine.entries) {
    if (entry.heapId == heap.id) {
      currentCache = entry;
      return entry.cache;
    }
  }
  if (!mine.isArmed && !(mine.isArmed = armExit(mine)))
    return nullptr; // nobody would leave the cache
  ThreadCache *cache = adoptOrMake(heap);
  if (cache == nullptr)
    return nullptr;
  CurrentCache &entry = mine.entries[mine.next];
  mine.next = (mine.next + 1) % kHeapsPerThread;
  if (entry.cache != nullptr)
    detach(entry);
  entry = {heap.id, cache, heap.id << 24 | (cache->index + 1)};
  currentCache = entry;
  return cache;
}

// ---- leaving -----------------------------------------------------------------------------------

// Ranges whose magazines are full go back to their pool in batches. So releases that follow each
// other do little but look at their slots, and the processor waits for several of them at once; and
// what freeing looks at, records and their neighbours', is fetched for a whole batch before it is.
// The slot is that of a small plain buffer that was released, and keeps its info meanwhile.
HeapCode HeapImpl::leave(ThreadCache &cache, ThreadCache::KindCache &kind, uint32_t index,
                         uint64_t info) {
  if (keepsNothing()) [[unlikely]]
    return finishRelease(index, {});
  const SlotChunk &chunk = slots.chunk(index);
  if (chunk.pool != kind.leavingPool) [[unlikely]]
    return leaveElsewhere(cache, kind, index, info);
  kind.counters.remove(static_cast<int64_t>(SlotInfo::sizeOf(info)));
  kind.counters.giveBack(1);
  const uint32_t block = chunk.firstBlock + index % kChunkSlots;
  const uint32_t at = kind.leavingAt++ % kLeaving;
  kind.leaving[at] = block;
  chunk.pool->tlsf.prefetch(block);
  const uint32_t next = (at + 1) % kLeaving;
  return next % kLeavingBatch == 0 ? leaveInBatch(cache, SlotInfo::kindOf(info), next)
                                   : HeapCode::kOk;
}

// A batch is complete: the other one, which begins there, is freed.
HeapCode HeapImpl::leaveInBatch(ThreadCache &cache, uint32_t kind, uint32_t other) {
  publishReleased(cache, kind);
  freeLeaving(cache.kinds[kind], other);
  return HeapCode::kOk;
}

// From now on what leaves is another pool's. Where the slot belongs to no block, it goes at once.
HeapCode HeapImpl::leaveElsewhere(ThreadCache &cache, ThreadCache::KindCache &kind, uint32_t index,
                                  uint64_t info) {
  publishReleased(cache, SlotInfo::kindOf(info));
  leaveAll(kind);
  if (Pool *pool = slots.chunk(index).pool; pool != nullptr) {
    kind.leavingPool = pool;
    return leave(cache, kind, index, info);
  }
  kind.counters.remove(static_cast<int64_t>(SlotInfo::sizeOf(info)));
  kind.counters.giveBack(1);
  freeSlotted(cache, index);
  return HeapCode::kOk;
}

void HeapImpl::freeLeaving(ThreadCache::KindCache &kind, uint32_t first) {
  uint32_t *const blocks = &kind.leaving[first];
  if (blocks[0] == kNone)
    return;
  Tlsf &tlsf = kind.leavingPool->tlsf;
  const Locked locked(kind.leavingPool->lock);
  for (uint32_t i = 0; i < kLeavingBatch && blocks[i] != kNone; ++i)
    tlsf.prefetchNeighbours(blocks[i]);
  for (uint32_t i = 0; i < kLeavingBatch && blocks[i] != kNone; ++i) {
    tlsf.free(blocks[i]);
    blocks[i] = kNone;
  }
}

void HeapImpl::leaveAll(ThreadCache::KindCache &kind) {
  for (uint32_t first = 0; first < kLeaving; first += kLeavingBatch)
    freeLeaving(kind, first);
  kind.leavingAt = 0;
}

// A range that a slot stands for, and the slot unless it is the block's own.
void HeapImpl::freeSlotted(ThreadCache &cache, uint32_t index) {
  {
    Pool &pool = poolAt(placeOfSlot(index));
    const Locked locked(pool.lock);
    pool.tlsf.free(blockOfSlot(index));
  }
  giveSlot(cache, index);
}

// ---- emptying ----------------------------------------------------------------------------------

void HeapImpl::publish(ThreadCache &cache, uint32_t kind) {
  ThreadCounters &mine = cache.kinds[kind].counters;
  KindTotals &all = totals[kind];
  const int64_t live = mine.live();
  const int64_t high = mine.highBytes.load(std::memory_order_relaxed);
  ThreadCounters::set(mine.highBytes, 0);
  ThreadCounters::set(mine.belowBytes, 0);
  const int64_t before = all.liveBytes.fetch_add(live, std::memory_order_relaxed);
  int64_t peak = all.peakLiveBytes.load(std::memory_order_relaxed);
  if (before + live < Retention::ebbBytes(peak))
    all.retention.noteEbb(peak);
  const int64_t taken = ThreadCounters::get(mine.ranges);
  ThreadCounters::set(mine.ranges, 0);
  const int64_t buffers = all.ranges.fetch_add(taken, std::memory_order_relaxed) + taken -
                          Cached::ranges(ThreadCounters::get(mine.cached));
  while (before + high > peak) {
    if (all.peakLiveBytes.compare_exchange_weak(peak, before + high, std::memory_order_relaxed)) {
      all.usualBytes.store((before + live) / std::max<int64_t>(1, buffers),
                           std::memory_order_relaxed);
      peak = before + high;
    }
  }
  cache.kinds[kind].ebbBytes = Retention::ebbBytes(peak) - (before + live);
  // A thread's share of what is reserved, but beyond a little only half of it, as the others cannot
  // get at it; and no more ranges than a core's cache holds the records of, since what comes back
  // from farther is no quicker than the pool.
  const uint64_t share = all.reservedBytes.load(std::memory_order_relaxed) /
                         std::max<uint64_t>(1, cacheCount.load(std::memory_order_relaxed));
  const auto usual =
      static_cast<uint64_t>(std::max<int64_t>(0, all.usualBytes.load(std::memory_order_relaxed)));
  const uint64_t most =
      std::max(options.magazineBytes,
               std::min(std::max(std::min(share, kCachedFreely), share / 2), kMostCached * usual));
  cache.kinds[kind].limit = Cached::upTo(options.magazineBytes == 0 ? 0 : most);
}

// A thread that has released much says so, or the peak of all would seem higher.
void HeapImpl::publishReleased(ThreadCache &cache, uint32_t kind) {
  if (cache.kinds[kind].counters.live() <= -kLatestPublishBytes) [[unlikely]]
    publish(cache, kind);
}

// Gives the ranges of one size back to their pools; false where there is none.
bool HeapImpl::flushBin(ThreadCache &cache, uint32_t kind, uint32_t bin) {
  BufferHandle &head = cache.kinds[kind].bins[bin];
  int64_t flushed = 0;
  for (; head; ++flushed) {
    const uint32_t index = slotOf(head);
    head = slots[index].next();
    freeSlotted(cache, index);
  }
  cache.kinds[kind].noteEmpty(bin);
  cache.kinds[kind].counters.uncache(flushed * Cached::ofBin(bin), flushed);
  return flushed != 0;
}

void HeapImpl::flush(ThreadCache &cache, uint32_t kind) {
  publish(cache, kind);
  leaveAll(cache.kinds[kind]);
  if (ThreadCounters::get(cache.kinds[kind].counters.cached) == 0)
    return;
  const ThreadCache::KindCache &own = cache.kinds[kind];
  for (uint32_t bin = own.nextFilled(0); bin < kMagazineBins; bin = own.nextFilled(bin))
    (void)flushBin(cache, kind, bin);
  keepWatermarks();
}

// A small request, for which the pool has no room: longer ranges go back to it, the shortest that
// there are, and the request is cut from them. So the magazines keep what is shorter, which a flush
// would take from them although joining it seldom makes the room.
bool HeapImpl::tryMagazines(ThreadCache &cache, Pool &pool, const BufferRequest &request,
                            uint32_t index, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const ThreadCache::KindCache &own = cache.kinds[kind];
  for (auto bin = static_cast<uint32_t>(magazineBinOf(request.sizeBytes));
       (bin = own.nextFilled(bin)) < kMagazineBins;)
    if (flushBin(cache, kind, bin) &&
        tryPool(pool, request.sizeBytes, request.alignment, index, found)) {
      keepWatermarks();
      return true;
    }
  return false;
}

void HeapImpl::flushAll(ThreadCache &cache) {
  cache.flushed = lastFlush();
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
    flush(cache, kind);
}

} // namespace gantry::heap
