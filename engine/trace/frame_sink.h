// Where the collector's events go: encoded, with the names they need, as frames to a writer.
//
// Threads: the collector's alone.
#pragma once

#include "engine/trace/codec.h"
#include "engine/trace/frame.h"

namespace gantry::trace {

struct FrameSinkOptions {
  FrameCodec codec = FrameCodec::kLz4;
  int level = 1;
  uint32_t chunkEvents = 32768;
};

class FrameSink {
public:
  /// Takes a whole frame; its first failure ends the sink.
  using Write = Status (*)(void *user, std::span<const uint8_t> frame);

  FrameSink(const FrameSinkOptions &options, Write write, void *user)
      : encoder_(options.chunkEvents), packer_(options.codec, options.level), write_(write),
        user_(user) {
    if (!encoder_.isReady())
      fail(Status(StatusCode::kOutOfMemory, "the host has no memory to record events"));
  }

  /// An event with its time and thread set. A sink that has failed takes none.
  void add(const EventHeader *event) {
    if (!encoder_.isReady())
      return;
    encoder_.add(event);
    if (encoder_.isFull())
      flush();
  }
  /// What was added goes out now.
  void flush();
  /// Ends the sink with this status, unless it has ended already. Its names' memory is given back.
  void fail(Status status) {
    if (status_.isOk())
      status_ = std::move(status);
    names_ = NamesBuilder();
  }
  /// The next frames tell all names anew: what was written before may be gone.
  void tellNamesAgain() { nextName_ = 1; }

  /// For a process that is dying: between the two, frames go to `write` in pieces and as they are;
  /// no memory is taken, no lock waited for. reserveForRaw() comes first, while all is well.
  using WriteRaw = void (*)(void *user, std::span<const uint8_t> bytes);
  void reserveForRaw() { names_.reserve(2 * uint64_t{kMaxNameBytes}); }
  void beginRaw(WriteRaw write, void *user) {
    writeRaw_ = write;
    rawUser_ = user;
  }
  void endRaw() { writeRaw_ = nullptr; }

  /// Ok, or why nothing is written any more.
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
