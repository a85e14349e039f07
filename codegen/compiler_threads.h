// The threads of one compilation, and what the compiler does when memory or threads run out.
//
// LLVM's own thread pool ends the process when the system refuses to start a thread. This pool
// makes do with the threads that the system does start; without any, MLIR runs in the calling
// thread.
//
// Out of memory: the compiler is built with exceptions, so std::bad_alloc reaches the C API, which
// returns an error. LLVM is built without exceptions, which limits this in two ways. LLVM's
// containers end the process when malloc fails. An exception that passes through LLVM's frames does
// not run their destructors, so other threads may still run tasks that use objects of these frames.
// Therefore, where memory runs out in LLVM's containers or while a pool has unfinished tasks, the
// process ends with one line of text (endWithoutMemory). Operator new decides this before it throws
// (OutOfMemoryHandlers), because catching an exception destroys those objects.
// docs/out-of-memory.md lists these places.
#pragma once

#include "engine/base/thread.h"

#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

namespace gantry::codegen {

/// Writes "gantry: error: ..." to standard error and ends the process. Calls std::terminate() if
/// the program has set a terminate handler, otherwise abort(). Allocates no memory.
[[noreturn]] void endWithoutMemory() noexcept;

/// While an object of this class exists, the process ends with endWithoutMemory() in two cases:
/// malloc fails in LLVM's containers, or operator new fails in a thread of a CompilerThreads pool
/// that has unfinished tasks. In all other cases, operator new behaves as it did before: it calls
/// the program's new-handler (std::set_new_handler), or throws std::bad_alloc. Several objects may
/// exist at once.
class OutOfMemoryHandlers {
public:
  OutOfMemoryHandlers();
  ~OutOfMemoryHandlers();
  OutOfMemoryHandlers(const OutOfMemoryHandlers &) = delete;
  OutOfMemoryHandlers &operator=(const OutOfMemoryHandlers &) = delete;
};

/// A thread pool in which a thread that waits for a group runs tasks of that group. Tasks may
/// therefore wait for groups of their own without a deadlock. The thread that creates the pool must
/// also destroy it.
class CompilerThreads : public llvm::ThreadPoolInterface {
public:
  /// Starts one thread fewer than there are processors, or as many as the system allows, and logs a
  /// warning in the second case (once per process).
  CompilerThreads();
  ~CompilerThreads() override;

  /// Returns whether tasks are queued or running.
  bool hasTasks() const { return unfinished_.load() != 0; }
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

  std::atomic<size_t> unfinished_{0}; // Number of tasks that are queued or running.
  CompilerThreads *outer_ = nullptr;  // The pool to which the creating thread belonged before.
  std::mutex mutex_;                  // Guards every member below except threads_.
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<Group *> active_; // Groups of the running tasks; a group appears once per task.
  bool quit_ = false;
  std::vector<Thread> threads_;
};

} // namespace gantry::codegen
