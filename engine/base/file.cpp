// Files on POSIX systems: open, mmap, O_TMPFILE, rename.
#include "engine/base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gantry {

namespace {

Status systemError(const std::string &path, const char *doing, int error) {
  StatusCode code = StatusCode::kIo;
  if (error == ENOENT)
    code = StatusCode::kNotFound;
  else if (error == ENOMEM)
    code = StatusCode::kOutOfMemory;
  return statusf(code, "cannot %s %s: %s", doing, path.c_str(), std::strerror(error));
}

/// Closes a descriptor at the end of a scope.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
};

/// Blocks SIGXFSZ in this thread for the object's lifetime. A write beyond the process's file-size
/// limit then fails with EFBIG; otherwise the signal would end the process and leave the temporary
/// file behind.
class FileSizeSignalBlock {
public:
  FileSizeSignalBlock() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &previous_);
  }
  ~FileSizeSignalBlock() {
    if (!sigismember(&previous_, SIGXFSZ)) {
      const timespec now = {0, 0};
      sigtimedwait(&signal_, nullptr, &now); // Consume a pending SIGXFSZ.
    }
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }

private:
  sigset_t signal_;
  sigset_t previous_;
};

std::string parentOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Syncs the folder to disk, so that the name of a new file survives a crash of the system. A file
/// system that cannot sync a folder is not an error. The function allocates no memory, because the
/// file is already complete and a lack of memory must not fail the commit.
void syncDirectoryOf(const std::string &path) {
  char parent[PATH_MAX] = ".";
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos) {
    const size_t length = std::max<size_t>(slash, 1); // The root folder "/" keeps its slash.
    if (length >= sizeof(parent))
      return;
    std::memcpy(parent, path.data(), length);
    parent[length] = '\0';
  }
  const Descriptor directory{::open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory.value >= 0)
    ::fsync(directory.value);
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string &path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0)
    return systemError(path, "open", errno);
  struct stat info;
  if (::fstat(file.value, &info) != 0)
    return systemError(path, "open", errno);
  if (!S_ISREG(info.st_mode))
    return statusf(StatusCode::kInvalidArgument, "cannot open %s: it is %s, not a regular file",
                   path.c_str(), S_ISDIR(info.st_mode) ? "a folder" : "a device or a pipe");
  MappedFile mapped;
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return mapped;
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED)
    return systemError(path, "map", errno);
  mapped.bytes_ = {static_cast<const uint8_t *>(address), size};
  return mapped;
}

MappedFile::MappedFile(MappedFile &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    ::munmap(const_cast<uint8_t *>(bytes_.data()), bytes_.size());
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile file;
  file.path_ = path;
  file.target_ = path;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return statusf(StatusCode::kInvalidArgument, "cannot write %s: it is a folder; name a file",
                     path.c_str());
    if (!S_ISREG(info.st_mode) || info.st_nlink == 0) {
      file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file.descriptor_ < 0)
        return systemError(path, "write", errno);
      return file;
    }
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved) != nullptr)
      file.target_ = resolved;
  }
  static std::atomic<uint32_t> counter{0};
  const std::string unique = file.target_ + ".tmp" + std::to_string(::getpid()) + ".";
  if (::access("/proc/self/fd", X_OK) == 0) // commit() needs /proc to name the file.
    file.descriptor_ =
        ::open(parentOf(file.target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (file.descriptor_ >= 0) {
    file.unnamed_ = true;
    file.temporary_ =
        unique + "n" + std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
    return file;
  }
  // A killed process with the same id may have left a file of this name: try further names.
  for (int attempt = 0; attempt < 100; ++attempt) {
    file.temporary_ = unique + std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
    file.descriptor_ =
        ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor_ >= 0)
      return file;
    if (errno != EEXIST)
      break;
  }
  const int error = errno;
  file.temporary_.clear();
  if (error == ENOENT)
    return statusf(StatusCode::kNotFound, "cannot write %s: the folder %s does not exist",
                   path.c_str(), parentOf(file.target_).c_str());
  return systemError(path, "write", error);
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path_(std::move(other.path_)), target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})), unnamed_(other.unnamed_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty() && !unnamed_)
    ::unlink(temporary_.c_str());
  temporary_.clear();
}

Status AtomicFile::failed(int error) {
  discard();
  return systemError(path_, "write", error);
}

Status AtomicFile::write(std::span<const uint8_t> bytes) {
  if (descriptor_ < 0)
    return statusf(StatusCode::kFailedPrecondition, "cannot write %s: an earlier write failed",
                   path_.c_str());
  const FileSizeSignalBlock block;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed(errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status AtomicFile::write(const std::string &text) {
  return write({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

Status AtomicFile::commit() {
  if (descriptor_ < 0)
    return statusf(StatusCode::kFailedPrecondition, "cannot write %s: an earlier write failed",
                   path_.c_str());
  // Pipes and terminals cannot be synced (EINVAL, EROFS), and they hold no data to lose.
  if (::fsync(descriptor_) != 0 && !temporary_.empty())
    return failed(errno);
  if (unnamed_) {
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
    ::unlink(temporary_.c_str()); // A killed process with the same id may have left the file.
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return failed(errno);
    unnamed_ = false;
  }
  if (::close(std::exchange(descriptor_, -1)) != 0)
    return failed(errno);
  if (temporary_.empty())
    return Status::ok();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    return failed(errno);
  temporary_.clear();
  syncDirectoryOf(target_);
  return Status::ok();
}

Status writeFileAtomically(const std::string &path, std::span<const uint8_t> bytes) {
  GANTRY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  GANTRY_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

Status writeFileAtomically(const std::string &path, const std::string &text) {
  return writeFileAtomically(
      path, std::span<const uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

Result<AppendFile> AppendFile::create(const std::string &path) {
  AppendFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor_ >= 0)
    return file;
  const int error = errno;
  if (error == ENOENT)
    return statusf(StatusCode::kNotFound, "cannot write %s: the folder %s does not exist",
                   path.c_str(), parentOf(path).c_str());
  if (error == EISDIR)
    return statusf(StatusCode::kInvalidArgument, "cannot write %s: it is a folder; name a file",
                   path.c_str());
  return systemError(path, "write", error);
}

AppendFile::AppendFile(AppendFile &&other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Status AppendFile::write(std::span<const uint8_t> bytes) {
  if (descriptor_ < 0)
    return statusf(StatusCode::kFailedPrecondition, "cannot write %s: an earlier write failed",
                   path_.c_str());
  const FileSizeSignalBlock block;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      const int error = errno;
      ::close(std::exchange(descriptor_, -1));
      return systemError(path_, "write", error);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status AppendFile::close() {
  if (descriptor_ < 0)
    return statusf(StatusCode::kFailedPrecondition, "cannot write %s: an earlier write failed",
                   path_.c_str());
  if (::close(std::exchange(descriptor_, -1)) != 0)
    return systemError(path_, "write", errno);
  return Status::ok();
}

Result<std::string> userCacheDirectory() {
  std::string base, directory;
  const char *own = std::getenv("GANTRY_CACHE_DIR");
  const char *cacheHome = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  if (own != nullptr && own[0] != '\0')
    directory = own;
  else if (cacheHome != nullptr &&
           cacheHome[0] == '/') // The XDG specification says to ignore relative paths.
    base = cacheHome;
  else if (home != nullptr && home[0] == '/')
    base = std::string(home) + "/.cache";
  else
    return statusf(StatusCode::kNotFound,
                   "no cache folder: neither XDG_CACHE_HOME nor HOME is set to an absolute path");
  if (directory.empty())
    directory = base + "/gantry";
  for (size_t slash = directory.find('/', 1);; slash = directory.find('/', slash + 1)) {
    const std::string part = directory.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && slash == std::string::npos)
      return systemError(directory, "create", errno);
    if (slash == std::string::npos)
      break;
  }
  return directory;
}

} // namespace gantry
