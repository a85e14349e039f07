// The record of a buffer, and the layout of a handle.
//
// A handle contains, from its lowest bit, the record's index (24 bits), the heap's tag (8 bits) and
// the record's generation (32 bits). The tag is a number from 1 to 255 that no other live heap has.
// The generation grows by one when the last reference to a buffer is released, so the handle of
// that buffer never equals the handle of a later buffer in the same record. A record is retired
// long before its generation would wrap.
//
// Ownership: a record belongs to one arena (arena.h) until the heap ends. Threads: the arena's lock
// guards all fields.
#pragma once

#include "engine/heap/types.h"

namespace gantry::heap {

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr uint32_t kGranuleLog2 = 8; // Ranges are multiples of a granule, 256 bytes.
inline constexpr uint32_t kIndexBits = 24;
inline constexpr uint32_t kMaxReferences = (1U << 24) - 1;
inline constexpr uint32_t kRetiredGeneration = 1U << 31; // From here on a record is not reused.
inline constexpr uint32_t kPlaceOffsetBits = 40;

enum RecordFlag : uint16_t {
  kMovable = 1,
  kSpillable = 2,
  kHasPoints = 4, // RecordTail::points is valid; the range is not free before they have passed.
  kPending = 8,   // The buffer is released; the range is in the arena's list of pending releases.
  kMoving = 16, // A move, spill or restore runs; it frees the range of a buffer released meanwhile.
  kCached = 32, // The buffer is released; the range is in a size class of the arena.
};

/// The part of a record that every allocation and release touches: half a cache line.
struct BufferRecord {
  uint64_t sizeBytes; // As requested.
  uint32_t generation;
  uint32_t references; // 0: no live buffer.
  uint32_t block;      // Block of the pool's Tlsf (tlsf.h); kNone: no storage (spilled).
  uint32_t next;       // The next record in the list of a size class, or kNone.
  uint16_t name;       // NameId::index.
  uint16_t flags;      // RecordFlag.
  uint16_t sizeClass;  // The size class that fits the range; SizeClasses::kCount: none.
  uint8_t alignmentLog2;
  uint8_t pool; // PoolIndex.
};
static_assert(sizeof(BufferRecord) == 32);

/// The part of a record that is used only if work may still use the range (kHasPoints, kPending),
/// or if the buffer is movable or spillable (pins).
struct RecordTail {
  uint64_t points[kMaxTimelines]; // TimelinePoint::value to wait for, by timeline; 0: none.
  uint32_t olderPending;          // Links of the list of pending releases, in order of release.
  uint32_t newerPending;
  uint32_t pins;
};

/// A place is the position of a block in one word, as Tlsf::placeOf returns it: the slab's number
/// in the upper 24 bits, and the offset in granules in the lower 40 bits.
inline uint32_t slabOf(uint64_t place) { return static_cast<uint32_t>(place >> kPlaceOffsetBits); }
inline uint64_t offsetOf(uint64_t place) {
  return (place & ((uint64_t{1} << kPlaceOffsetBits) - 1)) << kGranuleLog2;
}
inline constexpr uint64_t kNoPlace = UINT64_MAX; // The place of a buffer without storage.

inline BufferHandle handleOf(uint32_t generation, uint32_t tag, uint32_t index) {
  return {uint64_t{generation} << 32 | uint64_t{tag} << kIndexBits | index};
}
inline uint32_t indexOf(BufferHandle handle) {
  return static_cast<uint32_t>(handle.bits) & ((1U << kIndexBits) - 1);
}
inline uint32_t tagOf(BufferHandle handle) {
  return static_cast<uint32_t>(handle.bits) >> kIndexBits;
}
inline uint32_t generationOf(BufferHandle handle) {
  return static_cast<uint32_t>(handle.bits >> 32);
}

} // namespace gantry::heap
