// The rings of all threads, for the collector.
//
// A ring belongs to its thread until that ends, and then to the collector, which empties it and
// gives it to the next thread that needs one.
//
// Threads: the collector's alone, one at a time; threads come and go meanwhile.
#pragma once

#include "engine/trace/record.h"

#include <vector>

namespace gantry::trace::detail {

inline constexpr uint64_t kDefaultRingBytes = 4 << 20;

/// The rings in use, those of ended threads among them.
void listRings(std::vector<ThreadRing *> &list);

/// The same for crashes: leaves the list as it is where that would wait for a lock or take memory.
void tryListRings(std::vector<ThreadRing *> &list);

/// An empty ring of an ended thread may be used again.
void retireRing(ThreadRing *ring);

/// Events that threads wanted to record while they ended, when they had no ring any more.
uint64_t lateEventCount();

/// Of rings made from now on: a power of two from 4096 on.
void setRingBytes(uint64_t sizeBytes);

} // namespace gantry::trace::detail
