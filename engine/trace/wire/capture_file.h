// A .gtrace file that is being written. Each frame (a packet of events or names, frame.h) is
// appended to the file at once; finish() writes the index.
//
// A file without finish() is readable: readers then walk its frames (capture.h).
//
// Thread safety: one thread at a time per object. Errors: those of the file system (kIo).
#pragma once

#include "engine/base/file.h"
#include "engine/trace/wire/capture.h"
#include "engine/trace/wire/frame.h"

#include <memory>
#include <vector>

namespace gantry::trace {

class CaptureFile {
public:
  /// Creates or replaces the file and writes its header.
  static Result<std::unique_ptr<CaptureFile>> create(const std::string &path);

  /// Appends a whole frame that FramePacker::pack() made.
  Status write(std::span<const uint8_t> frame);
  /// Writes the index and closes the file. No other call may follow.
  Status finish();

  /// Return the number of bytes and of events written so far.
  uint64_t bytes() const { return bytes_; }
  uint64_t events() const { return events_; }

private:
  explicit CaptureFile(AppendFile file) : file_(std::move(file)) {}
  AppendFile file_;
  std::vector<ChunkInfo> chunks_;
  std::vector<uint64_t> nameFrames_; // File offsets.
  uint64_t bytes_ = 0;
  uint64_t events_ = 0;
};

} // namespace gantry::trace
