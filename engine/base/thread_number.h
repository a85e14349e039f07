// Small numbers for threads, so that a heap can give each thread an arena (buffers and a lock) of
// its own.
//
// A thread gets the lowest number that no other live thread of the process has, and gives it back
// when it ends. A program that keeps starting and ending threads therefore uses few numbers.
// Threads: any. Errors: none. Number 0 is shared by the threads that find all 1024 numbers taken,
// and by threads whose end the system does not report (ThreadExit::arm() fails).
#pragma once

#include <cstdint>

namespace gantry {

/// The calling thread's number, in [0, 1024). A thread keeps a number of its own until it ends. A
/// thread that shares number 0 tries again at each call, and gets a number of its own as soon as
/// one is free and the thread's end can be observed.
uint32_t threadNumber();

} // namespace gantry
