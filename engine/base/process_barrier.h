// A memory barrier on every thread of the process at once.
//
// With it one side of a hand-shake needs no barrier of its own: the side that runs often stores,
// then loads, in plain instructions; the side that runs seldom stores, calls processBarrier(), then
// loads. One of the two sees the other's store. (Linux: membarrier(2), private and expedited.)
//
// Cost: some microseconds for each call, an interrupt to each core that runs a thread of the
// process. Threads: any. Errors: none; where the system has no such barrier, hasProcessBarrier()
// says so and processBarrier() is not to be called.
#pragma once

namespace gantry {

/// The same answer for the life of the process; the first call asks the system.
bool hasProcessBarrier();
void processBarrier();

} // namespace gantry
