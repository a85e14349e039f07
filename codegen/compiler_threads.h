// The threads of one compilation, and what the compiler does when memory or threads run out.
//
// LLVM's own thread pool ends the process when the system refuses to start a thread. This pool
// makes do with the threads that the system does start; without any, MLIR runs in the calling
// thread.
//
// Out of memory: the compiler is built with exceptions, so std::bad_alloc reaches the C API, which
// returns an error. LLVM is built without exceptions, which limits this in two ways. LLVM's
// containers end the process when malloc fails. An exception that passes through LLVM's frames does
// not run their destructors, so a mutex may stay locked and a task of another thread may be lost.
// Therefore, where memory runs out in LLVM's containers or while several threads work, the process
// ends with one line of text (endWithoutMemory). docs/out-of-memory.md lists these places.
#pragma once

#include "engine/base/thread.h"

#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

namespace gantry::codegen {

/// Writes "gantry: error: ..." to standard error and ends the process. Calls std::terminate() if
/// the program has set a terminate handler, otherwise abort(). Allocates no memory.
[[noreturn]] void endWithoutMemory() noexcept;

/// Returns whether any CompilerThreads pool has tasks that are queued or running.
bool isWorkShared();

/// Calls step(), which may share its work with other threads, and returns its result. If it throws
/// std::bad_alloc while other threads work, the process ends; otherwise the exception is passed on.
template <typename Step> auto runShared(Step &&step) {
  try {
    return step();
  } catch (const std::bad_alloc &) {
    if (!isWorkShared())
      throw;
  }
  endWithoutMemory();
}

/// While an object of this class exists, LLVM calls endWithoutMemory() when malloc fails. Several
/// objects may exist at once.
class BadAllocHandler {
public:
  BadAllocHandler();
  ~BadAllocHandler();
  BadAllocHandler(const BadAllocHandler &) = delete;
  BadAllocHandler &operator=(const BadAllocHandler &) = delete;
};

/// A thread pool in which a thread that waits for a group runs tasks of that group. Tasks may
/// therefore wait for groups of their own without a deadlock.
class CompilerThreads : public llvm::ThreadPoolInterface {
public:
  /// Starts one thread fewer than there are processors, or as many as the system allows, and logs a
  /// warning in the second case (once per process).
  CompilerThreads();
  ~CompilerThreads() override;

  /// Returns the number of threads that were started. A pool with 0 threads must not be used.
  size_t count() const { return threads_.size(); }

  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override { return static_cast<unsigned>(threads_.size()) + 1; }

private:
  using Group = llvm::ThreadPoolTaskGroup;
  struct Task {
    std::function<void()> run;
    Group *group;
  };
  void asyncEnqueue(std::function<void()> task, Group *group) override;
  void work();
  /// Runs queued tasks of the group and waits for those that other threads run. If `all` is true,
  /// does so for all tasks and ignores `group`.
  void waitFor(Group *group, bool all);
  /// Removes the task from the queue and runs it. Releases the lock while the task runs.
  void runTask(std::unique_lock<std::mutex> &locked, std::deque<Task>::iterator task);

  std::mutex mutex_; // Guards every member below except threads_.
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<Group *> active_; // Groups of the running tasks; a group appears once per task.
  bool quit_ = false;
  std::vector<Thread> threads_;
};

} // namespace gantry::codegen
