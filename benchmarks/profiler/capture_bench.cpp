// Large captures in the profiler, without a device: bytes on disk, time to the first frame, memory,
// and how long the user interface's thread takes to build a frame.
//
//   capture_bench [--events N] [--keep FILE]
//
// The capture is a training loop (tests/support/synthetic_capture.h) whose steps are written again
// and again, later and with new ids, by the real writer. Views are random: any zoom between all and
// a 65,536th of it, any height; each is looked at for ten frames, with the slices of raster work
// that the window allows itself, as when a person stops there.
//
// CPU time of the thread that builds frames; of all threads together for loading, beside the
// clock's time. The machine's other work lengthens the latter.
#include "profiler_gui/model/source.h"
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
constexpr uint32_t kSettledSteps = 4; // after which a step leaves as much alive as it found
constexpr double kBudgetPerFrame = 25'000;

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

/// What the steps of one round add to the ids and times of the next.
struct Shift {
  uint64_t timeNs = 0;
  uint64_t sequence = 0;
  uint64_t block = 0;
  uint32_t run = 0;
};

void move(Event *event, const Shift &by, uint64_t firstBlock) {
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

void writeCapture(const std::string &path, uint64_t events) {
  test::SyntheticOptions options;
  options.steps = kSteps;
  const test::SyntheticCapture made = test::makeSyntheticCapture(options);
  Result<std::unique_ptr<trace::CaptureWriter>> created = trace::CaptureWriter::create(path);
  orDie(created.status());
  trace::CaptureWriter &writer = **created;
  for (uint32_t id = 0; id < made.names.size(); ++id)
    writer.setName(id, made.names[id]);
  // A step begins with its span; those after the first few are written again.
  size_t settled = 0;
  uint32_t begun = 0;
  while (settled < made.events.size() && begun <= kSettledSteps) {
    const Event &event = made.events[settled++];
    begun += event.type() == EventType::kSpanBegin && made.names[event.host.name] == "step";
  }
  --settled;
  const std::span<const Event> all(made.events);
  orDie(writer.append(all.first(settled)));
  const std::span<const Event> again = all.subspan(settled);
  Shift round;
  round.timeNs = again.back().header.timeNs - again.front().header.timeNs + 100'000;
  uint64_t firstBlock = UINT64_MAX;
  uint64_t lastBlock = 0;
  uint64_t firstSequence = UINT64_MAX;
  uint64_t lastSequence = 0;
  for (const Event &event : again) {
    if (event.type() != EventType::kAllocate)
      continue;
    firstBlock = std::min(firstBlock, event.block.block);
    lastBlock = std::max(lastBlock, event.block.block);
    firstSequence = std::min(firstSequence, event.block.sequence);
    lastSequence = std::max(lastSequence, event.block.sequence);
  }
  round.block = lastBlock - firstBlock + 1;
  round.sequence = 2 * (lastSequence - firstSequence + 1);
  round.run = kSteps;
  std::vector<Event> moved;
  Shift total;
  while (writer.eventsWritten() < events) {
    moved.assign(again.begin(), again.end());
    for (Event &event : moved)
      move(&event, total, firstBlock);
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

void readOnly(const std::string &path) {
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

/// Of /proc/self/status, in bytes.
double status(const char *field) {
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

} // namespace

int main(int argc, char **argv) {
  uint64_t events = 10'000'000;
  std::string path;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && std::strcmp(argv[i], "--events") == 0)
      events = std::strtoull(argv[i + 1], nullptr, 10);
    else if (i + 1 < argc && std::strcmp(argv[i], "--keep") == 0)
      path = argv[i + 1];
    else
      events = 0;
  }
  if (events == 0) {
    std::fprintf(stderr, "usage: capture_bench [--events N] [--keep FILE]\n");
    return 2;
  }
  const bool keep = !path.empty();
  if (!keep)
    path = (std::filesystem::temp_directory_path() / "capture_bench.gtrace").string();
  writeCapture(path, events);
  readOnly(path);

  ImGui::CreateContext();
  ImGuiIO &io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {1600, 900};
  ImFont *font = io.Fonts->AddFontDefault();
  unsigned char *pixels = nullptr;
  int width = 0;
  int height = 0;
  io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);

  const double before = status("VmRSS");
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double clock = seconds(CLOCK_MONOTONIC);
  Result<std::unique_ptr<profiler::LoadedCapture>> loaded = profiler::loadCapture(path);
  if (!keep)
    std::filesystem::remove(path);
  orDie(loaded.status());
  const double complete = seconds(CLOCK_MONOTONIC);
  const profiler::CaptureModel &model = (*loaded)->model;
  profiler::ProfilerWindow window({font, font, font, font, 1.0f});
  window.ui().detailBudget = static_cast<uint64_t>(kBudgetPerFrame);
  window.show(model, "bench");
  const auto frame = [&] {
    io.DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    window.frame();
    ImGui::Render();
  };
  frame();
  const auto count = static_cast<double>(model.eventCount());
  std::printf("events           %10.0f\n", count);
  std::printf("unmatched        %10llu\n", static_cast<unsigned long long>(model.unmatched()));
  std::printf("model complete   %10.2f s\n", complete - clock);
  std::printf("first frame      %10.2f s, %.2f s of CPU time\n", seconds(CLOCK_MONOTONIC) - clock,
              seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  std::printf("memory           %10.1f bytes per event; resident %.1f, at most %.1f\n",
              static_cast<double>(model.memoryBytes()) / count, (status("VmRSS") - before) / count,
              (status("VmHWM") - before) / count);

  plan::Random random(1);
  std::vector<double> milliseconds;
  const double last = static_cast<double>(model.nowNs());
  for (int view = 0; view < 100; ++view) {
    const double span = last * std::exp2(-16 * random.unit());
    const double from = random.unit() * (last - span);
    window.ui().time.show(from, from + span);
    window.ui().stretch = static_cast<float>(std::exp2(4 * random.unit()));
    for (int i = 0; i < 10; ++i) {
      const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
      frame();
      milliseconds.push_back((seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e3);
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf(
      "frame            %10.2f ms of CPU time in the median, p99 %.2f ms, at most %.2f ms\n",
      milliseconds[milliseconds.size() / 2], milliseconds[milliseconds.size() * 99 / 100],
      milliseconds.back());
  ImGui::DestroyContext();
  return 0;
}
