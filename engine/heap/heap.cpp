// Making, allocating, releasing, resolving: the paths that every buffer takes.
#include "engine/heap/heap.h"

#include "engine/base/align.h"
#include "engine/heap/impl.h"

#include <algorithm>
#include <bit>

namespace gantry::heap {
namespace {

std::atomic<uint64_t> nextHeapId{1};

constexpr int64_t kPublishBytes = 1 << 20; // what a thread may be ahead of the shared counters

uint8_t flagsOf(const BufferRequest &request) {
  return static_cast<uint8_t>((request.movable ? kMovable : 0) |
                              (request.spillable ? kSpillable : 0));
}

bool isKind(MemoryKind kind) { return static_cast<uint32_t>(kind) < kMemoryKinds; }

} // namespace

HeapCode heapCodeOf(const Status &status) {
  switch (status.code()) {
  case StatusCode::kOk:
    return HeapCode::kOk;
  case StatusCode::kOutOfMemory:
    return HeapCode::kExhausted;
  case StatusCode::kDeviceLost:
    return HeapCode::kDeviceLost;
  case StatusCode::kUnsupported:
    return HeapCode::kUnsupported;
  case StatusCode::kInvalidArgument:
    return HeapCode::kInvalidArgument;
  default:
    return HeapCode::kDriver;
  }
}

const char *heapCodeName(HeapCode code) {
  static constexpr const char *kNames[] = {
      "ok",          "invalid argument", "foreign handle", "stale handle",
      "exhausted",   "over budget",      "host exhausted", "too large",
      "device lost", "unsupported",      "busy",           "driver error"};
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "unknown code";
}

// ---- life --------------------------------------------------------------------------------------

HeapImpl::HeapImpl(std::shared_ptr<device::Device> device, const HeapOptions &given)
    : id(nextHeapId.fetch_add(1)), tag(static_cast<uint8_t>(id % 255 + 1)),
      observed(given.observer.event != nullptr), slots(given.host), options(given),
      gpu(std::move(device)), tails(given.host), slabs(given.host), moves(given.host),
      spareSlots(given.host), names(given.host), nameTable(given.host) {
  for (uint32_t i = 0; i < device::kMaxMemoryHeaps; ++i)
    limits[i] = given.limitBytes[i] == 0 ? UINT64_MAX : given.limitBytes[i];
}

Result<HeapPtr> Heap::create(std::shared_ptr<device::Device> device, const HeapOptions &options) {
  if (device == nullptr)
    return Status(StatusCode::kInvalidArgument, "a heap needs a device, not nullptr");
  if (!(options.growthSlack >= 1.0 && options.growthSlack <= 16.0))
    return statusf(StatusCode::kInvalidArgument,
                   "growthSlack is %g; it is a factor from 1 to 16 on the peak of live bytes",
                   options.growthSlack);
  if (options.retainLowBytes > options.retainHighBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "retainLowBytes (%llu) is above retainHighBytes (%llu)",
                   static_cast<unsigned long long>(options.retainLowBytes),
                   static_cast<unsigned long long>(options.retainHighBytes));
  const Status noMemory(StatusCode::kOutOfMemory, "no host memory"); // fits into the string itself
  auto *impl = hostNew<HeapImpl>(options.host, std::move(device), options);
  if (impl == nullptr)
    return noMemory;
  bool made = true;
  for (uint32_t i = 0; i < kPools && made; ++i) {
    impl->pools[i] = hostNew<Pool>(options.host, options.host, static_cast<uint16_t>(i),
                                   static_cast<uint8_t>(i / kPoolsPerKind), i % kPoolsPerKind != 0);
    made = impl->pools[i] != nullptr;
  }
  registerHeap(*impl);
  impl->trace.begin();
  HeapPtr heap(impl);
  if (!made)
    return noMemory;
  return heap;
}

void HeapDeleter::operator()(Heap *heap) const {
  if (heap != nullptr)
    HeapImpl::of(*heap).destroy();
}

void HeapImpl::destroy() {
  trace.end();
  unregisterHeap(*this);
  const HostAllocator host = options.host;
  for (uint32_t i = 0; i < slotCount; ++i)
    if (tails[i].hostCopy != nullptr)
      host.free(host.user, tails[i].hostCopy, SlotInfo::of(slots[i].info.load()).sizeBytes);
  for (const CopyInFlight &copy : copies) {
    if (copy.list != nullptr)
      (void)settle(copy.ticket); // compaction's own; a lost device answers at once
    delete copy.list;
  }
  for (uint32_t i = 0; i < slabCount; ++i)
    delete slabs[i].memory.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i < nameCount; ++i)
    host.free(host.user, names[i].text, names[i].length + 1);
  for (Pool *pool : pools)
    hostDelete(host, pool);
  while (caches != nullptr) {
    ThreadCache *next = caches->next;
    hostDelete(host, caches);
    caches = next;
  }
  hostDelete(host, this);
}

device::Device &Heap::device() const { return *HeapImpl::of(*this).gpu; }
uint16_t Heap::traceId() const { return HeapImpl::of(*this).trace.id(); }

// ---- allocate ----------------------------------------------------------------------------------

HeapCode Heap::allocate(const BufferRequest &request, BufferHandle *buffer) {
  HeapImpl &heap = HeapImpl::of(*this);
  const uint64_t granules = ((request.sizeBytes - 1) >> kGranuleLog2) + 1; // 0 wraps to many
  if (currentCache.heapId != heap.id || granules > kMagazineGranules || request.dedicated ||
      request.alignment > 256 || !isPowerOfTwo(request.alignment) || !isKind(request.kind))
      [[unlikely]]
    return heap.allocateSlowly(request, buffer);
  const ThreadCache &cache = *currentCache.cache;
  ThreadCache::KindCache &kind = currentCache.cache->kinds[static_cast<uint32_t>(request.kind)];
  uint32_t &bin = kind.bins[granules];
  const uint32_t index = bin;
  if (index == kNone) [[unlikely]]
    return heap.allocateSlowly(request, buffer);
  Slot &slot = heap.slots[index];
  bin = slot.name;
  kind.counters.cache(-static_cast<int64_t>(granules << kGranuleLog2));
  kind.counters.count(static_cast<int64_t>(request.sizeBytes), 1);
  const uint8_t flags = flagsOf(request);
  slot.info.store(SlotInfo::pack(request.sizeBytes, flags, static_cast<uint8_t>(request.kind),
                                 kGranuleLog2, false),
                  std::memory_order_relaxed);
  slot.name = request.name.index;
  const uint32_t generation = generationOf(slot.state.load(std::memory_order_relaxed));
  const BufferHandle handle = handleOf(generation, heap.tag, index);
  const bool observed = heap.observed.load(std::memory_order_relaxed);
  if ((request.name.index | flags) != 0 || observed) [[unlikely]]
    heap.noteAllocated(index, handle, observed);
  slot.state.store(stateOf(generation, 1, cache.number), std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  if (heap.observed.load(std::memory_order_relaxed) != observed) [[unlikely]]
    heap.tellLate(index, handle);
  *buffer = handle;
  return HeapCode::kOk;
}

// What only some buffers need when they come to be: a place for pins, a name's share, an event.
void HeapImpl::noteAllocated(uint32_t index, BufferHandle handle, bool tell) {
  const Slot &slot = slots[index];
  const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  SlotTail &tail = tails[index];
  if (info.flags != 0)
    tail.pins.store(stateOf(generationOf(handle), 0), std::memory_order_relaxed);
  if (info.flags != 0 && !info.ordered)
    std::fill(std::begin(tail.points), std::end(tail.points), 0);
  if (slot.name != 0)
    countName(slot.name, info.sizeBytes);
  if (tell)
    notify(HeapEvent::Type::kAllocate, info.kind, slot.name, handle.bits,
           slot.place.load(std::memory_order_relaxed), info.sizeBytes);
}

// The observer came between the look whether there is one and the slot's coming alive.
void HeapImpl::tellLate(uint32_t index, BufferHandle handle) {
  const Slot &slot = slots[index];
  const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  if (observed)
    notify(HeapEvent::Type::kAllocate, info.kind, slot.name, handle.bits,
           slot.place.load(std::memory_order_relaxed), info.sizeBytes);
}

void HeapImpl::noteReleased(const Slot &slot, const SlotInfo &info, BufferHandle handle) {
  if (slot.name != 0)
    uncountName(slot.name, info.sizeBytes);
  if (observed)
    notify(HeapEvent::Type::kRelease, info.kind, slot.name, handle.bits,
           slot.place.load(std::memory_order_relaxed), info.sizeBytes);
}

HeapCode HeapImpl::check(const BufferRequest &request) const {
  if (request.sizeBytes == 0 || !isPowerOfTwo(request.alignment) ||
      request.alignment > (uint64_t{1} << 30) || !isKind(request.kind) ||
      !(request.priority >= 0 && request.priority <= 1) || request.name.index >= kMaxNames)
    return HeapCode::kInvalidArgument;
  for (const TimelinePoint &point : request.orderedAfter)
    if (point.timeline >= timelines.load(std::memory_order_relaxed))
      return HeapCode::kInvalidArgument;
  if (request.name.index != 0 && names.find(request.name.index) == nullptr)
    return HeapCode::kInvalidArgument;
  const uint64_t most = gpu->profile().maxAllocationBytes;
  if (request.sizeBytes > most || request.sizeBytes > (uint64_t{1} << 47))
    return HeapCode::kTooLarge;
  return HeapCode::kOk;
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
  if (cache->flushEpoch != flushEpoch.load(std::memory_order_relaxed))
    flushAll(*cache);
  uint32_t index = takeSlot(*cache);
  if (index == kNone)
    return HeapCode::kHostExhausted;
  Found found;
  Pool &pool = poolFor(request.kind, request.sizeBytes, *cache);
  uint32_t reused = kNone;
  if (!request.orderedAfter.empty() && !request.dedicated)
    reused = takeOrdered(pool, request, *cache, &found);
  if (reused != kNone) {
    giveSlot(*cache, index);
    index = reused;
  } else if (request.dedicated ||
             !tryPool(pool, request.sizeBytes, request.alignment, index, &found)) {
    const HeapCode code = found.code == HeapCode::kHostExhausted
                              ? found.code
                              : findStorage(*cache, request, index, &found);
    if (code != HeapCode::kOk) {
      giveSlot(*cache, index);
      return code;
    }
  }
  fillSlot(*cache, index, request, found);
  *buffer = handleOf(generationOf(slots[index].state.load(std::memory_order_relaxed)), tag, index);
  return HeapCode::kOk;
}

void HeapImpl::fillSlot(ThreadCache &cache, uint32_t index, const BufferRequest &request,
                        const Found &found) {
  Slot &slot = slots[index];
  SlotInfo info;
  info.sizeBytes = request.sizeBytes;
  info.flags = flagsOf(request);
  info.kind = static_cast<uint8_t>(request.kind);
  info.alignmentLog2 = static_cast<uint8_t>(
      std::countr_zero(std::max(request.alignment, uint64_t{1} << kGranuleLog2)));
  info.dedicated = found.dedicated;
  info.ordered = found.ordered;
  slot.place.store(found.place, std::memory_order_relaxed);
  slot.info.store(info.packed(), std::memory_order_relaxed);
  slot.block = found.block;
  slot.name = request.name.index;
  ThreadCounters &counters = cache.kinds[info.kind].counters;
  counters.count(static_cast<int64_t>(request.sizeBytes), 1);
  if (counters.highBytes.load(std::memory_order_relaxed) >= kPublishBytes)
    publish(cache, info.kind);
  const uint32_t generation = generationOf(slot.state.load(std::memory_order_relaxed));
  const BufferHandle handle = handleOf(generation, tag, index);
  const bool tell = observed.load(std::memory_order_relaxed);
  noteAllocated(index, handle, tell);
  slot.state.store(stateOf(generation, 1, cache.number), std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  if (observed.load(std::memory_order_relaxed) != tell)
    tellLate(index, handle);
}

// ---- release -----------------------------------------------------------------------------------

HeapCode Heap::release(BufferHandle buffer, std::span<const TimelinePoint> after) {
  HeapImpl &heap = HeapImpl::of(*this);
  const uint32_t index = slotOf(buffer);
  if (tagOf(buffer) != heap.tag || index >= heap.slots.capacity()) [[unlikely]]
    return HeapCode::kForeignHandle;
  Slot &slot = heap.slots[index];
  const uint32_t generation = generationOf(buffer);
  if (!after.empty() || currentCache.heapId != heap.id) [[unlikely]]
    return heap.releaseSlowly(buffer, after);
  ThreadCache &cache = *currentCache.cache;
  const uint64_t word = slot.info.load(std::memory_order_relaxed);
  bool last = false;
  if (SlotInfo::isPlain(word) && cache.bias.enter()) [[likely]] {
    last = slot.state.load(std::memory_order_relaxed) == stateOf(generation, 1, cache.number);
    if (last)
      slot.state.store(stateOf(generation + 1, 0), std::memory_order_release);
    cache.bias.leave();
  }
  if (!last)
    return heap.releaseSlowly(buffer, after);
  if (!SlotInfo::isPlainAndSmall(word) || generation == UINT32_MAX - 1) [[unlikely]]
    return heap.finishRelease(index, after);
  const SlotInfo info = SlotInfo::of(word);
  const uint64_t granules = ((info.sizeBytes - 1) >> kGranuleLog2) + 1;
  ThreadCache::KindCache &kind = cache.kinds[info.kind];
  const auto bytes = static_cast<int64_t>(granules << kGranuleLog2);
  const bool full = kind.counters.cached() + bytes > kind.limitBytes;
  if (cache.flushEpoch != heap.flushEpoch.load(std::memory_order_relaxed) ||
      (full && heap.keepsNothing())) [[unlikely]]
    return heap.finishRelease(index, after);
  kind.counters.count(-static_cast<int64_t>(info.sizeBytes), -1);
  std::atomic_signal_fence(std::memory_order_seq_cst); // see trace.h
  if (slot.name != 0 || heap.observed.load(std::memory_order_relaxed)) [[unlikely]]
    heap.noteReleased(slot, info, buffer);
  if (full) [[unlikely]] {
    heap.leave(cache, index);
    return HeapCode::kOk;
  }
  kind.counters.cache(bytes);
  uint32_t &bin = kind.bins[granules];
  slot.name = bin;
  bin = index;
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
  if (emptyBytes(kNone) > options.retainHighBytes)
    releaseEmpty(options.retainLowBytes, kNone);
  growth.unlock();
}

HeapCode HeapImpl::finishRelease(uint32_t index, std::span<const TimelinePoint> after) {
  Slot &slot = slots[index];
  const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  TimelinePoint all[kMaxTimelines];
  if (info.flags != 0) {
    std::atomic<uint64_t> &pins = tails[index].pins;
    for (uint64_t now = pins.load(); (now & kMovingPin) != 0; now = pins.load())
      pins.wait(now);
  }
  // Former users of the range and a move that is still in flight count among the points.
  if ((info.flags != 0 || info.ordered) && !passed(tails[index].points)) {
    for (uint32_t t = 0; t < kMaxTimelines; ++t)
      all[t] = {t, tails[index].points[t]};
    for (const TimelinePoint &point : after)
      all[point.timeline].value = std::max(all[point.timeline].value, point.value);
    after = all;
  }
  const uint64_t place = slot.place.load(std::memory_order_relaxed);
  ThreadCache *cache = cacheOfThread();
  if (cache != nullptr) {
    cache->kinds[info.kind].counters.count(-static_cast<int64_t>(info.sizeBytes), -1);
  } else {
    totals[info.kind].liveBytes.fetch_sub(static_cast<int64_t>(info.sizeBytes));
    totals[info.kind].liveBuffers.fetch_sub(1);
  }
  if (slot.name != 0 || observed)
    noteReleased(
        slot, info,
        handleOf(generationOf(slot.state.load(std::memory_order_relaxed)) - 1, tag, index));
  if (place == kSpilledPlace) {
    SlotTail &tail = tails[index];
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
      const uint32_t region = info.dedicated ? kNone : pool.tlsf.regionOf(slot.block);
      freeRange(pool, slot.block, place);
      empty = info.dedicated || pool.tlsf.usedBytesOf(region) == 0;
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

// ---- resolve and pins --------------------------------------------------------------------------

HeapCode Heap::resolve(BufferHandle buffer, Placement *placement) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  if (tagOf(buffer) != heap.tag || slotOf(buffer) >= heap.slots.capacity())
    return HeapCode::kForeignHandle;
  const Slot &slot = heap.slots[slotOf(buffer)];
  const uint64_t state = slot.state.load(std::memory_order_acquire);
  if (generationOf(state) != generationOf(buffer) || referencesOf(state) == 0)
    return HeapCode::kStaleHandle;
  const uint64_t place = slot.place.load(std::memory_order_acquire);
  const uint64_t sizeBytes = SlotInfo::of(slot.info.load(std::memory_order_relaxed)).sizeBytes;
  if (place == kSpilledPlace)
    return HeapCode::kBusy;
  const Slab &slab = heap.slabs[slabOf(place)];
  const uint64_t offset = offsetOf(place);
  const uint64_t address = slab.address.load(std::memory_order_relaxed);
  uint8_t *mapped = slab.mapped.load(std::memory_order_relaxed);
  *placement = {slab.memory.load(std::memory_order_relaxed), offset, sizeBytes,
                address == 0 ? 0 : address + offset, mapped == nullptr ? nullptr : mapped + offset};
  return HeapCode::kOk;
}

HeapCode Heap::pin(BufferHandle buffer, Placement *placement) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (tagOf(buffer) != heap.tag || slotOf(buffer) >= heap.slots.capacity())
    return HeapCode::kForeignHandle;
  const Slot &slot = heap.slots[slotOf(buffer)];
  std::atomic<uint64_t> &pins = heap.tails[slotOf(buffer)].pins;
  for (;;) {
    if (SlotInfo::of(slot.info.load()).flags == 0)
      return resolve(buffer, placement); // it never moves
    uint64_t now = pins.load();
    do {
      for (; (now & kMovingPin) != 0; now = pins.load())
        pins.wait(now);
      if (generationOf(now) != generationOf(buffer))
        return HeapCode::kStaleHandle;
    } while (!pins.compare_exchange_weak(now, now + 1));
    HeapCode code = resolve(buffer, placement);
    if (code == HeapCode::kOk && placement->mapped != nullptr)
      code = heap.waitForMove(slotOf(buffer)); // the host may look at once
    if (code == HeapCode::kOk)
      return code;
    (void)unpin(buffer);
    if (code != HeapCode::kBusy)
      return code;
    if (const HeapCode restored = restore(buffer); restored != HeapCode::kOk)
      return restored;
  }
}

HeapCode HeapImpl::waitForMove(uint32_t index) {
  const uint64_t ticket = tails[index].points[0];
  if (ticket <= completed[0].load(std::memory_order_acquire))
    return HeapCode::kOk;
  const Result<bool> waited = gpu->wait(ticket, UINT64_MAX);
  return waited.isOk() ? refreshCompleted() : codeOf(waited.status());
}

HeapCode Heap::unpin(BufferHandle buffer) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (tagOf(buffer) != heap.tag || slotOf(buffer) >= heap.slots.capacity())
    return HeapCode::kForeignHandle;
  const Slot &slot = heap.slots[slotOf(buffer)];
  const uint8_t flags = SlotInfo::of(slot.info.load()).flags;
  const uint64_t state = slot.state.load();
  if (generationOf(state) != generationOf(buffer) || referencesOf(state) == 0)
    return HeapCode::kStaleHandle;
  if (flags == 0)
    return HeapCode::kOk;
  std::atomic<uint64_t> &pins = heap.tails[slotOf(buffer)].pins;
  uint64_t now = pins.load();
  do {
    if (generationOf(now) != generationOf(buffer))
      return HeapCode::kStaleHandle;
    if (referencesOf(now) == 0 || (now & kMovingPin) != 0)
      return HeapCode::kInvalidArgument;
  } while (!pins.compare_exchange_weak(now, now - 1));
  return HeapCode::kOk;
}

void HeapImpl::notify(HeapEvent::Type type, uint8_t kind, uint32_t name, uint64_t handle,
                      uint64_t place, uint64_t sizeBytes) {
  const Locked locked(observerLock);
  const bool spilled = place == kSpilledPlace;
  const HeapEvent event = {type,
                           static_cast<MemoryKind>(kind),
                           spilled ? kNone : slabOf(place),
                           name,
                           ++eventSequence,
                           handle,
                           spilled ? 0 : offsetOf(place),
                           sizeBytes};
  if (options.observer.event != nullptr)
    options.observer.event(options.observer.user, event);
  trace.record(event);
}

} // namespace gantry::heap
