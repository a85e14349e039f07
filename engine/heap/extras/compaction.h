// Compaction: the least used slab is emptied into the free ranges of the others, block by block
// through the device's copies, and goes back to the driver when the copies are done.
//
// A slab is a victim if all that it holds may be moved and the others have room for it, or if a new
// slab of exactly what lives in it saves an eighth. A block's old range stays pending until its
// copy has passed. Submissions made after a move see the buffer at its new place, since submissions
// run in order. Only buffers with BufferRequest::movable that are not pinned are moved.
//
// The object is a rung of the heap's pressure ladder as long as it lives. It must end before the
// heap. Threads: any; the growth lock guards the state. Units: bytes.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/growth.h"
#include "engine/heap/heap.h"

#include <array>

namespace gantry::heap {

struct CompactResult {
  uint64_t movedBytes = 0;
  uint64_t freedBytes = 0; // given back to the driver
  bool more = false;       // another call would do more
};

class Compaction {
public:
  explicit Compaction(Heap &heap);
  ~Compaction();
  Compaction(const Compaction &) = delete;
  Compaction &operator=(const Compaction &) = delete;

  /// Moves at most maxBytes so that slabs become empty, and gives those back. It submits and does
  /// not wait: a slab goes back in a later call, when its copies have passed.
  HeapCode compact(uint64_t maxBytes, CompactResult *result = nullptr);

private:
  /// A block on its way from one slab to another.
  struct Move {
    uint32_t index; // Index of the record.
    uint32_t from;  // blocks of the pool
    uint32_t to;    //
    uint32_t spare; // the record under which the old range stays pending
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
  HostArray<Move> moves_;
  HostArray<uint64_t> passedOver_; // by slab: the pass in which it could not be emptied
  std::array<CopyInFlight, kMaxCopiesInFlight> copies_{};
  uint64_t pass_ = 1;
  bool freedInPass_ = false;
  bool sliceEnded_ = false; // planMoves() stopped because maxBytes was used up
  bool noRoom_ = false;     // or because there was no range for a block
};

} // namespace gantry::heap
