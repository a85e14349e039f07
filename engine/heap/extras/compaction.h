// Compaction: moves the buffers of a sparsely used slab into other slabs of the same arena and
// pool, by copies on the device, and gives the empty slab back to the driver when the copies are
// done. A slab is a driver allocation of the heap; a pool is the set of an arena's slabs for
// buffers of similar sizes (arena.h).
//
// The slab to empty (the victim) is the one with the smallest used fraction whose used bytes do not
// exceed the free bytes of the pool's other slabs, or fit into a new slab that is at least an
// eighth smaller than the victim. A slab that holds a buffer which may not move is skipped: only
// buffers with BufferRequest::movable that are not pinned are moved. The old range of a buffer is a
// pending release (a range that work may still use) until the copy is done. The device runs
// submissions in order, so work that is submitted after a move finds the contents at the buffer's
// new place.
//
// While the object exists, it is a step of the heap's pressure ladder, the list of measures that an
// allocation tries in turn when the driver or a budget refuses memory (growth.h). Destroy it before
// the heap. Threads: any; the growth lock guards the state. Errors: HeapCode. If a submission
// fails, the buffers that it was to move stay where they are. Units: bytes.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/growth.h"
#include "engine/heap/heap.h"

#include <array>
#include <atomic>

namespace gantry::heap {

struct CompactResult {
  uint64_t movedBytes = 0; // Bytes whose copies were submitted.
  uint64_t freedBytes = 0; // Bytes of slabs that were given back to the driver.
  bool more = false;       // Another call may move or free more.
};

class Compaction {
public:
  explicit Compaction(Heap &heap);
  ~Compaction();
  Compaction(const Compaction &) = delete;
  Compaction &operator=(const Compaction &) = delete;

  /// Gives all empty slabs of the heap back to the driver, then moves buffers of at most maxBytes
  /// in total, so that more slabs become empty. Submits the copies and does not wait: an emptied
  /// slab goes back in this call if its copies are already done, else in a later one. A range
  /// longer than maxBytes is not moved.
  HeapCode compact(uint64_t maxBytes, CompactResult *result = nullptr);
  /// Bytes that this object has moved so far. Takes no lock.
  uint64_t movedBytes() const { return movedBytes_.load(std::memory_order_relaxed); }

private:
  /// One buffer that moves from one slab to another.
  struct Move {
    uint32_t index; // Index of the buffer's record.
    uint32_t from;  // Old block of the pool's Tlsf.
    uint32_t to;    // New block of the pool's Tlsf.
    uint32_t spare; // Index of the record that holds the old range while it is pending.
    uint64_t fromPlace;
    uint64_t toPlace;
    uint64_t sizeBytes;
  };
  struct CopyInFlight {
    device::CommandList *list;
    uint64_t ticket;
  };
  static constexpr uint32_t kMaxCopiesInFlight = 16;

  HeapCode compactLocked(uint64_t maxBytes, CompactResult *result);
  HeapCode compactPool(Arena &arena, uint32_t pool, uint64_t maxBytes, CompactResult *result);
  uint32_t chooseVictim(Arena &arena, uint32_t pool);
  uint32_t planMoves(Arena &arena, uint32_t pool, uint32_t victim, uint64_t maxBytes);
  bool holdsUnmovable(ArenaAccess &access, uint32_t pool, uint32_t victim);
  HeapCode movePart(Arena &arena, uint32_t pool, uint32_t victim, uint64_t maxBytes,
                    CompactResult *result);
  bool addTightSlab(Arena &arena, uint32_t pool, uint32_t victim);
  HeapCode submitMoves(uint64_t *ticket);
  void finishMoves(Arena &arena, uint32_t pool, uint64_t ticket, bool moved);
  bool isPassedOver(uint32_t slab) const;
  void passOver(uint32_t slab);

  Heap &heap_;
  PressureStep step_;
  HostArray<Move> moves_;
  std::atomic<uint64_t> movedBytes_{0};
  HostArray<uint64_t> passedOver_; // Per slab: the last pass in which it could not be emptied.
  std::array<CopyInFlight, kMaxCopiesInFlight> copies_{};
  // A pass ends with the call that finds nothing more to do. Within a pass, a slab that could not
  // be emptied is not tried again.
  uint64_t pass_ = 1;
  bool freedInPass_ = false;
  bool sliceEnded_ = false; // planMoves() stopped because the next block would exceed maxBytes
  bool noRoom_ = false;     // planMoves() stopped because no free range fits the next block
};

} // namespace gantry::heap
