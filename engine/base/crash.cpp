// Installs the signal actions, runs the crash handler once, and then restores the former action of
// the signal.
#include "engine/base/crash.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <iterator>
#include <sys/syscall.h>
#include <unistd.h>

namespace gantry {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr const char *kSignalNames[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
static_assert(std::size(kSignals) == std::size(kSignalNames));

// A second thread that crashes polls at this interval until the handler of the first has returned.
constexpr uint64_t kPollNs = 5'000'000;
constexpr uint32_t kMaxPolls = 2000; // Ten seconds.

struct sigaction oldActions[std::size(kSignals)];
std::atomic<bool> isSet{false};
std::atomic<CrashHandler> currentHandler{nullptr};
std::atomic<void *> currentUser{nullptr};
std::atomic<long> firstThread{0}; // System id of the thread that crashed first; 0 if none has.
std::atomic<bool> isRunning{false};

void onSignal(int signal, siginfo_t *info, void *context);

void restore(int signal) {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      sigaction(signal, &oldActions[i], nullptr);
}

void onSignal(int signal, siginfo_t *info, void * /*context*/) {
  const int error = errno;
  const long self = syscall(SYS_gettid);
  long none = 0;
  if (firstThread.compare_exchange_strong(none, self)) {
    isRunning.store(true);
    if (const CrashHandler handler = currentHandler.exchange(nullptr); handler != nullptr)
      handler(currentUser.load(), signal);
    isRunning.store(false);
  } else if (none != self) { // A crash inside the handler itself must not wait for the handler.
    for (uint32_t i = 0; i < kMaxPolls && isRunning.load(); ++i)
      sleepInCrash(kPollNs);
  }
  restore(signal);
  errno = error;
  // The faulting instruction runs again when this function returns, and the fault reaches the
  // former handler with its full context. A signal sent by kill() or abort() must be raised again.
  if (info->si_code <= 0 || signal == SIGABRT)
    (void)raise(signal);
}

} // namespace

bool setCrashHandler(CrashHandler handler, void *user) {
  if (isSet.exchange(true))
    return false;
  firstThread.store(0);
  currentUser.store(user);
  currentHandler.store(handler);
  struct sigaction action = {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction before = {};
    if (sigaction(kSignals[i], &action, &before) != 0) {
      clearCrashHandler();
      return false;
    }
    // onSignal() may already be the action: the program may have replaced it before
    // clearCrashHandler() and put it back later. oldActions then already holds the action that
    // onSignal() once replaced.
    const bool ours = (before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == onSignal;
    if (!ours)
      oldActions[i] = before;
  }
  return true;
}

void clearCrashHandler() {
  currentHandler.store(nullptr);
  while (isRunning.load())
    sleepInCrash(kPollNs);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction now = {};
    const bool ours = sigaction(kSignals[i], nullptr, &now) == 0 &&
                      (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == onSignal;
    if (ours)
      sigaction(kSignals[i], &oldActions[i], nullptr);
  }
  isSet.store(false);
}

std::span<const int> crashSignals() { return kSignals; }

const char *crashSignalName(int signal) {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      return kSignalNames[i];
  return "a signal";
}

bool CrashFile::create(const char *path) {
  close();
  descriptor_ = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  return descriptor_ >= 0;
}

bool CrashFile::write(std::span<const uint8_t> bytes) {
  while (descriptor_ >= 0 && !bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      close();
      break;
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return descriptor_ >= 0;
}

void CrashFile::close() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  descriptor_ = -1;
}

void sleepInCrash(uint64_t ns) {
  timespec pause = {};
  pause.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  pause.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  nanosleep(&pause, nullptr);
}

} // namespace gantry
