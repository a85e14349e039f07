// Implements Spill.
#include "engine/heap/extras/spill.h"

#include "engine/heap/extras/device_copies.h"

namespace gantry::heap {
namespace {

// Whether work on the timelines from firstTimeline on may still use the record's range.
bool isInUse(HeapComponents &components, const BufferRecord &record, uint32_t index,
             uint32_t firstTimeline) {
  if ((record.flags & kHasPoints) == 0)
    return false;
  const RecordTail &tail = components.handles.tail(index);
  for (uint32_t t = firstTimeline; t < kMaxTimelines; ++t)
    if (tail.points[t] > components.timelines.completed(t))
      return true;
  return false;
}

} // namespace

Spill::Spill(Heap &heap, When when) : heap_(heap), copies_(heap.components().options.host) {
  HeapComponents &components = heap.components();
  const Locked locked(components.growth.lock());
  components.environment.absent = {
      [](void *user, BufferHandle buffer) { return static_cast<Spill *>(user)->restore(buffer); },
      [](void *user, BufferHandle buffer) {
        auto *self = static_cast<Spill *>(user);
        self->freeCopy(self->takeOut(buffer));
      },
      this};
  step_ = {[](void *user, const Pressure &pressure) {
             return static_cast<Spill *>(user)->spillForPressure(pressure);
           },
           this};
  if (when == When::kUnderPressure)
    components.growth.addStep(step_);
}

Spill::~Spill() {
  HeapComponents &components = heap_.components();
  const Locked locked(components.growth.lock());
  components.growth.removeStep(step_);
  components.environment.absent = {};
  for (const Copy &copy : copies_)
    freeCopy(copy);
}

// ---- the copies --------------------------------------------------------------------------------

bool Spill::keep(const Copy &copy) {
  const Locked locked(lock_);
  return copies_.pushBack(copy);
}

// Removes the buffer's copy from the table and returns it; data is nullptr if there is none.
Spill::Copy Spill::takeOut(BufferHandle buffer) {
  const Locked locked(lock_);
  for (Copy &entry : copies_)
    if (entry.buffer == buffer) {
      const Copy copy = entry;
      entry = copies_.back();
      copies_.popBack();
      return copy;
    }
  return {};
}

void Spill::freeCopy(const Copy &copy) {
  if (copy.data == nullptr)
    return;
  const HostAllocator &host = heap_.components().options.host;
  host.free(host.user, copy.data, copy.sizeBytes);
  spilledBytes_ -= copy.sizeBytes;
}

// ---- claims ------------------------------------------------------------------------------------

// Marks the buffer as moving. After kOk, and until endClaim(), no other thread pins the buffer, or
// moves or frees its range.
HeapCode Spill::claim(BufferHandle buffer) {
  HeapComponents &components = heap_.components();
  Arena *arena = components.handles.ownerOf(buffer);
  if (arena == nullptr)
    return HeapCode::kForeignHandle;
  ArenaAccess access(*arena);
  BufferRecord &record = access.record(indexOf(buffer));
  if (record.generation != generationOf(buffer) || record.references == 0)
    return HeapCode::kStaleHandle;
  if ((record.flags & kSpillable) == 0)
    return HeapCode::kInvalidArgument;
  if ((record.flags & kMoving) != 0 || components.handles.tail(indexOf(buffer)).pins != 0)
    return HeapCode::kBusy;
  record.flags |= kMoving;
  return HeapCode::kOk;
}

// Ends a claim. If the buffer was released meanwhile, its range is freed now.
void Spill::endClaim(BufferHandle buffer) {
  ArenaAccess access(*heap_.components().handles.ownerOf(buffer));
  BufferRecord &record = access.record(indexOf(buffer));
  record.flags &= static_cast<uint16_t>(~kMoving);
  if (record.references == 0)
    access.finishRelease(indexOf(buffer));
}

// ---- spilling ----------------------------------------------------------------------------------

HeapCode Spill::spill(BufferHandle buffer) {
  const Locked locked(heap_.components().growth.lock());
  if (const HeapCode code = claim(buffer); code != HeapCode::kOk)
    return code;
  const HeapCode code = spillClaimed(buffer);
  endClaim(buffer);
  return code;
}

HeapCode Spill::spillClaimed(BufferHandle buffer) {
  HeapComponents &components = heap_.components();
  Arena &arena = *components.handles.ownerOf(buffer);
  const uint32_t index = indexOf(buffer);
  if (components.slabs.device().isLost())
    return HeapCode::kDeviceLost;
  uint64_t place = kNoPlace;
  uint64_t sizeBytes = 0;
  {
    ArenaAccess access(arena);
    place = access.placeOf(index);
    sizeBytes = access.record(index).sizeBytes;
    // The copy waits for timeline 0, the device's own, so only the others are checked.
    if (place != kNoPlace && isInUse(components, access.record(index), index, 1))
      return HeapCode::kBusy;
  }
  if (place == kNoPlace)
    return HeapCode::kOk;
  const HostAllocator &host = components.options.host;
  const Copy copy{buffer, static_cast<uint8_t *>(host.allocate(host.user, sizeBytes)), sizeBytes};
  if (copy.data == nullptr)
    return HeapCode::kHostExhausted;
  spilledBytes_ += sizeBytes;
  HeapCode code = copyWithHost(components, *components.slabs[slabOf(place)].memory, offsetOf(place),
                               copy.data, sizeBytes, true);
  if (code == HeapCode::kOk)
    code = components.growth.refreshCompleted();
  if (code == HeapCode::kOk && !keep(copy))
    code = HeapCode::kHostExhausted;
  if (code != HeapCode::kOk) {
    freeCopy(copy);
    return code;
  }
  ArenaAccess access(arena);
  BufferRecord &record = access.record(index);
  if (record.references == 0) { // The buffer was released meanwhile; endClaim() frees the range.
    freeCopy(takeOut(buffer));
    return HeapCode::kOk;
  }
  if (isInUse(components, record, index, 0)) { // freeAfter() was called meanwhile.
    freeCopy(takeOut(buffer));
    return HeapCode::kBusy;
  }
  access.tell(HeapEvent::Type::kSpill, index, buffer);
  access.pool(record.pool).tlsf.free(record.block);
  record.block = kNone;
  return HeapCode::kOk;
}

// Spills one spillable buffer of pressure.kind: the smallest that has at least pressure.sizeBytes
// bytes, or else the largest. Returns kExhausted if there is none, or if it is in use by then.
HeapCode Spill::spillForPressure(const Pressure &pressure) {
  HeapComponents &components = heap_.components();
  BufferHandle best;
  uint64_t bestBytes = 0;
  components.arenas.any(pressure.kind, [&](Arena &arena) {
    ArenaAccess access(arena);
    for (uint32_t i = 0; i < components.handles.count(); ++i) {
      if (&components.handles.arenaOf(i) != &arena)
        continue;
      const BufferRecord &record = access.record(i);
      const bool better = bestBytes < pressure.sizeBytes ? record.sizeBytes > bestBytes
                                                         : record.sizeBytes < bestBytes;
      if (record.references == 0 || (record.flags & kSpillable) == 0 ||
          (record.flags & kMoving) != 0 || record.block == kNone ||
          components.handles.tail(i).pins != 0 || isInUse(components, record, i, 1) || !better ||
          (bestBytes >= pressure.sizeBytes && record.sizeBytes < pressure.sizeBytes))
        continue;
      best = components.handles.handle(i);
      bestBytes = record.sizeBytes;
    }
    return false;
  });
  if (!best || claim(best) != HeapCode::kOk)
    return HeapCode::kExhausted;
  const HeapCode code = spillClaimed(best);
  endClaim(best);
  return code;
}

// ---- restoring ---------------------------------------------------------------------------------

HeapCode Spill::restore(BufferHandle buffer) {
  Placement placement;
  if (const HeapCode known = heap_.resolve(buffer, &placement); known != HeapCode::kBusy)
    return known;
  const Locked locked(heap_.components().growth.lock());
  if (claim(buffer) != HeapCode::kOk)
    return heap_.resolve(buffer, &placement); // restored or released meanwhile
  const HeapCode code = restoreClaimed(buffer);
  endClaim(buffer);
  return code;
}

// Restores a claimed buffer. The copy is removed from the table first, so that a release of the
// buffer meanwhile does not free the copy while it is read.
HeapCode Spill::restoreClaimed(BufferHandle buffer) {
  HeapComponents &components = heap_.components();
  Arena &arena = *components.handles.ownerOf(buffer);
  const uint32_t index = indexOf(buffer);
  BufferRequest request;
  {
    ArenaAccess access(arena);
    const BufferRecord &record = access.record(index);
    if (record.block != kNone)
      return HeapCode::kOk;
    request.sizeBytes = record.sizeBytes;
    request.alignment = uint64_t{1} << record.alignmentLog2;
    request.kind = static_cast<MemoryKind>(arena.kind());
    request.dedicated = record.pool == kDedicatedPool;
  }
  const Copy copy = takeOut(buffer);
  if (copy.data == nullptr)
    return HeapCode::kStaleHandle;
  HeapCode code = components.growth.attach(arena, index, request);
  if (code == HeapCode::kOk) {
    const uint64_t place = arena.place(index);
    code = copyWithHost(components, *components.slabs[slabOf(place)].memory, offsetOf(place),
                        copy.data, copy.sizeBytes, false);
  }
  ArenaAccess access(arena);
  BufferRecord &record = access.record(index);
  const bool live = record.references != 0;
  if (code != HeapCode::kOk && record.block != kNone) {
    access.pool(record.pool).tlsf.free(record.block);
    record.block = kNone;
  }
  if (code == HeapCode::kOk || !live || !keep(copy))
    freeCopy(copy);
  if (code == HeapCode::kOk && live)
    access.tell(HeapEvent::Type::kRestore, index, buffer);
  return code;
}

} // namespace gantry::heap
