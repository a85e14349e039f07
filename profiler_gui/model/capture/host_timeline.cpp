// Implements HostTimeline and HostRow.
#include "profiler_gui/model/capture/host_timeline.h"

#include "profiler_gui/model/capture/shrink.h"

#include <algorithm>

namespace gantry::profiler {

using trace::EventType;

void HostTimeline::ingest(const trace::Event &event) {
  const uint64_t now = event.header.timeNs;
  switch (event.type()) {
  case EventType::kSpanBegin: {
    std::vector<uint32_t> &open = openSpans_[event.header.thread];
    if (open.empty())
      row_.spans.push_back(static_cast<uint32_t>(spans_.size()));
    open.push_back(static_cast<uint32_t>(spans_.size()));
    spans_.push_back({now, kStillHeld, event.host.name, event.header.thread,
                      static_cast<uint32_t>(open.size() - 1)});
    break;
  }
  case EventType::kSpanEnd: {
    std::vector<uint32_t> &open = openSpans_[event.header.thread];
    if (open.empty()) {
      ++unmatched_;
      break;
    }
    spans_[open.back()].endNs = now;
    open.pop_back();
    break;
  }
  case EventType::kMark:
    marks_.push_back({now, event.host.name, event.host.value});
    break;
  default: // Counters are not shown.
    break;
  }
}

void HostTimeline::update() {
  // A span that was open at the last call may have ended since then, so all end times from the
  // first open span on are computed again.
  const auto open = std::find(row_.latestEndNs.begin(), row_.latestEndNs.end(), kStillHeld);
  row_.latestEndNs.erase(open, row_.latestEndNs.end());
  for (size_t i = row_.latestEndNs.size(); i < row_.spans.size(); ++i) {
    const uint64_t before = i == 0 ? 0 : row_.latestEndNs[i - 1];
    row_.latestEndNs.push_back(std::max(before, spans_[row_.spans[i]].endNs));
  }
}

void HostTimeline::finish() {
  update();
  shrink(spans_);
  shrink(row_.spans);
  shrink(row_.latestEndNs);
  shrink(marks_);
}

uint64_t HostTimeline::memoryBytes() const {
  return spans_.capacity() * sizeof(HostSpan) + marks_.capacity() * sizeof(Mark) +
         row_.spans.capacity() * sizeof(uint32_t) + row_.latestEndNs.capacity() * sizeof(uint64_t);
}

size_t HostRow::firstReaching(size_t from, uint64_t timeNs) const {
  const auto first = latestEndNs.begin() + static_cast<ptrdiff_t>(std::min(from, spans.size()));
  return static_cast<size_t>(
      std::partition_point(first, latestEndNs.end(), [&](uint64_t end) { return end <= timeNs; }) -
      latestEndNs.begin());
}

} // namespace gantry::profiler
