// Captures: reading a .gtrace file or a live process as one stream of events, and writing a file.
//
//   auto reader = CaptureReader::openFile("run.gtrace");      // or
//   CaptureReader::connect(endpoint) for (;;) {
//     auto batch = (*reader)->read(100'000'000);              // Result<Batch>
//     for (const Event &event : batch->events) …              // in the order of timeNs
//     if (batch->end) break;
//   }
//
// A batch is one chunk of the file or one frame of the stream. Names that its events use are in
// names() when it is handed out. A file that was cut off (the writer was killed) reads up to its
// last whole chunk and then says so in tail(). Chunks of a file decode independently of each other,
// so a reader may seek, and several readers of one file may share the work.
//
// The format is frames (frame.h) whose contents are columns (codec.h). Everything that is read is
// checked: a damaged or hostile file or stream gives kDataLoss with the offset, one of a newer
// version kVersionMismatch; never a crash, and never more memory than the frame's own limit.
//
// Threads: an object is used by one thread at a time. Ownership: the file stays mapped, the
// connection open, for the reader's life.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/events.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::trace {

/// Texts by id. Id 0 is "". An id that was never given reads as "".
class NameTable {
public:
  std::string_view operator[](uint32_t id) const {
    return id < texts_.size() ? std::string_view(texts_[id]) : std::string_view();
  }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }
  void set(uint32_t id, std::string_view text) {
    if (id >= texts_.size())
      texts_.resize(id + 1);
    texts_[id] = text;
  }

private:
  std::vector<std::string> texts_ = std::vector<std::string>(1);
};

/// What the file's index tells of a chunk without decoding it.
struct ChunkInfo {
  uint64_t fileOffset = 0;
  uint64_t firstTimeNs = 0;
  uint64_t lastTimeNs = 0;
  uint64_t firstEvent = 0; // events in all chunks before
  uint32_t events = 0;
  uint32_t storedBytes = 0;
};

struct Batch {
  std::span<const Event> events; // until the next call on the reader
  bool end = false;              // nothing follows: the file's end, or the process has ended
};

/// How a capture ends.
enum class Tail {
  kComplete, // with its index
  kCutOff,   // without one: its writer was killed. Bytes behind the last whole chunk are ignored
  kLive,     // a stream, while it is connected
};

/// A process that can be attached to.
struct Endpoint {
  uint32_t processId = 0;
  std::string name;    // of the executable
  std::string address; // a socket's path, or "host:port"
};

class CaptureReader {
public:
  /// Maps the file and reads its index and names; where there is no index, walks the frames.
  static Result<std::unique_ptr<CaptureReader>> openFile(const std::string &path);
  /// The same over bytes that outlive the reader.
  static Result<std::unique_ptr<CaptureReader>> fromMemory(std::span<const uint8_t> bytes);
  /// Attaches to a process: its stream begins with what is alive now. token: of a process that
  /// listens on TCP; "" for Unix sockets.
  static Result<std::unique_ptr<CaptureReader>> connect(const std::string &address,
                                                        const std::string &token = "");
  ~CaptureReader();
  CaptureReader(const CaptureReader &) = delete;
  CaptureReader &operator=(const CaptureReader &) = delete;

  /// The next chunk. Of a stream, an empty batch when timeoutNs passed without one.
  Result<Batch> read(uint64_t timeoutNs = UINT64_MAX);

  const NameTable &names() const;
  Tail tail() const;
  bool isLive() const;

  /// Of files: all chunks, in order; those of a stream are empty.
  std::span<const ChunkInfo> chunks() const;
  /// Of files: read() goes on with this chunk (chunks().size(): the end).
  Status seek(size_t chunk);

  /// Bytes received or read so far, frames with their headers.
  uint64_t bytesRead() const;

private:
  CaptureReader();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The processes of this user that can be attached to, in the order of their ids. Sockets that
/// nobody listens on any more are left out.
Result<std::vector<Endpoint>> findEndpoints();

struct CaptureWriterOptions {
  uint32_t chunkEvents = 65536; // 1 to 1048576
  int zstdLevel = 1;
};

/// Writes a .gtrace file, chunk by chunk; each chunk is in the file when append() has filled it.
class CaptureWriter {
public:
  static Result<std::unique_ptr<CaptureWriter>>
  create(const std::string &path, const CaptureWriterOptions &options = CaptureWriterOptions());
  /// Without finish() the file has no index, and what was not flushed is not in it.
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter &) = delete;
  CaptureWriter &operator=(const CaptureWriter &) = delete;

  /// The id of a text; the same one for the same text.
  uint32_t name(std::string_view text);
  /// Gives an id, as another names table has it, its text: for those who copy captures.
  void setName(uint32_t id, std::string_view text);

  /// Events in the order of timeNs; an event of an unknown type is kInvalidArgument.
  Status append(std::span<const Event> events);
  Status append(const Event &event) { return append(std::span(&event, 1)); }
  /// The chunk that is being filled goes to the file now.
  Status flush();
  /// flush(), the index, and close: the last call.
  Status finish();

  uint64_t bytesWritten() const;
  uint64_t eventsWritten() const;

private:
  CaptureWriter();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
