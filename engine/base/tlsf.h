// Tlsf: a suballocator. It records which bytes of which region are taken, as numbers only: it never
// touches the memory that it manages.
//
// A region is a contiguous piece of memory (a slab of the heap) with a number that the caller
// chooses. Each region is divided into blocks, which are free or taken. All regions share one set
// of free lists, so one search covers all regions.
//
// Algorithm: two-level segregated fit (Masmano, Ripoll, Crespo, Real 2004, "TLSF: a new dynamic
// memory allocator for real-time systems"), with the bookkeeping in arrays apart from the memory.
// Free blocks lie in lists by size, with 32 lists per power of two, and two levels of bitmaps find
// the lists that are not empty. A search first tries a few blocks (kOwnListTries) in the list of
// the requested size, because such a block leaves the shortest remainder, and then the lists of
// longer blocks. Free blocks that are neighbours are merged immediately.
//
// Cost: allocate() and free() take O(1) in the worst case, except when the table of blocks grows;
// reserveBlocks() avoids that. Memory: 32 bytes per block, free or taken. When the table of blocks
// grows, its smaller former versions are kept, because other threads may still read them (placeOf);
// together they take at most as many bytes as the table.
// Units: bytes. Sizes are rounded up to the granule. Threads: one at a time, except for the
// functions that say otherwise. Errors: a function that cannot do its work returns kNone or false
// and changes nothing; hostExhausted() tells whether the host had no memory.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/base/index_set.h"
#include "engine/base/lock.h"

#include <array>
#include <cstdint>

namespace gantry {

class Tlsf {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Options {
    // The granule has 2^granuleLog2 bytes; all sizes and offsets are multiples of the granule.
    // granuleLog2 is at most 20.
    uint32_t granuleLog2 = 8;
    HostAllocator host;
  };

  struct Statistics {
    uint64_t regionBytes = 0;
    uint64_t usedBytes = 0; // Bytes of taken blocks, rounded up to the granule.
    uint64_t freeBytes = 0;
    uint64_t largestFreeBytes = 0;
    uint32_t regions = 0;
    uint32_t usedBlocks = 0;
    uint32_t freeBlocks = 0;
  };

  /// The description of a block that at() returns.
  struct Range {
    uint32_t region = kNone;
    uint64_t offset = 0;
    uint64_t size = 0; // Rounded up to the granule.
    uint32_t user = 0; // Number that the caller gave to a taken block; 0 for a free one.
    bool used = false;
  };

  explicit Tlsf(const Options &options);

  /// Adds a region of sizeBytes, rounded down to the granule, as one free block. Returns false if
  /// the region exists, its number is 2^24 - 1 or more, sizeBytes is less than a granule, all
  /// regions together would have 2^40 granules or more, or the host has no memory.
  bool addRegion(uint32_t region, uint64_t sizeBytes);

  /// Removes a region. Returns false unless the region exists and has no taken block.
  bool removeRegion(uint32_t region);

  /// Takes a block of sizeBytes from any region except `avoid`. Its offset in the region is a
  /// multiple of alignment, a power of two. Returns the block's number; kNone if no free block fits
  /// or the one that was found is longer than `maxBytes`. The block keeps `user` for the caller.
  uint32_t allocate(uint64_t sizeBytes, uint64_t alignment, uint32_t user = 0,
                    uint32_t avoid = kNone, uint64_t maxBytes = UINT64_MAX);

  /// Allocates the whole of a region that is empty. Returns the block, or kNone if the region does
  /// not exist or is not empty.
  uint32_t allocateRegion(uint32_t region, uint32_t user);

  /// Makes a taken block free. Returns false if the number is not that of a taken block.
  bool free(uint32_t block);

  /// Shortens a taken block to sizeBytes (rounded up). The rest becomes a second taken block with
  /// the same user. Returns the number of the second block; kNone if there is no rest or the host
  /// has no memory.
  uint32_t split(uint32_t block, uint64_t sizeBytes);

  /// Joins a taken block with the taken block that follows it in the region. The number of the
  /// second block becomes invalid. Returns false if they are not neighbours or not both taken.
  bool join(uint32_t block, uint32_t following);

  Range at(uint32_t block) const;
  uint64_t sizeOf(uint32_t block) const { return bytes(blocks_[block].size); }
  uint32_t regionOf(uint32_t block) const { return blocks_[block].region(); }
  /// Returns region << 40 | offset in granules. For a taken block any thread may call this at any
  /// time, if it learned the block's number after the block was taken.
  uint64_t placeOf(uint32_t block) const {
    return std::atomic_ref(const_cast<uint64_t &>(blocks_.shared()[block].place))
        .load(std::memory_order_relaxed);
  }
  /// Sets the user of a taken block.
  void setUser(uint32_t block, uint32_t user) { blocks_[block].link = user; }

  /// The first block of a region, and the block after a block in order of offset; kNone if there is
  /// none. Both free and taken blocks are returned.
  uint32_t firstOf(uint32_t region) const { return regions_[region].first; }
  uint32_t nextOf(uint32_t block) const { return blocks_[block].nextPhysical; }
  uint64_t usedBytesOf(uint32_t region) const { return bytes(regions_[region].used); }
  /// The size of a region; 0 if it does not exist.
  uint64_t sizeOfRegion(uint32_t region) const {
    return region < regions_.size() ? bytes(regions_[region].size) : 0;
  }

  /// Makes room in the table for `count` blocks in total, free and taken. Returns false if the host
  /// has no memory.
  [[nodiscard]] bool reserveBlocks(uint32_t count) {
    return unused_.reserve(count) && blocks_.reserve(count);
  }

  /// Whether the last addRegion(), allocate() or split() failed because the host has no memory.
  bool hostExhausted() const { return hostExhausted_; }

  uint64_t usedBytes() const { return bytes(used_); }
  uint64_t regionBytes() const { return bytes(total_); }
  /// Bytes of regions without a taken block. Any thread may call this at any time; the value may
  /// then be out of date.
  uint64_t emptyBytes() const { return bytes(empty_); }
  /// The lowest-numbered region from `from` on that has no taken block; kNone if there is none. Any
  /// thread may call this while no region is added or removed; the result may be out of date.
  uint32_t nextEmpty(uint32_t from) const;
  uint64_t largestFreeBytes() const;
  Statistics statistics() const;

  /// Checks every invariant (neighbours, merging, sums, lists, bitmaps). Returns nullptr, or a text
  /// that names the broken invariant. O(blocks); for tests and debugging.
  const char *validate() const;

private:
  // The free lists form a table: a row (first level) for each power of two, with kSecond lists
  // (second level).
  static constexpr uint32_t kSecondLog2 = 5;
  static constexpr uint32_t kSecond = 1U << kSecondLog2;
  static constexpr uint32_t kFirst = 36; // Rows, for sizes below 2^40 granules.
  static constexpr uint32_t kOwnListTries = 4;

  enum State : uint8_t { kUnused, kFree, kUsed };

  static constexpr uint32_t kOffsetBits = 40;

  // Two blocks fit into a cache line. Offset and size are in granules.
  struct Block {
    uint64_t place; // region << 40 | offset; other threads read it, so only setPlace() writes it
    uint64_t size : 40;
    uint64_t state : 8;
    uint32_t previousPhysical;
    uint32_t nextPhysical;
    uint32_t nextFree; // Next block of its free list.
    uint32_t link;     // Free: previous block of its free list, or kNone. Taken: the user.

    uint32_t region() const { return static_cast<uint32_t>(place >> kOffsetBits); }
    uint64_t offset() const { return place & ((uint64_t{1} << kOffsetBits) - 1); }
    void setPlace(uint64_t to) { std::atomic_ref(place).store(to, std::memory_order_relaxed); }
    /// Makes this a free block that is in no list yet.
    void set(uint64_t to, uint64_t granules, uint32_t previous, uint32_t next) {
      setPlace(to);
      size = granules;
      state = kFree;
      previousPhysical = previous;
      nextPhysical = next;
      nextFree = link = kNone;
    }
  };
  static_assert(sizeof(Block) == 32);

  struct Region {
    uint64_t size;  // In granules; 0: there is no such region.
    uint64_t used;  // Granules of taken blocks.
    uint32_t first; // Block at offset 0.
  };

  struct List {
    uint32_t first;
    uint32_t second;
  };
  // Sizes and alignments of the private functions are in granules.
  uint64_t bytes(uint64_t granules) const { return granules << granuleLog2_; }
  static List listOf(uint64_t size);
  uint32_t findFree(uint64_t size, uint64_t alignment, uint32_t avoid) const;
  uint32_t scan(uint32_t first, uint64_t size, uint64_t alignment, uint32_t avoid,
                uint32_t tries) const;
  void link(uint32_t block);
  void unlink(uint32_t block);
  bool reserveRecords(uint32_t count);
  uint32_t newRecord(uint32_t near);
  void dropRecord(uint32_t block);
  void setEmpty(uint32_t region, bool empty);
  const char *validateRegions(uint64_t &used, uint64_t &total, uint64_t &empty,
                              uint32_t &free) const;

  uint32_t granuleLog2_;
  Watched<uint64_t> firstBits_ = 0;
  std::array<uint32_t, kFirst> secondBits_{};
  std::array<std::array<uint32_t, kSecond>, kFirst> heads_;
  HostArray<Block, true> blocks_;
  HostArray<Region> regions_;
  HostArray<uint64_t> emptyRegions_; // One bit per region: it exists and has no taken block.
  IndexSet unused_;                  // Elements of blocks_ in state kUnused.
  uint32_t regionCount_ = 0;
  Watched<uint64_t> used_ = 0;  // Granules of taken blocks.
  uint64_t total_ = 0;          // Granules of all regions.
  Watched<uint64_t> empty_ = 0; // Granules of regions without a taken block.
  uint32_t usedBlocks_ = 0;
  uint32_t freeBlocks_ = 0;
  bool hostExhausted_ = false;
};

} // namespace gantry
