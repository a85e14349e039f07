// Growth: finds storage for a request when the arena of the calling thread has no range for it.
//
// Terms:
//   kind     The request's memory kind. Each kind has a target for its reserved bytes (those of its
//            slabs), and is quick or tight (retention.h). Before the reserved bytes are compared
//            with the target (step 3), a request of a quick kind may reuse an empty slab of any
//            pool, a request of a tight kind only one of an idle pool.
//   pool     The slabs of one arena for buffers of similar sizes (PoolIndex, arena.h). A buffer of
//            the small, the large or the huge pool is called small, large or huge. A pool without
//            used ranges is idle.
//   minimal  A minimal slab is the smallest slab that can hold the buffer.
//   S        The size in bytes of a new slab: Retention::slabBytes(), or the size of a minimal slab
//            if that is more. For a huge or dedicated buffer, S is the size of a minimal slab.
//
// The steps, until one of them yields storage:
//   1. If an arena of the kind has pending releases (released ranges that work may still use), ask
//      the device which work is done, and free the pending ranges that waited for it, in all
//      arenas. In any case, search the thread's arena again.
//   2. Flush the size classes of the thread's arena to its pools, because this may empty slabs.
//      Then move one empty slab of at most 4 S bytes to the pool of the thread's arena that serves
//      the request: from any pool of any arena if the kind is quick, otherwise from an idle pool.
//   3. If a new slab would make the kind's reserved bytes exceed the target:
//      a. Use a range of another arena. If there is none and the buffer is small, use a gap of at
//         most 512 KiB between large buffers of the thread's arena. After kMaxBorrowed successes in
//         a row, step a is left out once.
//      b. Move one empty slab of at most 4 S bytes, from any pool of any arena of the kind.
//         Retention counts these slabs to tell when a kind becomes quick.
//      c. Free empty slabs of the kind until a new slab would not exceed the target, or no empty
//         slab is left.
//   4. Allocate a new slab of S bytes. If it is refused, allocate a minimal slab.
//   5. If the driver or a budget refuses that too, climb the pressure ladder:
//      a. Wait for the device's work that pending releases wait for, and free them.
//      b. Flush the size classes of all arenas, and free all empty slabs.
//      c. Call each registered PressureStep (compaction and spilling, engine/heap/extras) until it
//         returns a code other than kOk. After each kOk, do step 5a and free all empty slabs.
//      After 5a, after 5b and after each kOk of 5c, search the thread's arena, other arenas and the
//      gaps again, and try to allocate a minimal slab. If nothing helps, return the last refusal.
//
// Dedicated buffers do not use slabs of other pools (steps 2 and 3b). A live buffer that needs
// storage again (attach) gets it from the pool of its own arena that serves its size, so it uses
// neither ranges of other arenas nor gaps of the large pool.
//
// Threads: any. The object's lock, the growth lock, admits one thread at a time. An allocation that
// finds a range in its own arena does not acquire this lock. Lock order: the growth lock, the arena
// table's lock, the lock of an arena, all other locks.
// Errors: HeapCode; kExhausted and kOverBudget are refusals. If the device is lost, no step is
// taken, and the result is kDeviceLost. Units: bytes.
#pragma once

#include "engine/heap/arena_table.h"
#include "engine/heap/slab_table.h"

namespace gantry::heap {

/// The memory kind and the size of the request that needs storage.
struct Pressure {
  uint32_t kind = 0;
  uint64_t sizeBytes = 0;
};

/// A step of the pressure ladder. relieve() is called under the growth lock, so it must not
/// allocate from this heap. It is called again and again while it returns kOk, which means that it
/// has freed storage, or that storage becomes free when work in flight is done. Any other code ends
/// the step; kDeviceLost also ends the ladder.
struct PressureStep {
  HeapCode (*relieve)(void *user, const Pressure &pressure) = nullptr;
  void *user = nullptr;
  PressureStep *next = nullptr; // Belongs to Growth while the step is registered.
};

class Growth {
public:
  Growth(ArenaTable &arenas, SlabTable &slabs, Timelines &timelines, ArenaEnvironment &environment);

  Lock &lock() { return lock_; }

  /// Allocates a buffer for a thread whose arena `home` had no range. Acquires the lock.
  HeapCode allocate(Arena &home, const BufferRequest &request, BufferHandle *buffer);

  // ---- The caller holds the lock. --------------------------------------------------------------

  /// Gives storage to a live buffer without storage. `index` is the number of its record,
  /// `home` is its arena.
  HeapCode attach(Arena &home, uint32_t index, const BufferRequest &request);
  /// Allocates a slab of sizeBytes for a pool of the arena.
  HeapCode addSlab(Arena &arena, PoolIndex pool, const BufferRequest &request, uint64_t sizeBytes);
  /// Frees empty slabs of all kinds until the others have at most keepBytes bytes. Returns the
  /// bytes freed.
  uint64_t releaseEmpty(uint64_t keepBytes);
  /// Pending ranges wait for points on timelines (timelines.h). Waits until the device has passed
  /// the points on its own timeline, and frees the ranges of which all points have passed. Does not
  /// wait for points on the caller's timelines.
  HeapCode waitForPending();
  /// Frees the ranges of all size classes to their pools.
  void flushAll();

  /// Adds a step after the existing ones. The caller keeps the object until it has removed it.
  void addStep(PressureStep &step);
  void removeStep(PressureStep &step);

  // ---- The caller need not hold the lock. ------------------------------------------------------

  /// Reads from the device which work is done, and advances timeline 0, the device's own
  /// (timelines.h).
  HeapCode refreshCompleted();
  /// Frees pending ranges whose points have passed, in all arenas. Some may remain, because
  /// PendingReleases::findPassed() looks only at the oldest ranges.
  void reclaimAll();
  uint64_t hostWaits() const { return hostWaits_.load(); }

private:
  /// A request for storage: for a new buffer, whose handle goes to *buffer, or for the live buffer
  /// of record `index` in the arena `owner`.
  struct Wanted {
    const BufferRequest &request;
    BufferHandle *buffer;
    Arena *owner = nullptr; // nullptr: a new buffer.
    uint32_t index = kNone;
    uint64_t needBytes(uint64_t maxBytes) const;
    HeapCode takeFrom(Arena &arena) const;
  };
  static constexpr uint32_t kMaxBorrowed = 512;

  HeapCode find(Arena &home, const Wanted &wanted);
  HeapCode borrow(Arena &home, const Wanted &wanted);
  HeapCode takeFromOthers(Arena &home, const Wanted &wanted);
  HeapCode takeGap(Arena &home, const Wanted &wanted);
  bool adoptSlab(Arena &home, const Wanted &wanted, uint64_t maxBytes, bool idleOnly);
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
  PressureStep *steps_ = nullptr; // The first step of the list.
  /// By memory kind: how often step 3a has found storage since it last found none or was left out.
  std::array<uint32_t, kMemoryKinds> borrowed_{};
  std::atomic<uint64_t> hostWaits_{0};
};

} // namespace gantry::heap
