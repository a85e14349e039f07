// Next-fit allocation in the regions of the reserve.
#include "engine/base/memory_reserve.h"

namespace gantry {
namespace {

constexpr size_t kUnit = MemoryReserve::kAlignment;

} // namespace

bool MemoryReserve::addRegion(void *memory, size_t bytes) {
  bytes = bytes / kUnit * kUnit;
  const std::lock_guard<std::mutex> locked(mutex_);
  if (regionCount_ == kMaxRegions || bytes < 4 * kUnit)
    return false;
  Region &region = regions_[regionCount_++];
  region.first = static_cast<char *>(memory) + kUnit - sizeof(Header);
  region.end = region.first + (bytes - kUnit);
  region.search = region.first;
  *reinterpret_cast<Header *>(region.first) = {bytes - kUnit, 0};
  sizeBytes_ += bytes - kUnit;
  return true;
}

void *MemoryReserve::allocateIn(Region &region, size_t bytes) {
  char *at = region.search;
  const auto length = static_cast<size_t>(region.end - region.first);
  for (size_t visited = 0; visited < length;) {
    auto *header = reinterpret_cast<Header *>(at);
    if (header->used == 0) { // Coalesce with the free blocks that follow.
      for (char *next = at + header->bytes; next != region.end; next = at + header->bytes) {
        if (reinterpret_cast<Header *>(next)->used != 0)
          break;
        header->bytes += reinterpret_cast<Header *>(next)->bytes;
      }
      if (header->bytes >= bytes) {
        if (header->bytes > bytes)
          *reinterpret_cast<Header *>(at + bytes) = {header->bytes - bytes, 0};
        *header = {bytes, 1};
        usedBytes_ += bytes;
        region.search = at + bytes == region.end ? region.first : at + bytes;
        return at + sizeof(Header);
      }
    }
    visited += header->bytes;
    at += header->bytes;
    if (at == region.end)
      at = region.first;
  }
  region.search = region.first; // Coalescing may have removed the header at region.search.
  return nullptr;
}

void *MemoryReserve::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  const size_t whole = (bytes + sizeof(Header) + kUnit - 1) / kUnit * kUnit;
  const std::lock_guard<std::mutex> locked(mutex_);
  for (size_t i = 0; i < regionCount_; ++i)
    if (void *memory = allocateIn(regions_[i], whole))
      return memory;
  return nullptr;
}

bool MemoryReserve::deallocate(void *memory) {
  // A thread that frees a block of the reserve has synchronised with the thread that allocated the
  // block, so it reads a count above zero.
  if (usedBytes() == 0)
    return false;
  auto *at = static_cast<char *>(memory) - sizeof(Header);
  const std::lock_guard<std::mutex> locked(mutex_);
  for (size_t i = 0; i < regionCount_; ++i) {
    Region &region = regions_[i];
    if (at < region.first || at >= region.end)
      continue;
    auto *header = reinterpret_cast<Header *>(at);
    header->used = 0;
    // With no block in use, each region becomes one free block again.
    if (usedBytes_.fetch_sub(header->bytes) == header->bytes)
      for (size_t j = 0; j < regionCount_; ++j) {
        Region &whole = regions_[j];
        *reinterpret_cast<Header *>(whole.first) = {static_cast<size_t>(whole.end - whole.first),
                                                    0};
        whole.search = whole.first;
      }
    return true;
  }
  return false;
}

size_t MemoryReserve::sizeBytes() const {
  const std::lock_guard<std::mutex> locked(mutex_);
  return sizeBytes_;
}

} // namespace gantry
