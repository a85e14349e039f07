// Files: mapping one to read it, writing one so that it is either complete or absent, appending to
// one so that what was written stays, and where the user's cache lies. The only place of the engine
// that asks the operating system for files; another platform fills in file.cpp.
//
// Errors: kNotFound where a file to read does not exist, kIo for what the system refused (with its
// words: "No space left on device"), kInvalidArgument for a path that cannot be meant (a folder).
// Messages name the path. Threads: distinct objects may be used from distinct threads.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <span>
#include <string>

namespace gantry {

/// A regular file, mapped read-only for the object's life. The bytes are paged in as they are
/// touched. The file must not shrink meanwhile. Movable.
class MappedFile {
public:
  static Result<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return bytes_; }

private:
  MappedFile() = default;
  std::span<const uint8_t> bytes_; // empty for an empty file, which is not mapped
};

/// A file that appears under its name only when it is complete. Bytes go to a temporary name beside
/// it; commit() syncs and renames; without commit() the destructor deletes what was written, and a
/// file that had the name keeps its old contents. Where the file system can (O_TMPFILE), the file
/// has no name before commit(), so a process that is killed leaves nothing. A link is followed;
/// what is no regular file (/dev/stdout, a pipe) is written in place, since renaming over it would
/// destroy it, and so is a file that never had a name (reached through /proc/self/fd). Movable.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Status write(std::span<const uint8_t> bytes);
  Status write(const std::string &text);
  /// The last call on the object.
  Status commit();

private:
  AtomicFile() = default;
  Status failed(int error);
  void discard();

  std::string path_;      // as the caller named it, for messages
  std::string target_;    // with links resolved
  std::string temporary_; // empty where the target is written in place
  bool unnamed_ = false;  // temporary_ is given to the file by commit()
  int descriptor_ = -1;
};

/// AtomicFile for contents that are at hand.
Status writeFileAtomically(const std::string &path, std::span<const uint8_t> bytes);
Status writeFileAtomically(const std::string &path, const std::string &text);

/// A file that is there from the start and grows by whole writes, so that a reader, or what is left
/// after a crash, sees a prefix of it. A file that had the name is emptied first. Movable.
class AppendFile {
public:
  static Result<AppendFile> create(const std::string &path);
  AppendFile(AppendFile &&other) noexcept;
  AppendFile &operator=(AppendFile &&) = delete;
  ~AppendFile();

  /// After a write that failed all others fail too.
  Status write(std::span<const uint8_t> bytes);
  /// The last call on the object. Does not wait for the disk.
  Status close();

private:
  AppendFile() = default;
  std::string path_;
  int descriptor_ = -1;
};

/// $GANTRY_CACHE_DIR, else $XDG_CACHE_HOME/gantry, else ~/.cache/gantry; created if absent.
/// kNotFound where no variable tells (the last two by an absolute path): callers go on without a
/// cache.
Result<std::string> userCacheDirectory();

} // namespace gantry
