// Slots: one record per buffer, in parts, found by handle, and the record of a slab.
//
// A handle is slot index (24 bits), the heap's tag (8) and the slot's generation (32). A slot's
// state word holds generation, owner and references; releasing the last reference raises the
// generation in the same exchange, so of two threads that release the same handle one gets an
// error. A slot is retired for good long before its generation would wrap.
//
// The owner is the cache of the thread that allocated: while its bias is on (bias.h), that thread
// alone changes the state, without an exchange; others turn the bias off first.
//
// A small plain buffer that came straight from a pool has the slot that belongs to its block: block
// and slot are one number apart, so neither is looked for, and the slot comes and goes with the
// block. Everything that may leave its block (movable, spillable, dedicated), or that the quickest
// way did not make, has a slot that belongs to none and names its block in its SlotRange.
//
// Slots and slabs never move in memory, so they are read without a lock. `place` is one word, so a
// reader never sees the slab of one place and the offset of another.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/types.h"

#include <atomic>

namespace gantry::heap {

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr uint32_t kGranuleLog2 = 8;
inline constexpr uint32_t kIndexBits = 24;
inline constexpr uint32_t kMaxSlots = (1U << kIndexBits) - 1024; // so the table stops below 2^24
inline constexpr uint32_t kReferenceBits = 24;
inline constexpr uint32_t kMaxReferences = (1U << kReferenceBits) - 1;
inline constexpr uint32_t kMaxOwners = 255;                   // caches that may own buffers
inline constexpr uint64_t kOneGeneration = uint64_t{1} << 32; // in a handle and in a state
inline constexpr uint64_t kGenerationBits = ~(kOneGeneration - 1);
inline constexpr uint32_t kRetired = 1U << 31; // from this generation on a slot is not used again
inline constexpr uint32_t kPlaceOffsetBits = 40;
inline constexpr uint64_t kSpilledPlace = UINT64_MAX;
inline constexpr uint64_t kMovingPin = 1U << 31; // in SlotTail::pins: compaction or spilling has it

enum SlotFlag : uint8_t { kMovable = 1, kSpillable = 2 };

/// Four to a cache line: this alone is what the magazines' ways touch.
struct alignas(16) Slot {
  std::atomic<uint64_t> state; // generation << 32 | owner << 24 | references
  std::atomic<uint64_t> info;  // see SlotInfo; in a magazine the next slot there

  uint32_t next() const { return static_cast<uint32_t>(info.load(std::memory_order_relaxed)); }
  void setNext(uint32_t slot) { info.store(slot, std::memory_order_relaxed); }
};
static_assert(sizeof(Slot) == 16);

/// Where a slot's buffer lies.
struct alignas(16) SlotRange {
  std::atomic<uint64_t> place; // slab << 40 | offset in granules, or kSpilledPlace
  uint32_t block;              // of its pool's Tlsf; kNone for a dedicated slab
  uint32_t name;               // of a buffer with SlotInfo::kNamed
};
static_assert(sizeof(SlotRange) == 16);

/// What a slot says of its buffer, in one word.
struct SlotInfo {
  uint64_t sizeBytes = 0; // below 2^47; as requested, and while pending that of the range
  uint8_t flags = 0;
  uint8_t kind = 0;
  uint8_t alignmentLog2 = kGranuleLog2; // 8 to 30
  bool dedicated = false;
  bool ordered = false; // its range was handed out before all former work had passed
  bool pending = false; // released, and in its pool's lists of pending ranges
  bool named = false;

  uint64_t packed() const;
  static SlotInfo of(uint64_t word);
  static uint64_t pack(uint64_t sizeBytes, uint8_t flags, uint8_t kind, uint8_t alignmentLog2,
                       bool dedicated) {
    return sizeBytes | (uint64_t{kind} << 48) | (uint64_t{alignmentLog2} << 50) |
           (uint64_t{flags} << 55) | (uint64_t{dedicated} << 57);
  }
  /// Set for a buffer with a name, which the hot path leaves to others.
  static constexpr uint64_t kNamed = uint64_t{1} << 47;
  static uint64_t sizeOf(uint64_t word) { return word & (kNamed - 1); }
  static uint32_t kindOf(uint64_t word) { return static_cast<uint32_t>(word >> 48 & 3); }
  /// Neither movable nor spillable: compaction does not look at it.
  static bool isPlain(uint64_t word) { return (word >> 55 & 3) == 0; }
  /// At most 64 KiB, no flags, no name, in a shared slab.
  static bool isPlainAndSmall(uint64_t word) {
    return (word & ~(uint64_t{127} << 48) & ~spareBits(kMostSpare)) <= 65536;
  }
  /// Granules by which the range of a small plain buffer is longer than it needs to be. Packing the
  /// parts above leaves them 0, so they are good until the slot is filled anew.
  static constexpr uint64_t kMostSpare = 15;
  static constexpr uint64_t spareBits(uint64_t granules) { return granules << 60; }
  /// Of the range of a small plain buffer.
  static uint64_t granulesOf(uint64_t word) {
    return ((sizeOf(word) - 1) >> kGranuleLog2) + 1 + (word >> 60);
  }
};

/// What a slot needs while its range is pending or spilled, or may be moved.
struct SlotTail {
  uint64_t points[kMaxTimelines]; // of work that may touch the range: former users', a move's
  uint32_t olderPending;          // in the order of release
  uint32_t newerPending;
  uint32_t previousInBin; // by size
  uint32_t nextInBin;
  uint8_t *hostCopy;
  std::atomic<uint64_t> pins; // generation << 32 | kMovingPin | how many
};
static_assert(sizeof(SlotTail) == 64);

inline constexpr uint32_t kChunkLog2 = 10;
inline constexpr uint32_t kChunkSlots = 1U << kChunkLog2;

struct Pool;

/// Slots with numbers in a row, part by part: who needs one part does not fetch the others.
struct alignas(64) SlotChunk {
  Slot slots[kChunkSlots];
  SlotRange ranges[kChunkSlots];
  SlotTail tails[kChunkSlots];
  Pool *pool;          // to whose blocks these slots belong; nullptr: to none
  uint32_t firstBlock; // of the pool's Tlsf
};

/// All slots of a heap. Threads: grow() by one at a time, the others by any at any time.
class SlotTable {
public:
  explicit SlotTable(const HostAllocator &host) : chunks_(host) {}
  /// The slots that exist: numbers below it.
  uint32_t capacity() const { return chunks_.capacity() << kChunkLog2; }
  bool has(uint32_t slot) const { return slot >> kChunkLog2 < chunks_.capacity(); }
  [[nodiscard]] bool grow() { return chunks_.grow(); }
  SlotChunk &chunk(uint32_t slot) const { return chunks_[slot >> kChunkLog2]; }
  Slot &operator[](uint32_t slot) const { return chunk(slot).slots[slot % kChunkSlots]; }
  SlotRange &range(uint32_t slot) const { return chunk(slot).ranges[slot % kChunkSlots]; }
  SlotTail &tail(uint32_t slot) const; // for what is not hot

private:
  SegmentedArray<SlotChunk, 0> chunks_;
};

enum class SlabState : uint8_t { kUnused, kPool, kDedicated, kDedicatedFree };

struct Slab {
  std::atomic<device::Memory *> memory;
  std::atomic<uint64_t> address;
  std::atomic<uint8_t *> mapped;
  uint64_t sizeBytes;
  uint32_t region; // of its pool's Tlsf
  uint32_t nextUnused;
  uint32_t deviceHeap;
  uint16_t pool;
  uint8_t kind;
  std::atomic<SlabState> state;
  uint64_t passedOver; // the compaction that could not empty it
};

inline uint64_t placeOf(uint32_t slab, uint64_t offsetBytes) {
  return (uint64_t{slab} << kPlaceOffsetBits) | (offsetBytes >> kGranuleLog2);
}
inline uint32_t slabOf(uint64_t place) { return static_cast<uint32_t>(place >> kPlaceOffsetBits); }
inline uint64_t offsetOf(uint64_t place) {
  return (place & ((uint64_t{1} << kPlaceOffsetBits) - 1)) << kGranuleLog2;
}

inline uint32_t generationOf(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
inline uint8_t ownerOf(uint64_t state) { return static_cast<uint8_t>(state >> kReferenceBits); }
inline uint32_t referencesOf(uint64_t state) {
  return static_cast<uint32_t>(state) & kMaxReferences;
}
inline uint64_t stateOf(uint32_t generation, uint32_t references, uint8_t owner = 0) {
  return (uint64_t{generation} << 32) | (uint32_t{owner} << kReferenceBits) | references;
}

inline BufferHandle handleOf(uint32_t generation, uint8_t tag, uint32_t slot) {
  return {(uint64_t{generation} << 32) | (uint64_t{tag} << kIndexBits) | slot};
}
inline bool isRetired(uint64_t state) { return state >= uint64_t{kRetired} << 32; }

inline uint32_t slotOf(BufferHandle handle) {
  return static_cast<uint32_t>(handle.bits) & ((1U << kIndexBits) - 1);
}
inline uint8_t tagOf(BufferHandle handle) {
  return static_cast<uint8_t>(handle.bits >> kIndexBits);
}
inline uint32_t generationOf(BufferHandle handle) {
  return static_cast<uint32_t>(handle.bits >> 32);
}

} // namespace gantry::heap
