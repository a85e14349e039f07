// A function that is called when a thread ends, without the memory that a thread_local variable
// with a destructor takes: the C library ends the process where it has none for that registration.
//
// It is a POSIX key, which costs no memory for the first 32 keys of a process. The function is not
// called for the main thread, and not after the end of the process has begun.
// Threads: arm() from any thread.
#pragma once

#include <pthread.h>

namespace gantry {

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

  /// The function is called with `argument`, not null, when the calling thread ends. False where
  /// the system has no room for it.
  bool arm(void *argument) { return hasKey_ && pthread_setspecific(key_, argument) == 0; }

private:
  pthread_key_t key_{};
  bool hasKey_;
};

} // namespace gantry
