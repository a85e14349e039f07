// Files: read whole, written whole or not at all.
//
// FileSet writes several files as one: each goes to a temporary name beside its target, and only
// when all of them are on the disk are they renamed. A failure before that leaves every target as
// it was. (Between two renames the machine may still stop: each file is then old or new, never
// half.) A target that exists and is not a regular file (/dev/stdout, a pipe) is written to
// directly.
#pragma once

#include "tools/gantry/interrupt.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gantry::tool {

/// Throws ToolError: kBadInput if it is missing or not a file, kIo if it cannot be read.
std::vector<uint8_t> readFile(const std::filesystem::path &path);

class FileSet {
public:
  FileSet() = default;
  ~FileSet();
  FileSet(const FileSet &) = delete;
  FileSet &operator=(const FileSet &) = delete;

  /// Makes the folder (and its parents); what was made is removed again if commit() is not reached.
  void addFolder(const std::filesystem::path &folder);
  /// Writes the bytes to a temporary name. Throws ToolError(kIo) naming the target.
  void add(const std::filesystem::path &target, std::span<const uint8_t> bytes);
  void add(const std::filesystem::path &target, std::string_view text);
  /// Renames everything into place.
  void commit();

private:
  struct Staged {
    std::filesystem::path temporary; // empty: held in bytes, for a target that is no regular file
    std::filesystem::path target;
    std::vector<uint8_t> bytes;
    DeletedOnInterrupt interrupted; // the temporary name
  };
  std::vector<Staged> staged_;
  std::vector<std::filesystem::path> madeFolders_; // parents first
};

/// Whether the path exists and is something else than a regular file or a folder.
bool isSpecialFile(const std::filesystem::path &path);

/// A file name of [A-Za-z0-9._-] for a tensor's name, without extension, at most 120 characters,
/// never empty and never starting with a dot: "/features/0/Conv:0" gives "features_0_Conv_0".
std::string sanitiseFileName(std::string_view name);

} // namespace gantry::tool
