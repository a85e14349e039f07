// Growth: finds storage when the arena of the calling thread has none, from other arenas, empty
// slabs, and the driver. When the driver refuses, it climbs the pressure ladder.
//
//   1. Pending releases whose work is done become free.
//   2. If the heap is quick (retention.h), an empty slab of another pool is used. Otherwise, if a
//      new slab would pass the retention target, a range of another arena or a short gap between
//      large buffers is used. If there is none, empty slabs go back to the driver.
//   3. The driver gives a new slab.
//   4. The pressure ladder: wait for the device; give all empty slabs back; then each registered
//      PressureStep (compaction and spilling, engine/heap/extras). After each step the allocation
//      is tried again. After the last one the driver's refusal is returned.
//
// Threads: any. The object's lock admits one thread at a time; a thread that finds a range in its
// own arena never takes it. Lock order: this lock, the arena table's, an arena's, all others.
// Units: bytes.
#pragma once

#include "engine/heap/arena_table.h"
#include "engine/heap/slab_table.h"

namespace gantry::heap {

/// The allocation for which storage is sought.
struct Pressure {
  uint32_t kind = 0;
  uint64_t sizeBytes = 0;
};

/// A step of the pressure ladder. relieve() is called under the growth lock. It returns kOk if it
/// freed storage and may be called again, and kExhausted if it can free no more.
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

  /// Gives storage to a live buffer that has none.
  HeapCode attach(Arena &home, uint32_t index, const BufferRequest &request);
  /// Allocates a slab of sizeBytes for a pool of the arena.
  HeapCode addSlab(Arena &arena, PoolIndex pool, const BufferRequest &request, uint64_t sizeBytes);
  /// Gives empty slabs back until keepBytes of them are left. Returns the bytes given back.
  uint64_t releaseEmpty(uint64_t keepBytes);
  /// Waits until the device has done the work that pending ranges wait for, and frees the ranges.
  HeapCode waitForPending();
  void flushAll();

  void addStep(const PressureStep &step);
  void removeSteps(const void *user);

  // ---- without the lock ------------------------------------------------------------------------

  /// Reads from the device which work is done.
  HeapCode refreshCompleted();
  void reclaimAll();
  /// Called after a slab has become empty. Gives empty slabs back down to the low watermark if
  /// they exceed the high watermark (HeapOptions).
  void keepWatermarks();
  uint64_t hostWaits() const { return hostWaits_.load(); }

private:
  /// The storage that is sought: for a new buffer, or for the live buffer `index` of `owner`.
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
  std::array<uint32_t, kMemoryKinds> borrowed_{}; // Since the last new slab; by memory kind.
  std::atomic<uint64_t> hostWaits_{0};
};

} // namespace gantry::heap
