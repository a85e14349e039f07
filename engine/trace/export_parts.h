// What the exports share: a capture as slices, counters and instants, and text in pieces.
//
// Threads: values and pure functions. Memory: 40 bytes per slice and counter.
#pragma once

#include "engine/base/file.h"
#include "engine/trace/capture.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gantry::trace {

/// A row of slices that nest or follow each other: a thread, or a lane of a device's queue.
struct ExportTrack {
  std::string name;
  uint32_t thread = 0; // the system's id; 0 for a lane
};

struct ExportSlice {
  uint32_t track = 0;
  uint32_t name = 0;
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
};

struct ExportCounter {
  uint32_t series = 0;
  uint64_t timeNs = 0;
  int64_t value = 0;
};

struct ExportInstant {
  uint32_t track = 0;
  uint32_t name = 0;
  uint64_t timeNs = 0;
};

struct ExportTimeline {
  uint32_t processId = 0;
  std::string processName;
  std::vector<ExportTrack> tracks;
  std::vector<ExportSlice> slices;
  std::vector<std::string> series;
  std::vector<ExportCounter> counters;
  std::vector<ExportInstant> instants;
};

/// Calls visit for every event, from the beginning of the file.
Status forEachEvent(CaptureReader &reader, const std::function<void(const Event &)> &visit);

Result<ExportTimeline> makeTimeline(CaptureReader &reader);

/// Text that goes to a file in large pieces.
class ExportText {
public:
  explicit ExportText(AtomicFile &file) : file_(file) {}
  void add(std::string_view text) {
    text_ += text;
    if (text_.size() > (1 << 20))
      flush();
  }
  /// Quoted and escaped for JSON.
  void addQuoted(std::string_view text);
  Status finish() {
    flush();
    return status_;
  }

private:
  void flush() {
    if (status_.isOk())
      status_ = file_.write(text_);
    text_.clear();
  }
  AtomicFile &file_;
  std::string text_;
  Status status_;
};

Status exportChrome(CaptureReader &reader, AtomicFile &file);
Status exportPerfetto(CaptureReader &reader, AtomicFile &file);
Status exportPytorch(CaptureReader &reader, AtomicFile &file);
Status exportCsv(CaptureReader &reader, AtomicFile &file);

} // namespace gantry::trace
