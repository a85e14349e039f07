// A reference to a buffer of a device's heap, with its place: memory that a session, a recording or
// the caller holds. The buffer stays where it is.
//
// A Storage is a value: copying it adds a reference to the buffer, and the heap counts the
// references. The memory is free for others as soon as the last reference is gone: give it up only
// when no work that uses it is in flight, or say with freeAfter() which work must end first.
// Ownership: the heap must outlive its storages (heap::shareHeap() makes one that does).
// Threads: one at a time for each object; freeAfter() and copies of one buffer may be used by any.
// Units: bytes.
#pragma once

#include "engine/heap/heap.h"

#include <memory>
#include <string_view>

namespace gantry::program {

class Storage {
public:
  /// No memory.
  Storage() = default;

  /// sizeBytes > 0 is rounded up to a multiple of 256. Contents are undefined. name: who holds it,
  /// for the heap's statistics. Fails with kOutOfMemory and the heap's explanation.
  static Result<Storage> allocate(const std::shared_ptr<heap::Heap> &heap, device::MemoryKind kind,
                                  uint64_t sizeBytes, std::string_view name);
  /// One more reference to a buffer; no memory if the handle is stale.
  static Storage share(heap::Heap &heap, heap::BufferHandle buffer);

  explicit operator bool() const { return static_cast<bool>(buffer_); }
  heap::Heap *heap() const { return buffer_.heap(); }
  heap::BufferHandle handle() const { return buffer_.handle(); }
  /// The length of the range: a multiple of 256.
  uint64_t sizeBytes() const { return place_.sizeBytes; }
  /// The number of the block in traces.
  uint64_t block() const { return buffer_.handle().bits; }
  uint8_t *mapped() const { return place_.mapped; } // nullptr for MemoryKind::kDevice
  device::BufferRange range(uint64_t offset, uint64_t sizeBytes) const {
    return {place_.memory, place_.offsetBytes + offset, sizeBytes};
  }

  /// Work up to this ticket of the device may use the memory after the last reference is gone: it
  /// is free then for work that comes after it, and for everyone once it has ended.
  void freeAfter(uint64_t ticket) const;
  void reset() { *this = {}; }

private:
  Storage(heap::Buffer buffer, const heap::Placement &place)
      : buffer_(std::move(buffer)), place_(place) {}
  heap::Buffer buffer_;
  heap::Placement place_;
};

} // namespace gantry::program
