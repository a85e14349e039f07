// Slabs: taking them from the driver within the budgets, and giving empty ones back.
#include "engine/heap/impl.h"

#include <algorithm>
#include <cstdio>

namespace gantry::heap {
namespace {

constexpr uint64_t kMostOverEnough = 8; // a large slab does not go for the sake of a small one

} // namespace

void HeapImpl::remember(const Status &status) {
  const Locked locked(messageLock);
  std::snprintf(message, sizeof message, "%s", status.message().c_str());
}

HeapCode HeapImpl::codeOf(const Status &status) {
  remember(status);
  return heapCodeOf(status);
}

// ---- slabs -------------------------------------------------------------------------------------

HeapCode HeapImpl::checkBudget(MemoryKind kind, uint64_t sizeBytes) {
  const device::DeviceInfo &info = gpu->info();
  const auto &types = info.memoryKinds.of(kind);
  if (types.count == 0)
    return info.memoryTypes.empty() ? HeapCode::kOk : HeapCode::kUnsupported;
  const uint32_t heap = info.memoryTypes[types.types[0]].heap;
  const uint64_t reserved = reservedPerHeap[heap].load(std::memory_order_relaxed);
  const uint64_t limit = limits[heap].load(std::memory_order_relaxed);
  if (reserved > limit || limit - reserved < sizeBytes)
    return HeapCode::kOverBudget;
  if (!info.memoryBudgets)
    return HeapCode::kOk;
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  const Status status = gpu->memoryBudgets({budgets, info.memoryHeaps.size()});
  if (!status.isOk())
    return codeOf(status);
  const device::MemoryBudget &budget = budgets[heap];
  return budget.usedBytes > budget.budgetBytes || budget.budgetBytes - budget.usedBytes < sizeBytes
             ? HeapCode::kOverBudget
             : HeapCode::kOk;
}

HeapCode HeapImpl::newSlab(MemoryKind kind, uint64_t sizeBytes, float priority, const char *name,
                           bool dedicated, uint32_t *slab) {
  if (const HeapCode code = checkBudget(kind, sizeBytes); code != HeapCode::kOk)
    return code;
  // The last number that nobody has: Tlsf prefers lower ones, and so older slabs.
  uint32_t index = unusedSlabs == 0 ? 0 : slabCount;
  while (index > 0 && slabs[index - 1].state != SlabState::kUnused)
    --index;
  const bool fresh = index == 0;
  if (fresh && (slabCount == kMaxSlots || (slabCount >= slabs.capacity() && !slabs.grow())))
    return HeapCode::kHostExhausted;
  Result<std::unique_ptr<device::Memory>> made =
      gpu->allocate(kind, sizeBytes, {priority, name, dedicated, false});
  if (!made.isOk())
    return codeOf(made.status());
  driverAllocations.fetch_add(1, std::memory_order_relaxed);
  index = fresh ? slabCount++ : index - 1;
  unusedSlabs -= fresh ? 0 : 1;
  Slab &entry = slabs[index];
  device::Memory *memory = made->release();
  entry.memory.store(memory, std::memory_order_relaxed);
  entry.address.store(memory->address(), std::memory_order_relaxed);
  entry.mapped.store(memory->mapped(), std::memory_order_relaxed);
  entry.sizeBytes = sizeBytes;
  entry.deviceHeap = memory->heap();
  entry.kind = static_cast<uint8_t>(kind);
  entry.pool = static_cast<uint16_t>(entry.kind * kPoolsPerKind);
  entry.state = dedicated ? SlabState::kDedicated : SlabState::kPool;
  reservedPerHeap[entry.deviceHeap].fetch_add(sizeBytes, std::memory_order_relaxed);
  KindTotals &all = totals[entry.kind];
  const uint64_t reserved =
      all.reservedBytes.fetch_add(sizeBytes, std::memory_order_relaxed) + sizeBytes;
  const uint64_t peak = all.peakReservedBytes.load(std::memory_order_relaxed);
  all.retention.noteTaken(reserved, peak);
  if (reserved > peak)
    all.peakReservedBytes.store(reserved, std::memory_order_relaxed);
  if (isObserved())
    notify(HeapEvent::Type::kSlabAllocate, entry.kind, 0, 0, placeOf(index, 0), sizeBytes);
  trace.recordBudgets();
  *slab = index;
  return HeapCode::kOk;
}

// Gives a slab back that no pool knows any more.
void HeapImpl::freeSlab(uint32_t index) {
  Slab &slab = slabs[index];
  if (isObserved())
    notify(HeapEvent::Type::kSlabFree, slab.kind, 0, 0, placeOf(index, 0), slab.sizeBytes);
  delete slab.memory.exchange(nullptr, std::memory_order_relaxed);
  driverFrees.fetch_add(1, std::memory_order_relaxed);
  reservedPerHeap[slab.deviceHeap].fetch_sub(slab.sizeBytes, std::memory_order_relaxed);
  totals[slab.kind].reservedBytes.fetch_sub(slab.sizeBytes, std::memory_order_relaxed);
  slab.state = SlabState::kUnused;
  ++unusedSlabs;
  trace.recordBudgets();
}

// Bytes of the pool's slabs that are empty; a large pool answers for dedicated ones too.
uint64_t HeapImpl::emptyBytesOf(const Pool &pool) const {
  return pool.tlsf.emptyBytes() + pool.dedicatedFreeBytes;
}

uint64_t HeapImpl::emptyBytes(uint32_t kind) const {
  uint64_t bytes = 0;
  for (const Pool *pool : pools)
    if (kind == kNone || pool->kind == kind)
      bytes += emptyBytesOf(*pool);
  return bytes;
}

// Takes an empty slab out of its pool, for freeSlab; false where it is in use. From then on only
// this thread knows it.
bool HeapImpl::takeOut(uint32_t index) {
  Slab &slab = slabs[index];
  Pool &pool = *pools[slab.pool];
  const Locked locked(pool.lock);
  if (slab.state == SlabState::kDedicatedFree) {
    pool.dedicatedFreeBytes -= slab.sizeBytes;
    return true;
  }
  if (slab.state != SlabState::kPool || !pool.tlsf.removeRegion(index))
    return false;
  if (pool.draining == index)
    pool.draining = kNone;
  return true;
}

// As far as looks can tell.
bool HeapImpl::isEmpty(uint32_t index) const {
  const Slab &slab = slabs[index];
  if (slab.state != SlabState::kPool)
    return slab.state == SlabState::kDedicatedFree;
  Pool &pool = *pools[slab.pool];
  if (pool.tlsf.emptyBytes() < slab.sizeBytes)
    return false;
  const Locked locked(pool.lock);
  return pool.tlsf.usedBytesOf(index) == 0;
}

// The empty slab to give back for so many bytes: the smallest that suffices, or else the largest;
// for UINT64_MAX, which are all, the first from that one on.
uint32_t HeapImpl::chooseEmpty(uint32_t kind, bool small, uint64_t enoughBytes,
                               uint32_t from) const {
  uint32_t best = kNone;
  for (uint32_t i = from; i < slabCount; ++i) {
    const Slab &slab = slabs[i];
    if ((kind != kNone && slab.kind != kind) || pools[slab.pool]->small != small ||
        slab.sizeBytes / kMostOverEnough > enoughBytes || !isEmpty(i))
      continue;
    if (enoughBytes == UINT64_MAX)
      return i;
    const uint64_t before = best == kNone ? 0 : slabs[best].sizeBytes;
    if (before < enoughBytes ? slab.sizeBytes > before
                             : slab.sizeBytes >= enoughBytes && slab.sizeBytes < before)
      best = i;
  }
  return best;
}

// Gives empty slabs of the kind (kNone: of all) back until keepBytes of them are left or
// enoughBytes have gone: large pools' and dedicated ones first, then small ones', which are wanted
// again soonest. Returns what has gone.
uint64_t HeapImpl::releaseEmpty(uint64_t keepBytes, uint32_t kind, uint64_t enoughBytes) {
  uint64_t gone = 0;
  for (const bool small : {false, true}) {
    uint32_t from = 0;
    while (gone < enoughBytes && emptyBytes(kind) > keepBytes) {
      const bool all = enoughBytes == UINT64_MAX;
      const uint32_t index = chooseEmpty(kind, small, all ? enoughBytes : enoughBytes - gone, from);
      if (index == kNone)
        break;
      from = all ? index + 1 : 0;
      if (!takeOut(index))
        continue; // taken meanwhile
      gone += slabs[index].sizeBytes;
      freeSlab(index);
    }
  }
  return gone;
}

} // namespace gantry::heap
