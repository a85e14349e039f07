// When the process dies of a signal: one function of ours runs first, on the thread that died.
//
// Afterwards happens what would have happened without it: the program's own handler, if it had one
// when setCrashHandler() was called, or the end of the process with its core file and the signal as
// its cause. Signals that are taken: those of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL) and SIGABRT.
// A thread whose stack has overflowed has no room for any handler unless the program gave it an
// alternate stack (sigaltstack), which is used then.
//
// What runs there may call what is async-signal-safe and nothing else: no memory is taken, no lock
// waited for. CrashFile is such.
//
// Threads: any. Other threads go on meanwhile; one that dies too waits for the first.
#pragma once

#include <cstdint>
#include <span>

namespace gantry {

using CrashHandler = void (*)(void *user, int signal);

/// False where there is a handler already, or the system refuses.
bool setCrashHandler(CrashHandler handler, void *user);
/// The handler does not run any more; one that is running is waited for.
void clearCrashHandler();

/// The signals that are taken.
std::span<const int> crashSignals();
/// "SIGSEGV"; "a signal" for one that is not taken.
const char *crashSignalName(int signal);

/// A file that a dying process writes. A file that had the name is emptied first.
class CrashFile {
public:
  CrashFile() = default;
  ~CrashFile() { close(); }
  CrashFile(const CrashFile &) = delete;
  CrashFile &operator=(const CrashFile &) = delete;

  bool create(const char *path);
  /// False from the first refusal on.
  bool write(std::span<const uint8_t> bytes);
  void close();

private:
  int descriptor_ = -1;
};

/// Lets other threads go on for a while; for waiting without a lock.
void sleepInCrash(uint64_t ns);

} // namespace gantry
