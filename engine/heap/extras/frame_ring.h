// FrameRing: memory for data that lives for one frame, from a ring over one buffer of the heap. An
// allocation advances an offset. All memory of a frame becomes free at once, when the device has
// finished the frame.
//
//   ring.allocate(...)     any number of times
//   ring.endFrame(ticket)  after the frame's work was submitted; ticket is from Device::submit()
//
// allocate() returns kBusy if the current frame and the frames in flight (those that the device has
// not finished) leave no room. It does not wait: the caller waits for the oldest frame, or
// allocates a buffer from the heap. A caller that never calls endFrame() has a linear allocator,
// which reset() empties.
//
// Ownership: the ring holds its buffer, and the heap must outlive the ring. Threads: one at a time.
// Units: bytes.
#pragma once

#include "engine/heap/heap.h"

#include <array>

namespace gantry::heap {

class FrameRing {
public:
  static constexpr uint32_t kMaxFrames = 8; // Maximum number of frames in flight.

  explicit FrameRing(Heap &heap) : heap_(heap) {}

  /// Allocates the buffer. To be called once, before the other functions. Fails as
  /// Heap::allocate() does, and with kInvalidArgument at a second call.
  HeapCode create(uint64_t capacityBytes, MemoryKind kind, NameId name = {});
  /// Returns a range that is valid until the device has finished the current frame. The alignment
  /// is a power of two up to 65536. Returns kTooLarge if sizeBytes exceeds the capacity.
  HeapCode allocate(uint64_t sizeBytes, uint64_t alignment, Placement *placement);
  /// Ends the current frame. Its allocations stay valid until the submission with this ticket is
  /// done. Returns kBusy if kMaxFrames frames are in flight.
  HeapCode endFrame(uint64_t ticket);
  /// Frees all allocations at once. No work may use them any more.
  void reset();

  uint64_t capacityBytes() const { return base_.sizeBytes; }
  /// Bytes of the current frame and of the frames that are not known to be done, with padding for
  /// alignment and at the end of the ring.
  uint64_t usedBytes() const { return head_ - tail_; }

private:
  struct Frame {
    uint64_t end; // Value of head_ when the frame ended.
    uint64_t ticket;
  };
  HeapCode freeDoneFrames();

  Heap &heap_;
  Buffer buffer_;
  Placement base_;
  // Positions grow until reset(). A position modulo the capacity is an offset in the buffer.
  uint64_t head_ = 0; // End of the last allocation.
  uint64_t tail_ = 0; // Start of the oldest frame that is not known to be done.
  std::array<Frame, kMaxFrames> frames_{};
  uint32_t oldest_ = 0; // Index in frames_ of the oldest frame in flight.
  uint32_t count_ = 0;  // Number of frames in flight.
};

} // namespace gantry::heap
