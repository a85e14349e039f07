// What the heap knows of itself: names, statistics, the report, explanations, and the judge.
#include "engine/heap/impl.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gantry::heap {
namespace {

uint32_t hashOf(std::string_view text) { // FNV-1a
  uint32_t hash = 2166136261U;
  for (const char c : text)
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
  return hash;
}

/// snprintf into a buffer that may be too small, counting all that was meant.
class Writer {
public:
  explicit Writer(std::span<char> text) : text_(text) {
    if (!text_.empty())
      text_[0] = 0;
  }
  void line(const char *format, ...) __attribute__((format(printf, 2, 3))) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = length_ < text_.size() ? text_.size() - length_ : 0;
    const int written =
        std::vsnprintf(room == 0 ? nullptr : text_.data() + length_, room, format, arguments);
    va_end(arguments);
    length_ += written > 0 ? static_cast<size_t>(written) : 0;
  }
  size_t length() const { return length_; }

private:
  std::span<char> text_;
  size_t length_ = 0;
};

struct Amount {
  double value;
  const char *unit;
};
Amount amountOf(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  return {value, kUnits[unit]};
}

const char *kindName(uint32_t kind) {
  return device::memoryKindName(static_cast<MemoryKind>(kind));
}

} // namespace

// ---- names -------------------------------------------------------------------------------------

NameId Heap::intern(std::string_view name) {
  HeapImpl &heap = HeapImpl::of(*this);
  if (name.empty() || name.size() > 4096)
    return {};
  const Locked locked(heap.nameLock);
  if (heap.nameTable.size() < 2 * (heap.nameCount + 1)) { // at most half full
    const uint32_t larger = std::max<uint32_t>(64, 2 * heap.nameTable.size());
    if (!heap.nameTable.resize(larger))
      return {};
    std::fill(heap.nameTable.begin(), heap.nameTable.end(), kNone);
    for (uint32_t i = 1; i < heap.nameCount; ++i) {
      uint32_t at = hashOf({heap.names[i].text, heap.names[i].length}) & (larger - 1);
      while (heap.nameTable[at] != kNone)
        at = (at + 1) & (larger - 1);
      heap.nameTable[at] = i;
    }
  }
  const uint32_t mask = heap.nameTable.size() - 1;
  uint32_t at = hashOf(name) & mask;
  for (; heap.nameTable[at] != kNone; at = (at + 1) & mask) {
    const NameEntry &entry = heap.names[heap.nameTable[at]];
    if (std::string_view(entry.text, entry.length) == name)
      return {heap.nameTable[at]};
  }
  if (heap.nameCount == kMaxNames ||
      (heap.nameCount >= heap.names.capacity() && !heap.names.grow()))
    return {};
  auto *text =
      static_cast<char *>(heap.options.host.allocate(heap.options.host.user, name.size() + 1));
  if (text == nullptr)
    return {};
  std::memcpy(text, name.data(), name.size());
  text[name.size()] = 0;
  NameEntry &entry = heap.names[heap.nameCount];
  entry.text = text;
  entry.length = static_cast<uint32_t>(name.size());
  entry.traceName.store(trace::intern(name), std::memory_order_relaxed);
  heap.nameTable[at] = heap.nameCount;
  return {heap.nameCount.fetch_add(1, std::memory_order_release)};
}

void HeapImpl::countName(uint32_t name, uint64_t bytes) {
  NameEntry *entry = names.find(name);
  if (entry == nullptr)
    return;
  const uint64_t live = entry->liveBytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  uint64_t peak = entry->peakBytes.load(std::memory_order_relaxed);
  while (live > peak &&
         !entry->peakBytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
  entry->liveBuffers.fetch_add(1, std::memory_order_relaxed);
}

void HeapImpl::uncountName(uint32_t name, uint64_t bytes) {
  NameEntry *entry = names.find(name);
  if (entry == nullptr)
    return;
  entry->liveBytes.fetch_sub(bytes, std::memory_order_relaxed);
  entry->liveBuffers.fetch_sub(1, std::memory_order_relaxed);
}

size_t Heap::names(std::span<NameStatistics> largest) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  const Locked locked(heap.nameLock);
  size_t count = 0;
  for (uint32_t i = 1; i < heap.nameCount; ++i) {
    const NameEntry &entry = heap.names[i];
    const NameStatistics one{entry.text, entry.liveBytes.load(std::memory_order_relaxed),
                             entry.peakBytes.load(std::memory_order_relaxed),
                             entry.liveBuffers.load(std::memory_order_relaxed)};
    if (count < largest.size())
      ++count;
    else if (largest.empty() || largest[count - 1].liveBytes >= one.liveBytes)
      continue;
    size_t at = count - 1; // the new one takes the last place and moves up
    for (; at > 0 && largest[at - 1].liveBytes < one.liveBytes; --at)
      largest[at] = largest[at - 1];
    largest[at] = one;
  }
  return count;
}

// ---- statistics --------------------------------------------------------------------------------

void Heap::statistics(HeapStatistics *statistics) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  *statistics = {};
  const Locked locked(heap.growth);
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    KindStatistics &out = statistics->kinds[kind];
    const KindTotals &all = heap.totals[kind];
    int64_t live = all.liveBytes.load(std::memory_order_relaxed);
    int64_t high = live;
    int64_t buffers = all.ranges.load(std::memory_order_relaxed);
    {
      const Locked lockedCaches(heap.cachesLock);
      for (const ThreadCache *cache = heap.caches; cache != nullptr; cache = cache->next) {
        const ThreadCounters &mine = cache->kinds[kind].counters;
        live += mine.live();
        high += mine.highBytes.load(std::memory_order_relaxed);
        buffers +=
            ThreadCounters::get(mine.ranges) - Cached::ranges(ThreadCounters::get(mine.cached));
      }
    }
    out.liveBytes = static_cast<uint64_t>(std::max<int64_t>(live, 0));
    out.liveBuffers = static_cast<uint64_t>(std::max<int64_t>(buffers, 0));
    out.peakLiveBytes = static_cast<uint64_t>(
        std::max({high, live, all.peakLiveBytes.load(std::memory_order_relaxed)}));
    out.reservedBytes = all.reservedBytes.load(std::memory_order_relaxed);
    out.peakReservedBytes = all.peakReservedBytes.load(std::memory_order_relaxed);
    uint64_t free = 0;
    for (uint32_t i = kind * kPoolsPerKind; i < (kind + 1) * kPoolsPerKind; ++i) {
      Pool &pool = *heap.pools[i];
      const Locked lockedPool(pool.lock);
      const Tlsf::Statistics inside = pool.tlsf.statistics();
      out.usedBytes += inside.usedBytes;
      out.pendingBytes += pool.pendingBytes;
      out.largestFreeBytes = std::max(out.largestFreeBytes, inside.largestFreeBytes);
      free += inside.freeBytes;
    }
    for (uint32_t i = 0; i < heap.slabCount; ++i) {
      const Slab &slab = heap.slabs[i];
      const SlabState state = slab.state;
      if (state == SlabState::kUnused || slab.kind != kind)
        continue;
      ++out.slabs;
      if (state == SlabState::kPool) {
        Pool &pool = *heap.pools[slab.pool];
        const Locked lockedPool(pool.lock);
        out.emptySlabs += pool.tlsf.usedBytesOf(i) == 0 ? 1 : 0;
      } else if (state == SlabState::kDedicatedFree) {
        ++out.emptySlabs;
        out.largestFreeBytes = std::max(out.largestFreeBytes, slab.sizeBytes);
        free += slab.sizeBytes;
      } else {
        out.usedBytes += slab.sizeBytes;
      }
    }
    out.fragmentation =
        free == 0 ? 0 : 1 - static_cast<double>(out.largestFreeBytes) / static_cast<double>(free);
  }
  statistics->driverAllocations = heap.driverAllocations.load(std::memory_order_relaxed);
  statistics->driverFrees = heap.driverFrees.load(std::memory_order_relaxed);
  statistics->hostWaits = heap.hostWaits.load(std::memory_order_relaxed);
  statistics->orderedReuses = heap.orderedReuses.load(std::memory_order_relaxed);
  statistics->movedBytes = heap.movedBytes.load(std::memory_order_relaxed);
  statistics->spilledBytes = heap.spilledBytes.load(std::memory_order_relaxed);
}

size_t Heap::lastDriverMessage(std::span<char> text) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  const Locked locked(heap.messageLock);
  Writer writer(text);
  writer.line("%s", heap.message);
  return writer.length();
}

size_t Heap::writeReport(std::span<char> text) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  Writer writer(text);
  HeapStatistics all;
  statistics(&all);
  writer.line("memory of %s\n", heap.gpu->info().name.c_str());
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    const KindStatistics &one = all.kinds[kind];
    if (one.peakReservedBytes == 0)
      continue;
    const Amount reserved = amountOf(one.reservedBytes);
    const Amount live = amountOf(one.liveBytes);
    const Amount pending = amountOf(one.pendingBytes);
    const Amount largest = amountOf(one.largestFreeBytes);
    const Amount peak = amountOf(one.peakLiveBytes);
    writer.line("  %-8s reserved %.1f %s in %u slabs (%u empty), live %.1f %s in %llu buffers "
                "(peak %.1f %s), in flight %.1f %s, largest free %.1f %s, fragmentation %.0f %%\n",
                kindName(kind), reserved.value, reserved.unit, one.slabs, one.emptySlabs,
                live.value, live.unit, static_cast<unsigned long long>(one.liveBuffers), peak.value,
                peak.unit, pending.value, pending.unit, largest.value, largest.unit,
                100 * one.fragmentation);
  }
  if (all.spilledBytes != 0) {
    const Amount spilled = amountOf(all.spilledBytes);
    writer.line("  spilled to the host: %.1f %s\n", spilled.value, spilled.unit);
  }
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  const auto heaps = static_cast<uint32_t>(heap.gpu->info().memoryHeaps.size());
  const bool known = !heap.gpu->isLost() && heap.gpu->memoryBudgets({budgets, heaps}).isOk();
  for (uint32_t i = 0; i < heaps && known; ++i) {
    const Amount used = amountOf(budgets[i].usedBytes);
    const Amount budget = amountOf(budgets[i].budgetBytes);
    const Amount mine = amountOf(heap.reservedPerHeap[i].load(std::memory_order_relaxed));
    writer.line("  heap %u: %.1f %s of a budget of %.1f %s in use, %.1f %s by this heap", i,
                used.value, used.unit, budget.value, budget.unit, mine.value, mine.unit);
    const uint64_t limit = heap.limits[i].load(std::memory_order_relaxed);
    const Amount limited = amountOf(limit);
    if (limit != UINT64_MAX)
      writer.line(", limited to %.1f %s", limited.value, limited.unit);
    writer.line("\n");
  }
  NameStatistics largest[8];
  const size_t count = names(largest);
  for (size_t i = 0; i < count && largest[i].liveBytes != 0; ++i) {
    const Amount live = amountOf(largest[i].liveBytes);
    const Amount peak = amountOf(largest[i].peakBytes);
    writer.line("  %-24s %.1f %s in %llu buffers, peak %.1f %s\n", largest[i].name, live.value,
                live.unit, static_cast<unsigned long long>(largest[i].liveBuffers), peak.value,
                peak.unit);
  }
  return writer.length();
}

// ---- explanations ------------------------------------------------------------------------------

Status Heap::explain(HeapCode code, const BufferRequest &request) const {
  const HeapImpl &heap = HeapImpl::of(*this);
  const auto kind = static_cast<uint32_t>(request.kind);
  const char *kindText = kind < kMemoryKinds ? kindName(kind) : "unknown";
  const auto size = static_cast<unsigned long long>(request.sizeBytes);
  char driver[256];
  lastDriverMessage(driver);
  HeapStatistics all;
  statistics(&all);
  const KindStatistics &one = all.kinds[kind < kMemoryKinds ? kind : 0];
  const auto reserved = static_cast<unsigned long long>(one.reservedBytes);
  const auto live = static_cast<unsigned long long>(one.liveBytes);
  const auto largest = static_cast<unsigned long long>(one.largestFreeBytes);
  switch (code) {
  case HeapCode::kInvalidArgument:
    return statusf(StatusCode::kInvalidArgument,
                   "a buffer of %llu bytes, alignment %llu, kind %u, priority %g: the size is at "
                   "least 1, the alignment a power of two up to 2^30, the kind 0 to 3, the "
                   "priority 0 to 1; names and timelines are of this heap",
                   size, static_cast<unsigned long long>(request.alignment), kind,
                   static_cast<double>(request.priority));
  case HeapCode::kForeignHandle:
    return Status(StatusCode::kInvalidArgument, "the buffer handle is not of this heap");
  case HeapCode::kStaleHandle:
    return Status(StatusCode::kFailedPrecondition,
                  "the buffer was released before; a handle is released once per reference");
  case HeapCode::kExhausted:
    return statusf(StatusCode::kOutOfMemory,
                   "no %s memory for %llu bytes (%s); %llu bytes reserved, %llu live, largest free "
                   "range %llu. Free or spill buffers, allow compaction, or use a smaller problem; "
                   "the report lists the largest holders",
                   kindText, size, driver, reserved, live, largest);
  case HeapCode::kOverBudget:
    return statusf(StatusCode::kOutOfMemory,
                   "%llu bytes of %s memory are over the budget; %llu bytes reserved, %llu live, "
                   "largest free range %llu. Raise the limit, free or spill buffers; the report "
                   "lists the largest holders",
                   size, kindText, reserved, live, largest);
  case HeapCode::kHostExhausted:
    return Status(StatusCode::kOutOfMemory, "no host memory");
  case HeapCode::kTooLarge:
    return statusf(StatusCode::kOutOfMemory,
                   "a buffer of %llu bytes is larger than one allocation of this device may be "
                   "(%llu bytes); split it",
                   size, static_cast<unsigned long long>(heap.mostBytes));
  case HeapCode::kDeviceLost:
    return statusf(StatusCode::kDeviceLost, "the device is lost: %s", driver);
  case HeapCode::kUnsupported:
    return statusf(StatusCode::kUnsupported, "%s memory: this device cannot do it (%s)", kindText,
                   driver);
  case HeapCode::kBusy:
    return Status(StatusCode::kFailedPrecondition,
                  "the buffer is pinned, spilled or in flight; try again when it is not");
  default:
    return statusf(StatusCode::kInternal, "%s: %s", heapCodeName(code), driver);
  }
}

// ---- judge -------------------------------------------------------------------------------------

const char *Heap::validate() const {
  const HeapImpl &heap = HeapImpl::of(*this);
  uint64_t reserved[kMemoryKinds] = {};
  for (uint32_t i = 0; i < heap.slabCount; ++i) {
    const Slab &slab = heap.slabs[i];
    if (slab.state == SlabState::kUnused)
      continue;
    reserved[slab.kind] += slab.sizeBytes;
    if (slab.memory.load() == nullptr)
      return "a slab has no memory";
    if (slab.state == SlabState::kPool &&
        (heap.pools[slab.pool]->tlsf.sizeOfRegion(i) == 0 ||
         heap.pools[slab.pool]->tlsf.sizeOfRegion(i) > slab.sizeBytes))
      return "a slab and its region disagree";
  }
  uint64_t cached[kMemoryKinds] = {};
  for (const ThreadCache *cache = heap.caches; cache != nullptr; cache = cache->next)
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
      for (uint32_t bin = 0; bin < kMagazineBins; ++bin)
        for (BufferHandle at = cache->kinds[kind].bins[bin]; at;
             at = heap.slots[slotOf(at)].next()) {
          const uint32_t i = slotOf(at);
          if (heap.slots[i].state.load() != (at.bits & kGenerationBits) || tagOf(at) != heap.tag)
            return "a magazine has a handle that is not to come";
          cached[kind] += heap.poolAt(heap.placeOfSlot(i)).tlsf.sizeOf(heap.blockOfSlot(i));
          if (cache->kinds[kind].nextFilled(bin) != bin)
            return "a magazine is not noted as filled";
        }
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    int64_t counted = 0;
    for (const ThreadCache *cache = heap.caches; cache != nullptr; cache = cache->next) {
      counted += Cached::bytes(ThreadCounters::get(cache->kinds[kind].counters.cached));
      if (cache->kinds[kind].counters.belowBytes.load() < 0)
        return "a thread's live bytes pass their peak";
    }
    if (static_cast<uint64_t>(counted) != cached[kind])
      return "the magazines' counts are wrong";
  }
  for (const ThreadCache *cache = heap.caches; cache != nullptr; cache = cache->next)
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
      for (const uint32_t block : cache->kinds[kind].leaving)
        if (block != kNone)
          cached[kind] += cache->kinds[kind].leavingPool->tlsf.sizeOf(block);
  HeapStatistics all;
  statistics(&all);
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    if (reserved[kind] != all.kinds[kind].reservedBytes)
      return "reserved bytes and slabs disagree";
    uint64_t used = 0;
    uint64_t pending = 0;
    for (uint32_t p = kind * kPoolsPerKind; p < (kind + 1) * kPoolsPerKind; ++p) {
      const Pool &pool = *heap.pools[p];
      if (const char *broken = pool.tlsf.validate())
        return broken;
      for (uint32_t c = 0; c < pool.chunks.size(); ++c)
        if (const SlotChunk &chunk = heap.slots.chunk(pool.chunks[c]);
            chunk.pool != &pool || chunk.firstBlock != c * kChunkSlots)
          return "a pool and its blocks' slots disagree";
      used += pool.tlsf.usedBytes();
      uint64_t inPool = 0;
      uint64_t dedicated = 0;
      for (uint32_t i = pool.oldestPending; i != kNone; i = heap.slots.tail(i).newerPending)
        if (const SlotInfo info = SlotInfo::of(heap.slots[i].info.load()); info.dedicated)
          dedicated += info.sizeBytes;
        else
          inPool += info.sizeBytes;
      if (pool.pendingBytes != inPool + dedicated)
        return "pending bytes and ranges disagree";
      pending += inPool;
    }
    uint64_t live = 0;
    uint64_t buffers = 0;
    uint64_t rounded = 0;
    for (uint32_t i = 0; i < heap.slotCount; ++i) {
      if (heap.spareSlots.has(i) && heap.slots.chunk(i).pool != nullptr)
        return "a block's slot is spare";
      const Slot &slot = heap.slots[i];
      const SlotInfo info = SlotInfo::of(slot.info.load());
      if (referencesOf(slot.state.load()) == 0 || info.kind != kind)
        continue;
      const uint64_t size = info.sizeBytes;
      live += size;
      ++buffers;
      const SlotChunk &chunk = heap.slots.chunk(i);
      const bool own = chunk.pool != nullptr;
      if (own && (info.flags != 0 || info.dedicated))
        return "what may leave its block has the block's slot";
      const uint64_t place = heap.placeOfSlot(i);
      if (info.dedicated || place == kSpilledPlace)
        continue;
      const Pool &pool = heap.poolAt(place);
      const uint32_t block = heap.blockOfSlot(i);
      const Tlsf::Range range = pool.tlsf.at(block);
      if (!range.used || range.user != i || range.size < size || pool.tlsf.placeOf(block) != place)
        return "a buffer and its block disagree";
      if (own && chunk.pool != &pool)
        return "a buffer has another pool's slot";
      rounded += range.size;
    }
    if (live != all.kinds[kind].liveBytes || buffers != all.kinds[kind].liveBuffers)
      return "live bytes and buffers disagree";
    if (rounded + pending + cached[kind] != used)
      return "blocks are lost";
  }
  return nullptr;
}

} // namespace gantry::heap
