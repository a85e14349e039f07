// The threads of one compilation, and what the compiler does when memory or threads run out.
//
// LLVM's own thread pool ends the process when the system refuses a thread. This one is made of the
// threads that the system gives; where it gives none, MLIR works in the calling thread.
//
// Memory: the compiler has exceptions, so std::bad_alloc reaches the C API and becomes a result
// there. Two things stand against it. LLVM is built without exceptions: its containers end the
// process when malloc fails, and where an exception passes through its frames they clean nothing
// up, so that a lock stays locked and a task of another thread is left behind. So memory that is
// missing in LLVM's containers, or while several threads work, ends the process, with one line
// (endWithoutMemory). docs/out-of-memory.md lists these places.
#pragma once

#include "engine/base/thread.h"

#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

namespace gantry::codegen {

/// Writes "gantry: error: ..." to standard error and ends the process: by the program's terminate
/// handler if it has one of its own, else by abort(). Takes no memory.
[[noreturn]] void endWithoutMemory() noexcept;

/// Whether tasks of any CompilerThreads wait or run.
bool isWorkShared();

/// Calls step(), which may share its work with other threads. Lets std::bad_alloc out only where no
/// other thread is at work.
template <typename Step> auto runShared(Step &&step) {
  try {
    return step();
  } catch (const std::bad_alloc &) {
    if (!isWorkShared())
      throw;
  }
  endWithoutMemory();
}

/// LLVM's handler of a failed malloc is endWithoutMemory() while one of these lives. They may
/// overlap.
class BadAllocHandler {
public:
  BadAllocHandler();
  ~BadAllocHandler();
  BadAllocHandler(const BadAllocHandler &) = delete;
  BadAllocHandler &operator=(const BadAllocHandler &) = delete;
};

/// A pool whose waiting threads help: a thread that waits for a group runs tasks of that group. So
/// tasks may wait for groups of their own.
class CompilerThreads : public llvm::ThreadPoolInterface {
public:
  /// One thread for each processor besides the calling one, or as many as the system gives.
  CompilerThreads();
  ~CompilerThreads() override;

  /// 0 where the system gave none: then the pool must not be used.
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
  /// Waits for the group, or for everything.
  void waitFor(Group *group, bool all);
  /// Takes the task out of the queue and runs it; the lock is released meanwhile.
  void runTask(std::unique_lock<std::mutex> &locked, std::deque<Task>::iterator task);

  std::mutex mutex_; // Guards every member below except threads_.
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<Group *> active_; // Groups of the running tasks; a group appears once per task.
  bool quit_ = false;
  std::vector<Thread> threads_;
};

} // namespace gantry::codegen
