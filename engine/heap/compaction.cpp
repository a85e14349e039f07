// Compaction: a slab that is used least is emptied into the free ranges of the others, block by
// block through the device's copies, and goes back to the driver when the copies are done.
//
// A slab is a victim when all that it holds may be moved and the others have room for it, or when a
// new slab of exactly what lives in it saves an eighth. A block's old range stays pending until its
// copy has passed; submissions made after this call see the buffer at its new place, since
// submissions run in order. A buffer is moved by one thread at a time: kMovingPin is its lock.
#include "engine/heap/impl.h"

#include <algorithm>

namespace gantry::heap {
namespace {

constexpr uint32_t kVictimsPerCall = 64;

} // namespace

// True where the slot is alive, has the flag, is not pinned, and is now this thread's to move.
bool HeapImpl::lockSlot(uint32_t index, uint8_t flag) {
  Slot &slot = slots[index];
  const uint64_t state = slot.state.load();
  const uint32_t generation = generationOf(state);
  if (referencesOf(state) == 0)
    return false;
  uint64_t pins = stateOf(generation, 0);
  if (SlotInfo::of(slot.info.load()).flags == 0 ||
      !slots.tail(index).pins.compare_exchange_strong(pins, pins | kMovingPin))
    return false;
  // Flags before state: while the state is still this generation's, so are they.
  const uint8_t flags = SlotInfo::of(slot.info.load()).flags;
  const uint64_t now = slot.state.load();
  if (generationOf(now) == generation && referencesOf(now) != 0 && (flags & flag) != 0)
    return true;
  unlockSlot(index);
  return false;
}

void HeapImpl::unlockSlot(uint32_t index) {
  slots.tail(index).pins.fetch_and(~kMovingPin);
  slots.tail(index).pins.notify_all();
}

// Whether a living buffer may not be moved now.
bool HeapImpl::holdsStill(uint32_t index) const {
  const Slot &slot = slots[index];
  const uint64_t state = slot.state.load();
  const bool movable = (SlotInfo::of(slot.info.load()).flags & kMovable) != 0;
  return referencesOf(state) != 0 &&
         (!movable || slots.tail(index).pins.load() != stateOf(generationOf(state), 0));
}

// The pool's slab that is used least in proportion and can be emptied; the one that an earlier call
// has begun comes first. Under the pool's lock.
uint32_t HeapImpl::chooseVictim(Pool &pool) {
  if (pool.draining != kNone) {
    if (pool.tlsf.usedBytesOf(pool.draining) != 0 && slabs[pool.draining].passedOver != compactions)
      return pool.draining;
    pool.draining = kNone;
  }
  const uint64_t free = pool.tlsf.regionBytes() - pool.tlsf.usedBytes();
  uint32_t best = kNone;
  double bestRatio = 1;
  for (uint32_t i = 0; i < slabCount; ++i) {
    const Slab &slab = slabs[i];
    if (slab.state != SlabState::kPool || slab.pool != pool.index || slab.passedOver == compactions)
      continue;
    const uint64_t used = pool.tlsf.usedBytesOf(i);
    const uint64_t tight = Retention::round(used);
    const bool roomElsewhere = free - (slab.sizeBytes - used) >= used;
    const bool tighter = slab.sizeBytes - std::min(tight, slab.sizeBytes) >= slab.sizeBytes / 8;
    const double ratio = static_cast<double>(used) / static_cast<double>(slab.sizeBytes);
    if (used == 0 || ratio >= bestRatio || !(roomElsewhere || tighter))
      continue;
    best = i;
    bestRatio = ratio;
  }
  return best;
}

// Takes new blocks for at most maxBytes of what the victim holds, into `moves`. Blocks that may not
// move stay; the slab is then passed over. Under the pool's lock.
uint32_t HeapImpl::planMoves(Pool &pool, uint32_t victim, ThreadCache &cache, uint64_t maxBytes) {
  moves.clear();
  sliceEnded = false;
  noRoom = false;
  for (uint32_t block = pool.tlsf.firstOf(victim); block != kNone;
       block = pool.tlsf.nextOf(block)) {
    const Tlsf::Range range = pool.tlsf.at(block);
    if (range.used && holdsStill(range.user)) {
      slabs[victim].passedOver = compactions; // moving the others would gain nothing
      return 0;
    }
  }
  uint64_t bytes = 0;
  uint32_t next = kNone;
  for (uint32_t block = pool.tlsf.firstOf(victim); block != kNone; block = next) {
    next = pool.tlsf.nextOf(block);
    const Tlsf::Range range = pool.tlsf.at(block);
    const uint32_t slot = range.user;
    if (!range.used)
      continue;
    if (range.size > maxBytes - bytes) {
      sliceEnded = true;
      break;
    }
    if (!lockSlot(slot, kMovable)) {
      // Pending ranges vanish by themselves; all else keeps the slab.
      if (referencesOf(slots[slot].state.load()) != 0)
        slabs[victim].passedOver = compactions;
      continue;
    }
    const uint32_t spare = takeSlot(cache);
    const uint32_t to =
        spare == kNone || !moves.reserve(moves.size() + 1)
            ? kNone
            : pool.tlsf.allocate(range.size,
                                 uint64_t{1} << SlotInfo::of(slots[slot].info.load()).alignmentLog2,
                                 slot, victim);
    if (to == kNone) {
      noRoom = spare != kNone && !pool.tlsf.hostExhausted();
      if (spare != kNone)
        giveSlot(cache, spare);
      unlockSlot(slot);
      break;
    }
    moves.pushBackReserved({slot, block, to, spare, pool.tlsf.placeOf(to), range.size});
    bytes += range.size;
  }
  return moves.size();
}

HeapCode HeapImpl::submitMoves(uint32_t count, uint64_t *ticket) {
  CopyInFlight *free = nullptr;
  for (CopyInFlight &copy : copies) {
    if (copy.list != nullptr && copy.ticket <= completed[0].load(std::memory_order_relaxed)) {
      delete copy.list;
      copy = {};
    }
    if (copy.list == nullptr)
      free = &copy;
  }
  if (free == nullptr)
    return HeapCode::kBusy;
  Result<std::unique_ptr<device::CommandList>> made = gpu->createCommandList();
  if (!made.isOk())
    return codeOf(made.status());
  device::CommandList &list = **made;
  Status status = list.begin({});
  for (uint32_t i = 0; i < count && status.isOk(); ++i) {
    const Move &move = moves[i];
    const uint64_t old = slots.range(move.slot).place.load(std::memory_order_relaxed);
    status = list.copy({slabs[slabOf(old)].memory.load(), offsetOf(old), move.sizeBytes},
                       *slabs[slabOf(move.newPlace)].memory.load(), offsetOf(move.newPlace));
  }
  if (status.isOk())
    status = list.end();
  if (!status.isOk())
    return codeOf(status);
  const Result<uint64_t> submitted = gpu->submit(list);
  if (!submitted.isOk())
    return codeOf(submitted.status());
  *ticket = *submitted;
  *free = {made->release(), *submitted};
  return HeapCode::kOk;
}

// The slots take their new places, and the old ranges wait for the copies; or, where nothing was
// submitted, everything is as before. Under the pool's lock.
void HeapImpl::finishMoves(Pool &pool, uint32_t count, uint64_t ticket, bool moved,
                           ThreadCache &cache) {
  for (uint32_t i = 0; i < count; ++i) {
    const Move &move = moves[i];
    if (moved) {
      SlotRange &range = slots.range(move.slot);
      SlotInfo info;
      info.kind = pool.kind;
      slots[move.spare].info.store(info.packed(), std::memory_order_relaxed);
      placeSlot(pool, move.spare, move.from);
      TimelinePoint after[kMaxTimelines];
      for (uint32_t t = 0; t < kMaxTimelines; ++t)
        after[t] = {t, t == 0 ? ticket : slots.tail(move.slot).points[t]};
      addPending(pool, move.spare, after);
      range.block = move.to;
      std::fill(std::begin(slots.tail(move.slot).points), std::end(slots.tail(move.slot).points),
                0);
      slots.tail(move.slot).points[0] = ticket;
      range.place.store(move.newPlace, std::memory_order_release);
      movedBytes.fetch_add(move.sizeBytes, std::memory_order_relaxed);
      if (isObserved())
        noteElsewhere(HeapEvent::Type::kMove, move.slot);
    } else {
      pool.tlsf.free(move.to);
      giveSlot(cache, move.spare);
    }
    unlockSlot(move.slot);
  }
}

// Of a slab's buffers, without what is pending or at hand. Under the pool's lock.
uint64_t HeapImpl::livingBytesOf(const Pool &pool, uint32_t slab) const {
  uint64_t bytes = 0;
  for (uint32_t block = pool.tlsf.firstOf(slab); block != kNone; block = pool.tlsf.nextOf(block))
    if (const Tlsf::Range range = pool.tlsf.at(block);
        range.used && referencesOf(slots[range.user].state.load()) != 0)
      bytes += range.size;
  return bytes;
}

// Moves a part of one victim; result->more tells whether it made progress worth another call.
HeapCode HeapImpl::movePart(Pool &pool, uint32_t victim, ThreadCache &cache, uint64_t maxBytes,
                            CompactResult *result) {
  uint32_t count = 0;
  {
    const Locked locked(pool.lock);
    pool.draining = victim;
    count = planMoves(pool, victim, cache, maxBytes);
  }
  if (count == 0 && noRoom && slabs[victim].passedOver != compactions) {
    // No range elsewhere is large enough: a slab of exactly what is left saves the rest.
    uint64_t used = 0;
    {
      const Locked locked(pool.lock);
      used = livingBytesOf(pool, victim);
    }
    const uint64_t tight = Retention::round(used);
    BufferRequest request;
    request.kind = static_cast<MemoryKind>(pool.kind);
    request.sizeBytes = tight;
    Found found;
    if (tight != 0 && tight + slabs[victim].sizeBytes / 8 <= slabs[victim].sizeBytes &&
        grow(pool, request, kNone, 0, &found) == HeapCode::kOk) {
      const Locked locked(pool.lock);
      count = planMoves(pool, victim, cache, maxBytes);
    }
  }
  if (count == 0 && sliceEnded && result->movedBytes != 0) {
    result->more = true;
    return HeapCode::kOk;
  }
  if (count == 0) {
    slabs[victim].passedOver = compactions;
    const Locked locked(pool.lock);
    pool.draining = kNone;
    return HeapCode::kOk;
  }
  uint64_t ticket = 0;
  const HeapCode code = submitMoves(count, &ticket);
  const Locked locked(pool.lock);
  for (uint32_t i = 0; i < count && code == HeapCode::kOk; ++i)
    result->movedBytes += moves[i].sizeBytes;
  finishMoves(pool, count, ticket, code == HeapCode::kOk, cache);
  return code;
}

HeapCode HeapImpl::compactLocked(uint64_t maxBytes, CompactResult *result) {
  ThreadCache *cache = cacheOfThread();
  if (cache == nullptr)
    return HeapCode::kHostExhausted;
  if (const HeapCode code = refreshCompleted(); code != HeapCode::kOk)
    return code;
  reclaimAll();
  result->freedBytes += releaseEmpty(0);
  for (Pool *pool : pools) {
    for (uint32_t i = 0; i < kVictimsPerCall; ++i) {
      uint32_t victim = kNone;
      {
        const Locked locked(pool->lock);
        victim = chooseVictim(*pool);
      }
      if (victim == kNone)
        break;
      if (result->movedBytes >= maxBytes) {
        result->more = true;
        break;
      }
      const uint64_t before = result->movedBytes;
      const HeapCode code = movePart(*pool, victim, *cache, maxBytes - result->movedBytes, result);
      if (code == HeapCode::kBusy) { // as many copies are in flight as there may be
        result->more = true;
        return HeapCode::kOk;
      }
      if (code != HeapCode::kOk)
        return code;
      if (result->movedBytes == before && sliceEnded && before != 0)
        break; // the next block is too large for what is left of this slice
      if (result->movedBytes > before) {
        result->more = true; // its slab goes back when the copies have passed
        if (refreshCompleted() == HeapCode::kOk)
          reclaimAll();
        result->freedBytes += releaseEmpty(0);
      }
    }
  }
  freedSincePass = freedSincePass || result->freedBytes != 0;
  if (!result->more) {
    ++compactions;                 // what was passed over may be tried again
    result->more = freedSincePass; // what is left lies otherwise now
    freedSincePass = false;
  }
  return HeapCode::kOk;
}

HeapCode Heap::compact(uint64_t maxBytes, CompactResult *result) {
  HeapImpl &heap = HeapImpl::of(*this);
  CompactResult mine;
  CompactResult &out = result == nullptr ? mine : *result;
  out = {};
  heap.attention.fetch_add(2, std::memory_order_relaxed);
  if (ThreadCache *cache = heap.cacheOfThread(); cache != nullptr)
    heap.flushAll(*cache);
  const Locked locked(heap.growth);
  for (KindTotals &kind : heap.totals)
    kind.retention.forget();
  return heap.compactLocked(maxBytes, &out);
}

} // namespace gantry::heap
