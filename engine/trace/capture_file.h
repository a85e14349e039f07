// A .gtrace file that is being written: frames go to its end at once, the index when it is done.
//
// Threads: one at a time.
#pragma once

#include "engine/base/file.h"
#include "engine/trace/capture.h"
#include "engine/trace/frame.h"

#include <memory>
#include <vector>

namespace gantry::trace {

class CaptureFile {
public:
  static Result<std::unique_ptr<CaptureFile>> create(const std::string &path);

  /// A whole frame, as FramePacker makes it.
  Status write(std::span<const uint8_t> frame);
  /// The index, and close: the last call.
  Status finish();

  uint64_t bytes() const { return bytes_; }
  uint64_t events() const { return events_; }

private:
  explicit CaptureFile(AppendFile file) : file_(std::move(file)) {}
  AppendFile file_;
  std::vector<ChunkInfo> chunks_;
  std::vector<uint64_t> nameFrames_;
  uint64_t bytes_ = 0;
  uint64_t events_ = 0;
};

} // namespace gantry::trace
