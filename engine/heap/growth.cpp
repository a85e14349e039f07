// Implements Growth. The steps and the ladder are those of growth.h.
#include "engine/heap/growth.h"

#include <algorithm>

namespace gantry::heap {
namespace {

// The maximum length of a gap between large buffers into which a small buffer may be put. Few large
// buffers could use such a short gap.
constexpr uint64_t kMaxGapBytes = 512 << 10;
// An empty slab of another pool is used instead of a new slab if it is at most this many times as
// long as the new slab would be (growth.h, steps 2 and 3b).
constexpr uint64_t kMaxAdoptedFactor = 4;
// The order in which pools give up empty slabs. Slabs of small buffers come last, because they are
// needed again soonest.
constexpr PoolIndex kReleaseOrder[] = {kDedicatedPool, kHugePool, kLargePool, kSmallPool};

bool isRefusal(HeapCode code) {
  return code == HeapCode::kExhausted || code == HeapCode::kOverBudget;
}

} // namespace

Growth::Growth(ArenaTable &arenas, SlabTable &slabs, Timelines &timelines,
               ArenaEnvironment &environment)
    : arenas_(arenas), slabs_(slabs), timelines_(timelines), environment_(environment) {}

// ---- the request -------------------------------------------------------------------------------

// The size of the smallest slab that can hold the buffer; at most maxBytes. For an alignment above
// 256 it includes padding in front of the buffer. In a dedicated slab the buffer starts at offset
// 0, which needs no padding.
uint64_t Growth::Wanted::needBytes(uint64_t maxBytes) const {
  const uint64_t padding =
      request.alignment > 256 && !request.dedicated ? request.alignment - 256 : 0;
  return std::min(Retention::roundUp(request.sizeBytes + padding), maxBytes);
}

// Allocates from the free ranges of the arena. A live buffer gets storage from its own arena only.
HeapCode Growth::Wanted::takeFrom(Arena &arena) const {
  if (owner == nullptr)
    return arena.allocate(request, buffer);
  return &arena == owner ? arena.attach(index, request) : HeapCode::kExhausted;
}

HeapCode Growth::allocate(Arena &home, const BufferRequest &request, BufferHandle *buffer) {
  const Locked locked(lock_);
  return find(home, {request, buffer});
}

HeapCode Growth::attach(Arena &home, uint32_t index, const BufferRequest &request) {
  return find(home, {request, nullptr, &home, index});
}

// ---- the steps ---------------------------------------------------------------------------------

HeapCode Growth::find(Arena &home, const Wanted &wanted) {
  const uint32_t kind = home.kind();
  if (slabs_.device().isLost())
    return HeapCode::kDeviceLost;
  if (arenas_.any(kind, [](Arena &arena) { return arena.hasPending(); })) {
    if (const HeapCode code = refreshCompleted(); code != HeapCode::kOk)
      return code;
    reclaimAll();
  }
  if (const HeapCode code = wanted.takeFrom(home); code != HeapCode::kExhausted)
    return code;
  home.publishLive();
  const KindTotals &totals = environment_.totals[kind];
  const int64_t live = totals.publishedLive.load() + static_cast<int64_t>(wanted.request.sizeBytes);
  const auto peakLive = static_cast<uint64_t>(std::max(live, totals.peakLive.load()));
  const Retention &retention = slabs_.retention(kind);
  const uint64_t reserved = totals.reserved.load();
  const uint64_t target =
      retention.targetBytes(peakLive, totals.peakReserved.load(), environment_.options.growthSlack);
  const uint64_t need = wanted.needBytes(slabs_.maxBufferBytes());
  const uint64_t size =
      poolFor(wanted.request) >= kHugePool
          ? need
          : std::max(need,
                     std::min(retention.slabBytes(poolFor(wanted.request) == kSmallPool, reserved),
                              slabs_.maxBufferBytes()));
  home.flush(); // This may empty slabs.
  if (adoptSlab(home, wanted, kMaxAdoptedFactor * size, /*idleOnly=*/!retention.isQuick()))
    if (const HeapCode code = wanted.takeFrom(home); code != HeapCode::kExhausted)
      return code;
  if (reserved + size > target) {
    if (const HeapCode code = borrow(home, wanted); code != HeapCode::kExhausted)
      return code;
    // Even an empty slab that is kMaxAdoptedFactor times as long as a new slab is better than a
    // call of the driver. Its use counts as a retake (retention.h), a sign that the sizes of
    // requests have changed.
    if (adoptSlab(home, wanted, kMaxAdoptedFactor * size, /*idleOnly=*/false)) {
      slabs_.retention(kind).noteTaken(0, 0);
      if (const HeapCode code = wanted.takeFrom(home); code != HeapCode::kExhausted)
        return code;
    }
    releaseEnough(kind, reserved + size - target);
  }
  const HeapCode code = grow(home, wanted, size);
  return isRefusal(code) ? climb(home, wanted, code) : code;
}

// Takes storage from another arena or from a gap, so that no new slab is needed. Each such request
// takes the growth lock, and threads that use each other's arenas contend for the arenas' locks.
// Therefore, after kMaxBorrowed successes, one call fails on purpose, and find() gives the arena an
// empty or a new slab.
HeapCode Growth::borrow(Arena &home, const Wanted &wanted) {
  uint32_t &borrowed = borrowed_[home.kind()];
  HeapCode code = HeapCode::kExhausted;
  if (borrowed < kMaxBorrowed)
    code = takeFromOthers(home, wanted);
  if (borrowed < kMaxBorrowed && code == HeapCode::kExhausted)
    code = takeGap(home, wanted);
  borrowed = code == HeapCode::kExhausted ? 0 : borrowed + 1;
  return code;
}

HeapCode Growth::takeFromOthers(Arena &home, const Wanted &wanted) {
  HeapCode code = HeapCode::kExhausted;
  arenas_.any(home.kind(), [&](Arena &arena) {
    code = &arena == &home ? HeapCode::kExhausted : wanted.takeFrom(arena);
    return code != HeapCode::kExhausted;
  });
  return code;
}

// Puts a small new buffer into a gap, a short free range between large buffers of `home`.
HeapCode Growth::takeGap(Arena &home, const Wanted &wanted) {
  return poolFor(wanted.request) == kSmallPool && wanted.owner == nullptr
             ? home.allocateInGap(wanted.request, kMaxGapBytes, wanted.buffer)
             : HeapCode::kExhausted;
}

// Moves an empty slab of at most maxBytes to the pool of `home` that serves the request. It takes
// the slab from any pool of the same memory kind, from pools of `home` first. Returns whether a
// slab was moved. A dedicated request gets none. If idleOnly is set, only idle pools give slabs.
bool Growth::adoptSlab(Arena &home, const Wanted &wanted, uint64_t maxBytes, bool idleOnly) {
  const uint64_t need = wanted.needBytes(slabs_.maxBufferBytes());
  if (poolFor(wanted.request) == kDedicatedPool)
    return false;
  const auto adoptFrom = [&](Arena &arena) {
    for (const PoolIndex pool : kReleaseOrder)
      if (const uint32_t slab = arena.takeEmptySlab(pool, need, need, maxBytes, idleOnly);
          slab != kNone)
        return giveToArena(slab, home, poolFor(wanted.request));
    return false;
  };
  return adoptFrom(home) || arenas_.any(home.kind(), adoptFrom);
}

// Adds a slab that is in no pool to the given pool. If the host has no memory for this, frees the
// slab and returns false.
bool Growth::giveToArena(uint32_t index, Arena &arena, PoolIndex pool) {
  Slab &slab = slabs_[index];
  slab.arena = &arena;
  slab.pool = pool;
  if (slab.dedicated && pool != kDedicatedPool) {
    slab.dedicated = false;
    if (environment_.events.isObserved())
      for (const auto type : {HeapEvent::Type::kSlabFree, HeapEvent::Type::kSlabAllocate})
        environment_.events.slab(type, index, slab);
  }
  if (arena.addSlab(pool, index, slab.sizeBytes))
    return true;
  slabs_.free(index);
  return false;
}

HeapCode Growth::addSlab(Arena &arena, PoolIndex pool, const BufferRequest &request,
                         uint64_t sizeBytes) {
  uint32_t slab = kNone;
  const bool dedicated = pool == kDedicatedPool;
  const HeapCode code = slabs_.allocate(static_cast<MemoryKind>(arena.kind()), sizeBytes,
                                        dedicated ? request.priority : 0.5F, dedicated, &slab);
  if (code != HeapCode::kOk)
    return code;
  return giveToArena(slab, arena, pool) ? HeapCode::kOk : HeapCode::kHostExhausted;
}

// Adds a slab of sizeBytes and allocates from it. If that size is refused, tries a slab of the
// smallest size that can hold the buffer.
HeapCode Growth::grow(Arena &home, const Wanted &wanted, uint64_t sizeBytes) {
  const uint64_t need = wanted.needBytes(slabs_.maxBufferBytes());
  HeapCode code = addSlab(home, poolFor(wanted.request), wanted.request, std::max(need, sizeBytes));
  if (isRefusal(code) && sizeBytes > need)
    code = addSlab(home, poolFor(wanted.request), wanted.request, need);
  return code == HeapCode::kOk ? wanted.takeFrom(home) : code;
}

// ---- the ladder --------------------------------------------------------------------------------

// Climbs the pressure ladder after `refusal`, the code of a slab allocation. Returns the code of
// the last slab allocation that was refused if no step helped.
HeapCode Growth::climb(Arena &home, const Wanted &wanted, HeapCode refusal) {
  const auto attempt = [&] {
    HeapCode code = wanted.takeFrom(home);
    if (code == HeapCode::kExhausted)
      code = takeFromOthers(home, wanted);
    if (code == HeapCode::kExhausted)
      code = takeGap(home, wanted);
    if (code == HeapCode::kExhausted)
      refusal = code = grow(home, wanted, 0);
    return code;
  };
  if (const HeapCode waited = waitForPending(); waited != HeapCode::kOk)
    return waited;
  if (const HeapCode code = attempt(); !isRefusal(code))
    return code;
  flushAll();
  releaseEmpty(0);
  if (const HeapCode code = attempt(); !isRefusal(code))
    return code;
  for (const PressureStep *step = steps_; step != nullptr; step = step->next)
    for (;;) {
      const HeapCode relieved = step->relieve(step->user, {home.kind(), wanted.request.sizeBytes});
      if (relieved == HeapCode::kDeviceLost)
        return relieved;
      if (relieved != HeapCode::kOk)
        break;
      if (const HeapCode waited = waitForPending(); waited != HeapCode::kOk)
        return waited;
      releaseEmpty(0);
      if (const HeapCode code = attempt(); !isRefusal(code))
        return code;
    }
  return refusal;
}

void Growth::addStep(PressureStep &step) {
  PressureStep **end = &steps_;
  while (*end != nullptr)
    end = &(*end)->next;
  step.next = nullptr;
  *end = &step;
}

void Growth::removeStep(PressureStep &step) {
  for (PressureStep **entry = &steps_; *entry != nullptr; entry = &(*entry)->next)
    if (*entry == &step) {
      *entry = step.next;
      return;
    }
}

HeapCode Growth::refreshCompleted() {
  const Result<uint64_t> done = slabs_.device().completed();
  if (!done.isOk())
    return slabs_.codeOf(done.status());
  timelines_.advance(0, *done);
  return HeapCode::kOk;
}

void Growth::reclaimAll() {
  arenas_.each([](Arena &arena) {
    if (arena.hasPending())
      arena.reclaim();
  });
}

// Device::wait() has no timeout here, but returns kDeviceLost at once if the device is lost.
HeapCode Growth::waitForPending() {
  uint64_t last = 0;
  arenas_.each([&](Arena &arena) {
    if (!arena.hasPending())
      return;
    ArenaAccess access(arena);
    const HandleTable &handles = environment_.handles;
    for (uint32_t i = access.pending().oldest(); i != kNone; i = handles.tail(i).newerPending)
      last = std::max(last, handles.tail(i).points[0]);
  });
  if (last <= timelines_.completed(0))
    return HeapCode::kOk;
  hostWaits_.fetch_add(1, std::memory_order_relaxed);
  const Result<bool> waited = slabs_.device().wait(last, UINT64_MAX);
  if (!waited.isOk())
    return slabs_.codeOf(waited.status());
  const HeapCode code = refreshCompleted();
  reclaimAll();
  return code;
}

void Growth::flushAll() {
  arenas_.each([](Arena &arena) { arena.flush(); });
}

// ---- empty slabs -------------------------------------------------------------------------------

// The bytes of all empty slabs.
uint64_t Growth::emptyBytes() const {
  uint64_t bytes = 0;
  arenas_.each([&](Arena &arena) {
    for (const PoolIndex pool : kReleaseOrder)
      bytes += arena.emptyBytes(pool);
  });
  return bytes;
}

// Frees empty slabs of the kind until `bytes` bytes are freed or no empty slab is left. It frees
// the shortest empty slab of a pool that suffices alone, or if there is none, the longest ones
// first.
void Growth::releaseEnough(uint32_t kind, uint64_t bytes) {
  for (const PoolIndex pool : kReleaseOrder)
    arenas_.any(kind, [&](Arena &arena) {
      for (uint32_t slab;
           bytes != 0 && (slab = arena.takeEmptySlab(pool, 0, bytes, UINT64_MAX)) != kNone;) {
        bytes -= std::min(bytes, slabs_[slab].sizeBytes);
        slabs_.free(slab);
      }
      return bytes == 0;
    });
}

uint64_t Growth::releaseEmpty(uint64_t keepBytes) {
  uint64_t gone = 0;
  for (const PoolIndex pool : kReleaseOrder)
    arenas_.each([&](Arena &arena) {
      for (uint32_t slab; emptyBytes() > keepBytes &&
                          (slab = arena.takeEmptySlab(pool, 0, 0, UINT64_MAX)) != kNone;) {
        gone += slabs_[slab].sizeBytes;
        slabs_.free(slab);
      }
    });
  return gone;
}

} // namespace gantry::heap
