// The activity of the host: spans, which are named intervals of a thread's work, and marks, which
// are moments that the application named.
//
// Spans of one thread nest. A span that has no enclosing span on its thread is an outermost span;
// the lanes panel (panels/lanes.cpp) draws the outermost spans of all threads in one row.
//
// Names are ids in the capture's name table; times are nanoseconds from the capture's start.
// Threads: one writer, or several readers.
#pragma once

#include "engine/trace/events.h"
#include "profiler_gui/model/capture/block_table.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gantry::profiler {

struct HostSpan {
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld; // kStillHeld while the span is open.
  uint32_t name = 0;
  uint32_t thread = 0;
  uint32_t depth = 0; // Number of enclosing spans on the same thread.
};

/// The outermost spans of all threads, in order of their begin times.
struct HostRow {
  std::vector<uint32_t> spans; // Indices in HostTimeline::spans().
  /// For each position in `spans`, the max end time of that span and of all spans before it. The
  /// end times do not descend, so bisection finds the next span that reaches beyond a time.
  std::vector<uint64_t> latestEndNs;

  /// The first position, `from` or later, whose latestEndNs is greater than timeNs. The result is
  /// `from` if a span before `from` reaches beyond timeNs.
  size_t firstReaching(size_t from, uint64_t timeNs) const;
};

struct Mark {
  uint64_t timeNs = 0;
  uint32_t name = 0;
  int64_t value = 0; // The application's own number.
};

class HostTimeline {
public:
  /// Takes kSpanBegin, kSpanEnd and kMark events; ignores others.
  void ingest(const trace::Event &event);
  /// Computes row().latestEndNs for the spans that ingest() added or ended.
  void update();
  /// Calls update() and frees unused capacity. No ingest() may follow.
  void finish();

  const std::vector<HostSpan> &spans() const { return spans_; }
  const HostRow &row() const { return row_; }
  const std::vector<Mark> &marks() const { return marks_; }
  /// Number of span ends without a begin.
  uint64_t unmatched() const { return unmatched_; }
  /// Bytes allocated by the lists.
  uint64_t memoryBytes() const;

private:
  std::vector<HostSpan> spans_;
  /// Maps a thread to its open spans, as indices in spans_, from the outermost span inward.
  std::map<uint32_t, std::vector<uint32_t>> openSpans_;
  HostRow row_;
  std::vector<Mark> marks_;
  uint64_t unmatched_ = 0;
};

} // namespace gantry::profiler
