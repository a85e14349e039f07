// Memory for what lives one frame: a ring over one buffer. Allocating adds to an offset; a frame's
// memory comes back as a whole when its timeline point has passed.
//
//   ring.allocate(...)  any number of times
//   ring.endFrame(ticket)  after the frame's work is submitted
//
// An allocation that would run into a frame that is still in flight is refused with kBusy: the
// caller waits for the oldest frame, or takes a buffer of the heap. Never waits itself. One frame
// that is never ended makes a linear pool: reset() takes everything back at once.
//
// Ownership: the ring holds its buffer. Threads: one at a time. Units: bytes.
#pragma once

#include "engine/heap/heap.h"

#include <array>

namespace gantry::heap {

class FrameRing {
public:
  static constexpr uint32_t kMaxFrames = 8; // in flight

  explicit FrameRing(Heap &heap) : heap_(heap) {}

  /// Once. Fails as Heap::allocate.
  HeapCode create(uint64_t capacityBytes, MemoryKind kind, NameId name = {});
  /// A range until the frame that is being built is done.
  HeapCode allocate(uint64_t sizeBytes, uint64_t alignment, Placement *placement);
  /// Ends a frame: its allocations stay valid until the device's ticket has passed. Returns kBusy
  /// if kMaxFrames frames are in flight.
  HeapCode endFrame(uint64_t ticket);
  /// Takes everything back; the caller knows that no work uses it.
  void reset();

  uint64_t capacityBytes() const { return base_.sizeBytes; }
  uint64_t usedBytes() const { return head_ - tail_; } // with what alignment and the end left over

private:
  struct Frame {
    uint64_t end; // head_ at its end
    uint64_t ticket;
  };
  HeapCode retire();

  Heap &heap_;
  Buffer buffer_;
  Placement base_;
  uint64_t head_ = 0; // both only grow; the place is the rest by the capacity
  uint64_t tail_ = 0;
  std::array<Frame, kMaxFrames> frames_{};
  uint32_t oldest_ = 0;
  uint32_t count_ = 0;
};

} // namespace gantry::heap
