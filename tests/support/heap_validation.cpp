#include "tests/support/heap_validation.h"

#include "engine/heap/heap_components.h"

namespace gantry::heap {
namespace {

// Sums over the records of one arena, in bytes. A record is live (it has a buffer), pending (its
// buffer is released, but work may still use the range), cached (its range is in a size class), or
// unused.
struct Sums {
  uint64_t live = 0;    // Requested bytes of live buffers.
  uint64_t buffers = 0; // Number of live buffers.
  uint64_t ranges = 0;  // Bytes of the ranges of live, pending and cached records.
  uint64_t pending = 0; // The part of `ranges` that is pending.
  uint64_t cached = 0;  // The part of `ranges` that is in size classes.
};

// Checks one record against its block and adds it to the sums.
const char *checkRecord(ArenaAccess &access, uint32_t index, Sums &sums) {
  const BufferRecord &record = access.record(index);
  const bool pending = (record.flags & kPending) != 0;
  const bool cached = (record.flags & kCached) != 0;
  const bool live = record.references != 0;
  if (live + pending + cached > 1)
    return "a record is in two states at once";
  if (!live && !pending && !cached)
    return nullptr;
  if (live) {
    sums.live += record.sizeBytes;
    ++sums.buffers;
    if (record.block == kNone)
      return nullptr; // The buffer is spilled, so it has no range.
  }
  const Tlsf::Range range = access.pool(record.pool).tlsf.at(record.block);
  if (!range.used || range.user != index)
    return "a record refers to a block that is free or that belongs to another record";
  if (live && range.size < record.sizeBytes)
    return "a buffer is longer than its block";
  if (cached && range.size != SizeClasses::bytesOf(record.sizeClass))
    return "a cached range has another length than its size class";
  sums.ranges += range.size;
  sums.pending += pending ? range.size : 0;
  sums.cached += cached ? range.size : 0;
  return nullptr;
}

const char *checkSizeClasses(ArenaAccess &access, uint64_t expectedBytes) {
  uint64_t bytes = 0;
  uint64_t ranges = 0;
  for (uint32_t c = 0; c < SizeClasses::kCount; ++c)
    for (uint32_t i = access.cached().head(c); i != kNone; i = access.record(i).next, ++ranges) {
      if ((access.record(i).flags & kCached) == 0 || access.record(i).sizeClass != c)
        return "a size class holds a record that is not cached there";
      bytes += SizeClasses::bytesOf(c);
    }
  return bytes == expectedBytes && bytes == access.cached().bytes() &&
                 ranges == access.cached().ranges()
             ? nullptr
             : "the size classes do not hold the bytes or the ranges that the arena counts";
}

const char *checkArena(HandleTable &handles, Arena &arena) {
  ArenaAccess access(arena);
  Sums sums;
  for (uint32_t i = 0; i < handles.count(); ++i)
    if (&handles.arenaOf(i) == &arena)
      if (const char *broken = checkRecord(access, i, sums))
        return broken;
  if (const char *broken = checkSizeClasses(access, sums.cached))
    return broken;
  uint64_t used = 0;
  for (uint32_t i = 0; i < kPools; ++i) {
    if (const char *broken = access.pool(i).tlsf.validate())
      return broken;
    used += access.pool(i).tlsf.usedBytes();
  }
  if (used != sums.ranges)
    return "the records of an arena do not account for all taken blocks";
  if (sums.pending != access.pending().bytes())
    return "an arena's count of pending bytes is not the sum of its pending ranges";
  if (static_cast<int64_t>(sums.live) != access.counter().live() ||
      sums.buffers != access.counter().buffers())
    return "an arena's counts of live bytes and buffers are not the sums over its records";
  for (const NameCount &name : access.names()) {
    sums.live -= name.liveBytes;
    sums.buffers -= name.buffers;
  }
  return sums.live == 0 && sums.buffers == 0
             ? nullptr
             : "the counts per name do not add up to an arena's live bytes and buffers";
}

} // namespace

const char *validate(const Heap &heap) {
  HeapComponents &components = heap.components();
  uint64_t reserved[kMemoryKinds] = {};
  for (uint32_t i = 0; i < components.slabs.count(); ++i) {
    const Slab &slab = components.slabs[i];
    if (slab.memory == nullptr)
      continue;
    reserved[slab.kind] += slab.sizeBytes;
    const uint64_t region = ArenaAccess(*slab.arena).pool(slab.pool).tlsf.sizeOfRegion(i);
    if (region == 0 || region > slab.sizeBytes)
      return "a slab has no region in its pool, or one that is longer than the slab";
  }
  const char *broken = nullptr;
  for (uint32_t kind = 0; kind < kMemoryKinds && broken == nullptr; ++kind) {
    if (reserved[kind] != components.totals[kind].reserved.load())
      return "the reserved bytes of a memory kind are not the sum of its slabs";
    components.arenas.any(kind, [&](Arena &arena) {
      broken = checkArena(components.handles, arena);
      return broken != nullptr;
    });
  }
  return broken;
}

} // namespace gantry::heap
