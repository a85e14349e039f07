// Implements unnamed_file.h.
#include "tools/gantry/cache/unnamed_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace gantry::tool {

namespace {

Status failed(const std::string &doing, int error) {
  return {StatusCode::kIo, doing + ": " + std::strerror(error)};
}

} // namespace

Result<UnnamedFile> UnnamedFile::in(const std::filesystem::path &folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return failed("cannot write to '" + folder.string() + "'", errno);
  return UnnamedFile(descriptor);
}

Result<UnnamedFile> UnnamedFile::temporary() {
  const char *folder = std::getenv("TMPDIR");
  auto file = in(folder && *folder ? folder : "/tmp");
  if (file.isOk())
    return file;
  const int descriptor = ::memfd_create("gantry", MFD_CLOEXEC);
  if (descriptor < 0)
    return failed("cannot make a temporary file, neither in TMPDIR nor in memory", errno);
  return UnnamedFile(descriptor);
}

UnnamedFile::UnnamedFile(UnnamedFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

UnnamedFile &UnnamedFile::operator=(UnnamedFile &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

UnnamedFile::~UnnamedFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

std::filesystem::path UnnamedFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

Status UnnamedFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed("cannot write a temporary file", errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status UnnamedFile::link(const std::filesystem::path &name) const {
  if (::linkat(AT_FDCWD, path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return {};
  const int reason = errno;
  std::error_code error;
  if (reason == EEXIST && std::filesystem::is_regular_file(name, error))
    return {}; // Another process created the file first.
  return failed("cannot create '" + name.string() + "'", reason);
}

} // namespace gantry::tool
