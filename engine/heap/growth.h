// How a heap finds storage when the thread's arena has none: other arenas, empty slabs, the driver,
// and, when the driver refuses, the pressure ladder.
//
//   1. pending releases whose work is done become free
//   2. if the heap is quick (retention.h), an empty slab of another pool; else, if a new slab would
//      pass the retention target, ranges of other arenas and small gaps between large buffers; if
//      there are none, empty slabs go back to the driver
//   3. a new slab
//   4. the ladder, in this order: wait for the device, give all empty slabs back, and the steps
//      that were registered (compaction, spilling: engine/heap/extras). After each rung the
//      allocation is tried again. After the last one the driver's refusal is the answer
//
// Threads: one at a time, under the lock of this object. Threads that find a range in their arena
// never wait for it. Lock order: this lock, the arena table's, an arena's, all others.
// Units: bytes.
#pragma once

#include "engine/heap/arena_table.h"
#include "engine/heap/slab_table.h"

namespace gantry::heap {

/// The needs of an allocation under pressure.
struct Pressure {
  uint32_t kind = 0;
  uint64_t sizeBytes = 0;
};

/// A rung of the ladder. relieve() is called under the growth lock: kOk says that it freed storage
/// and may be called again, kExhausted that it can do nothing more.
struct PressureStep {
  HeapCode (*relieve)(void *user, const Pressure &pressure) = nullptr;
  void *user = nullptr;
};

class Growth {
public:
  Growth(ArenaTable &arenas, SlabTable &slabs, Timelines &timelines, ArenaEnvironment &environment);

  Lock &lock() { return lock_; }

  /// Allocates a buffer for a thread whose arena had no range. Takes the lock.
  HeapCode allocate(Arena &home, const BufferRequest &request, BufferHandle *buffer);

  // ---- under the lock --------------------------------------------------------------------------

  /// Storage for a live buffer that has none.
  HeapCode attach(Arena &home, uint32_t index, const BufferRequest &request);
  /// A slab of sizeBytes for an arena's pool.
  HeapCode addSlab(Arena &arena, PoolIndex pool, const BufferRequest &request, uint64_t sizeBytes);
  /// Gives empty slabs back until keepBytes of them are left. Returns the bytes given back.
  uint64_t releaseEmpty(uint64_t keepBytes);
  /// Waits for the device's work that pending ranges wait for, and frees these.
  HeapCode waitForPending();
  void flushAll();

  void addStep(const PressureStep &step);
  void removeSteps(const void *user);

  // ---- without the lock ------------------------------------------------------------------------

  /// Asks the device how far it is.
  HeapCode refreshCompleted();
  void reclaimAll();
  /// After a slab has become empty: keeps to the options' watermarks.
  void keepWatermarks();
  uint64_t hostWaits() const { return hostWaits_.load(); }

private:
  /// The storage that is sought: for a new buffer, or for a live one of `owner`.
  struct Wanted {
    const BufferRequest &request;
    BufferHandle *buffer;
    Arena *owner = nullptr;
    uint32_t index = kNone;
    uint64_t needBytes(uint64_t maxBytes) const;
    HeapCode takeFrom(Arena &arena) const;
  };
  static constexpr uint32_t kMaxSteps = 4;
  static constexpr uint32_t kMaxBorrowed = 512;

  HeapCode find(Arena &home, const Wanted &wanted);
  HeapCode borrow(Arena &home, const Wanted &wanted);
  HeapCode takeFromOthers(Arena &home, const Wanted &wanted);
  HeapCode takeGap(Arena &home, const Wanted &wanted);
  bool adoptSlab(Arena &home, const Wanted &wanted, uint64_t maxBytes);
  HeapCode grow(Arena &home, const Wanted &wanted, uint64_t sizeBytes);
  HeapCode climb(Arena &home, const Wanted &wanted, HeapCode refusal);
  void releaseEnough(uint32_t kind, uint64_t bytes);
  bool giveToArena(uint32_t slab, Arena &arena, PoolIndex pool);
  uint64_t emptyBytes() const;

  ArenaTable &arenas_;
  SlabTable &slabs_;
  Timelines &timelines_;
  ArenaEnvironment &environment_;
  Lock lock_;
  PressureStep steps_[kMaxSteps];
  uint32_t stepCount_ = 0;
  std::array<uint32_t, kMemoryKinds> borrowed_{};
  std::atomic<uint64_t> hostWaits_{0};
};

} // namespace gantry::heap
