// Measures the profiler on a large capture (a recorded trace), without a GPU or a window: bytes on
// disk, time to the first frame, memory, and the CPU time that the user interface's thread takes to
// build a frame.
//
//   capture_bench [--events N] [--keep FILE]
//
// The capture is a synthetic training loop (tests/support/synthetic_capture.h).
// trace::CaptureWriter writes the loop's steps repeatedly, with later times and new ids, until
// there are at least --events events (10 million by default). --keep writes the capture to FILE and
// does not delete it. The views are random, with a zoom between the whole capture and 1/65,536 of
// it. Each view is drawn for ten frames, as when a user stops there. The view shows memory blocks,
// each of which has an address range and a lifetime, as rectangles. Blocks that are too small for
// rectangles are summed up in a raster, an image of coloured cells. As in the real window, each
// frame visits a limited number of blocks (kBudgetPerFrame), so a raster is complete after several
// frames (profiler_gui/model/index/level_of_detail.h).
//
// Frames are measured in CPU time of their thread, and loading in CPU time of all threads and in
// elapsed time. Other load on the machine mainly affects the elapsed time.
#include "profiler_gui/model/capture/load_capture.h"
#include "profiler_gui/panels/profiler_window.h"
#include "tests/support/synthetic_capture.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

namespace {

using namespace gantry;
using trace::Event;
using trace::EventType;

constexpr uint32_t kSteps = 200;
constexpr uint32_t kSettledSteps = 4; // After these steps, each step releases what it allocates.
/// Max number of blocks, and nodes of the index of blocks, that a frame visits to compute rasters.
/// The value is that of profiler_gui/show_window.cpp.
constexpr uint64_t kBudgetPerFrame = 25'000;
constexpr int kViews = 100;
constexpr int kFramesPerView = 10;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void orDie(const Status &status) {
  if (status.isOk())
    return;
  std::fprintf(stderr, "capture_bench: %s\n", status.message().c_str());
  std::exit(1);
}

/// Offsets that are added to the times, sequence numbers, block ids and run ids of the events of a
/// training step when they are written again.
struct Shift {
  uint64_t timeNs = 0;
  uint64_t sequence = 0;
  uint64_t block = 0;
  uint32_t run = 0;
};

/// Shifts an event. Blocks below firstBlock are older than the repeated steps and keep their ids.
void shiftEvent(Event *event, const Shift &by, uint64_t firstBlock) {
  event->header.timeNs += by.timeNs;
  const auto block = [&](uint64_t &id) { id += id >= firstBlock ? by.block : 0; };
  switch (event->type()) {
  case EventType::kAllocate:
    event->block.sequence += by.sequence;
    block(event->block.block);
    break;
  case EventType::kRelease:
    event->release.sequence += by.sequence;
    block(event->release.block);
    break;
  case EventType::kRun:
  case EventType::kRunEnd:
    event->run.run += by.run;
    event->run.ticket += by.run;
    break;
  case EventType::kRunBinding:
    block(event->runBinding.block);
    event->runBinding.run += by.run;
    break;
  case EventType::kDonation:
    block(event->donation.block);
    event->donation.run += by.run;
    break;
  case EventType::kDispatch:
    event->dispatch.run += by.run;
    event->dispatch.gpu.beginNs += by.timeNs;
    event->dispatch.gpu.endNs += by.timeNs;
    break;
  case EventType::kClock:
    event->clock.hostNs += by.timeNs;
    event->clock.deviceNs += by.timeNs;
    break;
  default:
    break;
  }
}

/// Returns the offsets between two repetitions. Sets *firstBlock to the smallest block id that the
/// repeated steps allocate.
Shift shiftOf(std::span<const Event> repeated, uint64_t *firstBlock) {
  *firstBlock = UINT64_MAX;
  uint64_t lastBlock = 0;
  uint64_t firstSequence = UINT64_MAX;
  uint64_t lastSequence = 0;
  for (const Event &event : repeated) {
    if (event.type() != EventType::kAllocate)
      continue;
    *firstBlock = std::min(*firstBlock, event.block.block);
    lastBlock = std::max(lastBlock, event.block.block);
    firstSequence = std::min(firstSequence, event.block.sequence);
    lastSequence = std::max(lastSequence, event.block.sequence);
  }
  Shift shift;
  shift.timeNs = repeated.back().header.timeNs - repeated.front().header.timeNs + 100'000;
  shift.block = lastBlock - *firstBlock + 1;
  shift.sequence = 2 * (lastSequence - firstSequence + 1);
  shift.run = kSteps;
  return shift;
}

/// Writes a capture of at least `events` events and prints its size per event.
void writeCapture(const std::string &path, uint64_t events) {
  test::SyntheticOptions options;
  options.steps = kSteps;
  const test::SyntheticCapture capture = test::makeSyntheticCapture(options);
  Result<std::unique_ptr<trace::CaptureWriter>> created = trace::CaptureWriter::create(path);
  orDie(created.status());
  trace::CaptureWriter &writer = **created;
  for (uint32_t id = 0; id < capture.names.size(); ++id)
    writer.setName(id, capture.names[id]);
  // Finds the first event of the steps that are repeated. A step begins with the event kSpanBegin
  // of the name "step".
  size_t settled = 0;
  uint32_t begun = 0;
  while (settled < capture.events.size() && begun <= kSettledSteps) {
    const Event &event = capture.events[settled++];
    begun += event.type() == EventType::kSpanBegin && capture.names[event.host.name] == "step";
  }
  --settled;
  const std::span<const Event> all(capture.events);
  orDie(writer.append(all.first(settled)));
  const std::span<const Event> repeated = all.subspan(settled);
  uint64_t firstBlock = 0;
  const Shift round = shiftOf(repeated, &firstBlock);
  std::vector<Event> moved;
  Shift total;
  while (writer.eventsWritten() < events) {
    moved.assign(repeated.begin(), repeated.end());
    for (Event &event : moved)
      shiftEvent(&event, total, firstBlock);
    orDie(writer.append(moved));
    total.timeNs += round.timeNs;
    total.sequence += round.sequence;
    total.block += round.block;
    total.run += round.run;
  }
  orDie(writer.finish());
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  std::printf("on disk          %10.2f bytes per event\n",
              size / static_cast<double>(writer.eventsWritten()));
}

/// Decodes the file without building a profiler::CaptureModel.
void decodeOnly(const std::string &path) {
  const double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
  Result<std::unique_ptr<trace::CaptureReader>> reader = trace::CaptureReader::openFile(path);
  orDie(reader.status());
  for (;;) {
    const Result<trace::Batch> batch = (*reader)->read();
    orDie(batch.status());
    if (batch->end)
      break;
  }
  std::printf("decoding alone   %10.2f s of CPU time\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
}

/// Returns a field of /proc/self/status, in bytes; 0 if it is missing.
double statusBytes(const char *field) {
  double kibibytes = 0;
  if (std::FILE *file = std::fopen("/proc/self/status", "r"); file != nullptr) {
    char line[256];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      if (std::strncmp(line, field, std::strlen(field)) == 0)
        kibibytes = std::strtod(line + std::strlen(field) + 1, nullptr);
    }
    std::fclose(file);
  }
  return kibibytes * 1024;
}

struct Arguments {
  uint64_t events = 10'000'000;
  std::string keep; // Path for the capture; "": a temporary file, which is deleted.
};

/// Returns whether the arguments are valid.
bool parseArguments(int argc, char **argv, Arguments *arguments) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && std::strcmp(argv[i], "--events") == 0)
      arguments->events = std::strtoull(argv[i + 1], nullptr, 10);
    else if (i + 1 < argc && std::strcmp(argv[i], "--keep") == 0)
      arguments->keep = argv[i + 1];
    else
      return false;
  }
  return arguments->events > 0;
}

/// Creates an ImGui context of 1600 × 900 pixels without a device, and returns its font.
ImFont *createImGui() {
  ImGui::CreateContext();
  ImGuiIO &io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {1600, 900};
  io.DeltaTime = 1.0f / 60;
  ImFont *font = io.Fonts->AddFontDefault();
  unsigned char *pixels = nullptr;
  int width = 0;
  int height = 0;
  io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  return font;
}

void drawFrame(profiler::ProfilerWindow &window) {
  ImGui::NewFrame();
  window.frame();
  ImGui::Render();
}

/// Draws random views and prints the CPU times of their frames.
void measureFrames(profiler::ProfilerWindow &window, const profiler::CaptureModel &model) {
  plan::Random random(1);
  std::vector<double> milliseconds;
  const double last = static_cast<double>(model.nowNs());
  for (int view = 0; view < kViews; ++view) {
    const double span = last * std::exp2(-16 * random.unit());
    const double from = random.unit() * (last - span);
    window.ui().time.show(from, from + span);
    window.ui().stretch = static_cast<float>(std::exp2(4 * random.unit()));
    for (int i = 0; i < kFramesPerView; ++i) {
      const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
      drawFrame(window);
      milliseconds.push_back((seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e3);
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("frame            %10.2f ms of CPU time (median), p99 %.2f ms, max %.2f ms\n",
              milliseconds[milliseconds.size() / 2], milliseconds[milliseconds.size() * 99 / 100],
              milliseconds.back());
}

/// Loads and shows the capture, and prints times and memory.
void measureCapture(const std::string &path, bool keep) {
  ImFont *font = createImGui();
  const double before = statusBytes("VmRSS");
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double clock = seconds(CLOCK_MONOTONIC);
  Result<std::unique_ptr<profiler::LoadedCapture>> loaded = profiler::loadCapture(path);
  if (!keep)
    std::filesystem::remove(path);
  orDie(loaded.status());
  const double complete = seconds(CLOCK_MONOTONIC);
  const profiler::CaptureModel &model = (*loaded)->model;
  profiler::ProfilerWindow window({font, font, font, font, 1.0f});
  window.ui().detailBudget = kBudgetPerFrame;
  window.show(model, "bench");
  drawFrame(window);
  const auto count = static_cast<double>(model.eventCount());
  std::printf("events           %10.0f\n", count);
  std::printf("unmatched        %10llu\n", static_cast<unsigned long long>(model.unmatched()));
  std::printf("model complete   %10.2f s\n", complete - clock);
  std::printf("first frame      %10.2f s, %.2f s of CPU time\n", seconds(CLOCK_MONOTONIC) - clock,
              seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  std::printf("memory           %10.1f bytes per event; resident %.1f, max %.1f\n",
              static_cast<double>(model.memoryBytes()) / count,
              (statusBytes("VmRSS") - before) / count, (statusBytes("VmHWM") - before) / count);
  measureFrames(window, model);
  ImGui::DestroyContext();
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (!parseArguments(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: capture_bench [--events N] [--keep FILE]\n");
    return 2;
  }
  const bool keep = !arguments.keep.empty();
  const std::string path =
      keep ? arguments.keep
           : (std::filesystem::temp_directory_path() / "capture_bench.gtrace").string();
  writeCapture(path, arguments.events);
  decodeOnly(path);
  measureCapture(path, keep);
  return 0;
}
