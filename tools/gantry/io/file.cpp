// Implements file.h.
#include "tools/gantry/io/file.h"

#include "tools/gantry/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

class Descriptor {
public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0)
      ::close(value_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return value_; }
  /// Closes the file. Returns false for an error. Network file systems may report the error of a
  /// write only when the file is closed.
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

private:
  int value_;
};

[[noreturn]] void throwWrite(const fs::path &target, uint64_t sizeBytes, int error) {
  throw ToolError(ExitCode::kIo, fmt::format("cannot write '{}' ({} bytes): {}", target.string(),
                                             sizeBytes, std::strerror(error)));
}

void writeAll(int descriptor, const fs::path &target, std::span<const uint8_t> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      throwWrite(target, bytes.size(), n < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(n);
  }
}

/// Returns 16 random hexadecimal digits, for a name that no other process uses.
std::string randomName() {
  std::random_device random;
  const uint64_t number = (uint64_t{random()} << 32) | random();
  return fmt::format("{:016x}", number);
}

} // namespace

std::vector<uint8_t> readFile(const fs::path &path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    int error = errno;
    bool missing = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
    throw ToolError(missing ? ExitCode::kBadInput : ExitCode::kIo,
                    fmt::format("cannot open '{}': {}", path.string(), std::strerror(error)));
  }
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
    throw ToolError(ExitCode::kBadInput, fmt::format("'{}' is a {}, not a file", path.string(),
                                                     S_ISDIR(info.st_mode) ? "folder" : "device"));
  std::vector<uint8_t> bytes(S_ISREG(info.st_mode) ? static_cast<size_t>(info.st_size) : 0);
  size_t done = 0;
  for (;;) {
    if (done == bytes.size())
      bytes.resize(bytes.size() + 65536); // Room for the next read; a read of 0 bytes is the end.
    ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      throw ToolError(ExitCode::kIo,
                      fmt::format("cannot read '{}': {}", path.string(), std::strerror(errno)));
    if (n == 0)
      break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

bool isSpecialFile(const fs::path &path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

FileSet::~FileSet() {
  std::error_code ignored;
  for (const Staged &file : staged_)
    if (!file.temporary.empty())
      fs::remove(file.temporary, ignored);
  for (auto folder = madeFolders_.rbegin(); folder != madeFolders_.rend(); ++folder)
    fs::remove(*folder, ignored); // Fails if the folder is not empty.
}

void FileSet::addFolder(const fs::path &folder) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error); at = at.parent_path()) {
    missing.push_back(at);
    if (at == at.parent_path())
      break;
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (fs::create_directory(*at, error))
      madeFolders_.push_back(*at);
    if (error)
      throw ToolError(ExitCode::kIo, fmt::format("cannot make the folder '{}': {}", at->string(),
                                                 error.message()));
  }
  if (!fs::is_directory(folder, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("'{}' exists and is not a folder", folder.string()));
}

void FileSet::add(const fs::path &target, std::span<const uint8_t> bytes) {
  if (isSpecialFile(target)) {
    staged_.push_back({{}, target, {bytes.begin(), bytes.end()}, {}});
    return;
  }
  std::error_code error;
  if (fs::is_directory(target, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("'{}' is a folder; name a file to write", target.string()));
  const std::string temporary = (target.parent_path() / (".gantry-" + randomName())).string();
  DeletedOnInterrupt interrupted(temporary); // Registered before the file exists.
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0)
    throwWrite(target, bytes.size(), errno);
  staged_.push_back({temporary, target, {}, std::move(interrupted)});
  writeAll(file.get(), target, bytes);
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.get(), 0666 & ~mask);
  if (!file.close())
    throwWrite(target, bytes.size(), errno);
}

void FileSet::add(const fs::path &target, std::string_view text) {
  add(target, std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

void FileSet::commit() {
  for (Staged &file : staged_) {
    if (file.temporary.empty()) {
      Descriptor out(::open(file.target.c_str(), O_WRONLY | O_CLOEXEC));
      if (out.get() < 0)
        throwWrite(file.target, file.bytes.size(), errno);
      writeAll(out.get(), file.target, file.bytes);
      if (!out.close())
        throwWrite(file.target, file.bytes.size(), errno);
    } else {
      if (::rename(file.temporary.c_str(), file.target.c_str()) != 0)
        throw ToolError(ExitCode::kIo, fmt::format("cannot write '{}': {}", file.target.string(),
                                                   std::strerror(errno)));
      file.temporary.clear();
    }
  }
  staged_.clear();
  madeFolders_.clear();
}

std::string sanitiseFileName(std::string_view name) {
  std::string result;
  for (char c : name) {
    bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '.' || c == '_' || c == '-';
    result += keep ? c : '_';
  }
  result.erase(0, std::min(result.find_first_not_of("_."), result.size()));
  constexpr size_t kMaxBytes = 120;
  if (result.size() > kMaxBytes)
    result = result.substr(result.size() - kMaxBytes); // The end of a path is the distinctive part.
  return result.empty() || result[0] == '.' ? "tensor" + result : result;
}

} // namespace gantry::tool
