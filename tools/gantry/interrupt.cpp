// Implements interrupt.h.
#include "tools/gantry/interrupt.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace gantry::tool {
namespace {

constexpr size_t kSlots = 1024;
std::array<std::atomic<char *>, kSlots> paths; // Null, or a path from strdup() that the slot owns.

/// The head of Linux's struct linux_dirent64; the name follows.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[1];
};

/// Deletes the files in a folder, and the folder. Uses system calls instead of opendir(), which
/// allocates memory and is not allowed in a signal handler.
void deleteFolder(const char *path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  alignas(DirectoryEntry) char buffer[4096];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, buffer, sizeof(buffer));
    if (bytes <= 0)
      break;
    for (long at = 0; at < bytes;) {
      const auto *entry = reinterpret_cast<const DirectoryEntry *>(buffer + at);
      unlinkat(folder, entry->name, 0); // Fails for "." and "..".
      at += entry->bytes;
    }
  }
  close(folder);
  rmdir(path);
}

void onInterrupt(int signal) {
  const int saved = errno;
  // The order is reversed, because a path may lie in a folder that was registered before it.
  for (size_t i = kSlots; i-- > 0;)
    if (const char *path = paths[i].exchange(nullptr))
      if (unlink(path) != 0 && errno == EISDIR)
        deleteFolder(path);
  errno = saved;
  std::signal(signal, SIG_DFL);
  std::raise(signal); // The signal is blocked now and is delivered when the handler returns.
}

} // namespace

void handleInterrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = onInterrupt;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

DeletedOnInterrupt::DeletedOnInterrupt(const std::string &path) {
  char *copy = strdup(path.c_str());
  if (copy == nullptr)
    return;
  for (size_t i = 0; i < kSlots; ++i) {
    char *free = nullptr;
    if (paths[i].compare_exchange_strong(free, copy)) {
      slot_ = static_cast<int>(i);
      return;
    }
  }
  std::free(copy);
}

DeletedOnInterrupt::DeletedOnInterrupt(DeletedOnInterrupt &&other) noexcept
    : slot_(std::exchange(other.slot_, -1)) {}

DeletedOnInterrupt &DeletedOnInterrupt::operator=(DeletedOnInterrupt &&other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

DeletedOnInterrupt::~DeletedOnInterrupt() {
  if (slot_ >= 0)
    std::free(paths[static_cast<size_t>(slot_)].exchange(nullptr));
}

} // namespace gantry::tool
