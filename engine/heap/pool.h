// A pool: slabs of one memory kind under one suballocator and one lock, and the ranges that were
// released but may still be in use (pending).
//
// Pending ranges hang in two lists through their slots' tails: by age, for freeing them when their
// points have passed, and by size, for handing them to an allocation that is ordered after the
// points. Searches look at a bounded number of ranges.
// Threads: all members but `lock` under `lock`; the watched ones may be looked at without it.
#pragma once

#include "engine/heap/bias.h"
#include "engine/heap/slots.h"
#include "engine/heap/tlsf.h"

#include <array>

namespace gantry::heap {

struct alignas(64) Pool {
  static constexpr uint32_t kBins = 48;

  Pool(const HostAllocator &host, uint16_t index, uint8_t kind, bool small)
      : tlsf({kGranuleLog2, host}), chunks(host), index(index), kind(kind), small(small) {
    bins.fill(kNone);
  }

  BiasedLock lock;
  Tlsf tlsf;                  // its regions are slabs, by their numbers
  HostArray<uint32_t> chunks; // by block: the first slot of each SlotChunk of its blocks
  uint16_t index;
  uint8_t kind;
  bool small;
  uint32_t draining = kNone; // a slab that compaction empties; nothing new goes there
  Watched<uint64_t> dedicatedFreeBytes = 0; // dedicated slabs that are kept for reuse
  uint32_t oldestPending = kNone;
  uint32_t newestPending = kNone;
  Watched<uint32_t> pendingCount = 0;
  uint64_t pendingBytes = 0;
  std::array<uint32_t, kBins> bins;
  // What HeapImpl::isAtRest saw last; under growth.
  int64_t seenWork = 0;
  int64_t seenNs = 0; // since when
};

} // namespace gantry::heap
