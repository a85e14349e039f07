// The list of the rings of all threads. A ring is a bounded queue of events (ring.h). The
// collector, a thread of its own (collector.h), reads the list and empties the rings.
//
// A ring belongs to its thread until the thread ends. The collector then empties it and retires it,
// and the next new thread reuses it.
//
// Thread safety: only the collector's thread calls these functions, or a crashing thread while the
// collector is paused; any thread may call setRingBytes(). Threads may start and end meanwhile.
#pragma once

#include "engine/trace/record/record.h"

#include <vector>

namespace gantry::trace::detail {

/// Size of a thread's ring in bytes.
inline constexpr uint64_t kDefaultRingBytes = 4 << 20;

/// Replaces the list by the rings in use, including those of ended threads that are not retired.
void listRings(std::vector<ThreadRing *> &list);

/// Like listRings(), for crashes. Leaves the list unchanged if it would have to wait for a lock or
/// to allocate memory.
void tryListRings(std::vector<ThreadRing *> &list);

/// Makes the empty ring of an ended thread available for reuse.
void retireRing(ThreadRing *ring);

/// Returns the number of events that were lost because an ending thread recorded them after it had
/// given up its ring.
uint64_t lateEventCount();

/// Sets the size of rings that are created from now on: a power of two, at least 4096 bytes.
void setRingBytes(uint64_t sizeBytes);

} // namespace gantry::trace::detail
