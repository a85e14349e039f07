// An arena: the buffers of one memory kind that one thread allocates, and everything that they need
// under one lock.
//
// Each thread has an arena of its own for each memory kind, as long as a heap has no more than
// kArenasPerKind threads; then threads share. The lock is therefore nearly always free. A buffer
// stays in the arena that made it: its record, its range and its counters are there, and whichever
// thread releases it takes that arena's lock. So an operation takes one lock and touches the state
// of one arena.
//
//   allocate   a range of the size classes (size_classes.h), else
//              a range of the pool (tlsf.h), else
//              the size classes go back to the pool and it is tried again; else kExhausted, and
//              the caller asks Growth
//   release    to the size classes up to a limit, else to the pool; or to the pending releases
//              (pending_releases.h) while work may still use the range
//
// Pools: sizes up to 64 KiB, larger sizes, and dedicated buffers have separate slabs.
// Ownership: the arena's Tlsf objects know slabs by number; SlabTable owns the memory.
// Threads: any. An arena calls nothing while it holds its lock but the observer, the handle table
// and the host allocator. Units: bytes.
#pragma once

#include "engine/heap/counters.h"
#include "engine/heap/handle_table.h"
#include "engine/heap/heap_events.h"
#include "engine/heap/pending_releases.h"
#include "engine/heap/size_classes.h"
#include "engine/base/tlsf.h"

namespace gantry::heap {

/// Pools are divided by the size of their buffers, so that a short buffer does not keep a long slab
/// from becoming empty. The sizes of a pool lie within a factor of 256.
enum PoolIndex : uint8_t {
  kSmallPool, // up to 64 KiB
  kLargePool, // up to 16 MiB
  kHugePool,
  kDedicatedPool // one slab for each buffer
};
inline constexpr uint32_t kPools = 4;
inline constexpr uint64_t kMaxLargeBytes = 16 << 20;
/// The pool that a request is served from.
PoolIndex poolFor(const BufferRequest &request);

struct Pool {
  explicit Pool(const HostAllocator &host) : tlsf({kGranuleLog2, host}) {}
  Tlsf tlsf;                 // its regions are slabs, by their numbers
  uint32_t draining = kNone; // a slab that is being emptied; nothing new goes there if possible
};

/// Buffers whose contents were taken away (spilling). Without one no buffer is ever spilled.
struct AbsentStorage {
  /// Brings the contents of a buffer back; takes the growth lock.
  HeapCode (*restore)(void *user, BufferHandle buffer) = nullptr;
  /// Forgets the contents of a buffer that was released; called under the lock of its arena.
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
  std::atomic<uint64_t> movedBytes{0};   // Bytes moved by relocations so far.
  std::atomic<uint64_t> spilledBytes{0}; // now on the host
  std::atomic<bool> closing{false};      // the heap ends with its last buffer
};

/// The buffers of one name in one arena.
struct NameCount {
  uint64_t liveBytes;
  uint64_t peakBytes;
  uint64_t buffers;
};

class Arena {
public:
  struct Outcome {
    bool emptied = false; // a slab has become empty, and the heap has watermarks
    bool closing = false; // a buffer has ended, and the heap ends with its last one
  };

  Arena(ArenaEnvironment &environment, uint8_t kind);

  /// kOk, kExhausted if no range of this arena fits, or kHostExhausted.
  HeapCode allocate(const BufferRequest &request, BufferHandle *buffer);
  /// The same for a small buffer from a gap between large ones that is at most maxGapBytes long.
  HeapCode allocateInGap(const BufferRequest &request, uint64_t maxGapBytes, BufferHandle *buffer);
  /// Gives a live buffer without storage (BufferRecord::block is kNone) a range again.
  HeapCode attach(uint32_t index, const BufferRequest &request);

  HeapCode retain(BufferHandle buffer);
  HeapCode release(BufferHandle buffer, std::span<const TimelinePoint> after, Outcome *outcome);
  /// The storage stays in use until the point has passed, whenever the buffer is released.
  HeapCode freeAfter(BufferHandle buffer, const TimelinePoint &point);
  bool isLive(BufferHandle buffer);
  /// kBusy if the buffer has no storage.
  HeapCode locate(BufferHandle buffer, uint64_t *place, uint64_t *sizeBytes);
  /// Counts a pin and locates the buffer. *moving: a relocation has it; nothing was done then.
  HeapCode pin(BufferHandle buffer, uint64_t *place, uint64_t *sizeBytes, uint64_t *ticket,
               bool *moving);
  HeapCode unpin(BufferHandle buffer);

  /// Gives the ranges of the size classes back to the pool.
  void flush();
  /// Adds this arena's changes to the kind's totals.
  void publishLive();
  /// Frees pending ranges whose points have passed.
  void reclaim();
  bool hasPending() const { return !pending_.isEmpty(); }

  /// The pool has the slab from now on; false if the host has no memory.
  bool addSlab(PoolIndex pool, uint32_t slab, uint64_t sizeBytes);
  /// Takes an empty slab of minBytes to maxBytes out of the pool: the smallest of at least
  /// wantedBytes, else the largest. kNone if there is none.
  uint32_t takeEmptySlab(PoolIndex pool, uint64_t minBytes, uint64_t wantedBytes,
                         uint64_t maxBytes);
  uint64_t emptyBytes(PoolIndex pool) const { return pools_[pool].tlsf.emptyBytes(); }

  uint8_t kind() const { return kind_; }
  /// The place of a record's range; kNoPlace without one.
  uint64_t place(uint32_t index) {
    const Locked locked(lock_);
    return placeOf(handles_.record(index));
  }
  /// The place of a live record's range, for a caller that holds the arena's lock by ArenaAccess.
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
  bool finishRelease(uint32_t index);
  void mergePoints(uint32_t index, std::span<const TimelinePoint> after);
  void addPending(uint32_t index);
  void removePending(uint32_t index);
  bool freeRange(uint32_t index);
  bool freeToPool(uint32_t index);
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
  uint64_t cachedLimit_;       // Limit of cached_.bytes().
  HostArray<uint32_t> chunks_; // the index of the first record of each chunk of this arena
  IndexSet freeRecords_;       // by number within the arena
  LiveCounter counter_;
  HostArray<NameCount> names_; // by NameId
  PendingReleases pending_;
  Pool pools_[kPools];
};

/// An arena's lock, held for the life of the object, with the arena's state: for statistics,
/// snapshots, validation and relocations.
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

  /// For relocations: a spare record (kNone without host memory), its return, and the release of a
  /// record's range when the points of its tail have passed.
  uint32_t takeRecord();
  void giveRecord(uint32_t index);
  void finishRelease(uint32_t index);
  /// The last steps of an allocation in a record that has a range: makes room for the name's count
  /// (false without host memory), and makes the buffer live.
  bool countName(uint32_t name);
  BufferHandle begin(uint32_t index, const BufferRequest &request);
  /// Tells of a buffer at the place where it is.
  void tell(HeapEvent::Type type, uint32_t index, BufferHandle handle);

private:
  Arena &arena_;
  const Locked<SpinLock> locked_;
};

} // namespace gantry::heap
