// The flight recorder keeps the last seconds of the trace in memory. It writes them to a file on
// request, or when a signal kills the process.
//
// Algorithm: the recorder is a sink of the collector (collector.h) whose frames (wire/frame.h) stay
// in two memory segments. When the newer segment is `seconds` old or full, the older one is emptied
// and becomes the newer one. The recorder therefore keeps at least the last `seconds` and at most
// twice as much, as far as the events fit into maxBytes. A segment normally starts with a
// description of everything that is alive and with all names, so that it is readable without the
// other segment. Descriptions are made at most four times a second; if frames fill a segment
// faster, events precede the segment's description.
//
// Crashes (engine/base/crash.h): the crashing thread writes the segments to the file. It then does
// the collector's work: it encodes the events that are still in the rings, without waiting for a
// lock and without an allocation, and adds a mark such as "killed by SIGSEGV" of the crashed
// thread, with the signal's number as the mark's value. For this time it asks the collector to
// pause. In two cases only the segments are written, and about the last quarter of a second is
// missing: if the collector's own thread crashed, or if it does not pause because it waits for a
// lock of the crashed thread. The file has no index, like every capture whose writer was killed.
//
// Cost: the recording of events as for every attached sink (record.h), and a description of the
// live state every `seconds`. Memory: maxBytes and the encoder's buffers.
//
// Thread safety: any thread. In a process, only one recorder at a time can handle crashes.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gantry::trace {

struct FlightOptions {
  /// The time to keep, 1 to 86400 seconds.
  uint64_t seconds = 10;
  /// Size of both segments together, at least kMinFlightBytes. The description of a live block
  /// takes about 8 bytes in each segment.
  uint64_t maxBytes = 64 << 20;
  /// Path of the file to write on a crash; "%p" is replaced by the process id. "": none is written.
  std::string crashPath;
};
inline constexpr uint64_t kMinFlightBytes = 4 << 20;

class FlightRecorder {
public:
  /// Starts recording. Errors: kInvalidArgument for invalid options, kFailedPrecondition if another
  /// recorder handles crashes, kOutOfMemory.
  static Result<std::unique_ptr<FlightRecorder>> start(const FlightOptions &options);
  /// Stops recording and discards the recorded events.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// Writes the kept events up to this call as a complete capture with an index. Recording
  /// continues. Errors: those of the file, kOutOfMemory, and the failure that ended the recording,
  /// if there is one.
  Status write(const std::string &path);

private:
  FlightRecorder();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
