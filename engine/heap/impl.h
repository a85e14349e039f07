// The heap's insides, shared by the files of this folder; nobody else includes it.
//
// Locks, in the order in which they are taken: growth (slabs come and go, ladder, compaction),
// cachesLock, a pool's lock, slotLock / nameLock / observerLock / messageLock. The hot path takes
// none; its thread is excluded from others by its cache's bias, which may be revoked under any of
// them, since nobody waits for anything while he has entered it. Driver calls that may take long
// are made under growth alone, so threads that find a free range never wait for one.
#pragma once

#include "engine/heap/heap.h"
#include "engine/heap/index_set.h"
#include "engine/heap/lock.h"
#include "engine/heap/pool.h"
#include "engine/heap/retention.h"
#include "engine/heap/slots.h"
#include "engine/heap/thread_cache.h"
#include "engine/heap/trace.h"

#include <array>
#include <new>

namespace gantry::heap {

inline constexpr uint32_t kShards = 4; // of the pools of a kind: a thread keeps to one of them
inline constexpr uint32_t kPoolsPerKind = 2 * kShards; // for large sizes, then for small ones
inline constexpr uint32_t kPools = kMemoryKinds * kPoolsPerKind;
inline constexpr uint64_t kSmallBytes =
    64 << 10; // sizes up to it live in small pools, larger ones in large pools
inline constexpr uint32_t kMaxNames = 65536;

struct NameEntry {
  char *text;
  uint32_t length;
  std::atomic<uint64_t> liveBytes;
  std::atomic<uint64_t> peakBytes;
  std::atomic<uint64_t> liveBuffers;
  std::atomic<uint32_t> traceName; // of engine/trace
};

struct alignas(64) KindTotals {
  std::atomic<int64_t> liveBytes{0}; // as published by the threads
  std::atomic<int64_t> peakLiveBytes{0};
  std::atomic<int64_t> ranges{0};     // that threads took from pools: of buffers and at hand
  std::atomic<int64_t> usualBytes{0}; // of a buffer, when the peak was last seen
  std::atomic<uint64_t> reservedBytes{0};
  std::atomic<uint64_t> peakReservedBytes{0};
  Retention retention; // under growth
};

/// How an attempt to find storage ended.
struct Found {
  HeapCode code = HeapCode::kExhausted;
  bool dedicated = false;
  bool ordered = false;
  uint32_t block = kNone;
  uint64_t place = 0;
};

/// A block on its way from one slab to another.
struct Move {
  uint32_t slot;
  uint32_t from;  // blocks of the pool
  uint32_t to;    //
  uint32_t spare; // the slot under which the old range stays pending
  uint64_t newPlace;
  uint64_t sizeBytes;
};

struct CopyInFlight {
  device::CommandList *list;
  uint64_t ticket;
};

struct HeapImpl final : Heap {
  HeapImpl(std::shared_ptr<device::Device> device, const HeapOptions &options);
  ~HeapImpl() = default;
  void destroy();

  static HeapImpl &of(Heap &heap) { return static_cast<HeapImpl &>(heap); }
  static const HeapImpl &of(const Heap &heap) { return static_cast<const HeapImpl &>(heap); }

  // Read by the hot path, written seldom.
  uint64_t id;
  uint8_t tag;
  uint64_t tagBits; // as it lies in a handle
  /// What takes the hot path elsewhere: the number of the last flush (in twos), and whether anybody
  /// observes (1), the options' observer or a trace.
  std::atomic<uint64_t> attention;
  SlotTable slots;
  HeapOptions options;
  uint64_t mostBytes; // that a buffer may have

  std::shared_ptr<device::Device> gpu;
  SegmentedArray<Slab> slabs;
  std::array<Pool *, kPools> pools{};
  std::array<KindTotals, kMemoryKinds> totals;
  std::array<std::atomic<uint64_t>, kMaxTimelines> completed{};
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> reservedPerHeap{};
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> limits{};
  std::atomic<uint32_t> timelines{1};

  mutable Lock growth;
  HostArray<Move> moves;
  std::array<CopyInFlight, 16> copies{};
  uint64_t compactions = 1;
  bool freedSincePass = false;
  bool sliceEnded = false; // planMoves stopped because the slice was used up
  bool noRoom = false;     // or because there was no range for a block
  uint32_t slabCount = 0;  // slabs that were ever used
  uint32_t unusedSlabs = 0;

  mutable Lock cachesLock;
  ThreadCache *caches = nullptr;
  std::atomic<uint32_t> cacheCount{0};
  std::array<std::atomic<ThreadCache *>, kMaxOwners + 1> owners{}; // by number

  Lock slotLock;
  uint32_t slotCount = 0;
  IndexSet spareSlots;

  mutable Lock nameLock;
  SegmentedArray<NameEntry> names;
  HostArray<uint32_t> nameTable;      // open addressing, kNone: empty
  std::atomic<uint32_t> nameCount{1}; // entry 0 is "no name"; those below it may be asked for

  Lock observerLock;
  uint64_t eventSequence = 0;
  HeapTrace trace{*this};

  mutable Lock messageLock;
  char message[256] = "";

  std::atomic<uint64_t> driverAllocations{0};
  std::atomic<uint64_t> driverFrees{0};
  std::atomic<uint64_t> hostWaits{0};
  std::atomic<uint64_t> orderedReuses{0};
  std::atomic<uint64_t> movedBytes{0};
  std::atomic<uint64_t> spilledBytes{0};
  HeapImpl *nextHeap = nullptr; // thread_cache.cpp

  // buffers.cpp, and heap.cpp for what is behind pins
  HeapCode allocateOther(const BufferRequest &request, BufferHandle *buffer);
  HeapCode allocateMissed(const BufferRequest &request, BufferHandle *buffer, ThreadCache &cache,
                          ThreadCache::KindCache &kind, uint64_t bin);
  HeapCode allocateFromPool(const BufferRequest &request, BufferHandle *buffer, ThreadCache &cache,
                            ThreadCache::KindCache &kind, uint64_t bin);
  [[gnu::noinline]] void noteEbb(ThreadCache::KindCache &kind, uint32_t number);
  void countAllocated(ThreadCache &cache, ThreadCache::KindCache &kind, uint32_t number,
                      uint64_t sizeBytes);
  BufferHandle takeFromPool(Pool &pool, uint64_t sizeBytes, Slot **slot);
  HeapCode serve(ThreadCache &cache, ThreadCache::KindCache &kind, uint64_t bin, uint64_t sizeBytes,
                 BufferHandle *buffer);
  HeapCode comeAlivePlain(const ThreadCache &cache, Slot &slot, uint64_t info, BufferHandle handle);
  HeapCode allocateSlowly(const BufferRequest &request, BufferHandle *buffer);
  HeapCode releaseLarge(BufferHandle buffer, std::span<const TimelinePoint> after);
  HeapCode releaseNoted(uint32_t index, BufferHandle buffer);
  HeapCode releaseSlowly(BufferHandle buffer, std::span<const TimelinePoint> after);
  void unbias(uint64_t state);
  HeapCode finishRelease(uint32_t index, std::span<const TimelinePoint> after);
  void keepWatermarks();
  bool isObserved() const { return (attention.load(std::memory_order_relaxed) & 1) != 0; }
  uint64_t lastFlush() const { return attention.load(std::memory_order_relaxed) & ~uint64_t{1}; }
  /// Whether what no magazine takes goes back to its pool at once.
  bool keepsNothing() const {
    return options.magazineBytes == 0 || options.retainHighBytes != UINT64_MAX;
  }
  HeapCode waitForMove(uint32_t index);
  uint64_t pinsAtRest(uint32_t index) const;
  void noteAllocated(uint32_t index, BufferHandle handle, bool tell);
  [[gnu::noinline]] HeapCode tellLate(uint32_t index, BufferHandle handle);
  BufferHandle comeAlive(const ThreadCache &cache, uint32_t index, const BufferRequest &request,
                         uint64_t info);
  void note(HeapEvent::Type type, uint32_t index, const SlotInfo &info, BufferHandle handle);
  void noteElsewhere(HeapEvent::Type type, uint32_t index);
  void noteReleased(uint32_t index, const SlotInfo &info, BufferHandle handle);
  uint32_t nameOf(uint32_t index, const SlotInfo &info) const {
    return info.named ? slots.range(index).name : 0;
  }
  HeapCode check(const BufferRequest &request) const;
  BufferHandle fillSlot(ThreadCache &cache, uint32_t index, const BufferRequest &request,
                        const Found &found);
  /// Under the pool's lock: a slot that belongs to no block has this one.
  void placeSlot(Pool &pool, uint32_t index, uint32_t block) const {
    pool.tlsf.setUser(block, index);
    SlotRange &range = slots.range(index);
    range.place.store(pool.tlsf.placeOf(block), std::memory_order_relaxed);
    range.block = block;
  }
  /// Where a living buffer lies, or a pending range.
  uint64_t placeOfSlot(uint32_t index) const;
  uint32_t blockOfSlot(uint32_t index) const;
  uint32_t takeSlot(ThreadCache &cache);
  void giveSlot(ThreadCache &cache, uint32_t index);
  void giveSlotShared(uint32_t index);
  uint32_t newChunk(Pool *pool, uint32_t firstBlock);
  bool addSpares();
  bool isSpare(uint32_t index) const;
  bool addOwnSlots(Pool &pool, uint32_t block);
  /// Under the pool's lock: the slot that belongs to a block of its, for a plain buffer that lies
  /// there as long as it lives. kNone: no host memory, or its generations are used up.
  uint32_t ownSlot(Pool &pool, uint32_t block) {
    if (block / kChunkSlots >= pool.chunks.size() && !addOwnSlots(pool, block)) [[unlikely]]
      return kNone;
    const uint32_t index = pool.chunks[block / kChunkSlots] + block % kChunkSlots;
    return isRetired(slots[index].state.load(std::memory_order_relaxed)) ? kNone : index;
  }
  uint32_t slotCountNow() {
    const Locked locked(slotLock);
    return slotCount;
  }
  /// Where a request belongs, of a thread whose cache has that index.
  Pool &poolFor(MemoryKind kind, uint64_t sizeBytes, uint32_t cache) const {
    return *pools[static_cast<uint32_t>(kind) * kPoolsPerKind +
                  (sizeBytes <= kSmallBytes ? kShards : 0) + cache % kShards];
  }
  /// The pool that guards what lies there; dedicated slabs belong to the first pool of their kind.
  Pool &poolAt(uint64_t place) const { return *pools[slabs[slabOf(place)].pool]; }
  void freeRange(Pool &pool, uint32_t block, uint64_t place); // under the pool's lock
  ThreadCache *cacheOfThread() {
    if (currentCache.heapId == id) [[likely]]
      return currentCache.cache;
    return attachThreadCache(*this);
  }
  void countName(uint32_t name, uint64_t bytes);
  void uncountName(uint32_t name, uint64_t bytes);
  void notify(HeapEvent::Type type, uint8_t kind, uint32_t name, uint64_t handle, uint64_t place,
              uint64_t sizeBytes);

  // thread_cache.cpp
  void publish(ThreadCache &cache, uint32_t kind);
  void publishReleased(ThreadCache &cache, uint32_t kind);
  void flush(ThreadCache &cache, uint32_t kind);
  void flushAll(ThreadCache &cache);
  bool flushBin(ThreadCache &cache, uint32_t kind, uint32_t bin);
  bool tryMagazines(ThreadCache &cache, Pool &pool, const BufferRequest &request, uint32_t index,
                    Found *found);
  HeapCode leave(ThreadCache &cache, ThreadCache::KindCache &kind, uint32_t index, uint64_t info);
  [[gnu::noinline]] HeapCode leaveInBatch(ThreadCache &cache, uint32_t kind, uint32_t other);
  [[gnu::noinline]] HeapCode leaveElsewhere(ThreadCache &cache, ThreadCache::KindCache &kind,
                                            uint32_t index, uint64_t info);
  void freeLeaving(ThreadCache::KindCache &kind, uint32_t first);
  void leaveAll(ThreadCache::KindCache &kind);
  void freeSlotted(ThreadCache &cache, uint32_t index);

  // pending.cpp
  bool passed(const uint64_t *points) const;
  void addPending(Pool &pool, uint32_t index, std::span<const TimelinePoint> after);
  uint32_t joinPending(Pool &pool, uint32_t index);
  void removePending(Pool &pool, uint32_t index);
  bool takeOrdered(Pool &pool, const BufferRequest &request, uint32_t index, Found *found);
  void reclaim(Pool &pool);
  void reclaimAll();
  HeapCode refreshCompleted();
  HeapCode waitForPending();

  // slabs.cpp
  HeapCode newSlab(MemoryKind kind, uint64_t sizeBytes, float priority, const char *name,
                   bool dedicated, uint32_t *slab);
  HeapCode checkBudget(MemoryKind kind, uint64_t sizeBytes);
  void freeSlab(uint32_t index);
  bool takeOut(uint32_t slab);
  bool giveBack(uint32_t slab);
  void releaseEnough(uint32_t kind, uint64_t bytes);
  uint64_t releaseEmpty(uint64_t keepBytes);
  uint64_t emptyBytes() const;
  uint32_t nextEmpty(const Pool &pool, uint32_t from) const;
  uint32_t chooseEmpty(uint32_t kind, bool small, uint64_t enoughBytes) const;
  void remember(const Status &status);
  HeapCode codeOf(const Status &status);

  // growth.cpp
  HeapCode findStorage(ThreadCache &cache, const BufferRequest &request, uint32_t index,
                       Found *found);
  HeapCode findStorageLocked(ThreadCache &cache, const BufferRequest &request, uint32_t index,
                             Found *found);
  bool tryPool(Pool &pool, uint64_t sizeBytes, uint64_t alignment, uint32_t index, Found *found,
               uint64_t mostBytes = UINT64_MAX);
  bool isAtRest(Pool &pool) const;
  bool tryOthers(const BufferRequest &request, const Pool &own, bool pressed, uint32_t index,
                 Found *found);
  HeapCode grow(Pool &pool, const BufferRequest &request, uint32_t index, uint64_t wantedBytes,
                Found *found);
  bool addSlab(Pool &pool, uint32_t index);
  bool adopt(Pool &pool, const BufferRequest &request, uint64_t mostBytes, uint32_t index,
             Found *found);
  HeapCode growDedicated(const BufferRequest &request, Found *found);
  uint32_t takeEmpty(const Pool &near, uint64_t leastBytes, uint64_t mostBytes, bool dedicated);
  bool reuseDedicated(const BufferRequest &request, Found *found);
  HeapCode climb(ThreadCache &cache, const BufferRequest &request, Pool &pool, uint32_t index,
                 HeapCode refusal, Found *found);

  // compaction.cpp, under growth
  HeapCode compactLocked(uint64_t maxBytes, CompactResult *result);
  uint32_t chooseVictim(Pool &pool);
  HeapCode movePart(Pool &pool, uint32_t victim, ThreadCache &cache, uint64_t maxBytes,
                    CompactResult *result);
  uint32_t planMoves(Pool &pool, uint32_t victim, ThreadCache &cache, uint64_t maxBytes);
  HeapCode submitMoves(uint32_t count, uint64_t *ticket);
  void finishMoves(Pool &pool, uint32_t count, uint64_t ticket, bool moved, ThreadCache &cache);
  bool lockSlot(uint32_t index, uint8_t flag);
  void unlockSlot(uint32_t index);
  bool holdsStill(uint32_t index) const;
  uint64_t livingBytesOf(const Pool &pool, uint32_t slab) const;

  // spill.cpp
  HeapCode spillSlot(uint32_t index);
  HeapCode spillLargest(uint32_t kind, uint64_t wantBytes);
  HeapCode restoreSlot(uint32_t index);
  HeapCode copyThroughStaging(device::Memory &memory, uint64_t offset, uint8_t *host,
                              uint64_t sizeBytes, bool toHost);
  HeapCode submitAndWait(device::CommandList &list);
  HeapCode settle(uint64_t ticket);
};

/// Memory of type T from the allocator, constructed; nullptr where there is none. Freed by
/// hostDelete.
template <typename T, typename... Arguments>
T *hostNew(const HostAllocator &host, Arguments &&...arguments) {
  const size_t bytes = sizeof(T) + alignof(T) + sizeof(void *);
  void *raw = host.allocateZeroed(bytes);
  if (raw == nullptr)
    return nullptr;
  auto at = reinterpret_cast<uintptr_t>(raw) + sizeof(void *);
  at = (at + alignof(T) - 1) & ~(uintptr_t{alignof(T)} - 1);
  reinterpret_cast<void **>(at)[-1] = raw;
  return new (reinterpret_cast<void *>(at)) T(std::forward<Arguments>(arguments)...);
}
template <typename T> void hostDelete(const HostAllocator &host, T *object) {
  if (object == nullptr)
    return;
  void *raw = reinterpret_cast<void **>(object)[-1];
  object->~T();
  host.free(host.user, raw, sizeof(T) + alignof(T) + sizeof(void *));
}

} // namespace gantry::heap
