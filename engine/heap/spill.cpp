// Spilling: a buffer's contents go to the host and its storage becomes free; restoring brings them
// back. Both wait for the device. Memory that the host sees is read and written directly, other
// memory through a staging allocation that lives only as long as the call.
#include "engine/heap/impl.h"

#include <algorithm>
#include <cstring>

namespace gantry::heap {
namespace {

constexpr uint64_t kStagingBytes = 16 << 20;
constexpr uint32_t kTriesToSettle = 1000;

} // namespace

HeapCode HeapImpl::submitAndWait(device::CommandList &list) {
  const Result<uint64_t> ticket = gpu->submit(list);
  if (!ticket.isOk())
    return codeOf(ticket.status());
  return settle(*ticket);
}

// Waits for a submission whose list and memory go next. A wait that fails says nothing about the
// work, so it is tried again: what the device still uses must not be destroyed.
HeapCode HeapImpl::settle(uint64_t ticket) {
  HeapCode code = HeapCode::kOk;
  for (uint32_t i = 0; i < kTriesToSettle; ++i) {
    const Result<bool> waited = gpu->wait(ticket, UINT64_MAX);
    if (waited.isOk())
      return HeapCode::kOk;
    code = codeOf(waited.status());
    if (gpu->isLost())
      return code;
  }
  return code;
}

HeapCode HeapImpl::copyThroughStaging(device::Memory &memory, uint64_t offset, uint8_t *host,
                                      uint64_t sizeBytes, bool toHost) {
  if (memory.mapped() != nullptr) {
    // Everything that was submitted may still touch the range: an empty list marks its end.
    Result<std::unique_ptr<device::CommandList>> list = gpu->createCommandList();
    if (!list.isOk())
      return codeOf(list.status());
    Status status = (*list)->begin({});
    if (status.isOk())
      status = (*list)->end();
    if (!status.isOk())
      return codeOf(status);
    if (const HeapCode code = submitAndWait(**list); code != HeapCode::kOk)
      return code;
    uint8_t *mapped = memory.mapped() + offset;
    std::memcpy(toHost ? host : mapped, toHost ? mapped : host, sizeBytes);
    return HeapCode::kOk;
  }
  const uint64_t rounded = (sizeBytes + 3) & ~uint64_t{3};
  const uint64_t chunk = std::min(rounded, kStagingBytes);
  Result<std::unique_ptr<device::Memory>> staging =
      gpu->allocate(toHost ? MemoryKind::kReadback : MemoryKind::kUpload, chunk);
  if (!staging.isOk())
    return codeOf(staging.status());
  for (uint64_t done = 0; done < sizeBytes; done += chunk) {
    const uint64_t bytes = std::min(chunk, sizeBytes - done);
    if (!toHost)
      std::memcpy((*staging)->mapped(), host + done, bytes);
    Result<std::unique_ptr<device::CommandList>> list = gpu->createCommandList();
    if (!list.isOk())
      return codeOf(list.status());
    Status status = (*list)->begin({});
    if (status.isOk())
      status = toHost ? (*list)->copy({&memory, offset + done, bytes}, **staging, 0)
                      : (*list)->copy({staging->get(), 0, bytes}, memory, offset + done);
    if (status.isOk())
      status = (*list)->end();
    if (!status.isOk())
      return codeOf(status);
    if (const HeapCode code = submitAndWait(**list); code != HeapCode::kOk)
      return code;
    if (toHost)
      std::memcpy(host + done, (*staging)->mapped(), bytes);
  }
  return HeapCode::kOk;
}

// Under growth; the slot is locked by lockSlot and stays so.
HeapCode HeapImpl::spillSlot(uint32_t index) {
  if (gpu->isLost())
    return HeapCode::kDeviceLost;
  SlotRange &range = slots.range(index);
  const uint64_t place = range.place.load(std::memory_order_relaxed);
  const SlotInfo info = SlotInfo::of(slots[index].info.load(std::memory_order_relaxed));
  const uint64_t sizeBytes = info.sizeBytes;
  auto *copy = static_cast<uint8_t *>(options.host.allocate(options.host.user, sizeBytes));
  if (copy == nullptr)
    return HeapCode::kHostExhausted;
  const HeapCode code = copyThroughStaging(*slabs[slabOf(place)].memory.load(), offsetOf(place),
                                           copy, sizeBytes, true);
  if (code != HeapCode::kOk) {
    options.host.free(options.host.user, copy, sizeBytes);
    return code;
  }
  if (isObserved())
    noteElsewhere(HeapEvent::Type::kSpill, index);
  slots.tail(index).hostCopy = copy;
  spilledBytes.fetch_add(sizeBytes, std::memory_order_relaxed);
  Pool &pool = poolAt(place);
  const Locked locked(pool.lock);
  freeRange(pool, range.block, place);
  range.place.store(kSpilledPlace, std::memory_order_release);
  return HeapCode::kOk;
}

// Spills the largest spillable, unpinned buffer of the kind, if possible not larger than needed:
// the smallest that is at least wantBytes, else the largest. kExhausted where there is none.
HeapCode HeapImpl::spillLargest(uint32_t kind, uint64_t wantBytes) {
  uint32_t best = kNone;
  uint64_t bestBytes = 0;
  for (uint32_t i = 0; i < slotCountNow(); ++i) {
    Slot &slot = slots[i];
    const uint64_t bytes = SlotInfo::of(slot.info.load(std::memory_order_relaxed)).sizeBytes;
    const bool better =
        bestBytes < wantBytes ? bytes > bestBytes : bytes >= wantBytes && bytes < bestBytes;
    if (!better || referencesOf(slot.state.load()) == 0 ||
        slots.range(i).place.load(std::memory_order_relaxed) == kSpilledPlace ||
        !lockSlot(i, kSpillable))
      continue;
    if (SlotInfo::of(slot.info.load()).kind != kind ||
        slots.range(i).place.load(std::memory_order_relaxed) == kSpilledPlace) {
      unlockSlot(i);
      continue;
    }
    if (best != kNone)
      unlockSlot(best);
    best = i;
    bestBytes = bytes;
  }
  if (best == kNone)
    return HeapCode::kExhausted;
  const HeapCode code = spillSlot(best);
  unlockSlot(best);
  return code;
}

// Under growth; the slot is locked.
HeapCode HeapImpl::restoreSlot(uint32_t index) {
  Slot &slot = slots[index];
  ThreadCache *cache = cacheOfThread();
  if (cache == nullptr)
    return HeapCode::kHostExhausted;
  SlotTail &tail = slots.tail(index);
  BufferRequest request;
  SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
  request.sizeBytes = info.sizeBytes;
  request.alignment = uint64_t{1} << info.alignmentLog2;
  request.kind = static_cast<MemoryKind>(info.kind);
  request.dedicated = info.dedicated;
  Found found;
  if (const HeapCode code = findStorageLocked(*cache, request, index, &found);
      code != HeapCode::kOk)
    return code;
  const HeapCode code =
      copyThroughStaging(*slabs[slabOf(found.place)].memory.load(), offsetOf(found.place),
                         tail.hostCopy, request.sizeBytes, false);
  if (code != HeapCode::kOk) {
    Pool &pool = poolAt(found.place);
    const Locked locked(pool.lock);
    freeRange(pool, found.block, found.place);
    return code;
  }
  options.host.free(options.host.user, tail.hostCopy, request.sizeBytes);
  tail.hostCopy = nullptr;
  info.dedicated = found.dedicated;
  slot.info.store(info.packed(), std::memory_order_relaxed);
  slots.range(index).block = found.block;
  slots.range(index).place.store(found.place, std::memory_order_release);
  spilledBytes.fetch_sub(request.sizeBytes, std::memory_order_relaxed);
  if (isObserved())
    noteElsewhere(HeapEvent::Type::kRestore, index);
  return HeapCode::kOk;
}

// ---- the public side ---------------------------------------------------------------------------

HeapCode Heap::spill(BufferHandle buffer) {
  HeapImpl &heap = HeapImpl::of(*this);
  Placement placement;
  const HeapCode known = resolve(buffer, &placement);
  if (known != HeapCode::kOk)
    return known == HeapCode::kBusy ? HeapCode::kOk : known; // spilled already
  const Locked locked(heap.growth);
  const uint32_t index = slotOf(buffer);
  if ((SlotInfo::of(heap.slots[index].info.load()).flags & kSpillable) == 0)
    return HeapCode::kInvalidArgument;
  if (!heap.lockSlot(index, kSpillable))
    return HeapCode::kBusy;
  HeapCode code = HeapCode::kOk;
  if (heap.slots.range(index).place.load(std::memory_order_relaxed) != kSpilledPlace)
    code = heap.spillSlot(index);
  heap.unlockSlot(index);
  return code;
}

HeapCode Heap::restore(BufferHandle buffer) {
  HeapImpl &heap = HeapImpl::of(*this);
  Placement placement;
  if (const HeapCode known = resolve(buffer, &placement); known != HeapCode::kBusy)
    return known;
  const Locked locked(heap.growth);
  const uint32_t index = slotOf(buffer);
  if (!heap.lockSlot(index, kSpillable))
    return resolve(buffer, &placement); // restored or released meanwhile
  HeapCode code = HeapCode::kOk;
  if (heap.slots.range(index).place.load(std::memory_order_relaxed) == kSpilledPlace)
    code = heap.restoreSlot(index);
  heap.unlockSlot(index);
  return code;
}

} // namespace gantry::heap
