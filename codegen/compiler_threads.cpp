#include "codegen/compiler_threads.h"

#include "engine/base/log.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread> // hardware_concurrency()
#include <unistd.h>
#include <utility>

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

/// The pool to which this thread belongs. The TLS model avoids memory allocation at the first
/// access in a thread.
[[gnu::tls_model("initial-exec")]] thread_local CompilerThreads *poolOfThread = nullptr;

std::mutex handlerMutex;
unsigned handlerUsers = 0;
std::atomic<std::new_handler> programsHandler{nullptr}; // The new-handler of the program.

void onBadAlloc(void *, const char *, bool) { endWithoutMemory(); }

/// The new-handler: operator new calls it when malloc fails, and tries again when it returns.
void onFailedNew() {
  try {
    const std::new_handler programs = programsHandler.load();
    if (programs == nullptr)
      throw std::bad_alloc();
    programs();
  } catch (const std::bad_alloc &) {
    if (poolOfThread != nullptr && poolOfThread->hasTasks())
      endWithoutMemory();
    throw;
  }
}

} // namespace

OutOfMemoryHandlers::OutOfMemoryHandlers() {
  const std::lock_guard<std::mutex> locked(handlerMutex);
  if (handlerUsers++ != 0)
    return;
  llvm::install_bad_alloc_error_handler(onBadAlloc);
  programsHandler = std::get_new_handler();
  std::set_new_handler(onFailedNew);
}

OutOfMemoryHandlers::~OutOfMemoryHandlers() {
  const std::lock_guard<std::mutex> locked(handlerMutex);
  if (--handlerUsers != 0)
    return;
  llvm::remove_bad_alloc_error_handler();
  if (std::get_new_handler() == onFailedNew) // Otherwise the program has set another one since.
    std::set_new_handler(programsHandler);
}

CompilerThreads::CompilerThreads() {
  const size_t wanted = std::max(1U, std::thread::hardware_concurrency()) - 1;
  threads_.reserve(wanted);
  outer_ = std::exchange(poolOfThread, this);
  for (size_t i = 0; i < wanted; ++i) {
    Result<Thread> thread = Thread::start("gantry-compile", [this] { work(); });
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
  poolOfThread = outer_;
}

void CompilerThreads::asyncEnqueue(std::function<void()> task, Group *group) {
  {
    const std::lock_guard<std::mutex> locked(mutex_);
    queue_.push_back({std::move(task), group});
    unfinished_.fetch_add(1);
  }
  changed_.notify_all();
}

void CompilerThreads::runTask(std::unique_lock<std::mutex> &locked,
                              std::deque<Task>::iterator task) {
  const Task taken = std::move(*task);
  queue_.erase(task);
  active_.push_back(taken.group);
  locked.unlock();
  taken.run();
  locked.lock();
  unfinished_.fetch_sub(1);
  active_.erase(std::find(active_.begin(), active_.end(), taken.group));
  changed_.notify_all();
}

void CompilerThreads::work() {
  poolOfThread = this;
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
