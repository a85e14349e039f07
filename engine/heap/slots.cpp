// Slots that nobody has: a few with each thread, the others in the heap's set.
#include "engine/heap/impl.h"

#include <algorithm>

namespace gantry::heap {
namespace {

constexpr uint32_t kSpareBatch = kSparesPerThread / 2;

} // namespace

// Under slotLock: a slot that was never used.
uint32_t HeapImpl::newSlot() {
  if (slotCount == slots.capacity() &&
      (slotCount == kMaxSlots || (slotCount == tails.capacity() && !tails.grow()) ||
       !spareSlots.reserve(tails.capacity()) || !slots.grow()))
    return kNone;
  return slotCount++;
}

uint32_t HeapImpl::takeSlot(ThreadCache &cache) {
  if (cache.spareCount == 0) {
    const Locked locked(slotLock);
    uint32_t first = kSpareBatch; // the lowest is taken first, so it lies last
    uint32_t near = 0;
    while (first > 0) {
      uint32_t index = spareSlots.take(near);
      if (index == kNone && (index = newSlot()) == kNone)
        break;
      cache.spares[--first] = near = index;
    }
    cache.spareCount = kSpareBatch - first;
    std::copy_n(cache.spares.begin() + first, cache.spareCount, cache.spares.begin());
    if (cache.spareCount == 0)
      return kNone;
  }
  return takeSpare(cache);
}

void HeapImpl::giveSlotShared(uint32_t index) {
  if (isRetired(slots[index].state.load(std::memory_order_relaxed)))
    return; // its generations are used up: retired
  const Locked locked(slotLock);
  spareSlots.add(index);
}

void HeapImpl::giveSlot(ThreadCache &cache, uint32_t index) {
  if (isRetired(slots[index].state.load(std::memory_order_relaxed)))
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
