// The record of a buffer, and how a handle names it.
//
// A handle holds the record's index (24 bits), the heap's tag (8 bits) and the record's generation
// (32 bits). The generation grows by one when the last reference is released, so a stale handle is
// told from the record's next buffer. A record is retired long before its generation would wrap.
//
// A record belongs to one arena for ever. All of its fields are guarded by that arena's lock.
#pragma once

#include "engine/heap/types.h"

namespace gantry::heap {

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr uint32_t kGranuleLog2 = 8; // ranges are multiples of 256 bytes
inline constexpr uint32_t kIndexBits = 24;
inline constexpr uint32_t kMaxReferences = (1U << 24) - 1;
inline constexpr uint32_t kRetiredGeneration = 1U << 31; // such a record is not used again
inline constexpr uint32_t kPlaceOffsetBits = 40;

enum RecordFlag : uint16_t {
  kMovable = 1,
  kSpillable = 2,
  kHasPoints = 4, // RecordTail::points hold work that may still use the range
  kPending = 8,   // released, and in the arena's list of pending releases
  kMoving = 16,   // a relocation owns the range until it ends
  kCached = 32,   // released, and in a size class of the arena
};

/// The part of a record that every allocation and release touches: half a cache line.
struct BufferRecord {
  uint64_t sizeBytes; // as requested
  uint32_t generation;
  uint32_t references; // 0: no live buffer
  uint32_t block;      // Block of the pool's Tlsf; kNone: no storage (spilled).
  uint32_t next;       // the next record of a size class
  uint16_t name;
  uint16_t flags;     // RecordFlag
  uint16_t sizeClass; // Size class of the range (SizeClasses); SizeClasses::kCount if it is in none
  uint8_t alignmentLog2;
  uint8_t pool; // PoolIndex
};
static_assert(sizeof(BufferRecord) == 32);

/// The part of a record that is used while its range is pending or may be moved.
struct RecordTail {
  uint64_t points[kMaxTimelines]; // by timeline
  uint32_t olderPending;          // in the order of release
  uint32_t newerPending;
  uint32_t pins;
};

/// The place of a block in one word: slab << 40 | offset in granules, as Tlsf::placeOf gives it.
inline uint32_t slabOf(uint64_t place) { return static_cast<uint32_t>(place >> kPlaceOffsetBits); }
inline uint64_t offsetOf(uint64_t place) {
  return (place & ((uint64_t{1} << kPlaceOffsetBits) - 1)) << kGranuleLog2;
}
inline constexpr uint64_t kNoPlace = UINT64_MAX;

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
