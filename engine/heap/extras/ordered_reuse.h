// OrderedReuse: allocates a buffer in storage that earlier work of the GPU still uses, if the
// buffer is first used after that work.
//
// A released buffer is pending while work that was submitted before its release may still use its
// storage (pending_releases.h). Heap::allocate() does not touch pending storage. OrderedReuse does:
// the caller names the timeline points after which the new buffer is first used, and the buffer may
// get storage that earlier work uses only up to these points. A frame can therefore reuse the
// memory of the previous frame while the GPU still works on that frame, without a wait on the host.
//
// Algorithm, for the calling thread's arena (the part of the heap that serves the thread, arena.h)
// and then for the other ones: best fit among the kMaxTries oldest pending ranges. A range that is
// too long is cut. If no range fits, neighbouring ranges that wait for the same points are joined,
// and the search is repeated. The new buffer inherits the points of its range: when the buffer is
// released, the range is pending until they have passed.
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
  /// if a range fits, else storage from Heap::allocate(). A dedicated request, or one without
  /// points, never gets pending storage.
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
