// Spilling: a buffer's contents go to host memory and its storage becomes free; restoring brings
// them back. Both wait for the device.
//
// A buffer can be spilled if it was requested with `spillable` and is not pinned. Heap::pin()
// restores it. If the object was made for pressure, it is a rung of the heap's ladder: it spills
// the smallest buffer that makes enough room, or else the largest.
//
// Ownership: the object holds the contents of spilled buffers; it must outlive their use and end
// before the heap. At most one for each heap. Threads: any. Units: bytes.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/growth.h"
#include "engine/heap/heap.h"

namespace gantry::heap {

class Spill {
public:
  enum class When : uint8_t { kOnRequest, kUnderPressure };

  Spill(Heap &heap, When when);
  ~Spill();
  Spill(const Spill &) = delete;
  Spill &operator=(const Spill &) = delete;

  /// kOk also if the buffer is spilled already; kBusy if it is pinned; kInvalidArgument if it is
  /// not spillable; kHostExhausted without memory for its contents.
  HeapCode spill(BufferHandle buffer);
  /// kOk also if the buffer is not spilled. Else fails as Heap::allocate() does.
  HeapCode restore(BufferHandle buffer);

private:
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
  Lock lock_; // guards copies_
  HostArray<Copy> copies_;
};

} // namespace gantry::heap
