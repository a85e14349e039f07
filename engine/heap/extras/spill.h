// Spilling copies the contents of a buffer to host memory and frees its storage. Restoring
// allocates storage again and copies the contents back. Both wait for the device.
//
// A buffer can be spilled if it was requested with BufferRequest::spillable, is not pinned, and all
// of its points on the caller's timelines (Heap::freeAfter()) have passed.
// Heap::pin() restores it. An object that was made with When::kUnderPressure is also a step of the
// heap's pressure ladder, the list of measures that an allocation tries in turn when the driver or
// a budget refuses memory (growth.h). The step spills the smallest buffer of the same memory kind
// that is at least as large as the buffer to allocate, or else the largest buffer.
//
// Ownership: the object owns the contents of spilled buffers, which are lost when it is destroyed.
// Destroy it before the heap. A heap has at most one Spill object. Threads: any, but while the
// object is made or destroyed no other thread may use the heap. Units: bytes.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/growth.h"
#include "engine/heap/heap.h"

#include <atomic>

namespace gantry::heap {

class Spill {
public:
  enum class When : uint8_t { kOnRequest, kUnderPressure };

  Spill(Heap &heap, When when);
  ~Spill();
  Spill(const Spill &) = delete;
  Spill &operator=(const Spill &) = delete;

  /// Spills a buffer. Returns kOk also if the buffer is spilled already, kBusy if it is pinned or a
  /// point on the caller's timelines has not passed, kInvalidArgument if it is not spillable, and
  /// kHostExhausted if the host has no memory for the contents. On failure the buffer keeps its
  /// storage.
  HeapCode spill(BufferHandle buffer);
  /// Restores a buffer. Returns kOk also if the buffer is not spilled. Fails as Heap::allocate()
  /// does, or if the copy fails; the buffer is then still spilled.
  HeapCode restore(BufferHandle buffer);
  /// Bytes of buffers whose contents are on the host now. Takes no lock.
  uint64_t spilledBytes() const { return spilledBytes_.load(std::memory_order_relaxed); }

private:
  /// The contents of a spilled buffer, in memory of the heap's HostAllocator.
  struct Copy {
    BufferHandle buffer;
    uint8_t *data;
    uint64_t sizeBytes;
  };
  HeapCode claim(BufferHandle buffer);
  HeapCode spillClaimed(BufferHandle buffer);
  HeapCode restoreClaimed(BufferHandle buffer);
  void endClaim(BufferHandle buffer);
  HeapCode spillForPressure(const Pressure &pressure);
  bool keep(const Copy &copy);
  Copy takeOut(BufferHandle buffer);
  void freeCopy(const Copy &copy);

  Heap &heap_;
  PressureStep step_;
  Lock lock_; // guards copies_
  HostArray<Copy> copies_;
  std::atomic<uint64_t> spilledBytes_{0};
};

} // namespace gantry::heap
