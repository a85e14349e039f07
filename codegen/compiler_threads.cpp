// Implements compiler_threads.h, which explains when the process ends for lack of memory.
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
  // If the application has set a terminate handler, this handler decides how the process ends. The
  // default handler is not called, because it would print two more lines that do not help the user.
  if (std::get_terminate() != __gnu_cxx::__verbose_terminate_handler)
    std::terminate();
  std::abort();
}

namespace {

/// The pool to which this thread belongs, or null: the pool that started the thread, or that the
/// thread created last and has not destroyed. With the TLS model initial-exec, the first access in
/// a thread allocates no memory, so onFailedNew() can read the variable.
[[gnu::tls_model("initial-exec")]] thread_local CompilerThreads *poolOfThread = nullptr;

std::mutex handlerMutex;
unsigned handlerUsers = 0;
/// The new-handler that the application had set before onFailedNew() was installed, or null.
std::atomic<std::new_handler> programsHandler{nullptr};

void onBadAlloc(void *, const char *, bool) { endWithoutMemory(); }

/// The new-handler that OutOfMemoryHandlers installs. Operator new calls it when malloc fails, and
/// calls malloc again when it returns. Calls the application's new-handler, or throws
/// std::bad_alloc if there is none. In a thread whose pool has unfinished tasks, ends the process
/// instead of throwing.
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
  if (std::get_new_handler() == onFailedNew) // Otherwise the application has set another one.
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
