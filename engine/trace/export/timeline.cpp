// makeTimeline(): turns the events of a capture into slices, counters and instants.
#include "engine/trace/export/timeline.h"

#include "engine/trace/export/event_visitor.h"
#include "engine/trace/record/clock.h"

#include <map>
#include <unordered_map>

namespace gantry::trace {
namespace {

/// Builds a timeline from the events of a capture in their order.
class TimelineMaker {
public:
  TimelineMaker(ExportTimeline &timeline, const NameTable &names,
                const std::map<uint32_t, DeviceClock> &clocks)
      : out_(timeline), names_(names), clocks_(clocks) {}

  void take(const Event &event) {
    switch (event.type()) {
    case EventType::kProcess:
      out_.processId = event.process.processId;
      out_.processName = names_[event.process.name];
      break;
    case EventType::kThread: {
      ExportTrack &track = out_.tracks[trackOf(event.header.thread)];
      track.thread = event.thread.systemId;
      if (event.thread.name != 0)
        track.name = names_[event.thread.name];
      break;
    }
    case EventType::kSpanBegin:
      open_[event.header.thread].push_back(
          {trackOf(event.header.thread), event.host.name, event.header.timeNs, 0});
      break;
    case EventType::kSpanEnd:
      if (std::vector<ExportSlice> &open = open_[event.header.thread]; !open.empty()) {
        open.back().endNs = event.header.timeNs;
        out_.slices.push_back(open.back());
        open.pop_back();
      }
      break;
    case EventType::kMark:
      out_.instants.push_back({trackOf(event.header.thread), event.host.name, event.header.timeNs});
      break;
    case EventType::kCounter:
      addCounter(std::string(names_[event.host.name]), event.header.timeNs, event.host.value);
      break;
    case EventType::kCommand:
      commands_[key(event.command.plan, event.command.command)] = event.command.name;
      break;
    case EventType::kRun:
      runs_[event.run.run] = {event.run.plan, event.header.timeNs};
      break;
    case EventType::kDispatch:
      addWork(event.dispatch.run, event.dispatch.command, event.dispatch.device,
              event.dispatch.gpu);
      break;
    case EventType::kCopy:
      addWork(event.copy.run, event.copy.command, event.copy.device, event.copy.gpu);
      break;
    default:
      takeMemory(event);
    }
  }

private:
  struct Run {
    uint32_t plan = 0;
    uint64_t beginNs = 0;
  };
  static uint64_t key(uint32_t a, uint32_t b) { return (uint64_t{a} << 32) | b; }

  uint32_t trackOf(uint32_t thread) {
    const auto made = threads_.try_emplace(thread, static_cast<uint32_t>(out_.tracks.size()));
    if (made.second)
      out_.tracks.push_back({"thread " + std::to_string(thread), 0});
    return made.first->second;
  }

  void addCounter(const std::string &name, uint64_t timeNs, int64_t value) {
    const auto made = series_.try_emplace(name, static_cast<uint32_t>(out_.series.size()));
    if (made.second)
      out_.series.push_back(name);
    out_.counters.push_back({made.first->second, timeNs, value});
  }

  void takeMemory(const Event &event) {
    auto &blocks = live_[event.header.heap];
    uint64_t &bytes = liveBytes_[event.header.heap];
    switch (event.type()) {
    case EventType::kSnapshotBegin:
      blocks.clear();
      bytes = 0;
      return; // The counter is added at the snapshot's end.
    case EventType::kHeapEnd:
      blocks.clear();
      bytes = 0;
      break;
    case EventType::kAllocate:
    case EventType::kLiveBlock:
      if (blocks.emplace(event.block.block, event.block.sizeBytes).second)
        bytes += event.block.sizeBytes;
      if (event.type() == EventType::kLiveBlock)
        return; // The counter is added at the snapshot's end.
      break;
    case EventType::kRelease:
      if (const auto found = blocks.find(event.release.block); found != blocks.end()) {
        bytes -= found->second;
        blocks.erase(found);
      }
      break;
    case EventType::kSnapshotEnd:
      break;
    default:
      return;
    }
    addCounter("live bytes of heap " + std::to_string(event.header.heap), event.header.timeNs,
               static_cast<int64_t>(bytes));
  }

  /// Adds a command that ran on a device. Its track is the first lane of the device that is free
  /// when the command begins.
  void addWork(uint32_t run, uint32_t command, uint32_t device, const GpuTimes &gpu) {
    if (gpu.endNs == 0)
      return;
    uint64_t begin = gpu.beginNs;
    uint64_t end = gpu.endNs;
    const Run &parent = runs_[run];
    if (const auto clock = clocks_.find(device); clock != clocks_.end()) {
      begin = clock->second.toHostNs(gpu.beginNs);
      end = clock->second.toHostNs(gpu.endNs);
    } else {
      const auto first = guesses_.try_emplace(device, parent.beginNs - gpu.beginNs);
      begin += first.first->second;
      end += first.first->second;
    }
    std::vector<std::pair<uint32_t, uint64_t>> &lanes = lanes_[device];
    size_t lane = 0;
    while (lane < lanes.size() && lanes[lane].second > begin)
      ++lane;
    if (lane == lanes.size()) {
      lanes.push_back({static_cast<uint32_t>(out_.tracks.size()), 0});
      out_.tracks.push_back(
          {"device " + std::to_string(device) + ", lane " + std::to_string(lane + 1), 0});
    }
    lanes[lane].second = end;
    const auto name = commands_.find(key(parent.plan, command));
    out_.slices.push_back(
        {lanes[lane].first, name == commands_.end() ? 0 : name->second, begin, end});
  }

  ExportTimeline &out_;
  const NameTable &names_;
  const std::map<uint32_t, DeviceClock> &clocks_;
  std::unordered_map<uint32_t, uint32_t> threads_;              // Track by thread number.
  std::unordered_map<uint32_t, std::vector<ExportSlice>> open_; // Open spans by thread number.
  std::unordered_map<std::string, uint32_t> series_;            // Series by name.
  std::unordered_map<uint64_t, uint32_t> commands_;             // Name by key(plan, command).
  std::unordered_map<uint32_t, Run> runs_;
  std::map<uint16_t, std::unordered_map<uint64_t, uint64_t>> live_; // By heap: sizes by block.
  std::map<uint16_t, uint64_t> liveBytes_;                          // By heap.
  std::map<uint32_t, uint64_t> guesses_; // By device without ClockEvents: host minus device time.
  /// By device and lane: the lane's track, and the end of its last slice.
  std::map<uint32_t, std::vector<std::pair<uint32_t, uint64_t>>> lanes_;
};

} // namespace

Result<ExportTimeline> makeTimeline(CaptureReader &reader) {
  std::map<uint32_t, DeviceClock> clocks;
  GANTRY_RETURN_IF_ERROR(forEachEvent(reader, [&](const Event &event) {
    if (event.type() == EventType::kClock)
      clocks[event.clock.device].add(event.clock);
  }));
  ExportTimeline timeline;
  TimelineMaker maker(timeline, reader.names(), clocks);
  GANTRY_RETURN_IF_ERROR(forEachEvent(reader, [&](const Event &event) { maker.take(event); }));
  return timeline;
}

} // namespace gantry::trace
