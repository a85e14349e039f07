// FileRecording records the process to a .gtrace file from start() to stop().
//
// An event is in the file at most 50 ms after it was recorded (20 ms in the encoder, plus a pause
// of the collector, the thread that passes events to files and viewers), so a killed process loses
// no more than the events of the last 50 ms. If writing to the file fails (a full disk), the
// recording ends, and stop() returns the reason.
//
// Thread safety: any thread, one at a time per object.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gantry::trace {

class FileRecording {
public:
  /// Creates the file and starts recording. Errors: kIo, kOutOfMemory.
  static Result<std::unique_ptr<FileRecording>> start(const std::string &path);
  /// Stops the recording and ignores failures.
  ~FileRecording();
  FileRecording(const FileRecording &) = delete;
  FileRecording &operator=(const FileRecording &) = delete;

  /// Stops the recording. If it returns ok, every event that was recorded before the call is in the
  /// file, and the file has its index. A second call does nothing and returns ok.
  Status stop();

private:
  FileRecording();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
