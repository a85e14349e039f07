// The suballocator: which bytes of which region are taken. Arithmetic on 64-bit numbers alone; it
// never touches the memory that it manages and knows no device.
//
// It manages any number of regions (slabs) with one set of free lists, so that the best free range
// of all regions is found at once. Algorithm: two-level segregated fit (Masmano, Ripoll, Crespo,
// Real 2004, "TLSF: a new dynamic memory allocator for real-time systems"), with bookkeeping in
// flat arrays beside the memory: free ranges lie in lists by size, 32 lists per doubling, and two
// levels of bitmaps find the first list whose ranges all fit. In front of that a few ranges of the
// request's own list are tried (kOwnListTries), which packs tighter; ranges of one doubling above
// never leave a list walk. Neighbouring free ranges are merged at once.
//
// Cost: allocate and free are O(1) in the worst case, except where the table of blocks grows; after
// reserveBlocks(n) it does not for n blocks. 32 bytes per block, free or taken, and as much again
// for former tables, since other threads may read them.
// Units: bytes. Sizes are rounded up to the granule. Threads: one at a time; the heap holds its
// pool's lock. Errors: kNone where nothing fits or the host has no memory (hostExhausted() tells
// which); free() of what is not taken is refused and changes nothing.
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
    uint32_t granuleLog2 = 8; // sizes and offsets are multiples of 2^granuleLog2 bytes; at most 20
    HostAllocator host;
  };

  struct Statistics {
    uint64_t regionBytes = 0;
    uint64_t usedBytes = 0; // as rounded
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
    uint64_t size = 0; // as rounded
    uint32_t user = 0;
    bool used = false;
  };

  explicit Tlsf(const Options &options);

  /// Adds sizeBytes (rounded down to the granule) of free space, as the region of that number.
  /// False where there is one, sizeBytes is less than a granule, or the host has no memory.
  bool addRegion(uint32_t region, uint64_t sizeBytes);

  /// False, with nothing changed, unless the region exists and none of it is taken.
  bool removeRegion(uint32_t region);

  /// Takes sizeBytes at a multiple of alignment (a power of two) from any region, except from
  /// `avoid`. The block's number, or kNone. `user` is kept with the block. kNone, too, where the
  /// free range that fits best is longer than `maxBytes`.
  uint32_t allocate(uint64_t sizeBytes, uint64_t alignment, uint32_t user = 0,
                    uint32_t avoid = kNone, uint64_t maxBytes = UINT64_MAX);

  /// Gives a block back. False, with nothing changed, where the number is of no taken block.
  bool free(uint32_t block);

  /// Cuts a taken block: it keeps sizeBytes (rounded up) and the rest becomes a taken block of its
  /// own, whose number is returned; kNone where there is no rest or no host memory.
  uint32_t split(uint32_t block, uint64_t sizeBytes);

  /// Joins a taken block with the taken block behind it, which ceases to be. False, with nothing
  /// changed, where they are not neighbours or not both taken.
  bool join(uint32_t block, uint32_t behind);

  Range at(uint32_t block) const;
  uint64_t sizeOf(uint32_t block) const { return bytes(blocks_[block].size); }
  uint32_t regionOf(uint32_t block) const { return blocks_[block].region(); }
  /// Region << 40 | offset in granules. Of a taken block any thread that knows of it may ask, at
  /// any time.
  uint64_t placeOf(uint32_t block) const {
    return std::atomic_ref(const_cast<uint64_t &>(blocks_.shared()[block].place))
        .load(std::memory_order_relaxed);
  }
  /// Sets the user of a taken block.
  void setUser(uint32_t block, uint32_t user) { blocks_[block].link = user; }

  /// The block that starts a region and the one behind a block; kNone at the end. For walks.
  uint32_t firstOf(uint32_t region) const { return regions_[region].first; }
  uint32_t nextOf(uint32_t block) const { return blocks_[block].nextPhysical; }
  uint32_t previousOf(uint32_t block) const { return blocks_[block].previousPhysical; }
  uint64_t usedBytesOf(uint32_t region) const { return bytes(regions_[region].used); }
  /// 0: there is none.
  uint64_t sizeOfRegion(uint32_t region) const {
    return region < regions_.size() ? bytes(regions_[region].size) : 0;
  }

  /// Makes room for that many blocks, free ones included. False: no host memory.
  [[nodiscard]] bool reserveBlocks(uint32_t count) {
    return unused_.reserve(count) && blocks_.reserve(count);
  }

  /// Whether the last kNone was for want of host memory.
  bool hostExhausted() const { return hostExhausted_; }

  uint64_t usedBytes() const { return bytes(used_); }
  uint64_t regionBytes() const { return bytes(total_); }
  /// Bytes of regions without a taken block. Any thread may call this at any time.
  uint64_t emptyBytes() const { return bytes(empty_); }
  /// The first region from that one on none of which is taken; kNone. Any thread may ask while no
  /// region is added or removed: what it is told may be old.
  uint32_t nextEmpty(uint32_t from) const;
  uint64_t largestFreeBytes() const;
  Statistics statistics() const;

  /// Rechecks every invariant (neighbours, merging, sums, lists, bitmaps). nullptr, or what is
  /// broken. O(blocks); for tests and for suspicion.
  const char *validate() const;

private:
  static constexpr uint32_t kSecondLog2 = 5;
  static constexpr uint32_t kSecond = 1U << kSecondLog2;
  static constexpr uint32_t kFirst = 36; // sizes up to 2^40 granules
  static constexpr uint32_t kOwnListTries = 4;

  enum State : uint8_t { kUnused, kFree, kUsed };

  static constexpr uint32_t kOffsetBits = 40;

  // Two to a cache line. Offset and size are in granules.
  struct Block {
    uint64_t place; // region << 40 | offset; written by setPlace() alone
    uint64_t size : 40;
    uint64_t state : 8;
    uint32_t previousPhysical;
    uint32_t nextPhysical;
    uint32_t nextFree; // Next block of its free list.
    uint32_t link;     // free: the one before in its list, kNone for the first; taken: the user

    uint32_t region() const { return static_cast<uint32_t>(place >> kOffsetBits); }
    uint64_t offset() const { return place & ((uint64_t{1} << kOffsetBits) - 1); }
    void setPlace(uint64_t to) { std::atomic_ref(place).store(to, std::memory_order_relaxed); }
    /// A free one.
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
    uint64_t size; // granules; 0: removed
    uint64_t used;
    uint32_t first;
  };

  struct List {
    uint32_t first;
    uint32_t second;
  };
  // Sizes, alignments and paddings in here are in granules.
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
  HostArray<uint64_t> emptyRegions_; // a bit each
  IndexSet unused_;                  // records
  uint32_t regionCount_ = 0;
  Watched<uint64_t> used_ = 0; // granules
  uint64_t total_ = 0;
  Watched<uint64_t> empty_ = 0; // Part of total_ that is in completely free regions.
  uint32_t usedBlocks_ = 0;
  uint32_t freeBlocks_ = 0;
  bool hostExhausted_ = false;
};

} // namespace gantry
