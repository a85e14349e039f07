// Allocation in the order of the GPU's timeline.
//
// A released buffer is pending while work that was submitted before its release may still use its
// storage (pending_releases.h). Heap::allocate() does not touch pending storage. OrderedReuse does:
// the caller names the timeline points after which the new buffer is first used, and the buffer may
// get storage whose former users end at these points or before. So a frame can reuse the memory of
// the frame before it while the GPU still works on that one, without a wait on the host.
//
// Algorithm: best fit among at most kMaxTries of the oldest pending ranges. A longer range is cut.
// If none fits, neighbouring ranges that wait for the same points are joined, and the search is
// repeated. A released buffer keeps its points, as in IREE's "death frontiers".
//
// Threads: any. Errors: those of Heap::allocate(). Units: bytes.
#pragma once

#include "engine/heap/arena.h"
#include "engine/heap/heap.h"

namespace gantry::heap {

class OrderedReuse {
public:
  static constexpr uint32_t kMaxTries = 512;

  /// The heap must outlive the object.
  explicit OrderedReuse(Heap &heap) : heap_(heap) {}

  /// Makes a buffer that is first used by work that runs after the points. It gets pending storage
  /// if that fits, else storage from Heap::allocate(). A dedicated request gets no pending storage.
  HeapCode allocate(const BufferRequest &request, std::span<const TimelinePoint> after,
                    BufferHandle *buffer);

  /// Returns the number of buffers that got pending storage.
  uint64_t reuses() const { return reuses_.load(std::memory_order_relaxed); }

private:
  HeapCode takePending(Arena &arena, const BufferRequest &request,
                       const uint64_t (&points)[kMaxTimelines], BufferHandle *buffer);

  Heap &heap_;
  std::atomic<uint64_t> reuses_{0};
};

} // namespace gantry::heap
