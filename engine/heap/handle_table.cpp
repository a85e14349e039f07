// Implements HandleTable.
#include "engine/heap/handle_table.h"

namespace gantry::heap {

uint32_t HandleTable::addChunk(Arena &owner, uint32_t number) {
  const Locked locked(lock_);
  const uint32_t first = count_.load(std::memory_order_relaxed);
  const uint32_t chunk = first >> kChunkLog2;
  if (first == kMaxRecords || (chunk == chunks_.capacity() && !chunks_.grow()))
    return kNone;
  chunks_[chunk].number = number;
  chunks_[chunk].owner.store(&owner, std::memory_order_release);
  count_.store(first + kChunkRecords, std::memory_order_release);
  return first;
}

} // namespace gantry::heap
