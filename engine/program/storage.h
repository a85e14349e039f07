// A counted reference to a buffer of a device's heap (the memory manager, engine/heap/heap.h),
// together with the buffer's address range. The arena (the memory for the values that a program's
// commands pass to each other), the constants, the staging memory and the caller's buffers are held
// through Storage.
//
// A Storage is a value: a copy adds a reference, and the heap counts the references. The heap may
// reuse the memory as soon as the last reference is gone. The last reference must therefore not be
// dropped while submitted work uses the memory, unless freeAfter() has named that work. A Storage
// keeps the address range, so it is only for buffers that the heap does not move.
//
// Ownership: the heap must outlive its storages; heap::shareHeap() makes a heap that does.
// Threads: an object is used by one thread at a time; copies of it may be used by other threads.
// Units: bytes.
#pragma once

#include "engine/heap/heap.h"

#include <memory>
#include <string_view>

namespace gantry::program {

/// A counted reference to a buffer, or no reference.
class Storage {
public:
  /// Makes an empty Storage, which refers to no buffer.
  Storage() = default;

  /// Allocates a buffer of sizeBytes > 0 bytes, rounded up to a multiple of 256. Its contents are
  /// undefined. The heap's statistics show `name`. Returns the heap's explanation if it refuses,
  /// for example kOutOfMemory.
  static Result<Storage> allocate(const std::shared_ptr<heap::Heap> &heap, device::MemoryKind kind,
                                  uint64_t sizeBytes, std::string_view name);
  /// Adds a reference to an existing buffer. Returns an empty Storage if the handle is stale.
  static Storage share(heap::Heap &heap, heap::BufferHandle buffer);

  explicit operator bool() const { return static_cast<bool>(buffer_); }
  heap::Heap *heap() const { return buffer_.heap(); }
  heap::BufferHandle handle() const { return buffer_.handle(); }
  /// The buffer's size, rounded up to a multiple of 256.
  uint64_t sizeBytes() const { return place_.sizeBytes; }
  /// The buffer's handle as a number, which identifies the buffer in traces.
  uint64_t block() const { return buffer_.handle().bits; }
  /// The host address of the buffer; nullptr for MemoryKind::kDevice.
  uint8_t *mapped() const { return place_.mapped; }
  /// The part of the buffer from `offset` on, with sizeBytes bytes.
  device::BufferRange range(uint64_t offset, uint64_t sizeBytes) const {
    return {place_.memory, place_.offsetBytes + offset, sizeBytes};
  }

  /// States that submissions up to this ticket (the number that Device::submit() returned) use the
  /// memory even after the last reference is gone. The heap does not reuse the memory until these
  /// submissions have finished.
  void freeAfter(uint64_t ticket) const;
  /// Drops the reference.
  void reset() { *this = {}; }

private:
  Storage(heap::Buffer buffer, const heap::Placement &place)
      : buffer_(std::move(buffer)), place_(place) {}
  heap::Buffer buffer_;
  heap::Placement place_;
};

} // namespace gantry::program
