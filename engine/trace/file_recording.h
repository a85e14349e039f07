// Recording the process to a .gtrace file, from now until it is stopped.
//
// What was recorded is in the file after at most 50 ms (20 ms, and a pause of the collector), so a
// process that is killed loses no more than that. A file that cannot be written any more (a full
// disk) ends the recording; stop() says why.
//
// Threads: any.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gantry::trace {

class FileRecording {
public:
  static Result<std::unique_ptr<FileRecording>> start(const std::string &path);
  /// Stops, without a word of what failed.
  ~FileRecording();
  FileRecording(const FileRecording &) = delete;
  FileRecording &operator=(const FileRecording &) = delete;

  /// Everything recorded before the call is in the file when it returns, with its index.
  Status stop();

private:
  FileRecording();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
