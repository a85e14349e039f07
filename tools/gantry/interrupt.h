// Removes unfinished files when the tool is interrupted.
//
// handleInterrupts() makes SIGINT, SIGTERM and SIGHUP delete the registered paths. The process then
// ends as if the signal had not been handled, so that a shell sees "killed by SIGINT". Recordings
// (.gtrace) are not registered, because they are useful up to their last event.
//
// Threads: objects may be created and destroyed in any thread. The handler is async-signal-safe.
#pragma once

#include <string>

namespace gantry::tool {

/// Installs the handlers. A signal that is ignored (nohup) stays ignored.
void handleInterrupts();

/// Registers a path. If the process is interrupted while the object lives, the handler deletes the
/// file, or the folder with the files in it. The destructor only removes the registration. At most
/// 1024 paths are registered at a time; further ones are ignored.
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
