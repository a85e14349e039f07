// A file without a name in any folder (O_TMPFILE). The kernel deletes the file when it is closed,
// also when the process crashes. link() gives a complete file a name, so that it stays.
//
// Linux only. Threads: one at a time.
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
  /// Creates the file in the folder for temporary files ($TMPDIR, else /tmp). If this folder does
  /// not support such files, creates the file in memory.
  static Result<UnnamedFile> temporary();
  UnnamedFile(UnnamedFile &&other) noexcept;
  UnnamedFile &operator=(UnnamedFile &&other) noexcept;
  ~UnnamedFile();

  /// Returns the path of the file's descriptor ("/proc/self/fd/5"), with which functions of this
  /// process can open the file.
  std::filesystem::path path() const;
  /// Appends the text.
  Status write(std::string_view text);
  /// Gives the file a name on its file system. If a file of that name exists, it is kept and the
  /// call succeeds: the caller uses names that imply equal content.
  Status link(const std::filesystem::path &name) const;

private:
  explicit UnnamedFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace gantry::tool
