// Implements Arena and ArenaAccess.
#include "engine/heap/arena.h"

#include "engine/base/align.h"

#include <algorithm>
#include <bit>

namespace gantry::heap {
namespace {

// The maximum number of ranges in the size classes of an arena. Their records, 128 KiB, fit into
// the L2 cache of a core. If a range's record is not in the cache, reusing the range is no faster
// than an allocation from the pool.
constexpr uint64_t kMaxCachedRanges = 4096;

} // namespace

Arena::Arena(ArenaEnvironment &environment, uint8_t kind)
    : kind_(kind), environment_(environment), handles_(environment.handles),
      totals_(environment.totals[kind]), cachedLimit_(environment.options.sizeClassBytes),
      chunks_(environment.options.host), freeRecords_(environment.options.host),
      names_(environment.options.host),
      pending_(environment.handles), pools_{Pool(environment.options.host),
                                            Pool(environment.options.host),
                                            Pool(environment.options.host),
                                            Pool(environment.options.host)} {}

PoolIndex poolFor(const BufferRequest &request) {
  if (request.dedicated)
    return kDedicatedPool;
  if (request.sizeBytes <= SizeClasses::kMaxBytes)
    return kSmallPool;
  return request.sizeBytes <= kMaxLargeBytes ? kLargePool : kHugePool;
}

// ---- records -----------------------------------------------------------------------------------

// Takes the free record with the lowest number, so that records in use lie close together in
// memory. kNone if the host has no memory for more records.
inline uint32_t Arena::takeRecord() {
  uint32_t number = freeRecords_.take(0);
  if (number == kNone) {
    if (!addRecords())
      return kNone;
    number = freeRecords_.take(0);
  }
  return chunks_[number / HandleTable::kChunkRecords] + number % HandleTable::kChunkRecords;
}

bool Arena::addRecords() {
  const uint32_t chunk = chunks_.size();
  const uint32_t number = chunk * HandleTable::kChunkRecords;
  if (!freeRecords_.reserve(number + HandleTable::kChunkRecords) || !chunks_.reserve(chunk + 1))
    return false;
  const uint32_t first = handles_.addChunk(*this, chunk);
  if (first == kNone)
    return false;
  chunks_.pushBackReserved(first);
  for (uint32_t i = 0; i < HandleTable::kChunkRecords; ++i)
    freeRecords_.add(number + i);
  return true;
}

// Frees a record. A record whose generations are used up is never taken again.
inline void Arena::giveRecord(uint32_t index) {
  BufferRecord &record = handles_.record(index);
  record.flags = 0;
  record.block = kNone;
  if (record.generation < kRetiredGeneration)
    freeRecords_.add(handles_.numberInArena(index));
}

// The record of a live buffer; nullptr if the handle is stale.
inline BufferRecord *Arena::find(BufferHandle buffer) {
  BufferRecord &record = handles_.record(indexOf(buffer));
  return record.generation == generationOf(buffer) && record.references != 0 ? &record : nullptr;
}

// ---- allocation --------------------------------------------------------------------------------

HeapCode Arena::allocate(const BufferRequest &request, BufferHandle *buffer) {
  const Locked locked(lock_);
  if (!countName(request.name.index))
    return HeapCode::kHostExhausted;
  uint32_t index = takeCached(request);
  if (index == kNone)
    if (const HeapCode code = takeFromPool(request, &index); code != HeapCode::kOk)
      return code;
  *buffer = begin(index, request);
  return HeapCode::kOk;
}

// Makes room for the name's count. Returns false if the host has no memory.
inline bool Arena::countName(uint32_t name) {
  return name < names_.size() || names_.resize(std::bit_ceil(name + 1));
}

// Takes a range, with its record, from the size classes; kNone if none fits. Ranges are aligned to
// 256 bytes, so a larger alignment is not served.
inline uint32_t Arena::takeCached(const BufferRequest &request) {
  if (request.sizeBytes > SizeClasses::kMaxBytes || request.alignment > 256 || request.dedicated)
    return kNone;
  return cached_.take(handles_, static_cast<uint32_t>(SizeClasses::classOf(request.sizeBytes)));
}

// Takes a record, and a block of the pool that serves the request. If the small pool has no room,
// one range of the size classes that is long enough is freed to its pool. If this does not help,
// all ranges of the size classes are freed, because neighbours may merge to the required length.
HeapCode Arena::takeFromPool(const BufferRequest &request, uint32_t *index) {
  const PoolIndex pool = poolFor(request);
  *index = takeRecord();
  if (*index == kNone)
    return HeapCode::kHostExhausted;
  HeapCode code = takeBlock(pool, request, *index);
  if (code == HeapCode::kExhausted && pool == kSmallPool && cached_.ranges() != 0) {
    const auto needed = static_cast<uint32_t>(SizeClasses::classOf(request.sizeBytes));
    if (const uint32_t longer = cached_.takeAny(handles_, needed); longer != kNone) {
      freeToPool(longer);
      code = takeBlock(pool, request, *index);
    }
    if (code == HeapCode::kExhausted) {
      flushLocked();
      code = takeBlock(pool, request, *index);
    }
  }
  if (code != HeapCode::kOk)
    giveRecord(*index);
  return code;
}

// Allocates a block of the pool for a record. Uses the pool's avoided slab only if no other slab
// has room. If maxGapBytes is not UINT64_MAX, allocates only if the free range that the pool finds
// is at most maxGapBytes long, and never in the avoided slab.
HeapCode Arena::takeBlock(PoolIndex poolIndex, const BufferRequest &request, uint32_t index,
                          uint64_t maxGapBytes) {
  Pool &pool = pools_[poolIndex];
  uint32_t block = kNone;
  if (poolIndex == kDedicatedPool) {
    block = takeWholeSlab(request.sizeBytes, index);
  } else {
    block = pool.tlsf.allocate(request.sizeBytes, request.alignment, index, pool.avoidedSlab,
                               maxGapBytes);
    if (block == kNone && pool.avoidedSlab != kNone && maxGapBytes == UINT64_MAX)
      block = pool.tlsf.allocate(request.sizeBytes, request.alignment, index);
  }
  if (block == kNone)
    return pool.tlsf.hostExhausted() ? HeapCode::kHostExhausted : HeapCode::kExhausted;
  BufferRecord &record = handles_.record(index);
  record.block = block;
  record.pool = poolIndex;
  record.sizeClass = request.sizeBytes <= SizeClasses::kMaxBytes && poolIndex != kDedicatedPool
                         ? static_cast<uint16_t>(SizeClasses::classOf(request.sizeBytes))
                         : SizeClasses::kCount;
  return HeapCode::kOk;
}

// Allocates the whole of an empty dedicated slab. The slab may be longer than needed by an eighth,
// or by less than 64 KiB if that is more. kNone if there is no such slab.
uint32_t Arena::takeWholeSlab(uint64_t sizeBytes, uint32_t index) {
  Tlsf &tlsf = pools_[kDedicatedPool].tlsf;
  for (uint32_t slab = tlsf.nextEmpty(0); slab != kNone; slab = tlsf.nextEmpty(slab + 1)) {
    const uint64_t bytes = tlsf.sizeOfRegion(slab);
    if (bytes >= sizeBytes && bytes - sizeBytes <= std::max<uint64_t>(sizeBytes / 8, 65535))
      return tlsf.allocateRegion(slab, index);
  }
  return kNone;
}

// Turns a record that has a range into a live buffer and returns the handle; the last step of every
// allocation. The caller has made room for the name's count (countName).
inline BufferHandle Arena::begin(uint32_t index, const BufferRequest &request) {
  BufferRecord &record = handles_.record(index);
  record.sizeBytes = request.sizeBytes;
  record.references = 1;
  record.name = static_cast<uint16_t>(request.name.index);
  record.alignmentLog2 = static_cast<uint8_t>(
      std::countr_zero(std::max(request.alignment, uint64_t{1} << kGranuleLog2)));
  record.flags =
      static_cast<uint16_t>((record.flags & kHasPoints) | (request.movable ? kMovable : 0) |
                            (request.spillable ? kSpillable : 0));
  if (record.flags != 0)
    handles_.tail(index).pins = 0;
  if (counter_.add(request.sizeBytes))
    publish();
  NameCount &count = names_[request.name.index];
  count.liveBytes += request.sizeBytes;
  count.peakBytes = std::max(count.peakBytes, count.liveBytes);
  ++count.buffers;
  const BufferHandle handle = handles_.handle(index);
  if (environment_.events.isObserved())
    environment_.events.buffer(HeapEvent::Type::kAllocate, handle, placeOf(record),
                               record.sizeBytes, record.name, kind_);
  return handle;
}

HeapCode Arena::allocateInGap(const BufferRequest &request, uint64_t maxGapBytes,
                              BufferHandle *buffer) {
  const Locked locked(lock_);
  if (!countName(request.name.index))
    return HeapCode::kHostExhausted;
  const uint32_t index = takeRecord();
  if (index == kNone)
    return HeapCode::kHostExhausted;
  const HeapCode code = takeBlock(kLargePool, request, index, maxGapBytes);
  if (code == HeapCode::kOk)
    *buffer = begin(index, request);
  else
    giveRecord(index);
  return code;
}

HeapCode Arena::attach(uint32_t index, const BufferRequest &request) {
  const Locked locked(lock_);
  return takeBlock(poolFor(request), request, index);
}

// Updates the totals, and the limit on the bytes in the size classes. There is a limit because
// other arenas cannot use these ranges. The limit is HeapOptions::sizeClassBytes, or the kind's
// reserved bytes divided by its number of arenas if that is more. If the option is 0, the limit is
// 0 too.
void Arena::publish() {
  counter_.publish(totals_);
  if (environment_.options.sizeClassBytes != 0)
    cachedLimit_ = std::max(environment_.options.sizeClassBytes,
                            totals_.reserved.load(std::memory_order_relaxed) /
                                totals_.arenas.load(std::memory_order_relaxed));
}

// ---- release -----------------------------------------------------------------------------------

HeapCode Arena::retain(BufferHandle buffer) {
  const Locked locked(lock_);
  BufferRecord *record = find(buffer);
  if (record == nullptr)
    return HeapCode::kStaleHandle;
  if (record->references == kMaxReferences)
    return HeapCode::kInvalidArgument;
  ++record->references;
  return HeapCode::kOk;
}

HeapCode Arena::release(BufferHandle buffer, std::span<const TimelinePoint> after, bool *closing) {
  const Locked locked(lock_);
  BufferRecord *record = find(buffer);
  if (record == nullptr)
    return HeapCode::kStaleHandle;
  const uint32_t index = indexOf(buffer);
  if (!after.empty())
    mergePoints(index, after);
  if (--record->references != 0)
    return HeapCode::kOk;
  end(index, buffer);
  *closing = environment_.closing.load(std::memory_order_relaxed);
  if ((record->flags & kMoving) == 0) // Otherwise the relocation frees the range when it ends.
    finishRelease(index);
  return HeapCode::kOk;
}

// Ends a buffer whose last reference is gone: sends the event, makes the handle stale and updates
// the counts. The range is not freed yet.
inline void Arena::end(uint32_t index, BufferHandle buffer) {
  BufferRecord &record = handles_.record(index);
  if (environment_.events.isObserved())
    environment_.events.buffer(HeapEvent::Type::kRelease, buffer, placeOf(record), record.sizeBytes,
                               record.name, kind_);
  if (record.block == kNone && environment_.absent.forget != nullptr)
    environment_.absent.forget(environment_.absent.user, buffer);
  ++record.generation;
  NameCount &count = names_[record.name];
  count.liveBytes -= record.sizeBytes;
  --count.buffers;
  if (counter_.remove(record.sizeBytes))
    publish();
}

// Frees the range, or makes it a pending release if its points have not passed.
inline void Arena::finishRelease(uint32_t index) {
  const BufferRecord &record = handles_.record(index);
  if (record.block == kNone)
    giveRecord(index);
  else if ((record.flags & kHasPoints) == 0 ||
           environment_.timelines.passed(handles_.tail(index).points))
    freeRange(index);
  else
    addPending(index);
}

// Puts a range into its size class, or frees it to its pool if it has no class, if the size classes
// are full, or if its record is retired (buffer_record.h).
inline void Arena::freeRange(uint32_t index) {
  BufferRecord &record = handles_.record(index);
  if (record.sizeClass == SizeClasses::kCount ||
      cached_.bytes() + SizeClasses::bytesOf(record.sizeClass) > cachedLimit_ ||
      cached_.ranges() == kMaxCachedRanges || record.generation >= kRetiredGeneration) {
    freeToPool(index);
    return;
  }
  record.flags = kCached;
  cached_.push(handles_, index);
}

// Frees a range to its pool, and its record.
inline void Arena::freeToPool(uint32_t index) {
  const BufferRecord &record = handles_.record(index);
  poolOf(record).tlsf.free(record.block);
  giveRecord(index);
}

void Arena::flushLocked() {
  for (uint32_t index; (index = cached_.takeAny(handles_, 0)) != kNone;)
    freeToPool(index);
}

void Arena::flush() {
  const Locked locked(lock_);
  flushLocked();
}

void Arena::publishLive() {
  const Locked locked(lock_);
  publish();
}

// ---- pending releases --------------------------------------------------------------------------

// Makes the record wait for these points, in addition to the points that it has.
void Arena::mergePoints(uint32_t index, std::span<const TimelinePoint> after) {
  BufferRecord &record = handles_.record(index);
  RecordTail &tail = handles_.tail(index);
  if ((record.flags & kHasPoints) == 0)
    std::fill(std::begin(tail.points), std::end(tail.points), 0);
  record.flags |= kHasPoints;
  for (const TimelinePoint &point : after)
    tail.points[point.timeline] = std::max(tail.points[point.timeline], point.value);
}

HeapCode Arena::freeAfter(BufferHandle buffer, const TimelinePoint &point) {
  const Locked locked(lock_);
  if (find(buffer) == nullptr)
    return HeapCode::kStaleHandle;
  mergePoints(indexOf(buffer), {&point, 1});
  return HeapCode::kOk;
}

void Arena::addPending(uint32_t index) {
  pending_.add(index, rangeBytesOf(handles_.record(index)));
}

void Arena::removePending(uint32_t index) {
  pending_.remove(index, rangeBytesOf(handles_.record(index)));
}

void Arena::reclaim() {
  const Locked locked(lock_);
  for (uint32_t i; (i = pending_.findPassed(environment_.timelines)) != kNone;) {
    removePending(i);
    freeToPool(i);
  }
}

// ---- places and pins ---------------------------------------------------------------------------

bool Arena::isLive(BufferHandle buffer) {
  const Locked locked(lock_);
  return find(buffer) != nullptr;
}

HeapCode Arena::describe(BufferHandle buffer, uint32_t *name, uint32_t *references) {
  const Locked locked(lock_);
  const BufferRecord *record = find(buffer);
  if (record == nullptr)
    return HeapCode::kStaleHandle;
  *name = record->name;
  *references = record->references;
  return HeapCode::kOk;
}

HeapCode Arena::locate(BufferHandle buffer, uint64_t *place, uint64_t *sizeBytes) {
  const Locked locked(lock_);
  const BufferRecord *record = find(buffer);
  if (record == nullptr)
    return HeapCode::kStaleHandle;
  *place = placeOf(*record);
  *sizeBytes = record->sizeBytes;
  return *place == kNoPlace ? HeapCode::kBusy : HeapCode::kOk;
}

HeapCode Arena::pin(BufferHandle buffer, uint64_t *place, uint64_t *sizeBytes, uint64_t *ticket,
                    bool *moving) {
  const Locked locked(lock_);
  const BufferRecord *record = find(buffer);
  if (record == nullptr)
    return HeapCode::kStaleHandle;
  *moving = (record->flags & kMoving) != 0;
  *ticket = 0;
  *place = placeOf(*record);
  *sizeBytes = record->sizeBytes;
  if (*moving || *place == kNoPlace)
    return HeapCode::kBusy;
  RecordTail &tail = handles_.tail(indexOf(buffer));
  if ((record->flags & kHasPoints) != 0)
    *ticket = tail.points[0];
  if ((record->flags & (kMovable | kSpillable)) != 0)
    ++tail.pins;
  return HeapCode::kOk;
}

HeapCode Arena::unpin(BufferHandle buffer) {
  const Locked locked(lock_);
  const BufferRecord *record = find(buffer);
  if (record == nullptr)
    return HeapCode::kStaleHandle;
  if ((record->flags & (kMovable | kSpillable)) == 0)
    return HeapCode::kOk;
  RecordTail &tail = handles_.tail(indexOf(buffer));
  if (tail.pins == 0)
    return HeapCode::kInvalidArgument;
  --tail.pins;
  return HeapCode::kOk;
}

// ---- slabs -------------------------------------------------------------------------------------

bool Arena::addSlab(PoolIndex pool, uint32_t slab, uint64_t sizeBytes) {
  const Locked locked(lock_);
  return pools_[pool].tlsf.addRegion(slab, sizeBytes);
}

uint32_t Arena::takeEmptySlab(PoolIndex pool, uint64_t minBytes, uint64_t wantedBytes,
                              uint64_t maxBytes, bool idleOnly) {
  Tlsf &tlsf = pools_[pool].tlsf;
  if (tlsf.emptyBytes() < minBytes || tlsf.emptyBytes() == 0)
    return kNone;
  const Locked locked(lock_);
  if (idleOnly && tlsf.usedBytes() != 0)
    return kNone;
  uint32_t best = kNone;
  uint64_t bestBytes = 0;
  for (uint32_t slab = tlsf.nextEmpty(0); slab != kNone; slab = tlsf.nextEmpty(slab + 1)) {
    const uint64_t bytes = tlsf.sizeOfRegion(slab);
    if (bytes >= minBytes && bytes <= maxBytes &&
        (best == kNone || (bestBytes < wantedBytes ? bytes > bestBytes
                                                   : bytes >= wantedBytes && bytes < bestBytes))) {
      best = slab;
      bestBytes = bytes;
    }
  }
  if (best == kNone || !tlsf.removeRegion(best))
    return kNone;
  if (pools_[pool].avoidedSlab == best)
    pools_[pool].avoidedSlab = kNone;
  return best;
}

bool ArenaAccess::countName(uint32_t name) { return arena_.countName(name); }
BufferHandle ArenaAccess::begin(uint32_t index, const BufferRequest &request) {
  return arena_.begin(index, request);
}
uint32_t ArenaAccess::takeRecord() { return arena_.takeRecord(); }
void ArenaAccess::giveRecord(uint32_t index) { arena_.giveRecord(index); }
void ArenaAccess::finishRelease(uint32_t index) { arena_.finishRelease(index); }

void ArenaAccess::tell(HeapEvent::Type type, uint32_t index, BufferHandle handle) {
  const BufferRecord &record = arena_.handles_.record(index);
  if (arena_.environment_.events.isObserved())
    arena_.environment_.events.buffer(type, handle, arena_.placeOf(record), record.sizeBytes,
                                      record.name, arena_.kind_);
}

} // namespace gantry::heap
