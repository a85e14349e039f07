// Chrome's JSON, and CSV.
#include "engine/trace/export_parts.h"

#include <cinttypes>
#include <cstdio>

namespace gantry::trace {
namespace {

/// Nanoseconds as microseconds with three places.
std::string microseconds(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ns / 1000,
                static_cast<unsigned>(ns % 1000));
  return text;
}

/// A name that is in quotes where it has to be.
std::string csvText(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos)
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
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

Status exportCsv(CaptureReader &reader, AtomicFile &file) {
  ExportText out(file);
  out.add("time_ns,thread,type,heap,sequence,block,slab,offset,size,name\n");
  const NameTable &names = reader.names();
  GANTRY_RETURN_IF_ERROR(forEachEvent(reader, [&](const Event &event) {
    std::string line = std::to_string(event.header.timeNs) + "," +
                       std::to_string(event.header.thread) + "," + eventTypeName(event.type()) +
                       "," + std::to_string(event.header.heap) + ",";
    auto number = [&](uint64_t value) { line += std::to_string(value) + ","; };
    switch (event.type()) {
    case EventType::kAllocate:
    case EventType::kLiveBlock:
    case EventType::kMove:
    case EventType::kSpill:
    case EventType::kRestore:
      number(event.block.sequence);
      number(event.block.block);
      number(event.block.slab);
      number(event.block.offsetBytes);
      number(event.block.sizeBytes);
      line += csvText(names[event.block.name]);
      break;
    case EventType::kRelease:
      number(event.release.sequence);
      number(event.release.block);
      line += ",,,";
      break;
    case EventType::kSlab:
    case EventType::kSlabEnd:
    case EventType::kLiveSlab:
      number(event.slab.sequence);
      line += ",";
      number(event.slab.slab);
      line += ",";
      number(event.slab.sizeBytes);
      break;
    case EventType::kSpanBegin:
    case EventType::kSpanEnd:
    case EventType::kMark:
    case EventType::kCounter:
      line += ",,,,," + csvText(names[event.host.name]);
      break;
    case EventType::kCommand:
      line += ",,,,," + csvText(names[event.command.name]);
      break;
    case EventType::kPlanEntry:
      line += ",,,";
      number(event.planEntry.offsetBytes);
      number(event.planEntry.sizeBytes);
      line += csvText(names[event.planEntry.name]);
      break;
    default:
      line += ",,,,,";
    }
    out.add(line + "\n");
  }));
  return out.finish();
}

} // namespace gantry::trace
