// FrameSink: a sink of the collector (record/collector.h). It encodes events, adds the names that
// they use, and passes whole frames to a writer function, which writes them to a file, a socket or
// memory.
//
// Errors: the first failure ends the sink, status() returns it, and no later event is written.
//
// Thread safety: only the collector's thread uses a sink, or the crashing thread between beginRaw()
// and endRaw() while the collector is paused. Memory: the encoder, allocated in the constructor,
// and buffers for names and compressed frames, which grow to the largest frame.
#pragma once

#include "engine/trace/wire/codec.h"
#include "engine/trace/wire/frame.h"

namespace gantry::trace {

struct FrameSinkOptions {
  FrameCodec codec = FrameCodec::kLz4;
  int level = 1;                // Compression level of Zstandard.
  uint32_t chunkEvents = 32768; // Upper limit of events in a chunk, 1 to kMaxChunkEvents.
};

class FrameSink {
public:
  /// Writes one whole frame. A status other than ok ends the sink.
  using Write = Status (*)(void *user, std::span<const uint8_t> frame);

  FrameSink(const FrameSinkOptions &options, Write write, void *user)
      : encoder_(options.chunkEvents), packer_(options.codec, options.level), write_(write),
        user_(user) {
    if (!encoder_.isReady())
      fail(Status(StatusCode::kOutOfMemory, "the host has no memory to record events"));
  }

  /// Appends an event whose time and thread are set. Flushes the chunk if it is full then.
  void add(const EventHeader *event) {
    if (!encoder_.isReady())
      return;
    encoder_.add(event);
    if (encoder_.isFull())
      flush();
  }
  /// Writes the events that were added so far, and the names that they use.
  void flush();
  /// Ends the sink with this status unless it has failed before. Frees the memory of its names.
  void fail(Status status) {
    if (status_.isOk())
      status_ = std::move(status);
    names_ = NamesBuilder();
  }
  /// Makes the next frames contain all names again, because earlier frames may have been discarded.
  void resendNames() { nextName_ = 1; }

  /// Crash mode, for a process that received a fatal signal. Between beginRaw() and endRaw(),
  /// frames go uncompressed and in pieces to `write`. The sink then allocates no memory, and waits
  /// only a limited time for the lock of the names. reserveForRaw() reserves the memory for names;
  /// it must be called earlier, in normal operation.
  using WriteRaw = void (*)(void *user, std::span<const uint8_t> bytes);
  void reserveForRaw() { names_.reserve(2 * uint64_t{kMaxNameBytes}); }
  void beginRaw(WriteRaw write, void *user) {
    writeRaw_ = write;
    rawUser_ = user;
  }
  void endRaw() { writeRaw_ = nullptr; }

  /// Returns the failure that ended the sink, or ok.
  const Status &status() const { return status_; }
  bool isEmpty() const { return encoder_.count() == 0; }
  uint64_t eventsWritten() const { return events_; }

private:
  Status write(const FrameHeader &header, std::span<const uint8_t> contents);
  void flushRaw(const FrameHeader &header, std::span<const uint8_t> chunk);
  ChunkEncoder encoder_;
  FramePacker packer_;
  NamesBuilder names_;
  uint32_t nextName_ = 1;
  Write write_;
  void *user_;
  Status status_;
  uint64_t events_ = 0;
  WriteRaw writeRaw_ = nullptr;
  void *rawUser_ = nullptr;
};

} // namespace gantry::trace
