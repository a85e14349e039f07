// Export to Perfetto's protobuf format (protos/perfetto/trace): TracePackets with TrackDescriptors
// and TrackEvents.
#include "engine/trace/export/export_text.h"
#include "engine/trace/export/formats.h"
#include "engine/trace/export/timeline.h"

#include <protozero/pbf_writer.hpp>

namespace gantry::trace {
namespace {

// Field numbers of Trace, TracePacket and TrackDescriptor.
constexpr uint32_t kPacket = 1;
constexpr uint32_t kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kTrackDescriptor = 60;
constexpr uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParentUuid = 5,
                   kCounterTrack = 8;
// Field numbers of ProcessDescriptor (kPid, kProcessName) and ThreadDescriptor.
constexpr uint32_t kPid = 1, kTid = 2, kThreadName = 5, kProcessName = 6;
// Field numbers of TrackEvent, and the values of its type.
constexpr uint32_t kType = 9, kTrackUuid = 11, kName = 23, kCounterValue = 30;
constexpr int32_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;

// Ids of the process, of the first track and of the first counter series.
constexpr uint64_t kProcessUuid = 1;
constexpr uint64_t kFirstTrack = 1000;
constexpr uint64_t kFirstSeries = 1'000'000;

/// Writes TracePackets.
class Packets {
public:
  explicit Packets(AtomicFile &file) : text_(file) {}

  /// Adds a packet with one message, in the field number `field`. fill(writer) writes the message.
  /// Only a TrackEvent has a time.
  template <typename Fill> void add(uint64_t timeNs, uint32_t field, Fill &&fill) {
    std::string packet;
    {
      protozero::pbf_writer writer(packet);
      if (field == kTrackEvent)
        writer.add_uint64(kTimestamp, timeNs);
      writer.add_uint32(kSequenceId, 1);
      protozero::pbf_writer inner(writer, field);
      fill(inner);
    }
    std::string framed;
    protozero::pbf_writer(framed).add_message(kPacket, packet);
    text_.add(framed);
  }
  /// Adds a TrackEvent; an empty name is left out.
  void event(uint64_t timeNs, int32_t type, uint64_t track, std::string_view name) {
    add(timeNs, kTrackEvent, [&](protozero::pbf_writer &event) {
      event.add_enum(kType, type);
      event.add_uint64(kTrackUuid, track);
      if (!name.empty())
        event.add_string(kName, name.data(), name.size());
    });
  }
  Status finish() { return text_.finish(); }

private:
  ExportText text_;
};

} // namespace

Status exportPerfetto(CaptureReader &reader, AtomicFile &file) {
  GANTRY_ASSIGN_OR_RETURN(const ExportTimeline timeline, makeTimeline(reader));
  const NameTable &names = reader.names();
  const auto pid = static_cast<int32_t>(timeline.processId);
  Packets packets(file);
  packets.add(0, kTrackDescriptor, [&](protozero::pbf_writer &track) {
    track.add_uint64(kUuid, kProcessUuid);
    protozero::pbf_writer process(track, kProcess);
    process.add_int32(kPid, pid);
    process.add_string(kProcessName, timeline.processName);
  });
  for (size_t i = 0; i < timeline.tracks.size(); ++i)
    packets.add(0, kTrackDescriptor, [&](protozero::pbf_writer &track) {
      const ExportTrack &row = timeline.tracks[i];
      track.add_uint64(kUuid, kFirstTrack + i);
      track.add_uint64(kParentUuid, kProcessUuid);
      if (row.thread == 0) {
        track.add_string(kTrackName, row.name);
        return;
      }
      protozero::pbf_writer thread(track, kThread);
      thread.add_int32(kPid, pid);
      thread.add_int32(kTid, static_cast<int32_t>(row.thread));
      thread.add_string(kThreadName, row.name);
    });
  for (size_t i = 0; i < timeline.series.size(); ++i)
    packets.add(0, kTrackDescriptor, [&](protozero::pbf_writer &track) {
      track.add_uint64(kUuid, kFirstSeries + i);
      track.add_uint64(kParentUuid, kProcessUuid);
      track.add_string(kTrackName, timeline.series[i]);
      const protozero::pbf_writer counter(track, kCounterTrack);
    });
  for (const ExportSlice &slice : timeline.slices) {
    packets.event(slice.beginNs, kSliceBegin, kFirstTrack + slice.track, names[slice.name]);
    packets.event(slice.endNs, kSliceEnd, kFirstTrack + slice.track, {});
  }
  for (const ExportInstant &instant : timeline.instants)
    packets.event(instant.timeNs, kInstant, kFirstTrack + instant.track, names[instant.name]);
  for (const ExportCounter &counter : timeline.counters)
    packets.add(counter.timeNs, kTrackEvent, [&](protozero::pbf_writer &event) {
      event.add_enum(kType, kCounter);
      event.add_uint64(kTrackUuid, kFirstSeries + counter.series);
      event.add_int64(kCounterValue, counter.value);
    });
  return packets.finish();
}

} // namespace gantry::trace
