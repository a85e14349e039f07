// A memory barrier that takes effect on every thread of the process at once.
//
// The barrier makes one side of a two-sided handshake (Dekker's pattern) cheap. The side that runs
// often stores and then loads with plain instructions. The side that runs rarely stores, calls
// processBarrier(), and then loads. At least one of the two loads then sees the other side's store.
// On Linux the barrier is membarrier(2) with the private expedited command; other systems have
// none.
//
// Cost: a call takes some microseconds and interrupts each core that runs a thread of the process.
// Threads: any. Errors: none. If hasProcessBarrier() returns false, the caller needs ordinary
// barriers on both sides and must not call processBarrier().
#pragma once

namespace gantry {

/// Returns whether the system supports the barrier. The first call asks the system; the answer does
/// not change during the process.
bool hasProcessBarrier();
/// Orders the memory accesses of every thread of the process, the calling thread included.
void processBarrier();

} // namespace gantry
