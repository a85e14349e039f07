// A thread whose start can fail with a status. The constructor of std::thread throws instead, which
// the engine, compiled without exceptions, cannot catch. A system may refuse a thread at any time:
// ulimit -u, a container's limit of processes, no memory for the stack.
//
// The new thread blocks all signals except crashSignals() (crash.h), so the system delivers all
// other signals to the program's own threads.
//
// Threads: a Thread object is used by one thread at a time.
#pragma once

#include "engine/base/status.h"

#include <functional>
#include <pthread.h>

namespace gantry {

/// Owns a started thread until join() or detach() is called. Movable.
class Thread {
public:
  /// Runs `body` in a new thread. Debuggers show the first 15 bytes of `name`. Returns kOutOfMemory
  /// if the system refuses the thread; `body` does not run then.
  static Result<Thread> start(const char *name, std::function<void()> body);

  Thread() = default;
  Thread(Thread &&other) noexcept;
  Thread &operator=(Thread &&other) noexcept;
  /// A started thread must have been joined or detached before.
  ~Thread();

  /// Returns whether the object owns a thread that was neither joined nor detached.
  bool isStarted() const { return started_; }
  /// Waits until the thread has ended.
  void join();
  /// Gives up the ownership; the thread continues to run.
  void detach();

private:
  pthread_t handle_{};
  bool started_ = false;
};

} // namespace gantry
