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
        user_(user) {}

  /// An event with its time and thread set.
  void add(const EventHeader *event) {
    encoder_.add(event);
    if (encoder_.isFull())
      flush();
  }
  /// What was added goes out now.
  void flush();
  /// Ok, or why nothing is written any more.
  const Status &status() const { return status_; }
  bool isEmpty() const { return encoder_.count() == 0; }
  uint64_t eventsWritten() const { return events_; }

private:
  Status write(const FrameHeader &header, std::span<const uint8_t> contents);
  ChunkEncoder encoder_;
  FramePacker packer_;
  NamesBuilder names_;
  uint32_t nextName_ = 1;
  Write write_;
  void *user_;
  Status status_;
  uint64_t events_ = 0;
};

} // namespace gantry::trace
