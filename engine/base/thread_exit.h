// A function that is called when a thread ends.
//
// A thread_local variable with a destructor would do the same, but registering the destructor
// allocates memory, and the C library ends the process if that fails. ThreadExit uses a POSIX key
// (pthread_key_create) instead, which allocates nothing for the first 32 keys of a process.
//
// The function is not called when the main thread returns from main(), nor for threads that end
// after the process has begun to exit. Threads: arm() may be called from any thread.
#pragma once

#include <pthread.h>

namespace gantry {

/// Calls one function at the end of each thread that has called arm(). If the object is destroyed
/// before such a thread ends, the function is not called for that thread.
class ThreadExit {
public:
  explicit ThreadExit(void (*function)(void *argument))
      : hasKey_(pthread_key_create(&key_, function) == 0) {}
  ~ThreadExit() {
    if (hasKey_)
      pthread_key_delete(key_);
  }
  ThreadExit(const ThreadExit &) = delete;
  ThreadExit &operator=(const ThreadExit &) = delete;

  /// Makes the function run with `argument`, which must not be null, when the calling thread ends.
  /// Returns false if the system has no key or no memory for it.
  bool arm(void *argument) { return hasKey_ && pthread_setspecific(key_, argument) == 0; }

private:
  pthread_key_t key_{};
  bool hasKey_;
};

} // namespace gantry
