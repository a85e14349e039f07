// Removes unfinished files when the tool is interrupted.
//
// handleInterrupts() makes SIGINT, SIGTERM and SIGHUP delete the registered paths and then end the
// process as if the signal had not been handled, so that a shell sees "killed by SIGINT".
// Recordings need no handling: an event is in the file after 50 ms.
//
// Threads: any. The handler is async-signal-safe.
#pragma once

#include <string>

namespace gantry::tool {

/// Installs the handlers. A signal that is ignored (nohup) stays ignored.
void handleInterrupts();

/// Deletes a file, or a folder with the files in it, if the process is interrupted while the object
/// lives. The object deletes nothing itself.
class DeletedOnInterrupt {
public:
  DeletedOnInterrupt() = default;
  explicit DeletedOnInterrupt(const std::string &path);
  DeletedOnInterrupt(DeletedOnInterrupt &&other) noexcept;
  DeletedOnInterrupt &operator=(DeletedOnInterrupt &&other) noexcept;
  ~DeletedOnInterrupt();

private:
  int slot_ = -1; // Index in the table of paths; -1: none, or the table was full.
};

} // namespace gantry::tool
