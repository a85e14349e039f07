// A stretch of a device's memory that a session, a recording or the caller holds: a buffer of the
// device's heap that stays where it is, with its place.
//
// Ownership: the heap lives as long as its last storage. The memory is free for others as soon as
// the object is gone: let go of it only when no work that uses it is in flight.
// Threads: immutable; destruction on any thread. Units: bytes.
#pragma once

#include "engine/heap/heap.h"

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
  ~Storage() { buffer_.reset(); }
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

private:
  Storage(std::shared_ptr<heap::Heap> heap, heap::BufferHandle handle)
      : heap_(std::move(heap)), buffer_(*heap_, handle) {}
  std::shared_ptr<heap::Heap> heap_;
  heap::Buffer buffer_;
  heap::Placement place_;
};

} // namespace gantry::program
