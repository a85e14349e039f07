// A thread that may fail to start, unlike std::thread, whose constructor throws: the engine has no
// exceptions, and a system may refuse threads at any time (ulimit -u, a container's limit of
// processes, no memory for the stack).
//
// The new thread blocks all signals except crashes; they are for the program's own threads.
// Threads: a Thread object is used by one thread at a time.
#pragma once

#include "engine/base/status.h"

#include <functional>
#include <pthread.h>

namespace gantry {

class Thread {
public:
  /// Runs `body` in a new thread called `name` (at most 15 bytes; tools show it). kOutOfMemory
  /// where the system refuses the thread: nothing has run then.
  static Result<Thread> start(const char *name, std::function<void()> body);

  Thread() = default;
  Thread(Thread &&other) noexcept;
  Thread &operator=(Thread &&other) noexcept;
  /// A started thread was joined or detached before.
  ~Thread();

  bool isStarted() const { return started_; }
  void join();
  /// The thread runs on by itself.
  void detach();

private:
  pthread_t handle_{};
  bool started_ = false;
};

} // namespace gantry
