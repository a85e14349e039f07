// Files: MappedFile reads a file through a memory map, AtomicFile writes a file that appears only
// when it is complete, AppendFile writes a file that stays readable while it grows.
// userCacheDirectory() finds the user's cache folder.
//
// The engine accesses files through this header only, so a port to another platform replaces
// file.cpp. It is not a general file library: there are no seeks and no text modes.
//
// Errors: kNotFound if a file to read or a folder to write into does not exist; kOutOfMemory if the
// system has no memory; kIo for every other refusal of the system, with the system's text ("No
// space left on device"); kInvalidArgument for a path that names a folder. Messages name the path.
// Threads: distinct objects may be used from distinct threads; one object is for one thread at a
// time.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <span>
#include <string>

namespace gantry {

/// A regular file that is mapped read-only for the object's lifetime. The system loads pages on
/// first access. No process may truncate the file during this time, because a read beyond the new
/// end raises SIGBUS. Movable.
class MappedFile {
public:
  /// Also returns kInvalidArgument if the path is a folder, a device or a pipe.
  static Result<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// The file's contents, valid until the object is destroyed or assigned to.
  std::span<const uint8_t> bytes() const { return bytes_; }

private:
  MappedFile() = default;
  std::span<const uint8_t> bytes_; // Empty if the file is empty; an empty file is not mapped.
};

/// A file that appears under its name only when it is complete. Bytes go to a temporary file in the
/// same folder; commit() syncs it to disk and renames it. Without commit() the destructor deletes
/// the temporary file, and a file that already had the name keeps its contents. If the file system
/// supports O_TMPFILE, the temporary file has no name before commit(), so a killed process leaves
/// nothing behind.
///
/// A symbolic link is followed. Two kinds of targets are written in place, without the guarantee: a
/// device or pipe (/dev/stdout), which a rename would destroy, and an open file without a name,
/// reached through /proc/self/fd. Movable.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  /// Appends all bytes. After a failed write the temporary file is deleted, and each later call
  /// returns kFailedPrecondition.
  Status write(std::span<const uint8_t> bytes);
  Status write(const std::string &text);
  /// Completes the file and gives it its name. It must be the last call on the object.
  Status commit();

private:
  AtomicFile() = default;
  Status failed(int error);
  void discard();

  std::string path_;      // The path as the caller wrote it, for messages.
  std::string target_;    // The path with symbolic links resolved.
  std::string temporary_; // Path of the temporary file; empty if the target is written in place.
  bool unnamed_ = false;  // The temporary file has no name until commit() names it temporary_.
  int descriptor_ = -1;   // -1 after a failed write and after commit().
};

/// Creates, writes and commits an AtomicFile.
Status writeFileAtomically(const std::string &path, std::span<const uint8_t> bytes);
Status writeFileAtomically(const std::string &path, const std::string &text);

/// A file that exists from create() on and grows with each write, so that a concurrent reader, or a
/// reader after a crash, sees a prefix of the contents. create() empties an existing file. Movable.
class AppendFile {
public:
  static Result<AppendFile> create(const std::string &path);
  AppendFile(AppendFile &&other) noexcept;
  AppendFile &operator=(AppendFile &&) = delete;
  ~AppendFile();

  /// Appends all bytes. After a failed write each later call returns kFailedPrecondition.
  Status write(std::span<const uint8_t> bytes);
  /// Closes the file without syncing it to disk. It must be the last call on the object.
  Status close();

private:
  AppendFile() = default;
  std::string path_;
  int descriptor_ = -1; // -1 after a failed write and after close().
};

/// Returns the user's cache folder and creates it if it does not exist. The folder is
/// $GANTRY_CACHE_DIR, or else $XDG_CACHE_HOME/gantry, or else $HOME/.cache/gantry; XDG_CACHE_HOME
/// and HOME are ignored unless they hold absolute paths. Returns kNotFound if no variable names a
/// folder; callers then work without a cache.
Result<std::string> userCacheDirectory();

} // namespace gantry
