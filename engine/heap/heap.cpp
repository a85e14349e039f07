// Making a heap and its end; where a buffer lies, and pinning it there.
#include "engine/heap/heap.h"

#include "engine/heap/impl.h"

#include <algorithm>

namespace gantry::heap {
namespace {

std::atomic<uint64_t> nextHeapId{1};

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
      tagBits(uint64_t{tag} << kIndexBits), attention(given.observer.event != nullptr ? 1 : 0),
      slots(given.host), options(given),
      mostBytes(std::min(device->profile().maxAllocationBytes >> kGranuleLog2 << kGranuleLog2,
                         SlotInfo::kMostBytes)),
      gpu(std::move(device)), slabs(given.host), moves(given.host), spareSlots(given.host),
      names(given.host), nameTable(given.host) {
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
    impl->pools[i] =
        hostNew<Pool>(options.host, options.host, static_cast<uint16_t>(i),
                      static_cast<uint8_t>(i / kPoolsPerKind), i % kPoolsPerKind >= kShards);
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
    if (slots.tail(i).hostCopy != nullptr)
      host.free(host.user, slots.tail(i).hostCopy, SlotInfo::of(slots[i].info.load()).sizeBytes);
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

// ---- resolve and pins --------------------------------------------------------------------------

HeapCode Heap::resolve(BufferHandle buffer, Placement *placement) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  if (tagOf(buffer) != heap.tag || slotOf(buffer) >= heap.slots.capacity())
    return HeapCode::kForeignHandle;
  const Slot &slot = heap.slots[slotOf(buffer)];
  const uint64_t state = slot.state.load(std::memory_order_acquire);
  if (generationOf(state) != generationOf(buffer) || referencesOf(state) == 0)
    return HeapCode::kStaleHandle;
  const uint64_t place = heap.placeOfSlot(slotOf(buffer));
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
  std::atomic<uint64_t> &pins = heap.slots.tail(slotOf(buffer)).pins;
  for (;;) {
    if (SlotInfo::of(slot.info.load()).flags == 0)
      return resolve(buffer, placement); // it never moves
    uint64_t now = 0;
    do {
      now = heap.pinsAtRest(slotOf(buffer));
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

// Waits while compaction or spilling has the slot.
uint64_t HeapImpl::pinsAtRest(uint32_t index) const {
  const std::atomic<uint64_t> &pins = slots.tail(index).pins;
  uint64_t now = pins.load();
  for (; (now & kMovingPin) != 0; now = pins.load())
    pins.wait(now);
  return now;
}

HeapCode HeapImpl::waitForMove(uint32_t index) {
  const uint64_t ticket = slots.tail(index).points[0];
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
  std::atomic<uint64_t> &pins = heap.slots.tail(slotOf(buffer)).pins;
  uint64_t now = pins.load();
  do {
    if (generationOf(now) != generationOf(buffer))
      return HeapCode::kStaleHandle;
    if (referencesOf(now) == 0 || (now & kMovingPin) != 0)
      return HeapCode::kInvalidArgument;
  } while (!pins.compare_exchange_weak(now, now - 1));
  return HeapCode::kOk;
}

// An event of a buffer at the place where it is.
void HeapImpl::note(HeapEvent::Type type, uint32_t index, const SlotInfo &info,
                    BufferHandle handle) {
  notify(type, info.kind, nameOf(index, info), handle.bits, placeOfSlot(index), info.sizeBytes);
}

// Of one that lockSlot has: its last reference may go meanwhile, and its generation with it.
void HeapImpl::noteElsewhere(HeapEvent::Type type, uint32_t index) {
  const Slot &slot = slots[index];
  note(type, index, SlotInfo::of(slot.info.load(std::memory_order_relaxed)),
       handleOf(generationOf(slots.tail(index).pins.load(std::memory_order_relaxed)), tag, index));
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
