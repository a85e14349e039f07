// An allocator for host memory that was set aside, to be used after malloc has failed.
//
// The reserve has a few regions. Each region is a sequence of blocks whose sizes are multiples of
// 64 bytes. The allocator uses next fit and coalesces free blocks during the search (Knuth, The Art
// of Computer Programming, volume 1, section 2.5). It is simple and slow on purpose, because it
// serves only operations that are about to report a lack of memory. It is not a general allocator.
//
// Threads: any; one mutex protects all regions. The constructor is constexpr and allocates nothing,
// so a global MemoryReserve can be used before main().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace gantry {

/// A set of memory regions, and the allocator that divides them into blocks.
class MemoryReserve {
public:
  static constexpr size_t kAlignment = 64;

  constexpr MemoryReserve() = default;

  /// Adds the region of `bytes` bytes at `memory`, which must be aligned to 64 bytes. The caller
  /// keeps ownership, and the memory must outlive the reserve. Returns false, with nothing changed,
  /// if there are kMaxRegions regions already or bytes < 256.
  bool addRegion(void *memory, size_t bytes);

  /// Returns at least `bytes` bytes aligned to 64 bytes, or nullptr if no free block is large
  /// enough.
  void *allocate(size_t bytes);

  /// Frees memory that allocate() returned. Returns false, with nothing changed, if `memory` lies
  /// in none of the regions. While nothing is allocated, the call costs one atomic load.
  bool deallocate(void *memory);

  /// Bytes of all blocks, and bytes of the blocks in use. Both include the headers of the blocks.
  size_t sizeBytes() const;
  size_t usedBytes() const { return usedBytes_.load(std::memory_order_relaxed); }

private:
  static constexpr size_t kMaxRegions = 16;
  /// The header of a block. It occupies the last 16 bytes of the 64-byte unit before the block's
  /// memory.
  struct Header {
    size_t bytes; // Distance to the next header.
    size_t used;  // 0 or 1
  };
  struct Region {
    char *first;  // The first header.
    char *end;    // End of the last block.
    char *search; // The header at which the next search begins.
  };
  void *allocateIn(Region &region, size_t bytes);

  mutable std::mutex mutex_;
  Region regions_[kMaxRegions]{};
  size_t regionCount_ = 0;
  size_t sizeBytes_ = 0;
  std::atomic<size_t> usedBytes_{0}; // Written under mutex_, read without it.
};

} // namespace gantry
