// The threads of one compilation, and what the compiler does when memory or threads run out.
//
// LLVM's own thread pool ends the process when the system refuses to start a thread. The pool of
// this file, CompilerThreads, uses the threads that the system does start. If it starts none, the
// caller does not give the pool to MLIR, which then runs in the calling thread.
//
// Out of memory: the compiler is built with exceptions, so std::bad_alloc reaches the C API, which
// returns an error. LLVM is built without exceptions, so this is impossible in two cases:
//
// - Memory runs out in a container of LLVM. LLVM's containers call malloc, and end the process when
//   it fails.
// - Operator new fails while other threads run tasks for a function of LLVM or MLIR. This function
//   has objects on its stack that the tasks use, and a destructor that waits for the tasks. An
//   exception that passes through the function skips the destructor, because code without
//   exceptions has no cleanup, and releases the stack frame. The tasks would then use released
//   memory.
//
// In both cases the process ends with one line of text (endWithoutMemory). In the second case,
// operator new ends it instead of throwing (OutOfMemoryHandlers). A catch clause would be too late:
// when it runs, the stack frames are released. docs/out-of-memory.md lists the places where the
// process ends.
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
/// the application has set a terminate handler, otherwise abort(). Allocates no memory.
[[noreturn]] void endWithoutMemory() noexcept;

/// While an object of this class exists, the process ends with endWithoutMemory() in two cases:
/// malloc fails in LLVM's containers, or operator new fails in a thread of a CompilerThreads pool
/// that has unfinished tasks. In all other cases, operator new behaves as it did before: it calls
/// the application's new-handler (std::set_new_handler), or throws std::bad_alloc if there is none.
/// Several objects may exist at once.
class OutOfMemoryHandlers {
public:
  OutOfMemoryHandlers();
  ~OutOfMemoryHandlers();
  OutOfMemoryHandlers(const OutOfMemoryHandlers &) = delete;
  OutOfMemoryHandlers &operator=(const OutOfMemoryHandlers &) = delete;
};

/// A thread pool in which a thread that waits for a group of tasks runs tasks of this group. Tasks
/// may therefore create groups and wait for them without a deadlock. The thread that creates the
/// pool belongs to the pool until it destroys it; no other thread may destroy it.
class CompilerThreads : public llvm::ThreadPoolInterface {
public:
  /// Starts one thread fewer than there are processors. If the system refuses to start one, keeps
  /// those that run, and logs a warning the first time that this happens in the process.
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
  CompilerThreads *outer_ = nullptr;  // The creating thread's pool before this one, or null.
  std::mutex mutex_;                  // Guards every member below except threads_.
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<Group *> active_; // Groups of the running tasks; a group appears once per task.
  bool quit_ = false;
  std::vector<Thread> threads_;
};

} // namespace gantry::codegen
