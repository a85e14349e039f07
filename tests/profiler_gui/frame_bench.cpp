// frame_bench [STEPS]: how long a capture takes to load and a frame to build, without a device.
//
// Prints events, seconds of CPU time until the model is complete and the first frame is built,
// bytes of memory per event, and the distribution of a frame's CPU time over 1000 random views,
// with the slices of raster work that the window allows itself.
#include "profiler_gui/model/source.h"
#include "profiler_gui/panels/profiler_window.h"
#include "tests/support/synthetic_capture.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace

int main(int argc, char **argv) {
  using namespace gantry;
  test::SyntheticOptions options;
  options.steps = argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 4000;
  const std::string path = "frame_bench.gtrace";
  {
    const Status saved = test::makeSyntheticCapture(options).save(path);
    if (!saved.isOk()) {
      std::fprintf(stderr, "frame_bench: %s\n", saved.message().c_str());
      return 1;
    }
  }
  ImGui::CreateContext();
  ImGuiIO &io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {1600, 900};
  ImFont *font = io.Fonts->AddFontDefault();
  unsigned char *pixels = nullptr;
  int width = 0;
  int height = 0;
  io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);

  const double begin = cpuSeconds();
  Result<std::unique_ptr<profiler::LoadedCapture>> loaded = profiler::loadCapture(path);
  std::remove(path.c_str());
  if (!loaded.isOk()) {
    std::fprintf(stderr, "frame_bench: %s\n", loaded.status().message().c_str());
    return 1;
  }
  const double complete = cpuSeconds();
  const profiler::CaptureModel &model = (*loaded)->model;
  profiler::ProfilerWindow window({font, font, font, font, 1.0f});
  window.ui().detailBudget = 60'000;
  window.show(model, "bench");
  const auto frame = [&] {
    io.DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    window.frame();
    ImGui::Render();
  };
  frame();
  const double first = cpuSeconds();
  std::printf("events          %12llu\n", static_cast<unsigned long long>(model.eventCount()));
  std::printf("model complete  %12.3f s\n", complete - begin);
  std::printf("first frame     %12.3f s\n", first - begin);
  std::printf("memory          %12.1f bytes per event\n",
              static_cast<double>(model.memoryBytes()) / static_cast<double>(model.eventCount()));

  plan::Random random(1);
  std::vector<double> milliseconds;
  const double last = static_cast<double>(model.nowNs());
  for (int view = 0; view < 100; ++view) {
    const double span = last * std::exp2(-16 * random.unit());
    const double from = random.unit() * (last - span);
    window.ui().time.show(from, from + span);
    window.ui().stretch = static_cast<float>(std::exp2(4 * random.unit()));
    for (int i = 0; i < 10; ++i) {
      const double start = cpuSeconds();
      frame();
      milliseconds.push_back((cpuSeconds() - start) * 1e3);
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("frame median    %12.2f ms\n", milliseconds[milliseconds.size() / 2]);
  std::printf("frame p99       %12.2f ms\n", milliseconds[milliseconds.size() * 99 / 100]);
  ImGui::DestroyContext();
  return 0;
}
