// Small numbers for threads, so that a heap can give each thread an arena of its own.
//
// A thread gets the lowest number that no other live thread of the process has, and gives it back
// when it ends. So a program that starts and ends threads all the time uses few numbers.
// Threads: any. Errors: none. A thread whose end cannot be observed shares number 0.
#pragma once

#include <cstdint>

namespace gantry {

/// The calling thread's number, in [0, 1024). It stays the same while the thread lives.
uint32_t threadNumber();

} // namespace gantry
