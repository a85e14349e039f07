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

// Of slabs, pools' and dedicated ones.
uint64_t HeapImpl::emptyBytes() const {
  uint64_t bytes = 0;
  for (const Pool *pool : pools)
    bytes += pool->tlsf.emptyBytes() + pool->dedicatedFreeBytes;
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

// The first empty slab of the pool from that one on, as far as looks can tell; a large pool answers
// for dedicated ones too. No lock of the pool is taken, as that would be dear for its threads.
uint32_t HeapImpl::nextEmpty(const Pool &pool, uint32_t from) const {
  const uint32_t found = pool.tlsf.nextEmpty(from);
  if (pool.dedicatedFreeBytes != 0)
    for (uint32_t i = from; i < std::min(found, slabCount); ++i)
      if (slabs[i].pool == pool.index && slabs[i].state == SlabState::kDedicatedFree)
        return i;
  return found;
}

// The empty slab of the kind to give back for so many bytes: the smallest that suffices, or else
// the largest.
uint32_t HeapImpl::chooseEmpty(uint32_t kind, bool small, uint64_t enoughBytes) const {
  uint32_t best = kNone;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    const Pool &pool = *pools[kind * kPoolsPerKind + (small ? kShards : 0) + shard];
    for (uint32_t i = nextEmpty(pool, 0); i != kNone; i = nextEmpty(pool, i + 1)) {
      const uint64_t size = slabs[i].sizeBytes;
      const uint64_t before = best == kNone ? 0 : slabs[best].sizeBytes;
      if (size / kMostOverEnough <= enoughBytes &&
          (before < enoughBytes ? size > before : size >= enoughBytes && size < before))
        best = i;
    }
  }
  return best;
}

bool HeapImpl::giveBack(uint32_t index) {
  const bool taken = takeOut(index);
  if (taken)
    freeSlab(index);
  return taken;
}

// Gives empty slabs of the kind back until so many bytes have gone. Large pools' and dedicated ones
// go first, here as in releaseEmpty, then small ones', which are wanted again soonest.
void HeapImpl::releaseEnough(uint32_t kind, uint64_t bytes) {
  for (const bool small : {false, true})
    for (uint32_t index; bytes != 0 && (index = chooseEmpty(kind, small, bytes)) != kNone;) {
      const uint64_t size = slabs[index].sizeBytes;
      if (giveBack(index)) // else it was taken meanwhile
        bytes -= std::min(bytes, size);
    }
}

// Gives empty slabs back until keepBytes of them are left. Returns what has gone.
uint64_t HeapImpl::releaseEmpty(uint64_t keepBytes) {
  uint64_t gone = 0;
  for (const bool small : {false, true})
    for (const Pool *pool : pools)
      for (uint32_t i = pool->small == small ? nextEmpty(*pool, 0) : kNone;
           i != kNone && emptyBytes() > keepBytes; i = nextEmpty(*pool, i + 1)) {
        const uint64_t size = slabs[i].sizeBytes;
        gone += giveBack(i) ? size : 0;
      }
  return gone;
}

} // namespace gantry::heap
