// ExportTimeline: the contents of a capture as tracks with slices, counters and instants. The
// Perfetto and Chrome exports write a timeline.
//
// Times are in nanoseconds of the host's clock, like EventHeader::timeNs. Names are ids of the
// capture's names table.
//
// Thread safety: plain values and a pure function. Memory: about 24 bytes for each slice and
// counter.
#pragma once

#include "engine/trace/wire/capture.h"

#include <string>
#include <vector>

namespace gantry::trace {

/// A row of slices that nest or follow each other: a thread, or a lane of a device. Commands that
/// overlap on a device are on different lanes.
struct ExportTrack {
  std::string name;
  uint32_t thread = 0; // Thread id of the operating system; 0 for a lane of a device.
};

/// An interval on a track: a span of a thread, or a command on a device.
struct ExportSlice {
  uint32_t track = 0; // Index in ExportTimeline::tracks.
  uint32_t name = 0;
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
};

/// The value of a series from timeNs on.
struct ExportCounter {
  uint32_t series = 0; // Index in ExportTimeline::series.
  uint64_t timeNs = 0;
  int64_t value = 0;
};

/// A mark on a track.
struct ExportInstant {
  uint32_t track = 0; // Index in ExportTimeline::tracks.
  uint32_t name = 0;
  uint64_t timeNs = 0;
};

struct ExportTimeline {
  uint32_t processId = 0;
  std::string processName;
  std::vector<ExportTrack> tracks;
  std::vector<ExportSlice> slices;
  std::vector<std::string> series; // Names of the counters' series.
  std::vector<ExportCounter> counters;
  std::vector<ExportInstant> instants;
};

/// Reads the whole capture and makes its timeline. Device times are converted to the host's clock
/// by the capture's ClockEvents. If a device has none, its first command is placed at the beginning
/// of the command's run. Commands without timestamps, and spans that are open at the end of the
/// capture, are left out.
Result<ExportTimeline> makeTimeline(CaptureReader &reader);

} // namespace gantry::trace
