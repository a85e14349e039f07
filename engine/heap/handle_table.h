// The table of all buffer records of a heap. It finds a record, and the record's arena (arena.h),
// by the record's index.
//
// Records are allocated in chunks of 1024. A chunk belongs to the arena that requested it and keeps
// an atomic pointer to that arena. A handle contains the index of its record (buffer_record.h), the
// index gives the chunk, and the chunk gives the arena, without a lock. Records never move and are
// freed with the table.
// Threads: any. addChunk() takes the table's lock. The lock of a record's arena guards the record.
// Errors: addChunk() returns kNone if the host has no memory or kMaxRecords records exist.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/buffer_record.h"
#include "engine/base/lock.h"

namespace gantry::heap {

class Arena;

class HandleTable {
public:
  static constexpr uint32_t kChunkLog2 = 10;
  static constexpr uint32_t kChunkRecords = 1U << kChunkLog2;
  static constexpr uint32_t kMaxRecords = (1U << kIndexBits) - kChunkRecords;

  HandleTable(const HostAllocator &host, uint32_t tag) : chunks_(host), tag_(tag) {}

  /// Adds a chunk of 1024 records for an arena and returns the index of the first record. `number`
  /// is how many chunks the arena has already.
  uint32_t addChunk(Arena &owner, uint32_t number);

  /// The arena of a handle's record; nullptr if another live heap made the handle or the record
  /// does not exist.
  Arena *ownerOf(BufferHandle handle) const {
    const uint32_t chunk = indexOf(handle) >> kChunkLog2;
    if (tagOf(handle) != tag_ || chunk >= chunks_.capacity())
      return nullptr;
    return chunks_[chunk].owner.load(std::memory_order_acquire);
  }
  BufferRecord &record(uint32_t index) const {
    return chunks_[index >> kChunkLog2].records[index % kChunkRecords];
  }
  RecordTail &tail(uint32_t index) const {
    return chunks_[index >> kChunkLog2].tails[index % kChunkRecords];
  }
  /// The arena of a record that exists.
  Arena &arenaOf(uint32_t index) const {
    return *chunks_[index >> kChunkLog2].owner.load(std::memory_order_acquire);
  }
  /// The handle of a record's present generation.
  BufferHandle handle(uint32_t index) const {
    return handleOf(record(index).generation, tag_, index);
  }
  /// The position of a record among the records of its arena, from 0. An arena's records are in the
  /// order in which its chunks were added.
  uint32_t numberInArena(uint32_t index) const {
    return chunks_[index >> kChunkLog2].number * kChunkRecords + index % kChunkRecords;
  }
  /// The number of records; all indices are below it.
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  uint32_t tag() const { return tag_; }

private:
  struct Chunk {
    BufferRecord records[kChunkRecords];
    RecordTail tails[kChunkRecords];
    std::atomic<Arena *> owner;
    uint32_t number; // Position among the chunks of the owner, from 0.
  };
  SegmentedArray<Chunk, 0> chunks_;
  uint32_t tag_;
  Lock lock_;
  std::atomic<uint32_t> count_{0};
};

} // namespace gantry::heap
