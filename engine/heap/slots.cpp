// Slots that nobody has: those of free blocks; of the others a few with each thread, and the rest
// in the heap's set.
#include "engine/heap/impl.h"

#include <algorithm>

namespace gantry::heap {
namespace {

constexpr uint32_t kSpareBatch = kSparesPerThread / 2;

} // namespace

uint64_t SlotInfo::packed() const {
  uint64_t word = sizeBytes << kSizeAt | (named ? kNamed : 0) | (dedicated ? kDedicated : 0) |
                  (ordered ? kOrdered : 0) | (pending ? kPending : 0) |
                  uint64_t{flags} << kFlagsAt | uint64_t{kind} << kKindAt |
                  uint64_t{alignmentLog2} << kAlignmentAt;
  if (fitsMagazine(word))
    word |= magazineBinOf(sizeBytes) | (named ? 0 : kQuick);
  return word;
}

SlotInfo SlotInfo::of(uint64_t word) {
  return {sizeOf(word & ~kPending),
          static_cast<uint8_t>(word >> kFlagsAt & 3),
          static_cast<uint8_t>(kindOf(word)),
          static_cast<uint8_t>(word >> kAlignmentAt & 31),
          (word & kDedicated) != 0,
          (word & kOrdered) != 0,
          (word & kPending) != 0,
          (word & kNamed) != 0};
}

SlotTail &SlotTable::tail(uint32_t slot) const { return chunk(slot).tails[slot % kChunkSlots]; }

uint64_t HeapImpl::placeOfSlot(uint32_t index) const {
  const SlotChunk &chunk = slots.chunk(index);
  return chunk.pool != nullptr
             ? chunk.pool->tlsf.placeOf(chunk.firstBlock + index % kChunkSlots)
             : chunk.ranges[index % kChunkSlots].place.load(std::memory_order_acquire);
}

uint32_t HeapImpl::blockOfSlot(uint32_t index) const {
  const SlotChunk &chunk = slots.chunk(index);
  return chunk.pool != nullptr ? chunk.firstBlock + index % kChunkSlots
                               : chunk.ranges[index % kChunkSlots].block;
}

// Under slotLock: slots that were never used, for the blocks of the pool from that one on, or,
// where there is no pool, for anybody. The first of them; kNone where there are no more.
uint32_t HeapImpl::newChunk(Pool *pool, uint32_t firstBlock) {
  const uint32_t first = slotCount;
  if (first == kMaxSlots || (first == slots.capacity() && !slots.grow()))
    return kNone;
  slots.chunk(first).pool = pool;
  slots.chunk(first).firstBlock = firstBlock;
  slotCount += kChunkSlots;
  return first;
}

// Under the pool's lock: so that its blocks up to that one have slots of their own.
bool HeapImpl::addOwnSlots(Pool &pool, uint32_t block) {
  while (block / kChunkSlots >= pool.chunks.size()) {
    const Locked locked(slotLock);
    const uint32_t known = pool.chunks.size();
    const uint32_t first =
        pool.chunks.reserve(known + 1) ? newChunk(&pool, known * kChunkSlots) : kNone;
    if (first == kNone)
      return false;
    pool.chunks.pushBackReserved(first);
  }
  return true;
}

// Under slotLock.
bool HeapImpl::addSpares() {
  const uint32_t first = spareSlots.reserve(slotCount + kChunkSlots) ? newChunk(nullptr, 0) : kNone;
  for (uint32_t i = 0; i < kChunkSlots && first != kNone; ++i)
    spareSlots.add(first + i);
  return first != kNone;
}

uint32_t HeapImpl::takeSlot(ThreadCache &cache) {
  if (cache.spareCount == 0) {
    const Locked locked(slotLock);
    uint32_t first = kSpareBatch; // the lowest is taken first, so it lies last
    uint32_t near = 0;
    while (first > 0) {
      const uint32_t index = spareSlots.take(near);
      if (index == kNone && !addSpares())
        break;
      if (index == kNone)
        continue;
      cache.spares[--first] = near = index;
    }
    cache.spareCount = kSpareBatch - first;
    std::copy_n(cache.spares.begin() + first, cache.spareCount, cache.spares.begin());
    if (cache.spareCount == 0)
      return kNone;
  }
  return cache.spares[--cache.spareCount];
}

// Whether anybody may use the slot next: its block's pool keeps a block's own, and one whose
// generations are used up is retired.
bool HeapImpl::isSpare(uint32_t index) const {
  return slots.chunk(index).pool == nullptr &&
         !isRetired(slots[index].state.load(std::memory_order_relaxed));
}

void HeapImpl::giveSlotShared(uint32_t index) {
  if (!isSpare(index))
    return;
  const Locked locked(slotLock);
  spareSlots.add(index);
}

void HeapImpl::giveSlot(ThreadCache &cache, uint32_t index) {
  if (!isSpare(index))
    return;
  if (cache.spareCount == kSparesPerThread) { // the older half goes
    const Locked locked(slotLock);
    for (uint32_t i = 0; i < kSpareBatch; ++i)
      spareSlots.add(cache.spares[i]);
    std::copy_n(cache.spares.begin() + kSpareBatch, kSpareBatch, cache.spares.begin());
    cache.spareCount = kSpareBatch;
  }
  cache.spares[cache.spareCount++] = index;
}

} // namespace gantry::heap
