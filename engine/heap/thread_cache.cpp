#include "engine/heap/thread_cache.h"

#include "engine/heap/impl.h"

#include <algorithm>

namespace gantry::heap {

constinit thread_local CurrentCache currentCache;

namespace {

constexpr uint64_t kMostCached = 4096;
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

// The caches of a thread; its destructor runs when the thread ends.
struct ThreadCaches {
  CurrentCache entries[kHeapsPerThread];
  uint32_t next = 0;
  ~ThreadCaches() {
    for (const CurrentCache &entry : entries)
      if (entry.cache != nullptr)
        detach(entry);
    currentCache = {};
  }
};
thread_local ThreadCaches threadCaches;

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
  for (auto &kind : cache->kinds) {
    kind.bins.fill(kNone);
    kind.limitBytes = static_cast<int64_t>(heap.options.magazineBytes);
  }
  cache->leaving.fill({kNone, kNone, nullptr});
  cache->flushEpoch = heap.flushEpoch.load(std::memory_order_relaxed);
  cache->index = heap.cacheCount++;
  if (cache->index < kMaxOwners) {
    cache->number = static_cast<uint8_t>(cache->index + 1);
    cache->bias.turnOn();
    heap.owners[cache->number].store(cache, std::memory_order_release);
  }
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

// A range whose magazine is full goes back to its pool a few releases later. Freeing it looks at
// its record, then at its neighbours', which are seldom in the processor's caches: on the way they
// are fetched, so that nobody waits for them.
void HeapImpl::leave(ThreadCache &cache, uint32_t index) {
  const Slot &slot = slots[index];
  Pool &pool = poolAt(slot.place.load(std::memory_order_relaxed));
  Leaving &place = cache.leaving[cache.leavingAt % kLeaving];
  const Leaving &half = cache.leaving[(cache.leavingAt + kLeaving / 2) % kLeaving];
  const Leaving oldest = place;
  place = {index, slot.block, &pool};
  ++cache.leavingAt;
  const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  cache.kinds[info.kind].counters.cache(
      static_cast<int64_t>(((info.sizeBytes - 1) >> kGranuleLog2) + 1) << kGranuleLog2);
  {
    const Locked locked(pool.lock);
    pool.tlsf.prefetch(slot.block);
    if (half.slot != kNone && half.pool == &pool)
      pool.tlsf.prefetchNeighbours(half.block);
    if (oldest.slot != kNone && oldest.pool == &pool)
      pool.tlsf.free(oldest.block);
  }
  if (oldest.slot != kNone)
    freeLeaving(cache, oldest.pool == &pool ? Leaving{oldest.slot, kNone, nullptr} : oldest);
}

// With a pool: frees the block there too.
void HeapImpl::freeLeaving(ThreadCache &cache, const Leaving &one) {
  if (one.pool != nullptr) {
    const Locked locked(one.pool->lock);
    one.pool->tlsf.free(one.block);
  }
  const SlotInfo info = SlotInfo::of(slots[one.slot].info.load(std::memory_order_relaxed));
  cache.kinds[info.kind].counters.cache(
      -(static_cast<int64_t>(((info.sizeBytes - 1) >> kGranuleLog2) + 1) << kGranuleLog2));
  giveSlot(cache, one.slot);
}

void HeapImpl::leaveAll(ThreadCache &cache) {
  for (Leaving &one : cache.leaving) {
    if (one.slot != kNone)
      freeLeaving(cache, one);
    one.slot = kNone;
  }
}

// ---- emptying ----------------------------------------------------------------------------------

void HeapImpl::publish(ThreadCache &cache, uint32_t kind) {
  ThreadCounters &mine = cache.kinds[kind].counters;
  KindTotals &all = totals[kind];
  const int64_t live = mine.liveBytes.load(std::memory_order_relaxed);
  const int64_t high = mine.highBytes.load(std::memory_order_relaxed);
  ThreadCounters::set(mine.liveBytes, 0);
  ThreadCounters::set(mine.highBytes, 0);
  const int64_t before = all.liveBytes.fetch_add(live, std::memory_order_relaxed);
  int64_t peak = all.peakLiveBytes.load(std::memory_order_relaxed);
  while (before + high > peak &&
         !all.peakLiveBytes.compare_exchange_weak(peak, before + high, std::memory_order_relaxed)) {
  }
  all.liveBuffers.fetch_add(mine.liveBuffers.load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
  ThreadCounters::set(mine.liveBuffers, 0);
  // Half of what is reserved, shared among the threads; but no more ranges than a core's cache
  // holds the records of, since what comes back from farther is no quicker than the pool.
  const auto buffers =
      static_cast<uint64_t>(std::max<int64_t>(1, all.liveBuffers.load(std::memory_order_relaxed)));
  const auto usual = static_cast<uint64_t>(
      std::max<int64_t>(0, all.liveBytes.load(std::memory_order_relaxed)) / buffers);
  const uint64_t share =
      std::min(all.reservedBytes.load(std::memory_order_relaxed) / 2 /
                   std::max<uint64_t>(1, cacheCount.load(std::memory_order_relaxed)),
               kMostCached * usual);
  cache.kinds[kind].limitBytes =
      static_cast<int64_t>(options.magazineBytes == 0 ? 0 : std::max(options.magazineBytes, share));
}

void HeapImpl::flush(ThreadCache &cache, uint32_t kind) {
  ThreadCache::KindCache &mine = cache.kinds[kind];
  publish(cache, kind);
  leaveAll(cache);
  if (mine.counters.cached() == 0)
    return;
  for (uint32_t &bin : mine.bins) {
    while (bin != kNone) {
      const uint32_t index = bin;
      const Slot &slot = slots[index];
      bin = slot.name;
      {
        Pool &pool = poolAt(slot.place.load(std::memory_order_relaxed));
        const Locked locked(pool.lock);
        pool.tlsf.free(slot.block);
      }
      giveSlot(cache, index);
    }
  }
  mine.counters.cachedBytes.store(0, std::memory_order_relaxed);
  keepWatermarks();
}

void HeapImpl::flushAll(ThreadCache &cache) {
  cache.flushEpoch = flushEpoch.load(std::memory_order_relaxed);
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
    flush(cache, kind);
}

} // namespace gantry::heap
