// runToDeath: runs a function in a child process and reports how the child ended.
//
// Tests that exhaust resources use it to tell a crash in Gantry from one in the driver below it.
// The reported module is that of the innermost stack frame outside of the C and C++ run-time
// libraries and of the program itself. A child that hangs is interrupted after 15 seconds and
// reported in the same way.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

namespace gantry::test {

struct Death {
  bool isAlive = false; // The function returned.
  int code = 0;         // Return value of the function.
  /// Whether the child died or hung in libgantry or in an unknown module, or ended without a
  /// report.
  bool isOurs = false;
  /// Signal, module and function: "SIGABRT in libvulkan_lvp.so lvp_CreateDevice", "SIGSEGV (through
  /// a null pointer) in ..."
  std::string place;
  std::string lastLine; // Last line on standard error.
};

namespace detail {

inline int deathPipe = -1;
inline const char *accessText = "";       // Describes the access that raised the signal.
inline std::atomic<pid_t> reporter{0};    // Thread that reports the first signal; 0 before.
inline const char *firstModule = nullptr; // Module of the instruction that raised the signal.

inline void report(int signal, const char *module, const char *function) {
  const char *file = std::strrchr(module, '/');
  char line[512];
  const int length = std::snprintf(line, sizeof(line), "SIG%s%s in %s %s", sigabbrev_np(signal),
                                   accessText, file == nullptr ? module : file + 1, function);
  (void)!write(deathPipe, line, std::min(static_cast<size_t>(length), sizeof(line) - 1));
  _exit(1);
}

/// Returns whether a module is never blamed: this program, its preloaded library, and the libraries
/// that raise signals or wait on behalf of others.
inline bool isNeutral(const char *module) {
  constexpr std::array kNeutral = {"/bin/",    "libc.so",        "libstdc++", "libgcc_s",
                                   "ld-linux", "failing_malloc", "linux-vdso"};
  return std::any_of(kNeutral.begin(), kNeutral.end(),
                     [&](const char *name) { return std::strstr(module, name) != nullptr; });
}

inline void onDeath(int signal, siginfo_t *fault, void *context) {
  pid_t nobody = 0;
  if (!reporter.compare_exchange_strong(nobody, gettid())) {
    if (nobody == gettid()) // This is the second call: the backtrace of the first call failed.
      report(signal, firstModule == nullptr ? "an unknown module" : firstModule, "(no backtrace)");
    for (;;) // Another thread failed first. Its report ends the process.
      pause();
  }
  constexpr uintptr_t kNearNull = 1 << 16; // By default, Linux maps nothing below this address.
  if (signal == SIGSEGV && reinterpret_cast<uintptr_t>(fault->si_addr) < kNearNull)
    accessText = " (through a null pointer)";
  // The interrupted instruction is looked up before the backtrace, because a backtrace through
  // generated code may fail.
  const auto *interrupted = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
  auto *place = reinterpret_cast<void *>(interrupted->uc_mcontext.gregs[REG_RIP]);
#else
  auto *place = reinterpret_cast<void *>(interrupted->uc_mcontext.pc);
#endif
  Dl_info info;
  if (place != nullptr && dladdr(place, &info) == 0)
    report(signal, "a library's generated code", "");
  if (place != nullptr && !isNeutral(info.dli_fname))
    firstModule = info.dli_fname;
  void *frames[64];
  const int count = backtrace(frames, 64);
  const char *module = nullptr;
  for (int i = 1; i < count; ++i) { // Frame 0 is this handler.
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr ||
        (module == nullptr && isNeutral(info.dli_fname)))
      continue;
    if (module == nullptr)
      module = info.dli_fname;
    // This frame, or the next one outward whose function has a name, gives the reported function.
    if (info.dli_sname != nullptr)
      report(signal, module, info.dli_sname);
  }
  report(signal, module == nullptr ? "an unknown module" : module, "");
}

} // namespace detail

/// Runs `function`, which returns an int from 0 to 99, in a child. Must be called while this
/// process has only one thread.
template <typename Function> Death runToDeath(Function &&function) {
  constexpr unsigned kPatienceSeconds = 15;
  constexpr int kReturned = 100;
  Death death;
  int ends[2], words[2];
  if (pipe(ends) != 0 || pipe2(words, O_NONBLOCK) != 0) // Output beyond the pipe's size is lost.
    return death;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    void *frames[4];
    (void)backtrace(frames, 4); // Loads the libraries that a backtrace needs.
    detail::deathPipe = ends[1];
    static char stack[1 << 16]; // The thread's own stack may be exhausted.
    const stack_t other = {stack, 0, sizeof(stack)};
    sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = detail::onDeath;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_NODEFER; // A backtrace may fail in turn.
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
      sigaction(signal, &action, nullptr);
    alarm(kPatienceSeconds);
    dup2(words[1], STDERR_FILENO);
    _exit(kReturned + function());
  }
  close(ends[1]);
  close(words[1]);
  char line[512];
  const ssize_t length = read(ends[0], line, sizeof(line));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  char text[65536];
  const ssize_t written = read(words[0], text, sizeof(text));
  close(words[0]);
  death.lastLine.assign(text, static_cast<size_t>(std::max<ssize_t>(written, 0)));
  while (!death.lastLine.empty() && death.lastLine.back() == '\n')
    death.lastLine.pop_back();
  death.lastLine.erase(0, death.lastLine.rfind('\n') + 1);
  if (length > 0)
    death.place.assign(line, static_cast<size_t>(length));
  death.isAlive = length <= 0 && WIFEXITED(status) && WEXITSTATUS(status) >= kReturned;
  if (death.isAlive)
    death.code = WEXITSTATUS(status) - kReturned;
  else if (length <= 0)
    death.place = "the process ended with the wait status " + std::to_string(status);
  death.isOurs = !death.isAlive && (death.place.find("libgantry") != std::string::npos ||
                                    death.place.find(" in an unknown") != std::string::npos ||
                                    death.place.find("SIG") != 0);
  return death;
}

/// Counts how often children ended in each way.
class DeathCounts {
public:
  void add(const Death &death) { ++counts_[death.isAlive ? "the function returned" : death.place]; }
  void print() const {
    for (const auto &[place, count] : counts_)
      std::printf("  %4d  %s\n", count, place.c_str());
    std::fflush(stdout);
  }

private:
  std::map<std::string, int> counts_;
};

} // namespace gantry::test
