// Memory that was set aside for the moment when malloc fails.
//
// An allocator over a few regions, each a run of blocks of whole 64-byte units: first fit from
// where the last search ended (next fit), and free blocks are joined during the search (Knuth, The
// Art of Computer Programming, volume 1, section 2.5). It is simple and slow on purpose: it serves
// an operation that is about to fail.
//
// Threads: any; one lock. It takes no memory of its own, so it also works before main().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace gantry {

class MemoryReserve {
public:
  static constexpr size_t kAlignment = 64;

  constexpr MemoryReserve() = default;

  /// Adds `bytes` bytes at `memory`, aligned to 64, which stay there for the reserve's life. False
  /// where there are kMaxRegions already, or bytes < 256.
  bool addRegion(void *memory, size_t bytes);

  /// At least `bytes` bytes, aligned to 64, or nullptr where no free block is so long.
  void *allocate(size_t bytes);

  /// Gives back what allocate() returned. False, and nothing happens, where `memory` lies in none
  /// of the regions. One load where nothing of the reserve is in use.
  bool deallocate(void *memory);

  /// Bytes of all regions, and of those the bytes in use, each with the blocks' headers.
  size_t sizeBytes() const;
  size_t usedBytes() const { return usedBytes_.load(std::memory_order_relaxed); }

private:
  static constexpr size_t kMaxRegions = 16;
  /// Lies in the last 16 bytes of the unit before the block's memory.
  struct Header {
    size_t bytes; // Distance to the next header.
    size_t used;  // 0 or 1
  };
  struct Region {
    char *first;  // the first header
    char *end;    // End of the last block.
    char *search; // the header at which the next search begins
  };
  void *allocateIn(Region &region, size_t bytes);

  mutable std::mutex mutex_;
  Region regions_[kMaxRegions]{};
  size_t regionCount_ = 0;
  size_t sizeBytes_ = 0;
  std::atomic<size_t> usedBytes_{0}; // written under mutex_
};

} // namespace gantry
