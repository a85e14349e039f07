// A file without a name. The kernel deletes it when the process ends, even after a crash.
//
// path() names its descriptor ("/proc/self/fd/5") for functions of this process that need a path. A
// complete file can be given a name. Linux only.
#pragma once

#include "engine/base/status.h"

#include <filesystem>
#include <string_view>

namespace gantry::tool {

class UnnamedFile {
public:
  /// Creates the file on the file system of `folder`. Fails with kIo and the system's message if
  /// the file system is full or does not support such files.
  static Result<UnnamedFile> in(const std::filesystem::path &folder);
  /// Creates the file in the folder for temporary files ($TMPDIR, /tmp), else in memory.
  static Result<UnnamedFile> temporary();
  UnnamedFile(UnnamedFile &&other) noexcept;
  UnnamedFile &operator=(UnnamedFile &&other) noexcept;
  ~UnnamedFile();

  std::filesystem::path path() const;
  Status write(std::string_view text);
  /// Gives the file a name in its folder. An existing file of that name is kept; the caller uses
  /// names that imply equal content.
  Status link(const std::filesystem::path &name) const;

private:
  explicit UnnamedFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace gantry::tool
