#include "codegen/compiler_threads.h"

#include "engine/base/log.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread> // hardware_concurrency()
#include <unistd.h>

namespace gantry::codegen {

void endWithoutMemory() noexcept {
  static constexpr char kLine[] =
      "gantry: error: the host has no memory left to compile, and LLVM cannot go on without it\n";
  (void)!::write(STDERR_FILENO, kLine, sizeof(kLine) - 1);
  // If the program has set a terminate handler, that handler decides how the process ends. The
  // default handler is not called, because it would print two more lines that help less.
  if (std::get_terminate() != __gnu_cxx::__verbose_terminate_handler)
    std::terminate();
  std::abort();
}

namespace {

std::atomic<size_t> sharedTasks{0}; // Number of tasks that are queued or running, in all pools.

std::mutex handlerMutex;
unsigned handlerUsers = 0;

void onBadAlloc(void *, const char *, bool) { endWithoutMemory(); }

} // namespace

bool isWorkShared() { return sharedTasks.load() != 0; }

BadAllocHandler::BadAllocHandler() {
  const std::lock_guard<std::mutex> locked(handlerMutex);
  if (handlerUsers++ == 0)
    llvm::install_bad_alloc_error_handler(onBadAlloc);
}

BadAllocHandler::~BadAllocHandler() {
  const std::lock_guard<std::mutex> locked(handlerMutex);
  if (--handlerUsers == 0)
    llvm::remove_bad_alloc_error_handler();
}

CompilerThreads::CompilerThreads() {
  const size_t wanted = std::max(1U, std::thread::hardware_concurrency()) - 1;
  threads_.reserve(wanted);
  for (size_t i = 0; i < wanted; ++i) {
    Result<Thread> thread = Thread::start("gantry-compile", [this] { runShared([&] { work(); }); });
    if (!thread.isOk()) {
      static std::atomic<bool> said = false;
      if (!said.exchange(true))
        logf(LogLevel::kWarn, "the compiler uses only %zu of %zu threads: %s", i + 1, wanted + 1,
             thread.status().message().c_str());
      return;
    }
    threads_.push_back(thread.take());
  }
}

CompilerThreads::~CompilerThreads() {
  if (!threads_.empty())
    wait();
  {
    const std::lock_guard<std::mutex> locked(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  for (Thread &thread : threads_)
    thread.join();
}

// Tasks use objects of the frames that wait for them. An exception must therefore not leave a task,
// nor the loop that makes tasks, while others run: it would destroy these objects.

void CompilerThreads::asyncEnqueue(std::function<void()> task, Group *group) {
  try {
    const std::lock_guard<std::mutex> locked(mutex_);
    queue_.push_back({std::move(task), group});
    sharedTasks.fetch_add(1);
  } catch (const std::bad_alloc &) {
    endWithoutMemory();
  }
  changed_.notify_all();
}

void CompilerThreads::runTask(std::unique_lock<std::mutex> &locked,
                              std::deque<Task>::iterator task) {
  const Task taken = std::move(*task);
  queue_.erase(task);
  try {
    active_.push_back(taken.group);
    locked.unlock();
    taken.run();
  } catch (const std::bad_alloc &) {
    endWithoutMemory();
  }
  locked.lock();
  sharedTasks.fetch_sub(1);
  active_.erase(std::find(active_.begin(), active_.end(), taken.group));
  changed_.notify_all();
}

void CompilerThreads::work() {
  std::unique_lock<std::mutex> locked(mutex_);
  for (;;) {
    changed_.wait(locked, [&] { return quit_ || !queue_.empty(); });
    if (queue_.empty())
      return;
    runTask(locked, queue_.begin());
  }
}

void CompilerThreads::waitFor(Group *group, bool all) {
  std::unique_lock<std::mutex> locked(mutex_);
  for (;;) {
    const auto task = std::find_if(queue_.begin(), queue_.end(),
                                   [&](const Task &each) { return all || each.group == group; });
    if (task != queue_.end()) {
      runTask(locked, task);
      continue;
    }
    const bool isRunning =
        all ? !active_.empty() : std::find(active_.begin(), active_.end(), group) != active_.end();
    if (!isRunning)
      return;
    changed_.wait(locked);
  }
}

void CompilerThreads::wait() { waitFor(nullptr, true); }
void CompilerThreads::wait(llvm::ThreadPoolTaskGroup &group) { waitFor(&group, false); }

} // namespace gantry::codegen
