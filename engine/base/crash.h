// A crash handler: one function that runs on the crashing thread before the process dies of a
// signal. The flight recorder of engine/trace, which keeps the newest events in memory, writes them
// to a file in this function. The process still ends.
//
// The handler is called for the fault signals (SIGSEGV, SIGBUS, SIGFPE, SIGILL) and for SIGABRT.
// After the handler returns, the signal is handled as it was before setCrashHandler(): the
// program's own handler runs, or the signal ends the process (with a core file if the system writes
// one). If a thread overflowed its stack, the handler runs only if the program gave that thread an
// alternate stack (sigaltstack).
//
// The handler may call async-signal-safe functions only: it must not allocate memory and must not
// wait for a lock. CrashFile and sleepInCrash() are async-signal-safe.
//
// Threads: any. Other threads keep running while the handler runs. A second thread that crashes
// in the meantime waits until the handler has returned, but at most ten seconds.
#pragma once

#include <cstdint>
#include <span>

namespace gantry {

using CrashHandler = void (*)(void *user, int signal);

/// Installs `handler`, which is later called with `user`. The process has at most one handler.
/// Returns false if a handler is installed already or the system refuses to change a signal's
/// action.
bool setCrashHandler(CrashHandler handler, void *user);
/// Removes the handler. If the handler is running, this function waits until it has returned.
/// Signal actions that the program has set since setCrashHandler() stay in place.
void clearCrashHandler();

/// The signals for which the handler is called.
std::span<const int> crashSignals();
/// The name of one of crashSignals(), such as "SIGSEGV"; "a signal" for any other number.
const char *crashSignalName(int signal);

/// A file that a crashing process writes with plain system calls.
class CrashFile {
public:
  CrashFile() = default;
  ~CrashFile() { close(); }
  CrashFile(const CrashFile &) = delete;
  CrashFile &operator=(const CrashFile &) = delete;

  /// Creates the file, or empties an existing one. Returns false if the system refuses.
  bool create(const char *path);
  /// Appends all bytes. Returns false after the first failed write, which also closes the file.
  bool write(std::span<const uint8_t> bytes);
  void close();

private:
  int descriptor_ = -1; // -1 if no file is open
};

/// Suspends the calling thread for `ns` nanoseconds. A crash handler must not wait for a lock, so
/// it tries repeatedly to take the lock, and sleeps with this function between two tries.
void sleepInCrash(uint64_t ns);

} // namespace gantry
