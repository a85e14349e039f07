// Reads whole files, and writes files completely or not at all.
//
// FileSet writes several files together. Each file first gets a temporary name beside its target;
// all are renamed only when all of them are on the disk. A failure before that leaves every target
// unchanged. If the machine stops between two renames, each file is either old or new, never
// partial. A target that exists and is not a regular file (/dev/stdout, a pipe) is written
// directly.
#pragma once

#include "tools/gantry/interrupt.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gantry::tool {

/// Reads a whole file. Throws ToolError: kBadInput if it is missing or not a file, kIo if it cannot
/// be read.
std::vector<uint8_t> readFile(const std::filesystem::path &path);

class FileSet {
public:
  FileSet() = default;
  ~FileSet();
  FileSet(const FileSet &) = delete;
  FileSet &operator=(const FileSet &) = delete;

  /// Creates the folder and its parents. Without commit(), the destructor removes those it created.
  void addFolder(const std::filesystem::path &folder);
  /// Writes the bytes to a temporary name. Throws ToolError(kIo) naming the target.
  void add(const std::filesystem::path &target, std::span<const uint8_t> bytes);
  void add(const std::filesystem::path &target, std::string_view text);
  /// Renames everything into place.
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

/// Returns a file name for a tensor's name: characters of [A-Za-z0-9._-], at most 120, no
/// extension, never empty, never starting with a dot. "/features/0/Conv:0" gives
/// "features_0_Conv_0".
std::string sanitiseFileName(std::string_view name);

} // namespace gantry::tool
