#include "profiler_gui/show.h"

#include "engine/base/file.h"
#include "profiler_gui/model/source.h"
#include "profiler_gui/panels/profiler_window.h"
#include "profiler_gui/platform/window.h"

#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace gantry::profiler {
namespace {

constexpr size_t kEventsPerFrame = 200'000;
constexpr uint64_t kBlocksPerFrame = 25'000; // about 1 ms of work on rasters
constexpr double kLivePeriod = 1.0 / 15;     // how often what came is shown
constexpr double kIdlePeriod = 1.0;
constexpr int kFramesAfterInput = 3; // ImGui's widgets need more than one frame to react

/// A process's id, or an address as CaptureReader::connect takes it.
Result<trace::Endpoint> findEndpoint(const std::string &wanted) {
  GANTRY_ASSIGN_OR_RETURN(const std::vector<trace::Endpoint> endpoints, trace::findEndpoints());
  for (const trace::Endpoint &endpoint : endpoints) {
    if (std::to_string(endpoint.processId) == wanted || endpoint.address == wanted)
      return endpoint;
  }
  if (wanted.find_first_not_of("0123456789") != std::string::npos)
    return trace::Endpoint{0, wanted, wanted};
  return statusf(StatusCode::kNotFound,
                 "no process %s can be watched; gantry-profiler alone lists those that can",
                 wanted.c_str());
}

std::string fileName(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Status drawFrame(AppWindow &window, ProfilerWindow &profiler) {
  GANTRY_ASSIGN_OR_RETURN(const bool visible, window.beginFrame());
  if (!visible)
    return Status::ok();
  profiler.frame();
  ImGui::Render();
  return window.endFrame(profiler.canvas(), profiler.ui().theme->background);
}

} // namespace

Status listProcesses() {
  GANTRY_ASSIGN_OR_RETURN(const std::vector<trace::Endpoint> endpoints, trace::findEndpoints());
  if (endpoints.empty()) {
    std::printf(
        "no process can be watched now. A process that uses Gantry can be as soon as it has "
        "opened a device.\n");
    return Status::ok();
  }
  std::printf("%8s  %-24s %s\n", "process", "name", "socket");
  for (const trace::Endpoint &endpoint : endpoints)
    std::printf("%8u  %-24s %s\n", endpoint.processId, endpoint.name.c_str(),
                endpoint.address.c_str());
  std::printf("\ngantry-profiler --attach PROCESS opens a window on one.\n");
  return Status::ok();
}

Status showWindow(const Options &options) {
  std::unique_ptr<LoadedCapture> loaded;
  std::unique_ptr<LiveCapture> live;
  std::string title;
  if (!options.attach.empty()) {
    GANTRY_ASSIGN_OR_RETURN(const trace::Endpoint endpoint, findEndpoint(options.attach));
    GANTRY_ASSIGN_OR_RETURN(live, LiveCapture::connect(endpoint.address, options.token));
    title = fileName(endpoint.name);
    if (endpoint.processId != 0)
      title += " (" + std::to_string(endpoint.processId) + ")";
  } else {
    GANTRY_ASSIGN_OR_RETURN(loaded, loadCapture(options.file));
    title = fileName(options.file);
  }
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<AppWindow> window,
                          AppWindow::create(title + " – gantry", options.width, options.height,
                                            options.scaleGiven ? options.scale : 0));
  ProfilerWindow profiler(window->ui().fonts());
  profiler.setTheme(options.theme);
  profiler.ui().focus = options.focus;
  profiler.setSemantics(!options.semantics.empty());
  profiler.ui().detailBudget = kBlocksPerFrame;
  profiler.ui().live = live != nullptr;
  profiler.show(live != nullptr ? live->model() : loaded->model, title);
  if (!options.compare.empty())
    GANTRY_RETURN_IF_ERROR(profiler.compareWith(options.compare));
  profiler.ui().note =
      loaded != nullptr && loaded->cutOff ? "the capture was cut off" : window->ui().fontNote();
  int framesLeft = kFramesAfterInput;
  while (!window->closeWanted() && !profiler.quitWanted()) {
    const bool busy = framesLeft > 0 || profiler.settling();
    if (window->waitForInput(busy                                ? 0
                             : live != nullptr && !live->ended() ? kLivePeriod
                                                                 : kIdlePeriod))
      framesLeft = kFramesAfterInput;
    if (live != nullptr && live->pump(kEventsPerFrame)) {
      profiler.modelGrew();
      framesLeft = std::max(framesLeft, 1);
    }
    if (live != nullptr && live->ended() && profiler.ui().live) {
      profiler.ui().live = false;
      profiler.ui().note =
          live->status().isOk() ? "the process has ended" : live->status().message();
      framesLeft = std::max(framesLeft, 1);
    }
    if (framesLeft > 0 || profiler.settling()) {
      GANTRY_RETURN_IF_ERROR(drawFrame(*window, profiler));
      framesLeft = std::max(0, framesLeft - 1);
      if (framesLeft == 0 && !options.semantics.empty())
        GANTRY_RETURN_IF_ERROR(writeFileAtomically(options.semantics, profiler.semantics().dump()));
    }
  }
  return Status::ok();
}

} // namespace gantry::profiler
