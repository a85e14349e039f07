// Allocating and releasing: the paths that every buffer takes.
#include "engine/base/align.h"
#include "engine/heap/heap.h"
#include "engine/heap/impl.h"

#include <algorithm>
#include <bit>
#include <new>

namespace gantry::heap {
namespace {

constexpr uint64_t kSpareShare = 4;        // of a buffer: how much longer its range may be
constexpr uint64_t kMostSpare = 63;        // granules, likewise
constexpr int64_t kPublishBytes = 1 << 20; // what a thread may be ahead of the shared counters

uint8_t flagsOf(const BufferRequest &request) {
  return static_cast<uint8_t>((request.movable ? kMovable : 0) |
                              (request.spillable ? kSpillable : 0));
}

/// The same, but the compiler has its address as it is, instead of computing it anew for each
/// member.
template <typename T> T &settled(T &object) { return *std::launder(&object); }

/// From 0 to 1; of those that nobody doubts. By its bits, which ascend with it.
bool isShare(float value) {
  return std::bit_cast<uint32_t>(value) <= std::bit_cast<uint32_t>(1.0F);
}

bool isKind(MemoryKind kind) { return static_cast<uint32_t>(kind) < kMemoryKinds; }

/// Whether it may have the slot of any block.
bool isPlain(const BufferRequest &request) {
  return flagsOf(request) == 0 && !request.dedicated && isKind(request.kind) &&
         isPowerOfTwo(request.alignment) && request.alignment <= 256;
}

} // namespace

// ---- allocate ----------------------------------------------------------------------------------

// A free slot's state is its generation alone.
[[gnu::always_inline]] inline HeapCode
HeapImpl::comeAlivePlain(const ThreadCache &cache, Slot &slot, uint64_t info, BufferHandle handle) {
  slot.info.store(info, std::memory_order_relaxed);
  slot.state.store((handle.bits & kGenerationBits) | cache.ownBits, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  if (attention.load(std::memory_order_relaxed) != cache.flushed) [[unlikely]]
    return tellLate(slotOf(handle), handle);
  return HeapCode::kOk;
}

// From that magazine, which is not empty: a small plain buffer. A magazine has its slots' next
// handles, so what is given out waits for no slot to be read.
[[gnu::always_inline]] inline HeapCode HeapImpl::serve(ThreadCache &cache,
                                                       ThreadCache::KindCache &kind, uint64_t bin,
                                                       uint64_t sizeBytes, BufferHandle *buffer) {
  const BufferHandle handle = kind.bins[bin];
  Slot &slot = settled(slots[slotOf(handle)]);
  kind.pop(bin, slot);
  kind.counters.add(static_cast<int64_t>(sizeBytes));
  *buffer = handle;
  return comeAlivePlain(cache, slot, SlotInfo::sized(kind.plainInfo, sizeBytes, bin), handle);
}

// The quick path: a plain buffer from a magazine. It calls nothing, so that it needs to save
// nothing; whatever is not plain leaves it for one of the functions below.
// This and release() begin a cache line, so that what lies before them does not slow them.
[[gnu::aligned(64)]] HeapCode Heap::allocate(const BufferRequest &request, BufferHandle *buffer) {
  HeapImpl &heap = HeapImpl::of(*this);
  const uint64_t bin = magazineBinOf(request.sizeBytes);
  const auto number = static_cast<uint32_t>(request.kind);
  if (currentCache.heapId != heap.id || bin >= kMagazineBins || request.alignment != 256 ||
      (uint64_t{request.name.index} << 32 | number) >= kMemoryKinds || request.movable ||
      request.spillable || request.dedicated) [[unlikely]]
    return heap.allocateOther(request, buffer);
  ThreadCache &cache = *currentCache.cache;
  ThreadCache::KindCache &kind = settled(cache.kinds[number]);
  if (!kind.bins[bin]) [[unlikely]]
    return heap.allocateMissed(request, buffer, cache, kind, bin);
  return heap.serve(cache, kind, bin, request.sizeBytes, buffer);
}

// One with a name or another alignment: from a magazine if there is something in it; or a large
// one. What may move is never there: the slots of the magazines may belong to their blocks.
HeapCode HeapImpl::allocateOther(const BufferRequest &request, BufferHandle *buffer) {
  const bool known = request.name.index < nameCount.load(std::memory_order_acquire);
  if (currentCache.heapId != id || !known || !isPlain(request))
    return allocateSlowly(request, buffer);
  ThreadCache &cache = *currentCache.cache;
  ThreadCache::KindCache &kind = settled(cache.kinds[static_cast<uint32_t>(request.kind)]);
  const uint64_t bin = magazineBinOf(request.sizeBytes);
  if (bin >= kMagazineBins || !kind.bins[bin]) {
    if (request.name.index != 0)
      return allocateSlowly(request, buffer);
    return bin >= kMagazineBins ? allocateFromPool(request, buffer, cache, kind, bin)
                                : allocateMissed(request, buffer, cache, kind, bin);
  }
  const uint32_t index = slotOf(kind.bins[bin]);
  kind.pop(bin, slots[index]);
  kind.counters.add(static_cast<int64_t>(request.sizeBytes));
  *buffer =
      comeAlive(cache, index, request, SlotInfo::sized(kind.plainInfo, request.sizeBytes, bin));
  return HeapCode::kOk;
}

// A block of the pool's and its own slot: the handle that its buffer has. None: the longer way
// finds why.
[[gnu::always_inline]] inline BufferHandle HeapImpl::takeFromPool(Pool &pool, uint64_t sizeBytes,
                                                                  Slot **slot) {
  const Locked locked(pool.lock);
  const uint32_t block = pool.tlsf.allocate(sizeBytes, 1, kNone, pool.draining);
  if (block == kNone) [[unlikely]]
    return {};
  if (block / kChunkSlots < pool.chunks.size() || addOwnSlots(pool, block)) [[likely]] {
    const uint32_t index = pool.chunks[block / kChunkSlots] + block % kChunkSlots;
    *slot = &settled(slots[index]);
    const uint64_t state = (*slot)->state.load(std::memory_order_relaxed);
    pool.tlsf.setUser(block, index);
    if (!isRetired(state)) [[likely]]
      return {state | tagBits | index};
  }
  pool.tlsf.free(block);
  return {};
}

// A small plain one, and its magazine is empty: from that of a slightly larger size, or from the
// pool.
HeapCode HeapImpl::allocateMissed(const BufferRequest &request, BufferHandle *buffer,
                                  ThreadCache &cache, ThreadCache::KindCache &kind, uint64_t bin) {
  const uint64_t spare = std::min((bin + 1) / kSpareShare, kMostSpare);
  for (uint64_t bits = kind.filledFrom(bin) & ((uint64_t{2} << spare) - 2); bits != 0;
       bits &= bits - 1) {
    const uint64_t larger = bin + static_cast<uint64_t>(std::countr_zero(bits));
    if (kind.bins[larger])
      return serve(cache, kind, larger, request.sizeBytes, buffer);
    kind.noteEmpty(larger);
  }
  return allocateFromPool(request, buffer, cache, kind, bin);
}

// The heap is at an ebb, unless others have published more meanwhile.
void HeapImpl::noteEbb(ThreadCache::KindCache &kind, uint32_t number) {
  KindTotals &all = totals[number];
  const int64_t peak = all.peakLiveBytes.load(std::memory_order_relaxed);
  kind.ebbBytes = Retention::ebbBytes(peak) - all.liveBytes.load(std::memory_order_relaxed);
  if (kind.counters.live() < kind.ebbBytes)
    all.retention.noteEbb(peak);
}

// One more range from a pool, and a buffer in it that may be large. What it looks at is the
// thread's own.
[[gnu::always_inline]] inline void HeapImpl::countAllocated(ThreadCache &cache,
                                                            ThreadCache::KindCache &kind,
                                                            uint32_t number, uint64_t sizeBytes) {
  ThreadCounters &counters = kind.counters;
  if (counters.live() < kind.ebbBytes) [[unlikely]]
    noteEbb(kind, number);
  counters.take();
  counters.add(static_cast<int64_t>(sizeBytes));
  if (ThreadCounters::get(counters.highBytes) >= kPublishBytes) [[unlikely]]
    publish(cache, number);
}

// A plain one that no magazine serves: straight from its pool, where nothing stands in the way.
HeapCode HeapImpl::allocateFromPool(const BufferRequest &request, BufferHandle *buffer,
                                    ThreadCache &cache, ThreadCache::KindCache &kind,
                                    uint64_t bin) {
  const uint64_t sizeBytes = request.sizeBytes;
  const auto number = static_cast<uint32_t>(request.kind);
  if (cache.flushed != lastFlush() || !request.orderedAfter.empty() || !isShare(request.priority) ||
      sizeBytes - 1 >= mostBytes) [[unlikely]]
    return allocateSlowly(request, buffer);
  Slot *slot = nullptr;
  const BufferHandle handle =
      takeFromPool(poolFor(request.kind, sizeBytes, cache.index), sizeBytes, &slot);
  if (!handle) [[unlikely]]
    return allocateSlowly(request, buffer);
  const uint64_t info = bin < kMagazineBins
                            ? SlotInfo::sized(kind.plainInfo, sizeBytes, bin)
                            : SlotInfo::sized(kind.plainInfo & ~SlotInfo::kQuick, sizeBytes, 0);
  countAllocated(cache, kind, number, sizeBytes);
  *buffer = handle;
  return comeAlivePlain(cache, *slot, info, handle);
}

// The last steps of every allocation but the quickest: from here on the handle is good.
BufferHandle HeapImpl::comeAlive(const ThreadCache &cache, uint32_t index,
                                 const BufferRequest &request, uint64_t info) {
  Slot &slot = slots[index];
  if (request.name.index != 0) {
    info = (info | SlotInfo::kNamed) & ~SlotInfo::kQuick;
    slots.range(index).name = request.name.index;
  }
  slot.info.store(info, std::memory_order_relaxed);
  const uint32_t generation = generationOf(slot.state.load(std::memory_order_relaxed));
  const BufferHandle handle = handleOf(generation, tag, index);
  const bool tell = isObserved();
  if (request.name.index != 0 || !SlotInfo::isPlain(info) || tell) [[unlikely]]
    noteAllocated(index, handle, tell);
  slot.state.store(stateOf(generation, 1, cache.number), std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  if (isObserved() != tell) [[unlikely]]
    (void)tellLate(index, handle);
  return handle;
}

// What only some buffers need when they come to be: a place for pins, a name's share, an event.
void HeapImpl::noteAllocated(uint32_t index, BufferHandle handle, bool tell) {
  const SlotInfo info = SlotInfo::of(slots[index].info.load(std::memory_order_relaxed));
  SlotTail &tail = slots.tail(index);
  if (info.flags != 0)
    tail.pins.store(stateOf(generationOf(handle), 0), std::memory_order_relaxed);
  if (info.flags != 0 && !info.ordered)
    std::fill(std::begin(tail.points), std::end(tail.points), 0);
  if (info.named)
    countName(slots.range(index).name, info.sizeBytes);
  if (tell)
    note(HeapEvent::Type::kAllocate, index, info, handle);
}

// Not inlined, so that the ways that end with it need to save no registers.
// The observer came between the look whether there is one and the slot's coming alive.
HeapCode HeapImpl::tellLate(uint32_t index, BufferHandle handle) {
  if (isObserved())
    note(HeapEvent::Type::kAllocate, index,
         SlotInfo::of(slots[index].info.load(std::memory_order_relaxed)), handle);
  return HeapCode::kOk;
}

void HeapImpl::noteReleased(uint32_t index, const SlotInfo &info, BufferHandle handle) {
  if (info.named)
    uncountName(slots.range(index).name, info.sizeBytes);
  if (isObserved())
    note(HeapEvent::Type::kRelease, index, info, handle);
}

HeapCode HeapImpl::check(const BufferRequest &request) const {
  if (request.sizeBytes == 0 || !isPowerOfTwo(request.alignment) ||
      request.alignment > (uint64_t{1} << 30) || !isKind(request.kind) ||
      !(request.priority >= 0 && request.priority <= 1) ||
      request.name.index >= nameCount.load(std::memory_order_acquire))
    return HeapCode::kInvalidArgument;
  for (const TimelinePoint &point : request.orderedAfter)
    if (point.timeline >= timelines.load(std::memory_order_relaxed))
      return HeapCode::kInvalidArgument;
  return request.sizeBytes > mostBytes ? HeapCode::kTooLarge : HeapCode::kOk;
}

HeapCode HeapImpl::allocateSlowly(const BufferRequest &request, BufferHandle *buffer) {
  *buffer = {};
  if (currentCache.heapId != id && attachThreadCache(*this) != nullptr)
    return allocate(request, buffer);
  ThreadCache *cache = cacheOfThread();
  if (const HeapCode code = check(request); code != HeapCode::kOk)
    return code;
  if (cache == nullptr)
    return HeapCode::kHostExhausted;
  if (cache->flushed != lastFlush())
    flushAll(*cache);
  const uint32_t index = takeSlot(*cache);
  if (index == kNone)
    return HeapCode::kHostExhausted;
  Found found;
  Pool &pool = poolFor(request.kind, request.sizeBytes, cache->index);
  bool reused = false;
  if (!request.orderedAfter.empty() && !request.dedicated)
    for (uint32_t i = 0; i < kShards && !reused; ++i)
      reused = takeOrdered(poolFor(request.kind, request.sizeBytes, cache->index + i), request,
                           index, &found);
  if (!reused &&
      (request.dedicated || !tryPool(pool, request.sizeBytes, request.alignment, index, &found))) {
    const HeapCode code = found.code == HeapCode::kHostExhausted
                              ? found.code
                              : findStorage(*cache, request, index, &found);
    if (code != HeapCode::kOk) {
      giveSlot(*cache, index);
      return code;
    }
  }
  *buffer = fillSlot(*cache, index, request, found);
  return HeapCode::kOk;
}

BufferHandle HeapImpl::fillSlot(ThreadCache &cache, uint32_t index, const BufferRequest &request,
                                const Found &found) {
  SlotInfo info;
  info.sizeBytes = request.sizeBytes;
  info.flags = flagsOf(request);
  info.kind = static_cast<uint8_t>(request.kind);
  info.alignmentLog2 = static_cast<uint8_t>(
      std::countr_zero(std::max(request.alignment, uint64_t{1} << kGranuleLog2)));
  info.dedicated = found.dedicated;
  info.ordered = found.ordered;
  slots.range(index).place.store(found.place, std::memory_order_relaxed);
  slots.range(index).block = found.block;
  countAllocated(cache, cache.kinds[info.kind], info.kind, request.sizeBytes);
  return comeAlive(cache, index, request, info.packed());
}

// ---- release -----------------------------------------------------------------------------------

[[gnu::aligned(64)]] HeapCode Heap::release(BufferHandle buffer,
                                            std::span<const TimelinePoint> after) {
  HeapImpl &heap = HeapImpl::of(*this);
  const uint64_t plain = buffer.bits ^ heap.tagBits; // generation and slot, if the tag is right
  const auto index = static_cast<uint32_t>(plain);
  if (!heap.slots.has(index)) [[unlikely]]
    return HeapCode::kForeignHandle;
  Slot &slot = settled(heap.slots[index]);
  const uint64_t word = slot.info.load(std::memory_order_relaxed);
  if (!after.empty()) [[unlikely]]
    return heap.releaseLarge(buffer, after);
  if (currentCache.heapId != heap.id || (word & SlotInfo::kQuick) == 0) [[unlikely]]
    return heap.releaseLarge(buffer, {});
  ThreadCache &cache = *currentCache.cache;
  if (!cache.bias.enter()) [[unlikely]]
    return heap.releaseSlowly(buffer, {});
  const uint64_t generation = plain - index;
  if (slot.state.load(std::memory_order_relaxed) != (generation | cache.ownBits)) [[unlikely]] {
    cache.bias.leave();
    return heap.releaseSlowly(buffer, {});
  }
  const uint64_t next = generation + kOneGeneration;
  slot.state.store(next, std::memory_order_release);
  cache.bias.leave();
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  if (heap.attention.load(std::memory_order_relaxed) != cache.flushed || isRetired(next))
      [[unlikely]]
    return heap.releaseNoted(index, buffer);
  const uint64_t bin = SlotInfo::binOf(word);
  ThreadCache::KindCache &kind = settled(cache.kinds[SlotInfo::kindOf(word)]);
  const int64_t cached = ThreadCounters::get(kind.counters.cached) + Cached::ofBin(bin);
  if (cached > kind.limit)
    return heap.leave(cache, kind, index, word);
  kind.counters.remove(static_cast<int64_t>(SlotInfo::sizeOf(word)));
  ThreadCounters::set(kind.counters.cached, cached);
  kind.push(bin, slot, {buffer.bits + kOneGeneration});
  return HeapCode::kOk;
}

// One that the quick way does not put into a magazine.
HeapCode HeapImpl::releaseLarge(BufferHandle buffer, std::span<const TimelinePoint> after) {
  const uint32_t index = slotOf(buffer);
  Slot &slot = slots[index];
  const uint64_t word = slot.info.load(std::memory_order_relaxed);
  if (!after.empty() || currentCache.heapId != id || !SlotInfo::isPlain(word) ||
      !currentCache.cache->bias.enter())
    return releaseSlowly(buffer, after);
  ThreadCache &cache = *currentCache.cache;
  const uint64_t generation = buffer.bits & kGenerationBits;
  const bool last = slot.state.load(std::memory_order_relaxed) == (generation | cache.ownBits);
  if (last)
    slot.state.store(generation + kOneGeneration, std::memory_order_release);
  cache.bias.leave();
  if (!last)
    return releaseSlowly(buffer, after);
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  const SlotChunk &chunk = slots.chunk(index);
  if ((word & (SlotInfo::kNamed | SlotInfo::kOrdered)) == 0 && chunk.pool != nullptr &&
      !SlotInfo::fitsMagazine(word) && options.retainHighBytes == UINT64_MAX && !isObserved()) {
    ThreadCounters &counters = cache.kinds[SlotInfo::kindOf(word)].counters;
    counters.remove(static_cast<int64_t>(SlotInfo::sizeOf(word)));
    counters.giveBack(1);
    publishReleased(cache, SlotInfo::kindOf(word));
    const Locked locked(chunk.pool->lock);
    chunk.pool->tlsf.free(chunk.firstBlock + index % kChunkSlots);
    return HeapCode::kOk;
  }
  return SlotInfo::fitsMagazine(word) ? releaseNoted(index, buffer) : finishRelease(index, after);
}

// The last reference to a small plain buffer is gone, and somebody is to be told, or the magazines
// are to be emptied, or the slot's generations are used up.
HeapCode HeapImpl::releaseNoted(uint32_t index, BufferHandle buffer) {
  ThreadCache &cache = *currentCache.cache;
  Slot &slot = slots[index];
  const uint64_t word = slot.info.load(std::memory_order_relaxed);
  const uint64_t bin = SlotInfo::binOf(word);
  ThreadCache::KindCache &kind = settled(cache.kinds[SlotInfo::kindOf(word)]);
  const bool full = ThreadCounters::get(kind.counters.cached) + Cached::ofBin(bin) > kind.limit;
  if (cache.flushed != lastFlush() || (full && keepsNothing()) ||
      isRetired(slot.state.load(std::memory_order_relaxed)))
    return finishRelease(index, {});
  if ((word & SlotInfo::kNamed) != 0 || isObserved())
    noteReleased(index, SlotInfo::of(word), buffer);
  if (full)
    return leave(cache, kind, index, word);
  kind.counters.remove(static_cast<int64_t>(SlotInfo::sizeOf(word)));
  kind.counters.cache(bin, 1);
  kind.push(bin, slot, {buffer.bits + kOneGeneration});
  return HeapCode::kOk;
}

HeapCode HeapImpl::releaseSlowly(BufferHandle buffer, std::span<const TimelinePoint> after) {
  for (const TimelinePoint &point : after)
    if (point.timeline >= timelines.load(std::memory_order_relaxed))
      return HeapCode::kInvalidArgument;
  Slot &slot = slots[slotOf(buffer)];
  const uint32_t generation = generationOf(buffer);
  uint64_t state = slot.state.load(std::memory_order_relaxed);
  // Sequentially consistent: either this thread sees that compaction has the slot, or compaction
  // sees that the last reference is gone.
  do {
    if (generationOf(state) != generation || referencesOf(state) == 0)
      return HeapCode::kStaleHandle;
    unbias(state);
  } while (!slot.state.compare_exchange_weak(
      state, referencesOf(state) == 1 ? stateOf(generation + 1, 0) : state - 1));
  return referencesOf(state) == 1 ? finishRelease(slotOf(buffer), after) : HeapCode::kOk;
}

// To be called before a state is exchanged: its owner then does so too, if that is another thread.
void HeapImpl::unbias(uint64_t state) {
  ThreadCache *owner = owners[ownerOf(state)].load(std::memory_order_acquire);
  if (owner != nullptr && (owner != currentCache.cache || currentCache.heapId != id))
    owner->bias.revoke();
}

// A block of the pool, or, where there is none, the dedicated slab at the place.
void HeapImpl::freeRange(Pool &pool, uint32_t block, uint64_t place) {
  if (block != kNone) {
    pool.tlsf.free(block);
    return;
  }
  Slab &slab = slabs[slabOf(place)];
  slab.state = SlabState::kDedicatedFree;
  pool.dedicatedFreeBytes += slab.sizeBytes;
}

// After a slab has become empty.
void HeapImpl::keepWatermarks() {
  if (options.retainHighBytes == UINT64_MAX || !growth.tryLock())
    return;
  if (emptyBytes() > options.retainHighBytes)
    releaseEmpty(options.retainLowBytes);
  growth.unlock();
}

HeapCode HeapImpl::finishRelease(uint32_t index, std::span<const TimelinePoint> after) {
  Slot &slot = slots[index];
  const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  TimelinePoint all[kMaxTimelines];
  if (info.flags != 0) {
    (void)pinsAtRest(index);
  }
  // Former users of the range and a move that is still in flight count among the points.
  if ((info.flags != 0 || info.ordered) && !passed(slots.tail(index).points)) {
    for (uint32_t t = 0; t < kMaxTimelines; ++t)
      all[t] = {t, slots.tail(index).points[t]};
    for (const TimelinePoint &point : after)
      all[point.timeline].value = std::max(all[point.timeline].value, point.value);
    after = all;
  }
  const uint64_t place = placeOfSlot(index);
  ThreadCache *cache = cacheOfThread();
  if (cache != nullptr) {
    cache->kinds[info.kind].counters.remove(static_cast<int64_t>(info.sizeBytes));
    cache->kinds[info.kind].counters.giveBack(1);
    publishReleased(*cache, info.kind);
  } else {
    totals[info.kind].liveBytes.fetch_sub(static_cast<int64_t>(info.sizeBytes));
    totals[info.kind].ranges.fetch_sub(1);
  }
  if (info.named || isObserved())
    noteReleased(
        index, info,
        handleOf(generationOf(slot.state.load(std::memory_order_relaxed)) - 1, tag, index));
  if (place == kSpilledPlace) {
    SlotTail &tail = slots.tail(index);
    options.host.free(options.host.user, tail.hostCopy, info.sizeBytes);
    tail.hostCopy = nullptr;
    spilledBytes.fetch_sub(info.sizeBytes, std::memory_order_relaxed);
  } else {
    Pool &pool = poolAt(place);
    bool empty = true;
    {
      const Locked locked(pool.lock);
      for (const TimelinePoint &point : after) {
        if (point.value > completed[point.timeline].load(std::memory_order_acquire)) {
          addPending(pool, index, after);
          return HeapCode::kOk;
        }
      }
      freeRange(pool, blockOfSlot(index), place);
      empty = info.dedicated || pool.tlsf.usedBytesOf(slabOf(place)) == 0;
    }
    if (empty)
      keepWatermarks();
  }
  if (cache != nullptr)
    giveSlot(*cache, index);
  else
    giveSlotShared(index);
  return HeapCode::kOk;
}

HeapCode Heap::retain(BufferHandle buffer) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (tagOf(buffer) != heap.tag || slotOf(buffer) >= heap.slots.capacity())
    return HeapCode::kForeignHandle;
  Slot &slot = heap.slots[slotOf(buffer)];
  uint64_t state = slot.state.load(std::memory_order_relaxed);
  do {
    if (generationOf(state) != generationOf(buffer) || referencesOf(state) == 0)
      return HeapCode::kStaleHandle;
    if (referencesOf(state) == kMaxReferences)
      return HeapCode::kInvalidArgument;
    heap.unbias(state);
  } while (!slot.state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel));
  return HeapCode::kOk;
}

} // namespace gantry::heap
