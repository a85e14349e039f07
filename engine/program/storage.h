// A stretch of a device's memory that a session, a recording or the caller holds: a buffer of the
// device's heap that stays where it is, with its place.
//
// Ownership: the heap lives as long as its last storage. The memory is free for others as soon as
// the object is gone: let go of it only when no work that uses it is in flight, or say with
// freeAfter() what must end first.
// Threads: immutable but for freeAfter(), which any thread may call; destruction on any thread.
// Units: bytes.
#pragma once

#include "engine/heap/heap.h"

#include <atomic>
#include <memory>
#include <string_view>

namespace gantry::program {

class Storage {
public:
  /// sizeBytes > 0 is rounded up to a multiple of 256. Contents are undefined. name: who holds it,
  /// for the heap's statistics. Fails with kOutOfMemory and the heap's words.
  static Result<std::shared_ptr<Storage>> allocate(const std::shared_ptr<heap::Heap> &heap,
                                                   device::MemoryKind kind, uint64_t sizeBytes,
                                                   std::string_view name);
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  const std::shared_ptr<heap::Heap> &heap() const { return heap_; }
  uint64_t sizeBytes() const { return place_.sizeBytes; }
  /// Which block of the heap it is in traces.
  uint64_t block() const { return buffer_.handle().bits; }
  uint8_t *mapped() const { return place_.mapped; } // nullptr for MemoryKind::kDevice
  device::BufferRange range(uint64_t offset, uint64_t sizeBytes) const {
    return {place_.memory, place_.offsetBytes + offset, sizeBytes};
  }

  /// When the object is gone, work up to this ticket of the device may use the memory still: it is
  /// free then for work that comes after it, and for everyone once it has ended.
  void freeAfter(uint64_t ticket);

private:
  Storage(std::shared_ptr<heap::Heap> heap, heap::BufferHandle handle)
      : heap_(std::move(heap)), buffer_(*heap_, handle) {}
  std::shared_ptr<heap::Heap> heap_;
  heap::Buffer buffer_;
  heap::Placement place_;
  std::atomic<uint64_t> lastTicket_{0};
};

} // namespace gantry::program
