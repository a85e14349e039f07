// Implements Heap: creation, destruction, and functions that call the heap's components.
#include "engine/heap/heap.h"

#include "engine/base/align.h"
#include "engine/heap/heap_components.h"
#include "engine/base/host_memory.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace gantry::heap {
namespace {

// A tag is a number from 1 to 255 that identifies a heap in the handles of its buffers.
constexpr uint32_t kTags = 256;
// The live heap of each tag.
std::array<std::atomic<Heap *>, kTags> heapsByTag;
std::array<std::atomic<bool>, kTags> takenTags;
std::atomic<uint32_t> lastTag{0};

// Takes a free tag, in a cyclic order, so that the tag of a destroyed heap is reused late. Returns
// 0 if no tag is free.
uint32_t takeTag() {
  const uint32_t after = lastTag.fetch_add(1);
  for (uint32_t i = 0; i < kTags - 1; ++i) {
    const uint32_t tag = 1 + (after + i) % (kTags - 1);
    if (!takenTags[tag].exchange(true))
      return tag;
  }
  return 0;
}

void destroy(HeapComponents &components) {
  components.snapshot.end();
  const uint32_t tag = components.handles.tag();
  heapsByTag[tag].store(nullptr);
  hostDelete(HostAllocator(components.options.host), &components);
  takenTags[tag].store(false);
}

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

// ---- creation and destruction ------------------------------------------------------------------

Result<HeapPtr> Heap::create(std::shared_ptr<device::Device> device, const HeapOptions &options) {
  if (device == nullptr)
    return Status(StatusCode::kInvalidArgument, "a heap needs a device, not nullptr");
  if (!(options.growthSlack >= 1.0 && options.growthSlack <= 16.0))
    return statusf(StatusCode::kInvalidArgument,
                   "growthSlack is %g; it is a factor from 1 to 16 on the peak of live bytes",
                   options.growthSlack);
  const uint32_t tag = takeTag();
  if (tag == 0)
    return Status(StatusCode::kOutOfMemory, "255 heaps are alive; no more can be made");
  auto *parts = hostNew<HeapComponents>(options.host, std::move(device), options, tag);
  if (parts == nullptr) {
    takenTags[tag].store(false);
    // std::string stores so short a message inline, without host memory.
    return Status(StatusCode::kOutOfMemory, "no host memory");
  }
  heapsByTag[tag].store(&parts->heap, std::memory_order_release);
  parts->snapshot.begin();
  return HeapPtr(&parts->heap);
}

void HeapDeleter::operator()(Heap *heap) const {
  if (heap != nullptr)
    destroy(heap->components());
}

// The deleter of shareHeap(): destroys the heap when its last buffer is released. It sets
// `closing`, and `remaining` to the number of live buffers plus one. From then on each release of a
// last reference decrements `remaining`, and so does this call at its end. The decrement to 0
// destroys the heap. All arenas are locked while the buffers are counted and `closing` is set, so a
// release is either complete before the count or sees `closing`.
static void endWithLastBuffer(Heap *heap) {
  HeapComponents &components = heap->components();
  uint64_t live = 1; // One for this call.
  {
    const Locked making(components.arenas.lock());
    std::array<std::optional<ArenaAccess>, kMemoryKinds * ArenaTable::kArenasPerKind> held;
    uint32_t number = 0;
    components.arenas.each(
        [&](Arena &arena) { live += held[number++].emplace(arena).counter().buffers(); });
    components.remaining.store(live);
    components.environment.closing.store(true);
  }
  if (components.remaining.fetch_sub(1) == 1)
    destroy(components);
}

std::shared_ptr<Heap> shareHeap(HeapPtr heap) { return {heap.release(), endWithLastBuffer}; }

Heap *Heap::of(BufferHandle buffer) {
  return heapsByTag[tagOf(buffer)].load(std::memory_order_acquire);
}

device::Device &Heap::device() const { return components_.slabs.device(); }
uint16_t Heap::traceId() const { return components_.events.traceId(); }

// ---- buffers -----------------------------------------------------------------------------------

HeapCode Heap::check(const BufferRequest &request) const {
  if (request.sizeBytes == 0 || !isPowerOfTwo(request.alignment) ||
      request.alignment > (uint64_t{1} << 30) ||
      static_cast<uint32_t>(request.kind) >= kMemoryKinds ||
      !(request.priority >= 0 && request.priority <= 1) ||
      request.name.index >= components_.names.count())
    return HeapCode::kInvalidArgument;
  return request.sizeBytes > components_.slabs.maxBufferBytes() ? HeapCode::kTooLarge
                                                                : HeapCode::kOk;
}

HeapCode Heap::allocate(const BufferRequest &request, BufferHandle *buffer) {
  *buffer = {};
  if (const HeapCode code = check(request); code != HeapCode::kOk)
    return code;
  Arena *arena = components_.arenas.ofThread(static_cast<uint32_t>(request.kind));
  if (arena == nullptr)
    return HeapCode::kHostExhausted;
  const HeapCode code = arena->allocate(request, buffer);
  return code != HeapCode::kExhausted ? code : components_.growth.allocate(*arena, request, buffer);
}

HeapCode Heap::retain(BufferHandle buffer) {
  Arena *arena = components_.handles.ownerOf(buffer);
  return arena == nullptr ? HeapCode::kForeignHandle : arena->retain(buffer);
}

HeapCode Heap::release(BufferHandle buffer, std::span<const TimelinePoint> after) {
  Arena *arena = components_.handles.ownerOf(buffer);
  if (arena == nullptr)
    return HeapCode::kForeignHandle;
  if (!components_.timelines.know(after))
    return HeapCode::kInvalidArgument;
  bool closing = false;
  const HeapCode code = arena->release(buffer, after, &closing);
  if (closing && components_.remaining.fetch_sub(1) == 1)
    destroy(components_);
  return code;
}

HeapCode Heap::freeAfter(BufferHandle buffer, const TimelinePoint &point) {
  Arena *arena = components_.handles.ownerOf(buffer);
  if (arena == nullptr)
    return HeapCode::kForeignHandle;
  return components_.timelines.know({&point, 1}) ? arena->freeAfter(buffer, point)
                                                 : HeapCode::kInvalidArgument;
}

static Placement placementOf(const SlabTable &slabs, uint64_t place, uint64_t sizeBytes) {
  const Slab &slab = slabs[slabOf(place)];
  const uint64_t offset = offsetOf(place);
  return {slab.memory, offset, sizeBytes, slab.address == 0 ? 0 : slab.address + offset,
          slab.mapped == nullptr ? nullptr : slab.mapped + offset};
}

HeapCode Heap::resolve(BufferHandle buffer, Placement *placement) const {
  Arena *arena = components_.handles.ownerOf(buffer);
  if (arena == nullptr)
    return HeapCode::kForeignHandle;
  uint64_t place = 0;
  uint64_t sizeBytes = 0;
  const HeapCode code = arena->locate(buffer, &place, &sizeBytes);
  if (code == HeapCode::kOk)
    *placement = placementOf(components_.slabs, place, sizeBytes);
  return code;
}

bool Heap::isLive(BufferHandle buffer) const {
  Arena *arena = components_.handles.ownerOf(buffer);
  return arena != nullptr && arena->isLive(buffer);
}

HeapCode Heap::describe(BufferHandle buffer, const char **name, uint32_t *references) const {
  Arena *arena = components_.handles.ownerOf(buffer);
  if (arena == nullptr)
    return HeapCode::kForeignHandle;
  uint32_t index = 0;
  const HeapCode code = arena->describe(buffer, &index, references);
  if (code == HeapCode::kOk)
    *name = components_.names.text(index);
  return code;
}

HeapCode Heap::pin(BufferHandle buffer, Placement *placement) {
  Arena *arena = components_.handles.ownerOf(buffer);
  if (arena == nullptr)
    return HeapCode::kForeignHandle;
  for (;;) {
    uint64_t place = 0;
    uint64_t sizeBytes = 0;
    uint64_t ticket = 0;
    bool moving = false;
    HeapCode code = arena->pin(buffer, &place, &sizeBytes, &ticket, &moving);
    if (code == HeapCode::kOk) {
      *placement = placementOf(components_.slabs, place, sizeBytes);
      if (placement->mapped != nullptr && ticket > components_.timelines.completed(0)) {
        // The caller may access the memory at once, so the submissions that use it (a copy that
        // moved the buffer, or work whose ticket freeAfter() was given) must be done.
        const Result<bool> waited = device().wait(ticket, UINT64_MAX);
        code = waited.isOk() ? components_.growth.refreshCompleted()
                             : components_.slabs.codeOf(waited.status());
        if (code != HeapCode::kOk)
          (void)arena->unpin(buffer);
      }
      return code;
    }
    if (code != HeapCode::kBusy)
      return code;
    if (moving) {
      // A relocation (a move, spill or restore) holds this lock until its end.
      const Locked waited(components_.growth.lock());
      continue;
    }
    const AbsentStorage &absent = components_.environment.absent;
    if (absent.restore == nullptr)
      return HeapCode::kBusy;
    if (code = absent.restore(absent.user, buffer); code != HeapCode::kOk)
      return code;
  }
}

HeapCode Heap::unpin(BufferHandle buffer) {
  Arena *arena = components_.handles.ownerOf(buffer);
  return arena == nullptr ? HeapCode::kForeignHandle : arena->unpin(buffer);
}

// ---- timelines ---------------------------------------------------------------------------------

uint32_t Heap::addTimeline() { return components_.timelines.add(); }

HeapCode Heap::advance(uint32_t timeline, uint64_t value) {
  if (timeline == 0 || timeline >= components_.timelines.count())
    return HeapCode::kInvalidArgument;
  components_.timelines.advance(timeline, value);
  components_.growth.reclaimAll();
  return HeapCode::kOk;
}

HeapCode Heap::poll() {
  const HeapCode code = components_.growth.refreshCompleted();
  components_.growth.reclaimAll();
  return code;
}

// ---- retention ---------------------------------------------------------------------------------

uint64_t Heap::trim(uint64_t keepBytes) {
  if (!device().isLost())
    (void)components_.growth.refreshCompleted();
  components_.growth.reclaimAll();
  const Locked locked(components_.growth.lock());
  components_.growth.flushAll();
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
    components_.slabs.retention(kind).forget();
  return components_.growth.releaseEmpty(keepBytes);
}

HeapCode Heap::setLimit(uint32_t deviceHeap, uint64_t bytes) {
  if (deviceHeap >= device().info().memoryHeaps.size())
    return HeapCode::kInvalidArgument;
  components_.slabs.setLimit(deviceHeap, bytes);
  components_.slabs.traceBudgets();
  return HeapCode::kOk;
}

void Heap::traceBudgets() const { components_.slabs.traceBudgets(); }

NameId Heap::intern(std::string_view name) { return components_.names.intern(name); }
NameId Heap::intern(const char *name) { return components_.names.intern(name); }

// ---- statistics --------------------------------------------------------------------------------

namespace {

// Adds the statistics of one arena. The arena adds its live bytes to KindTotals only now and then
// (LiveCounter::publish). `unpublished` gets the part of its peak that is not added yet
// (LiveCounter::unpublishedPeak), `freeBytes` gets the free bytes of its pools, and `out` gets all
// other numbers.
void addArena(Arena &arena, KindStatistics &out, int64_t &unpublished, uint64_t &freeBytes) {
  ArenaAccess access(arena);
  out.liveBytes += static_cast<uint64_t>(access.counter().live());
  out.liveBuffers += access.counter().buffers();
  unpublished += access.counter().unpublishedPeak();
  out.pendingBytes += access.pending().bytes();
  for (uint32_t i = 0; i < kPools; ++i) {
    const Tlsf::Statistics pool = access.pool(i).tlsf.statistics();
    out.usedBytes += pool.usedBytes;
    out.largestFreeBytes = std::max(out.largestFreeBytes, pool.largestFreeBytes);
    freeBytes += pool.freeBytes;
  }
}

// Counts the slabs of a memory kind, and those that are empty.
void addSlabs(SlabTable &slabs, uint32_t kind, KindStatistics &out) {
  for (uint32_t i = 0; i < slabs.count(); ++i) {
    const Slab &slab = slabs[i];
    if (slab.memory == nullptr || slab.kind != kind)
      continue;
    ++out.slabs;
    ArenaAccess access(*slab.arena);
    out.emptySlabs += access.pool(slab.pool).tlsf.usedBytesOf(i) == 0 ? 1 : 0;
  }
}

} // namespace

void Heap::statistics(HeapStatistics *statistics) const {
  *statistics = {};
  const Locked locked(components_.growth.lock());
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    KindStatistics &out = statistics->kinds[kind];
    const KindTotals &totals = components_.totals[kind];
    int64_t peak = totals.publishedLive.load();
    uint64_t freeBytes = 0;
    components_.arenas.any(kind, [&](Arena &arena) {
      addArena(arena, out, peak, freeBytes);
      return false;
    });
    out.peakLiveBytes =
        std::max(out.liveBytes, static_cast<uint64_t>(std::max(peak, totals.peakLive.load())));
    out.reservedBytes = totals.reserved.load();
    out.peakReservedBytes = totals.peakReserved.load();
    addSlabs(components_.slabs, kind, out);
    if (freeBytes != 0)
      out.fragmentation =
          1 - static_cast<double>(out.largestFreeBytes) / static_cast<double>(freeBytes);
  }
  statistics->driverAllocations = components_.slabs.driverAllocations();
  statistics->driverFrees = components_.slabs.driverFrees();
  statistics->hostWaits = components_.growth.hostWaits();
}

size_t Heap::names(std::span<NameStatistics> largest) const {
  size_t count = 0;
  for (uint32_t id = 1; id < components_.names.count(); ++id) {
    NameStatistics one{components_.names.text(id), 0, 0, 0};
    components_.arenas.each([&](Arena &arena) {
      const ArenaAccess access(arena);
      if (id >= access.names().size())
        return;
      const NameCount &counted = access.names()[id];
      one.liveBytes += counted.liveBytes;
      one.peakBytes += counted.peakBytes;
      one.liveBuffers += counted.buffers;
    });
    if (count < largest.size())
      ++count;
    else if (largest.empty() || largest[count - 1].liveBytes >= one.liveBytes)
      continue;
    size_t at = count - 1; // Insertion sort: larger entries stay in front.
    for (; at > 0 && largest[at - 1].liveBytes < one.liveBytes; --at)
      largest[at] = largest[at - 1];
    largest[at] = one;
  }
  return count;
}

size_t Heap::lastDriverMessage(std::span<char> text) const {
  components_.slabs.copyDriverMessage(text);
  return std::strlen(text.data());
}

} // namespace gantry::heap
