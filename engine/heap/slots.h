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
// A plain buffer that came straight from its pool has the slot that belongs to its block: block
// and slot are one number apart, so neither is looked for, the slot comes and goes with the block,
// and the block says where the buffer lies. Everything that may leave its block (movable,
// spillable, dedicated), or that the quickest way did not make, has a slot that belongs to none and
// names its block and place in its SlotRange.
//
// Slots and slabs never move in memory, so they are read without a lock. `place` is one word, so a
// reader never sees the slab of one place and the offset of another.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/retention.h"
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

inline constexpr uint32_t kMagazineBins = 256; // ranges up to 64 KiB, by their granules
/// The magazine that serves a size; kMagazineBins or more: none does, as for 0.
inline constexpr uint64_t magazineBinOf(uint64_t sizeBytes) {
  return (sizeBytes - 1) >> kGranuleLog2;
}

enum SlotFlag : uint8_t { kMovable = 1, kSpillable = 2 };

/// Four to a cache line: this alone is what the magazines' ways touch.
struct alignas(16) Slot {
  std::atomic<uint64_t> state; // generation << 32 | owner << 24 | references
  std::atomic<uint64_t> info;  // see SlotInfo; in a magazine the handle that comes next there

  BufferHandle next() const { return {info.load(std::memory_order_relaxed)}; }
  /// After the state was changed: who reads this word finds that state, too.
  void setNext(BufferHandle handle) { info.store(handle.bits, std::memory_order_release); }
};
static_assert(sizeof(Slot) == 16);

/// Where a slot's buffer lies, unless the slot belongs to a block.
struct alignas(16) SlotRange {
  std::atomic<uint64_t> place; // slab << 40 | offset in granules, or kSpilledPlace
  uint32_t block;              // of its pool's Tlsf; kNone for a dedicated slab
  uint32_t name;               // of a buffer with SlotInfo::kNamed, whoever's slot it has
};
static_assert(sizeof(SlotRange) == 16);

/// What a slot says of its buffer, in one word.
struct SlotInfo {
  uint64_t sizeBytes = 0; // as requested, and while pending that of the range
  uint8_t flags = 0;
  uint8_t kind = 0;
  uint8_t alignmentLog2 = kGranuleLog2; // 8 to 30
  bool dedicated = false;
  bool ordered = false; // its range was handed out before all former work had passed
  bool pending = false; // released, and in its pool's lists of pending ranges
  bool named = false;

  // From the lowest bit on: where it fits a magazine that of its range, and so on.
  static constexpr uint64_t kBins = 0xff;
  static constexpr uint32_t kKindAt = 8;
  static constexpr uint32_t kAlignmentAt = 10;
  static constexpr uint32_t kFlagsAt = 15;
  static constexpr uint64_t kFlags = uint64_t{3} << kFlagsAt;
  static constexpr uint64_t kNamed = 1 << 17;
  static constexpr uint64_t kDedicated = 1 << 18;
  static constexpr uint64_t kOrdered = 1 << 19;
  static constexpr uint64_t kQuick = 1 << 20; // fitsMagazine, and it has no name
  static constexpr uint32_t kSizeAt = 21;
  // Of neighbours of a range only this is asked: no handle in a magazine has that bit (kRetired).
  static constexpr uint64_t kPending = uint64_t{1} << 63;
  static constexpr uint64_t kMostBytes = (kPending >> kSizeAt) - Retention::kSlabGranule;

  uint64_t packed() const;
  static SlotInfo of(uint64_t word);
  /// Of a small plain buffer without a name: what is to be added are its size and bin.
  static constexpr uint64_t plain(uint32_t kind) {
    return uint64_t{kind} << kKindAt | uint64_t{kGranuleLog2} << kAlignmentAt | kQuick;
  }
  static constexpr uint64_t sized(uint64_t plain, uint64_t sizeBytes, uint64_t bin) {
    return sizeBytes << kSizeAt | plain | bin;
  }
  /// Of what is not pending.
  static uint64_t sizeOf(uint64_t word) { return word >> kSizeAt; }
  static uint32_t kindOf(uint64_t word) { return static_cast<uint32_t>(word >> kKindAt & 3); }
  /// Neither movable nor spillable: compaction does not look at it.
  static bool isPlain(uint64_t word) { return (word & kFlags) == 0; }
  /// At most 64 KiB, plain, in a shared slab, and nobody else may still be using its range.
  static bool fitsMagazine(uint64_t word) {
    return (word & (kFlags | kDedicated | kOrdered | kPending)) == 0 &&
           magazineBinOf(sizeOf(word)) < kMagazineBins;
  }
  static uint64_t binOf(uint64_t word) { return word & kBins; }
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
