// Captures: CaptureReader reads a .gtrace file or attaches to a live process and returns one stream
// of events; CaptureWriter writes a file; findEndpoints() lists the processes to attach to.
//
//   auto reader = CaptureReader::openFile("run.gtrace");  // or CaptureReader::connect(address)
//   for (;;) {
//     auto batch = (*reader)->read(100'000'000);           // Result<Batch>; timeout in nanoseconds
//     for (const Event &event : batch->events) …           // in the order that events.h describes
//     if (batch->end) break;
//   }
//
// A batch is one chunk of the file (the contents of a frame with events) or one such frame of the
// stream. When read() returns a batch, names() has all names that the batch's events use. A file
// that was cut off because its writer was killed is readable up to its last whole chunk; tail()
// then returns kCutOff. The chunks of a file decode independently of each other, so a reader may
// seek, and several readers may share a file.
//
// The file format consists of frames (frame.h) whose contents are columns (codec.h). The reader
// checks all input: it returns kDataLoss for a damaged or hostile file or stream, and
// kVersionMismatch for another format version. The memory for a batch is bounded by kMaxFrameBytes
// (frame.h) and kMaxChunkEvents (codec.h).
//
// Thread safety: one thread at a time per object. Ownership: the file stays mapped, or the
// connection open, until the reader is destroyed.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/events.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::trace {

/// The texts of a capture by id. Id 0 and unknown ids give the empty text.
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

/// The entry of a chunk in the file's index. It is available without decoding the chunk.
struct ChunkInfo {
  uint64_t fileOffset = 0; // File offset of the chunk's frame.
  uint64_t firstTimeNs = 0;
  uint64_t lastTimeNs = 0;
  uint64_t firstEvent = 0; // Number of events in all chunks before this one.
  uint32_t events = 0;
  uint32_t storedBytes = 0; // Size of the frame in the file, with its header.
};

struct Batch {
  std::span<const Event> events; // Valid until the next call on the reader.
  bool end = false;              // Whether no batch follows: the file or the stream has ended.
};

/// How a capture ends.
enum class Tail {
  kComplete, // A file with an index, or a stream that the process ended properly.
  kCutOff,   // A file without an index, of which the whole chunks are read; or a failed stream.
  kLive,     // A stream that has not ended.
};

/// A process that can be attached to.
struct Endpoint {
  uint32_t processId = 0;
  std::string name;    // File name of the executable.
  std::string address; // Path of a Unix-domain socket, or "host:port".
};

class CaptureReader {
public:
  /// Maps the file and reads its names and its index. Without an index it walks the frames.
  static Result<std::unique_ptr<CaptureReader>> openFile(const std::string &path);
  /// Like openFile(), but for a file in memory. `bytes` must outlive the reader.
  static Result<std::unique_ptr<CaptureReader>> fromMemory(std::span<const uint8_t> bytes);
  /// Attaches to a process. The stream begins with a description of everything that is alive now.
  /// token: the access token of a process that listens on TCP; "" for Unix-domain sockets.
  static Result<std::unique_ptr<CaptureReader>> connect(const std::string &address,
                                                        const std::string &token = "");
  ~CaptureReader();
  CaptureReader(const CaptureReader &) = delete;
  CaptureReader &operator=(const CaptureReader &) = delete;

  /// Returns the next batch. For a stream, returns an empty batch if no frame arrived within
  /// timeoutNs; `end` is false then.
  Result<Batch> read(uint64_t timeoutNs = UINT64_MAX);

  const NameTable &names() const;
  Tail tail() const;
  bool isLive() const;

  /// Returns the chunks of a file in order; none for a stream.
  std::span<const ChunkInfo> chunks() const;
  /// Sets the chunk that the next read() of a file returns; chunks().size() is the end of the file.
  /// Returns kInvalidArgument for a larger number.
  Status seek(size_t chunk);

  /// Returns the number of bytes read or received so far, including frame headers.
  uint64_t bytesRead() const;

private:
  CaptureReader();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the processes of this user that accept viewers, in the order of their process ids.
/// Sockets without a listener are left out.
Result<std::vector<Endpoint>> findEndpoints();

struct CaptureWriterOptions {
  uint32_t chunkEvents = 65536; // Events per chunk, 1 to kMaxChunkEvents (1048576).
  int zstdLevel = 1;            // Compression level of Zstandard.
};

/// Writes a .gtrace file chunk by chunk. append() writes a chunk to the file when the chunk is
/// full.
class CaptureWriter {
public:
  /// Creates or replaces the file.
  static Result<std::unique_ptr<CaptureWriter>>
  create(const std::string &path, const CaptureWriterOptions &options = CaptureWriterOptions());
  /// Closes the file. Without finish(), the file has no index, and events that were not flushed are
  /// lost.
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter &) = delete;
  CaptureWriter &operator=(const CaptureWriter &) = delete;

  /// Returns the id of a text. The same text always has the same id.
  uint32_t name(std::string_view text);
  /// Sets the text of an id that another names table assigned; for copies of captures.
  void setName(uint32_t id, std::string_view text);

  /// Appends events, which should be in the order of timeNs. Returns kInvalidArgument for an
  /// unknown type.
  Status append(std::span<const Event> events);
  Status append(const Event &event) { return append(std::span(&event, 1)); }
  /// Writes the incomplete chunk to the file.
  Status flush();
  /// Flushes, writes the index and closes the file. No other call may follow.
  Status finish();

  uint64_t bytesWritten() const;
  uint64_t eventsWritten() const;

private:
  CaptureWriter();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
