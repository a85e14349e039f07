// Implements HostStorage, the part of HostArray that does not depend on the element type.
#include "engine/base/host_memory.h"

namespace gantry {
namespace {

constexpr size_t kCacheLineBytes = 64;

// The header that lies directly before the elements of a block.
struct Block {
  void *memory;            // The pointer that the allocator returned.
  void *former;            // Elements of the previous, smaller block if it was kept; or nullptr.
  uint32_t formerCapacity; // Capacity of the previous block, in elements.
};

Block &blockOf(void *data) { return static_cast<Block *>(data)[-1]; }

} // namespace

HostStorage::HostStorage(const HostAllocator &allocator, uint32_t elementBytes, bool othersRead)
    : allocator_(allocator), elementBytes_(elementBytes), othersRead_(othersRead) {}

HostStorage::~HostStorage() {
  while (data_ != nullptr)
    freeBlock();
}

bool HostStorage::grow(uint32_t capacity) {
  uint32_t larger = capacity_ < 16 ? 16 : capacity_;
  while (larger < capacity) {
    if (larger > UINT32_MAX / 2)
      return false;
    larger *= 2;
  }
  void *memory = allocator_.allocateZeroed(bytesFor(larger));
  if (memory == nullptr)
    return false;
  const auto at = reinterpret_cast<uintptr_t>(memory) + sizeof(Block);
  void *data = reinterpret_cast<void *>((at + kCacheLineBytes - 1) & ~(kCacheLineBytes - 1));
  if (data_ != nullptr)
    std::memcpy(data, data_, size_t{size_} * elementBytes_);
  if (data_ != nullptr && !othersRead_)
    freeBlock();
  blockOf(data) = {memory, data_, capacity_};
  data_ = data;
  capacity_ = larger;
  shared_.store(data, std::memory_order_release);
  return true;
}

bool HostStorage::setSize(uint32_t size) {
  if (size > capacity_ && !grow(size))
    return false;
  if (size > size_)
    std::memset(static_cast<char *>(data_) + size_t{size_} * elementBytes_, 0,
                size_t{size - size_} * elementBytes_);
  size_ = size;
  return true;
}

size_t HostStorage::bytesFor(uint32_t capacity) const {
  return kCacheLineBytes + sizeof(Block) + size_t{capacity} * elementBytes_;
}

void HostStorage::freeBlock() {
  const Block block = blockOf(data_);
  allocator_.free(allocator_.user, block.memory, bytesFor(capacity_));
  data_ = block.former;
  capacity_ = block.formerCapacity;
}

} // namespace gantry
