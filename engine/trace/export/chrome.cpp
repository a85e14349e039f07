// Export to Chrome's JSON trace event format.
#include "engine/trace/export/export_text.h"
#include "engine/trace/export/formats.h"
#include "engine/trace/export/timeline.h"

#include <cinttypes>
#include <cstdio>

namespace gantry::trace {
namespace {

/// Returns nanoseconds as a text in microseconds with three decimals.
std::string microseconds(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ns / 1000,
                static_cast<unsigned>(ns % 1000));
  return text;
}

} // namespace

Status exportChrome(CaptureReader &reader, AtomicFile &file) {
  GANTRY_ASSIGN_OR_RETURN(const ExportTimeline timeline, makeTimeline(reader));
  const NameTable &names = reader.names();
  const std::string pid = std::to_string(timeline.processId);
  ExportText out(file);
  out.add("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  out.add("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + pid + ",\"args\":{\"name\":");
  out.addQuoted(timeline.processName);
  out.add("}}");
  for (size_t i = 0; i < timeline.tracks.size(); ++i) {
    out.add(",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + pid +
            ",\"tid\":" + std::to_string(i + 1) + ",\"args\":{\"name\":");
    out.addQuoted(timeline.tracks[i].name);
    out.add("}}");
  }
  for (const ExportSlice &slice : timeline.slices) {
    out.add(",\n{\"ph\":\"X\",\"pid\":" + pid + ",\"tid\":" + std::to_string(slice.track + 1) +
            ",\"ts\":" + microseconds(slice.beginNs) +
            ",\"dur\":" + microseconds(slice.endNs - slice.beginNs) + ",\"name\":");
    out.addQuoted(names[slice.name]);
    out.add("}");
  }
  for (const ExportInstant &instant : timeline.instants) {
    out.add(",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":" + pid +
            ",\"tid\":" + std::to_string(instant.track + 1) +
            ",\"ts\":" + microseconds(instant.timeNs) + ",\"name\":");
    out.addQuoted(names[instant.name]);
    out.add("}");
  }
  for (const ExportCounter &counter : timeline.counters) {
    out.add(",\n{\"ph\":\"C\",\"pid\":" + pid + ",\"ts\":" + microseconds(counter.timeNs) +
            ",\"name\":");
    out.addQuoted(timeline.series[counter.series]);
    out.add(",\"args\":{\"value\":" + std::to_string(counter.value) + "}}");
  }
  out.add("\n]}\n");
  return out.finish();
}

} // namespace gantry::trace
