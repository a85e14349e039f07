// The flight recorder: the last seconds of the process, kept in memory and written when they are
// wanted: on demand, or by a process that dies of a signal.
//
// It is a sink of the collector's whose frames stay in two segments of memory. When the newer one
// is `seconds` old, or full, the older one is emptied and becomes the newer: what is kept is at
// least the last `seconds`, at most twice as much, as far as it fits. Each segment begins with what
// is alive at its start, and tells all names, so that what is left reads by itself. Where frames
// fill a segment faster than descriptions are made (four a second at most), it begins with events
// of what is told behind them.
//
// On a crash signal (engine/base/crash.h) the dying thread writes the segments, then takes over the
// collector's work: it encodes what lay in the rings, without a lock or an allocation, and ends
// with a mark "killed by SIGSEGV" of the thread that died, its value the signal's number. Where the
// collector itself has died, or holds still (in a lock of the dying thread's), only what it had
// packed is written: up to a quarter of a second is missing. The file has no index, as of every
// writer that was killed.
//
// Cost: that of being attached, and a description of what is alive every `seconds`. Memory:
// maxBytes, and the encoder's.
//
// Threads: any; one recorder at a time writes crashes.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gantry::trace {

struct FlightOptions {
  uint64_t seconds = 10;
  /// Of both segments; at least kLeastFlightBytes. What is alive takes about 8 bytes a block in
  /// each.
  uint64_t maxBytes = 64 << 20;
  /// Written on a crash; "%p" in it becomes the process's number. "": none is.
  std::string crashPath;
};
inline constexpr uint64_t kLeastFlightBytes = 4 << 20;

class FlightRecorder {
public:
  /// kInvalidArgument for options that cannot be, kFailedPrecondition where another recorder waits
  /// for crashes, kOutOfMemory.
  static Result<std::unique_ptr<FlightRecorder>> start(const FlightOptions &options);
  /// What is kept is gone.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// All that is kept, up to now, as a whole capture with its index. Recording goes on.
  Status write(const std::string &path);

private:
  FlightRecorder();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
