// An arena: the buffers of one memory kind (MemoryKind) that one thread allocates, with their
// records, pools and counters, all under one lock.
//
// In engine/heap, "arena" has this meaning, as in thread-caching allocators. Elsewhere in the
// project an arena is the memory of a program's temporary tensors (docs/design.md).
//
// Each thread has an arena of its own for each memory kind while at most 16 threads of the process
// use heaps; more threads share arenas (arena_table.h). The lock is therefore nearly always free. A
// buffer stays in the arena that made it. A thread that releases the buffer takes that arena's
// lock, even if it has another arena. Each operation changes the state of one arena, under its
// lock, and uses only the shared state of the heap that "Threads" lists.
//
//   allocate   1. Take a range from the size classes (size_classes.h).
//              2. Else take a range from the pool that serves the size (tlsf.h).
//              3. Else, for the small pool, give the ranges in the size classes back to their
//                 pools and repeat step 2.
//              4. Else return kExhausted; Heap::allocate() then calls Growth.
//   release    While work may still use the range, add it to the pending releases
//              (pending_releases.h). Else put it into the size classes, up to a limit, or free it
//              to the pool.
//
// Ownership: the pools identify slabs by number; SlabTable owns the slabs' memory.
// Threads: any. While it holds its lock, an arena uses nothing outside of the arena except the host
// allocator, the handle table (which takes its own lock to add records), HeapEvents (observer and
// trace, under the lock of HeapEvents), AbsentStorage::forget, and, without a further lock,
// Timelines, KindTotals and ArenaEnvironment::closing, which is atomic.
// Errors: HeapCode; a failed call changes no live buffer. Units: bytes.
#pragma once

#include "engine/heap/counters.h"
#include "engine/heap/handle_table.h"
#include "engine/heap/heap_events.h"
#include "engine/heap/pending_releases.h"
#include "engine/heap/size_classes.h"
#include "engine/base/tlsf.h"

namespace gantry::heap {

/// The pools of an arena. Each has slabs of its own for buffers of similar sizes, so that a small
/// buffer does not keep a long slab from becoming empty. Exception: a small buffer may lie in a
/// short gap of the large pool (Arena::allocateInGap).
enum PoolIndex : uint8_t {
  kSmallPool,    // Up to 64 KiB.
  kLargePool,    // Up to 16 MiB.
  kHugePool,     // Above 16 MiB.
  kDedicatedPool // One slab for each buffer; any size.
};
inline constexpr uint32_t kPools = 4;
inline constexpr uint64_t kMaxLargeBytes = 16 << 20;
/// The pool that serves a request.
PoolIndex poolFor(const BufferRequest &request);

struct Pool {
  explicit Pool(const HostAllocator &host) : tlsf({kGranuleLog2, host}) {}
  Tlsf tlsf; // Its regions are slabs; a region has its slab's number.
  // The slab that compaction (extras/compaction.h) is emptying, or kNone. Allocations use it only
  // if no other slab has room.
  uint32_t avoidedSlab = kNone;
};

/// The callbacks of the object that keeps the contents of live buffers without storage: spilled
/// buffers (extras/spill.h). If they are nullptr, every live buffer has storage.
struct AbsentStorage {
  /// Gives such a buffer storage and its contents again; takes the growth lock (growth.h).
  HeapCode (*restore)(void *user, BufferHandle buffer) = nullptr;
  /// Discards the contents of such a buffer when it is released. Called under the lock of the
  /// buffer's arena.
  void (*forget)(void *user, BufferHandle buffer) = nullptr;
  void *user = nullptr;
};

/// The state that all arenas of a heap share.
struct ArenaEnvironment {
  HandleTable &handles;
  Timelines &timelines;
  HeapEvents &events;
  const HeapOptions &options;
  std::span<KindTotals, kMemoryKinds> totals;
  AbsentStorage absent;
  std::atomic<bool> closing{false}; // Whether the release of the last buffer destroys the heap.
};

/// The counts of the buffers with one name in one arena.
struct NameCount {
  uint64_t liveBytes;
  uint64_t peakBytes;
  uint64_t buffers;
};

class Arena {
public:
  Arena(ArenaEnvironment &environment, uint8_t kind);

  /// Returns kOk, kExhausted if no range of this arena fits, or kHostExhausted.
  HeapCode allocate(const BufferRequest &request, BufferHandle *buffer);
  /// Like allocate(), but puts a small buffer into a gap between large buffers (a free range of the
  /// large pool) that is at most maxGapBytes long.
  HeapCode allocateInGap(const BufferRequest &request, uint64_t maxGapBytes, BufferHandle *buffer);
  /// Gives a range to the live buffer of record `index`, which has no storage (block is kNone). The
  /// codes are those of allocate().
  HeapCode attach(uint32_t index, const BufferRequest &request);

  HeapCode retain(BufferHandle buffer);
  /// Implements Heap::release(). Adds the points of `after` to those that the range waits for, also
  /// if other references remain. *closing: the last reference was released, and
  /// ArenaEnvironment::closing is set.
  HeapCode release(BufferHandle buffer, std::span<const TimelinePoint> after, bool *closing);
  /// Keeps the storage in use until the point has passed, even if the buffer is released earlier.
  HeapCode freeAfter(BufferHandle buffer, const TimelinePoint &point);
  bool isLive(BufferHandle buffer);
  /// Writes the index of the buffer's name, and its number of references.
  HeapCode describe(BufferHandle buffer, uint32_t *name, uint32_t *references);
  /// Writes the buffer's place (buffer_record.h) and requested size. Returns kBusy if the buffer
  /// has no storage.
  HeapCode locate(BufferHandle buffer, uint64_t *place, uint64_t *sizeBytes);
  /// Like locate(), and counts a pin if the buffer is movable or spillable. *ticket is the last
  /// submission that is known to use the storage, for example a copy into it; 0: none. *moving
  /// says whether the buffer is being moved, spilled or restored (RecordFlag kMoving). Returns
  /// kBusy, without a pin, if it is, or if the buffer has no storage.
  HeapCode pin(BufferHandle buffer, uint64_t *place, uint64_t *sizeBytes, uint64_t *ticket,
               bool *moving);
  /// Returns kInvalidArgument if a movable or spillable buffer is not pinned.
  HeapCode unpin(BufferHandle buffer);

  /// Frees the ranges of the size classes to their pools.
  void flush();
  /// Adds this arena's live bytes to the kind's totals, as far as they are not added yet
  /// (counters.h).
  void publishLive();
  /// Frees pending ranges whose points have passed (PendingReleases::findPassed).
  void reclaim();
  bool hasPending() const { return !pending_.isEmpty(); }

  /// Adds a slab to a pool. Returns false if the host has no memory.
  bool addSlab(PoolIndex pool, uint32_t slab, uint64_t sizeBytes);
  /// Removes an empty slab of minBytes to maxBytes from a pool and returns its number: the shortest
  /// slab of at least wantedBytes, else the longest. kNone if there is none, or if idleOnly is set
  /// and the pool has a used range.
  uint32_t takeEmptySlab(PoolIndex pool, uint64_t minBytes, uint64_t wantedBytes, uint64_t maxBytes,
                         bool idleOnly = false);
  uint64_t emptyBytes(PoolIndex pool) const { return pools_[pool].tlsf.emptyBytes(); }

  uint8_t kind() const { return kind_; }
  /// The place of a record's range; kNoPlace if it has none.
  uint64_t place(uint32_t index) {
    const Locked locked(lock_);
    return placeOf(handles_.record(index));
  }
  /// The same for a caller that holds the arena's lock by an ArenaAccess.
  uint64_t placeWhileLocked(const BufferRecord &record) { return placeOf(record); }

private:
  friend class ArenaAccess;

  BufferRecord *find(BufferHandle buffer);
  uint32_t takeRecord();
  bool addRecords();
  void giveRecord(uint32_t index);
  uint32_t takeCached(const BufferRequest &request);
  HeapCode takeFromPool(const BufferRequest &request, uint32_t *index);
  HeapCode takeBlock(PoolIndex pool, const BufferRequest &request, uint32_t index,
                     uint64_t maxGapBytes = UINT64_MAX);
  uint32_t takeWholeSlab(uint64_t sizeBytes, uint32_t index);
  BufferHandle begin(uint32_t index, const BufferRequest &request);
  void end(uint32_t index, BufferHandle buffer);
  bool countName(uint32_t name);
  void publish();
  void finishRelease(uint32_t index);
  void mergePoints(uint32_t index, std::span<const TimelinePoint> after);
  void addPending(uint32_t index);
  void removePending(uint32_t index);
  void freeRange(uint32_t index);
  void freeToPool(uint32_t index);
  void flushLocked();
  Pool &poolOf(const BufferRecord &record) { return pools_[record.pool]; }
  uint64_t rangeBytesOf(const BufferRecord &record) {
    return poolOf(record).tlsf.sizeOf(record.block);
  }
  uint64_t placeOf(const BufferRecord &record) {
    return record.block == kNone ? kNoPlace : poolOf(record).tlsf.placeOf(record.block);
  }

  SpinLock lock_;
  const uint8_t kind_;
  ArenaEnvironment &environment_;
  HandleTable &handles_;
  KindTotals &totals_;
  SizeClasses cached_;
  uint64_t cachedLimit_; // Limit of cached_.bytes().
  // For each chunk of this arena (handle_table.h) the index of its first record.
  HostArray<uint32_t> chunks_;
  IndexSet freeRecords_; // Numbers of free records (HandleTable::numberInArena).
  LiveCounter counter_;
  HostArray<NameCount> names_; // Indexed by NameId::index.
  PendingReleases pending_;
  Pool pools_[kPools];
};

/// Holds the lock of an arena during the life of the object, and gives access to the arena's state.
/// It serves statistics, snapshots, validation, and the clients in engine/heap/extras.
class ArenaAccess {
public:
  explicit ArenaAccess(Arena &arena) : arena_(arena), locked_(arena.lock_) {}

  Pool &pool(uint32_t index) { return arena_.pools_[index]; }
  const SizeClasses &cached() const { return arena_.cached_; }
  PendingReleases &pending() { return arena_.pending_; }
  const LiveCounter &counter() const { return arena_.counter_; }
  std::span<const NameCount> names() const { return {arena_.names_.begin(), arena_.names_.size()}; }
  HandleTable &handles() { return arena_.handles_; }
  BufferRecord &record(uint32_t index) { return arena_.handles_.record(index); }
  uint64_t placeOf(uint32_t index) { return arena_.placeOf(record(index)); }
  uint64_t rangeBytesOf(uint32_t index) { return arena_.rangeBytesOf(record(index)); }

  /// Takes a free record; kNone if the host has no memory.
  uint32_t takeRecord();
  /// Frees a record that has no range.
  void giveRecord(uint32_t index);
  /// Frees the range of a record without a live buffer, now or when the points of its RecordTail
  /// have passed, and then the record.
  void finishRelease(uint32_t index);
  /// Makes room for a name's count before begin(). Returns false if the host has no memory.
  bool countName(uint32_t name);
  /// Makes a record that has a range a live buffer, as the last step of an allocation.
  BufferHandle begin(uint32_t index, const BufferRequest &request);
  /// Sends an event of a buffer with its present place.
  void tell(HeapEvent::Type type, uint32_t index, BufferHandle handle);

private:
  Arena &arena_;
  const Locked<SpinLock> locked_;
};

} // namespace gantry::heap
