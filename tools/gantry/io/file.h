// Reads whole files, and writes files completely or not at all.
//
// FileSet writes several files together. Each file is first written under a temporary name in its
// target's folder; commit() renames all of them when all are complete. A failure before that leaves
// every target unchanged. If the process is killed between two renames, each file is either old or
// new, never partial. Files are not flushed to the disk (fsync). A target that exists and is not a
// regular file (/dev/stdout, a pipe) is written directly by commit().
//
// Threads: one thread per FileSet; the functions are thread-safe.
#pragma once

#include "tools/gantry/interrupt.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gantry::tool {

/// Reads a whole file or pipe. Throws ToolError: kBadInput if it is missing or is a folder or a
/// device, kIo if it cannot be read.
std::vector<uint8_t> readFile(const std::filesystem::path &path);

/// A set of files that are written together. Without commit(), the destructor deletes the temporary
/// files.
class FileSet {
public:
  FileSet() = default;
  ~FileSet();
  FileSet(const FileSet &) = delete;
  FileSet &operator=(const FileSet &) = delete;

  /// Creates the folder and its missing parents. Without commit(), the destructor removes the
  /// created folders that are empty.
  void addFolder(const std::filesystem::path &folder);
  /// Writes the bytes to a file with a temporary name; keeps them in memory if the target is a
  /// special file. Throws ToolError with the target's name.
  void add(const std::filesystem::path &target, std::span<const uint8_t> bytes);
  void add(const std::filesystem::path &target, std::string_view text);
  /// Renames the files to their targets and writes the special files. Throws ToolError(kIo).
  void commit();

private:
  struct Staged {
    std::filesystem::path temporary; // Empty for special files, whose content is kept in `bytes`.
    std::filesystem::path target;
    std::vector<uint8_t> bytes;
    DeletedOnInterrupt interrupted; // Deletes the temporary file on a signal.
  };
  std::vector<Staged> staged_;
  std::vector<std::filesystem::path> madeFolders_; // Created folders, parents first.
};

/// Returns whether the path exists and is neither a regular file nor a folder.
bool isSpecialFile(const std::filesystem::path &path);

/// Returns a file name without extension for a tensor's name. Each byte outside [A-Za-z0-9._-]
/// becomes "_", dots and underscores at the start are removed, and of a longer name the last 120
/// bytes are kept. If the rest is empty or starts with a dot, "tensor" is put before it, so a file
/// name has at most 126 bytes.
/// "/features/0/Conv:0" gives "features_0_Conv_0".
std::string sanitiseFileName(std::string_view name);

} // namespace gantry::tool
