// A file without a name: it vanishes with the process, however that ends.
//
// Others in the process reach it by path(), which names the descriptor ("/proc/self/fd/5"). It can
// be given a name once it is complete. Linux only.
#pragma once

#include "engine/base/status.h"

#include <filesystem>
#include <string_view>

namespace gantry::tool {

class UnnamedFile {
public:
  /// On the file system of `folder`; kIo with the system's words where that has no room for it or
  /// does not know such files.
  static Result<UnnamedFile> in(const std::filesystem::path &folder);
  /// In the folder for temporary files ($TMPDIR, /tmp), else in memory.
  static Result<UnnamedFile> temporary();
  UnnamedFile(UnnamedFile &&other) noexcept;
  UnnamedFile &operator=(UnnamedFile &&other) noexcept;
  ~UnnamedFile();

  std::filesystem::path path() const;
  Status write(std::string_view text);
  /// Gives the file a name in the folder it was made in. A file that has the name is kept: it is
  /// taken for equal.
  Status link(const std::filesystem::path &name) const;

private:
  explicit UnnamedFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace gantry::tool
