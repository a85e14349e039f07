// Implements Compaction.
#include "engine/heap/extras/compaction.h"

#include "engine/heap/extras/device_copies.h"

#include <algorithm>

namespace gantry::heap {
namespace {

constexpr uint32_t kMaxVictimsPerCall = 64; // Slabs that one call tries to empty in each pool.

} // namespace

Compaction::Compaction(Heap &heap)
    : heap_(heap), moves_(heap.components().options.host),
      passedOver_(heap.components().options.host) {
  const Locked locked(heap.components().growth.lock());
  step_ = {[](void *user, const Pressure &) {
             CompactResult result;
             const HeapCode code =
                 static_cast<Compaction *>(user)->compactLocked(UINT64_MAX, &result);
             return code != HeapCode::kOk    ? code
                    : result.movedBytes != 0 ? HeapCode::kOk
                                             : HeapCode::kExhausted;
           },
           this};
  heap.components().growth.addStep(step_);
}

Compaction::~Compaction() {
  HeapComponents &components = heap_.components();
  const Locked locked(components.growth.lock());
  components.growth.removeStep(step_);
  for (const CopyInFlight &copy : copies_) {
    if (copy.list != nullptr)
      (void)settle(components, copy.ticket); // returns at once if the device is lost
    delete copy.list;
  }
}

HeapCode Compaction::compact(uint64_t maxBytes, CompactResult *result) {
  CompactResult mine;
  CompactResult &out = result == nullptr ? mine : *result;
  out = {};
  HeapComponents &components = heap_.components();
  const Locked locked(components.growth.lock());
  // A call asks for a small heap. Without forget(), a kind that is "quick" (retention.h) could soon
  // reserve as many bytes as before.
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
    components.slabs.retention(kind).forget();
  return compactLocked(maxBytes, &out);
}

HeapCode Compaction::compactLocked(uint64_t maxBytes, CompactResult *result) {
  HeapComponents &components = heap_.components();
  if (const HeapCode code = components.growth.refreshCompleted(); code != HeapCode::kOk)
    return code;
  components.growth.reclaimAll();
  components.growth.flushAll();
  result->freedBytes += components.growth.releaseEmpty(0);
  HeapCode code = HeapCode::kOk;
  components.arenas.each([&](Arena &arena) {
    for (const uint32_t pool : {kHugePool, kLargePool, kSmallPool})
      if (code == HeapCode::kOk)
        code = compactPool(arena, pool, maxBytes, result);
  });
  if (code == HeapCode::kBusy) { // kMaxCopiesInFlight submissions are in flight
    result->more = true;
    return HeapCode::kOk;
  }
  if (code != HeapCode::kOk)
    return code;
  freedInPass_ = freedInPass_ || result->freedBytes != 0;
  if (!result->more) {
    ++pass_;                     // slabs that were passed over may be tried again
    result->more = freedInPass_; // a new pass may succeed if this one gave slabs back
    freedInPass_ = false;
  }
  return HeapCode::kOk;
}

HeapCode Compaction::compactPool(Arena &arena, uint32_t pool, uint64_t maxBytes,
                                 CompactResult *result) {
  HeapComponents &components = heap_.components();
  for (uint32_t i = 0; i < kMaxVictimsPerCall; ++i) {
    const uint32_t victim = chooseVictim(arena, pool);
    if (victim == kNone)
      return HeapCode::kOk;
    if (result->movedBytes >= maxBytes) {
      result->more = true;
      return HeapCode::kOk;
    }
    const uint64_t before = result->movedBytes;
    if (const HeapCode code = movePart(arena, pool, victim, maxBytes - before, result);
        code != HeapCode::kOk)
      return code;
    if (result->movedBytes == before && sliceEnded_ && before != 0)
      return HeapCode::kOk; // the next block is longer than the rest of maxBytes
    if (result->movedBytes > before) {
      result->more = true; // the slab goes back when the copies are done
      if (components.growth.refreshCompleted() == HeapCode::kOk)
        components.growth.reclaimAll();
      result->freedBytes += components.growth.releaseEmpty(0);
    }
  }
  return HeapCode::kOk;
}

// ---- victims -----------------------------------------------------------------------------------

bool Compaction::isPassedOver(uint32_t slab) const {
  return slab < passedOver_.size() && passedOver_[slab] == pass_;
}

void Compaction::passOver(uint32_t slab) { passedOver_[slab] = pass_; }

// Returns the slab to empty: the one that an earlier call began to empty, else the one with the
// smallest used fraction whose contents fit elsewhere (see the header). kNone if there is none.
uint32_t Compaction::chooseVictim(Arena &arena, uint32_t poolIndex) {
  SlabTable &slabs = heap_.components().slabs;
  if (passedOver_.size() < slabs.count() && !passedOver_.resize(slabs.count()))
    return kNone;
  ArenaAccess access(arena);
  Pool &pool = access.pool(poolIndex);
  if (pool.avoidedSlab != kNone) {
    if (pool.tlsf.usedBytesOf(pool.avoidedSlab) != 0 && !isPassedOver(pool.avoidedSlab))
      return pool.avoidedSlab;
    pool.avoidedSlab = kNone;
  }
  const uint64_t free = pool.tlsf.regionBytes() - pool.tlsf.usedBytes();
  uint32_t best = kNone;
  double bestRatio = 1;
  for (uint32_t i = 0; i < slabs.count(); ++i) {
    const Slab &slab = slabs[i];
    if (slab.memory == nullptr || slab.arena != &arena || slab.pool != poolIndex || isPassedOver(i))
      continue;
    const uint64_t used = pool.tlsf.usedBytesOf(i);
    const uint64_t tight = Retention::roundUp(used);
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

bool Compaction::holdsUnmovable(ArenaAccess &access, uint32_t poolIndex, uint32_t victim) {
  const Tlsf &tlsf = access.pool(poolIndex).tlsf;
  for (uint32_t block = tlsf.firstOf(victim); block != kNone; block = tlsf.nextOf(block)) {
    const Tlsf::Range range = tlsf.at(block);
    if (!range.used || access.record(range.user).references == 0)
      continue; // free, or the range of a released buffer, which becomes free without a move
    const uint16_t flags = access.record(range.user).flags;
    if ((flags & kMovable) == 0 || (flags & kMoving) != 0 ||
        heap_.components().handles.tail(range.user).pins != 0)
      return true;
  }
  return false;
}

// ---- moving ------------------------------------------------------------------------------------

// Fills moves_: allocates new blocks outside the victim for at most maxBytes of its buffers, and
// marks their records as moving. Returns the number of moves. If the victim holds a buffer that may
// not move, passes the victim over (does not try it again in this pass) and returns 0.
uint32_t Compaction::planMoves(Arena &arena, uint32_t poolIndex, uint32_t victim,
                               uint64_t maxBytes) {
  moves_.clear();
  sliceEnded_ = false;
  noRoom_ = false;
  ArenaAccess access(arena);
  Pool &pool = access.pool(poolIndex);
  pool.avoidedSlab = victim;
  if (holdsUnmovable(access, poolIndex, victim)) {
    passOver(victim);
    return 0;
  }
  uint64_t bytes = 0;
  uint32_t next = kNone;
  for (uint32_t block = pool.tlsf.firstOf(victim); block != kNone; block = next) {
    next = pool.tlsf.nextOf(block);
    const Tlsf::Range range = pool.tlsf.at(block);
    if (!range.used || access.record(range.user).references == 0)
      continue;
    if (range.size > maxBytes - bytes) {
      sliceEnded_ = true;
      break;
    }
    BufferRecord &record = access.record(range.user);
    const uint32_t spare = access.takeRecord();
    const uint32_t to = spare == kNone || !moves_.reserve(moves_.size() + 1)
                            ? kNone
                            : pool.tlsf.allocate(range.size, uint64_t{1} << record.alignmentLog2,
                                                 range.user, victim);
    if (to == kNone) {
      noRoom_ = spare != kNone && !pool.tlsf.hostExhausted();
      if (spare != kNone)
        access.giveRecord(spare);
      break;
    }
    record.flags |= kMoving;
    moves_.pushBackReserved({range.user, block, to, spare, pool.tlsf.placeOf(block),
                             pool.tlsf.placeOf(to), range.size});
    bytes += range.size;
  }
  return moves_.size();
}

// Submits one command list with the copies of moves_. Returns kBusy if kMaxCopiesInFlight lists are
// in flight.
HeapCode Compaction::submitMoves(uint64_t *ticket) {
  HeapComponents &components = heap_.components();
  CopyInFlight *free = nullptr;
  for (CopyInFlight &copy : copies_) {
    if (copy.list != nullptr && copy.ticket <= components.timelines.completed(0)) {
      delete copy.list;
      copy = {};
    }
    if (copy.list == nullptr)
      free = &copy;
  }
  if (free == nullptr)
    return HeapCode::kBusy;
  device::Device &device = components.slabs.device();
  Result<std::unique_ptr<device::CommandList>> made = device.createCommandList();
  if (!made.isOk())
    return components.slabs.codeOf(made.status());
  device::CommandList &list = **made;
  Status status = list.begin({});
  for (uint32_t i = 0; i < moves_.size() && status.isOk(); ++i) {
    const Move &move = moves_[i];
    status = list.copy(
        {components.slabs[slabOf(move.fromPlace)].memory, offsetOf(move.fromPlace), move.sizeBytes},
        *components.slabs[slabOf(move.toPlace)].memory, offsetOf(move.toPlace));
  }
  if (status.isOk())
    status = list.end();
  if (!status.isOk())
    return components.slabs.codeOf(status);
  const Result<uint64_t> submitted = device.submit(list);
  if (!submitted.isOk())
    return components.slabs.codeOf(submitted.status());
  *ticket = *submitted;
  *free = {made->release(), *submitted};
  return HeapCode::kOk;
}

// Ends the moves. If the copies were submitted (`moved`), each record gets its new block, and the
// old range becomes a pending release that waits for the copy. Otherwise the new blocks become free
// and the records are as before. Last, the present range of each buffer that was released meanwhile
// is freed, or becomes a pending release too.
void Compaction::finishMoves(Arena &arena, uint32_t poolIndex, uint64_t ticket, bool moved) {
  HeapComponents &components = heap_.components();
  ArenaAccess access(arena);
  Tlsf &tlsf = access.pool(poolIndex).tlsf;
  for (const Move &move : moves_) {
    BufferRecord &record = access.record(move.index);
    record.flags &= static_cast<uint16_t>(~kMoving);
    if (moved) {
      uint64_t(&points)[kMaxTimelines] = components.handles.tail(move.index).points;
      if ((record.flags & kHasPoints) == 0)
        std::fill(std::begin(points), std::end(points), 0);
      uint64_t(&oldPoints)[kMaxTimelines] = components.handles.tail(move.spare).points;
      std::copy(std::begin(points), std::end(points), oldPoints);
      oldPoints[0] = std::max(oldPoints[0], ticket);
      BufferRecord &old = access.record(move.spare);
      old.block = move.from;
      old.pool = record.pool;
      old.sizeClass = SizeClasses::kCount;
      old.flags = kHasPoints;
      tlsf.setUser(move.from, move.spare);
      access.finishRelease(move.spare);
      record.block = move.to;
      record.flags |= kHasPoints;
      std::fill(std::begin(points), std::end(points), 0);
      points[0] = ticket;
      movedBytes_ += move.sizeBytes;
      if (record.references != 0)
        access.tell(HeapEvent::Type::kMove, move.index, components.handles.handle(move.index));
    } else {
      tlsf.free(move.to);
      access.giveRecord(move.spare);
    }
    if (record.references == 0)
      access.finishRelease(move.index);
  }
}

// Adds a slab just large enough for the live buffers of the victim, if it is at least an eighth
// smaller than the victim. Returns whether it did.
bool Compaction::addTightSlab(Arena &arena, uint32_t poolIndex, uint32_t victim) {
  HeapComponents &components = heap_.components();
  uint64_t live = 0;
  {
    ArenaAccess access(arena);
    const Tlsf &tlsf = access.pool(poolIndex).tlsf;
    for (uint32_t block = tlsf.firstOf(victim); block != kNone; block = tlsf.nextOf(block))
      if (const Tlsf::Range range = tlsf.at(block);
          range.used && access.record(range.user).references != 0)
        live += range.size;
  }
  const uint64_t tight = Retention::roundUp(live);
  const uint64_t whole = components.slabs[victim].sizeBytes;
  return tight != 0 && tight + whole / 8 <= whole &&
         components.growth.addSlab(arena, static_cast<PoolIndex>(poolIndex), {}, tight) ==
             HeapCode::kOk;
}

// Moves at most maxBytes of the victim's buffers with one submission. If none can be moved, passes
// the victim over, unless earlier moves of the call leave too little of maxBytes.
HeapCode Compaction::movePart(Arena &arena, uint32_t pool, uint32_t victim, uint64_t maxBytes,
                              CompactResult *result) {
  uint32_t count = planMoves(arena, pool, victim, maxBytes);
  if (count == 0 && noRoom_ && !isPassedOver(victim) && addTightSlab(arena, pool, victim))
    count = planMoves(arena, pool, victim, maxBytes);
  if (count == 0 && sliceEnded_ && result->movedBytes != 0) {
    result->more = true;
    return HeapCode::kOk;
  }
  if (count == 0) {
    passOver(victim);
    ArenaAccess(arena).pool(pool).avoidedSlab = kNone;
    return HeapCode::kOk;
  }
  uint64_t ticket = 0;
  const HeapCode code = submitMoves(&ticket);
  for (uint32_t i = 0; i < count && code == HeapCode::kOk; ++i)
    result->movedBytes += moves_[i].sizeBytes;
  finishMoves(arena, pool, ticket, code == HeapCode::kOk);
  return code;
}

} // namespace gantry::heap
