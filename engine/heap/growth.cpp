// Slabs: where they come from, how large they are, when they go back; and the ladder that an
// allocation climbs when there are none.
#include "engine/heap/impl.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gantry::heap {
namespace {

constexpr uint64_t kSlabGranule = 64 << 10;
constexpr uint64_t kMostOverEnough = 4; // a large slab does not go for the sake of a small one
constexpr const char *kPoolNames[] = {"gantry device slab", "gantry upload slab",
                                      "gantry readback slab", "gantry unified slab"};
constexpr const char *kDedicatedNames[] = {"gantry device buffer", "gantry upload buffer",
                                           "gantry readback buffer", "gantry unified buffer"};

uint64_t roundToSlab(uint64_t bytes) { return (bytes + kSlabGranule - 1) & ~(kSlabGranule - 1); }

// A slab is a small part of what is reserved already, so that what it may leave unused is too; its
// number stays below the few thousand allocations that drivers allow. The bounds were chosen on the
// recorded traces (benchmarks/heap): peak reserved / peak live of each.
uint64_t slabBytes(bool small, uint64_t reserved) {
  if (small)
    return std::max<uint64_t>(std::clamp<uint64_t>(reserved / 64, 256 << 10, 1 << 20),
                              reserved / 2048);
  return std::max<uint64_t>(2 << 20, reserved / 256);
}

// Bytes of a request in a region whose free range may be misaligned.
uint64_t needOf(const BufferRequest &request) {
  return roundToSlab(request.sizeBytes + (request.alignment > 256 ? request.alignment - 256 : 0));
}

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
  const bool fresh = unusedSlabs == kNone;
  if (fresh && (slabCount == kMaxSlots - 1 || (slabCount >= slabs.capacity() && !slabs.grow())))
    return HeapCode::kHostExhausted;
  Result<std::unique_ptr<device::Memory>> made =
      gpu->allocate(kind, sizeBytes, {priority, name, dedicated, false});
  if (!made.isOk())
    return codeOf(made.status());
  driverAllocations.fetch_add(1, std::memory_order_relaxed);
  const uint32_t index = fresh ? slabCount++ : unusedSlabs;
  Slab &entry = slabs[index];
  if (!fresh)
    unusedSlabs = entry.nextUnused;
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
  if (reserved > all.peakReservedBytes.load(std::memory_order_relaxed))
    all.peakReservedBytes.store(reserved, std::memory_order_relaxed);
  if (observed)
    notify(HeapEvent::Type::kSlabAllocate, entry.kind, 0, 0, placeOf(index, 0), sizeBytes);
  *slab = index;
  return HeapCode::kOk;
}

// Gives a slab back that no pool knows any more.
void HeapImpl::freeSlab(uint32_t index) {
  Slab &slab = slabs[index];
  if (observed)
    notify(HeapEvent::Type::kSlabFree, slab.kind, 0, 0, placeOf(index, 0), slab.sizeBytes);
  delete slab.memory.exchange(nullptr, std::memory_order_relaxed);
  driverFrees.fetch_add(1, std::memory_order_relaxed);
  reservedPerHeap[slab.deviceHeap].fetch_sub(slab.sizeBytes, std::memory_order_relaxed);
  totals[slab.kind].reservedBytes.fetch_sub(slab.sizeBytes, std::memory_order_relaxed);
  slab.state = SlabState::kUnused;
  slab.nextUnused = unusedSlabs;
  unusedSlabs = index;
}

uint64_t HeapImpl::emptyBytes(uint32_t kind) const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < slabCount; ++i) {
    const Slab &slab = slabs[i];
    if (slab.state == SlabState::kUnused || (kind != kNone && slab.kind != kind))
      continue;
    Pool &pool =
        *pools[slab.state == SlabState::kPool ? slab.pool : uint32_t{slab.kind} * kPoolsPerKind];
    const Locked locked(pool.lock);
    if (slab.state == SlabState::kDedicatedFree ||
        (slab.state == SlabState::kPool && pool.tlsf.usedBytesOf(slab.region) == 0))
      bytes += slab.sizeBytes;
  }
  return bytes;
}

// Gives empty slabs of the kind (kNone: of all) back until keepBytes of them are left or
// enoughBytes have gone: dedicated ones first, then large
// pools', then small ones', which are wanted again soonest. Returns what has gone.
uint64_t HeapImpl::releaseEmpty(uint64_t keepBytes, uint32_t kind, uint64_t enoughBytes) {
  uint64_t empty = keepBytes == 0 ? UINT64_MAX : emptyBytes(kind);
  uint64_t gone = 0;
  for (uint32_t pass = 0; pass < 3; ++pass) {
    for (uint32_t i = 0; i < slabCount && gone < enoughBytes && empty > keepBytes; ++i) {
      Slab &slab = slabs[i];
      const bool isPool = slab.state == SlabState::kPool;
      if (slab.state == SlabState::kUnused || (kind != kNone && slab.kind != kind) ||
          slab.sizeBytes / kMostOverEnough > enoughBytes - gone)
        continue;
      Pool &pool = *pools[slab.pool];
      if (pass != (!isPool ? 0U : pool.small ? 2U : 1U))
        continue;
      {
        const Locked locked(pool.lock);
        if (isPool ? !pool.tlsf.removeRegion(slab.region) : slab.state != SlabState::kDedicatedFree)
          continue;
        if (isPool && pool.draining == slab.region)
          pool.draining = kNone;
      }
      gone += slab.sizeBytes;
      empty -= slab.sizeBytes;
      freeSlab(i);
    }
  }
  return gone;
}

// ---- finding storage ---------------------------------------------------------------------------

bool HeapImpl::tryPool(Pool &pool, uint64_t sizeBytes, uint64_t alignment, uint32_t index,
                       Found *found) {
  const Locked locked(pool.lock);
  uint32_t block = pool.tlsf.allocate(sizeBytes, alignment, index, pool.draining);
  if (block == kNone && pool.draining != kNone)
    block = pool.tlsf.allocate(sizeBytes, alignment, index);
  if (block == kNone) {
    if (pool.tlsf.hostExhausted())
      found->code = HeapCode::kHostExhausted;
    return false;
  }
  *found = {HeapCode::kOk, false, false, block, pool.placeOfBlock(block)};
  return true;
}

// The pool where the request belongs, then every other one of its kind.
bool HeapImpl::tryKind(const BufferRequest &request, Pool &preferred, uint32_t index,
                       Found *found) {
  if (tryPool(preferred, request.sizeBytes, request.alignment, index, found))
    return true;
  const uint32_t first = static_cast<uint32_t>(request.kind) * kPoolsPerKind;
  for (uint32_t i = first; i < first + kPoolsPerKind; ++i)
    if (pools[i] != &preferred &&
        tryPool(*pools[i], request.sizeBytes, request.alignment, index, found))
      return true;
  return false;
}

bool HeapImpl::reuseDedicated(const BufferRequest &request, Found *found) {
  const uint64_t need = roundToSlab(request.sizeBytes);
  const auto kind = static_cast<uint32_t>(request.kind);
  const Locked locked(pools[kind * kPoolsPerKind]->lock);
  uint32_t best = kNone;
  for (uint32_t i = 0; i < slabCount; ++i) {
    const Slab &slab = slabs[i];
    if (slab.state == SlabState::kDedicatedFree && slab.kind == kind && slab.sizeBytes >= need &&
        slab.sizeBytes - need <= need / 8 &&
        (best == kNone || slab.sizeBytes < slabs[best].sizeBytes))
      best = i;
  }
  if (best == kNone)
    return false;
  slabs[best].state = SlabState::kDedicated;
  *found = {HeapCode::kOk, true, false, kNone, placeOf(best, 0)};
  return true;
}

HeapCode HeapImpl::growDedicated(const BufferRequest &request, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const uint64_t size = std::min(roundToSlab(request.sizeBytes), gpu->profile().maxAllocationBytes);
  uint32_t slab = kNone;
  const HeapCode code =
      newSlab(request.kind, size, request.priority, kDedicatedNames[kind], true, &slab);
  if (code == HeapCode::kOk)
    *found = {HeapCode::kOk, true, false, kNone, placeOf(slab, 0)};
  return code;
}

HeapCode HeapImpl::grow(Pool &pool, const BufferRequest &request, uint32_t index, bool tight,
                        Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const uint64_t most = gpu->profile().maxAllocationBytes;
  const uint64_t reserved = totals[kind].reservedBytes.load(std::memory_order_relaxed);
  const uint64_t need = std::min(needOf(request), most);
  uint64_t size =
      tight ? need : std::max(need, std::min(roundToSlab(slabBytes(pool.small, reserved)), most));
  uint32_t slab = kNone;
  HeapCode code = newSlab(request.kind, size, 0.5f, kPoolNames[kind], false, &slab);
  if (code != HeapCode::kOk && code != HeapCode::kDeviceLost && size > need) {
    size = need;
    code = newSlab(request.kind, size, 0.5f, kPoolNames[kind], false, &slab);
  }
  if (code != HeapCode::kOk)
    return code;
  {
    const Locked locked(pool.lock);
    uint32_t region = kNone;
    if (pool.slabOfRegion.reserve(pool.slabOfRegion.size() + 1))
      region = pool.tlsf.addRegion(size);
    if (region != kNone) {
      if (region == pool.slabOfRegion.size())
        pool.slabOfRegion.pushBackReserved(slab);
      pool.slabOfRegion[region] = slab;
      slabs[slab].region = region;
      slabs[slab].pool = pool.index;
    } else {
      code = HeapCode::kHostExhausted;
    }
  }
  if (code != HeapCode::kOk) {
    freeSlab(slab);
    return code;
  }
  if (index == kNone || tryPool(pool, request.sizeBytes, request.alignment, index, found))
    return HeapCode::kOk;
  return found->code == HeapCode::kHostExhausted ? found->code : HeapCode::kExhausted;
}

HeapCode HeapImpl::findStorage(ThreadCache &cache, const BufferRequest &request, uint32_t index,
                               Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  flush(cache, kind);
  const Locked locked(growth);
  return findStorageLocked(cache, request, index, found);
}

HeapCode HeapImpl::findStorageLocked(ThreadCache &cache, const BufferRequest &request,
                                     uint32_t index, Found *found) {
  const auto kind = static_cast<uint32_t>(request.kind);
  if (gpu->isLost())
    return HeapCode::kDeviceLost;
  Pool &pool = poolFor(request.kind, request.sizeBytes, cache);
  bool pending = false;
  for (uint32_t i = kind * kPoolsPerKind; i < (kind + 1) * kPoolsPerKind && !pending; ++i) {
    const Locked lockedPool(pools[i]->lock);
    pending = pools[i]->pendingCount != 0;
  }
  if (pending) {
    if (const HeapCode code = refreshCompleted(); code != HeapCode::kOk)
      return code;
    reclaimAll();
  }
  if (!request.dedicated && tryPool(pool, request.sizeBytes, request.alignment, index, found))
    return HeapCode::kOk;
  if (found->code == HeapCode::kHostExhausted)
    return found->code;
  const bool dedicated = request.dedicated || request.sizeBytes >= options.dedicatedBytes;
  if (dedicated && reuseDedicated(request, found))
    return HeapCode::kOk;

  // Empty slabs go first where the heap would pass its slack.
  const KindTotals &all = totals[kind];
  const uint64_t reserved = all.reservedBytes.load(std::memory_order_relaxed);
  const uint64_t live = static_cast<uint64_t>(std::max<int64_t>(
      all.peakLiveBytes.load(std::memory_order_relaxed),
      all.liveBytes.load(std::memory_order_relaxed) + static_cast<int64_t>(request.sizeBytes)));
  const auto target = static_cast<uint64_t>(static_cast<double>(live) * options.growthSlack);
  const uint64_t step = dedicated ? roundToSlab(request.sizeBytes)
                                  : std::max(needOf(request), slabBytes(pool.small, reserved));
  if (reserved + step > target)
    releaseEmpty(0, kind, reserved + step - target);

  const HeapCode code =
      dedicated ? growDedicated(request, found) : grow(pool, request, index, false, found);
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
    if (!request.dedicated && tryKind(request, pool, index, found))
      return HeapCode::kOk;
    if (dedicated && reuseDedicated(request, found))
      return HeapCode::kOk;
    refusal = dedicated ? growDedicated(request, found) : grow(pool, request, index, true, found);
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
  flushEpoch.fetch_add(1, std::memory_order_relaxed);
  flushAll(cache);
  releaseEmpty(0, kNone, UINT64_MAX);
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
    releaseEmpty(0, kNone, UINT64_MAX);
    if (const HeapCode code = attempt(); final(code))
      return code;
  }

  // Spill.
  while (options.allowSpill && spillLargest(kind, request.sizeBytes) == HeapCode::kOk) {
    releaseEmpty(0, kNone, UINT64_MAX);
    if (const HeapCode code = attempt(); final(code))
      return code;
  }
  return refusal;
}

// ---- the public side ---------------------------------------------------------------------------

uint64_t Heap::trim(uint64_t keepBytes) {
  HeapImpl &heap = HeapImpl::of(*this);
  heap.flushEpoch.fetch_add(1, std::memory_order_relaxed);
  if (ThreadCache *cache = heap.cacheOfThread(); cache != nullptr)
    heap.flushAll(*cache);
  if (!heap.gpu->isLost())
    (void)heap.refreshCompleted();
  heap.reclaimAll();
  const Locked locked(heap.growth);
  return heap.releaseEmpty(keepBytes, kNone, UINT64_MAX);
}

HeapCode Heap::setLimit(uint32_t deviceHeap, uint64_t bytes) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (deviceHeap >= heap.gpu->info().memoryHeaps.size())
    return HeapCode::kInvalidArgument;
  heap.limits[deviceHeap].store(bytes, std::memory_order_relaxed);
  return HeapCode::kOk;
}

} // namespace gantry::heap
