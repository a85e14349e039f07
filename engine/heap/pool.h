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
  static constexpr uint32_t kLooksAtRest = 4;

  Pool(const HostAllocator &host, uint16_t index, uint8_t kind, bool small)
      : tlsf({kGranuleLog2, host}), slabOfRegion(host), index(index), kind(kind), small(small) {
    bins.fill(kNone);
  }

  BiasedLock lock;
  Tlsf tlsf;
  HostArray<uint32_t> slabOfRegion;
  uint16_t index;
  uint8_t kind;
  bool small;
  uint32_t draining = kNone; // a region that compaction empties; nothing new goes there
  Watched<uint64_t> dedicatedFreeBytes = 0; // dedicated slabs that are kept for reuse
  uint32_t oldestPending = kNone;
  uint32_t newestPending = kNone;
  Watched<uint32_t> pendingCount = 0;
  uint64_t pendingBytes = 0;
  std::array<uint32_t, kBins> bins;
  uint64_t seenBytes = 0; // that were taken when another thread last looked; under growth
  uint32_t seenTimes = 0; // that they were the same

  /// Whether no thread has worked here since some looks ago. Under growth alone.
  bool isAtRest() {
    const uint64_t used = tlsf.usedBytes();
    seenTimes = used == seenBytes ? seenTimes + 1 : 0;
    seenBytes = used;
    return seenTimes >= kLooksAtRest;
  }

  uint64_t placeOfBlock(uint32_t block) const {
    return placeOf(slabOfRegion[tlsf.regionOf(block)], tlsf.offsetOf(block));
  }
};

} // namespace gantry::heap
