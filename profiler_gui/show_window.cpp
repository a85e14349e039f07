// Implements the window of gantry-profiler: the event loop, and the choice of its contents.
#include "profiler_gui/show_window.h"

#include "engine/base/file.h"
#include "profiler_gui/model/capture/live_capture.h"
#include "profiler_gui/model/capture/load_capture.h"
#include "profiler_gui/open_view.h"
#include "profiler_gui/platform/frame_pacer.h"
#include "profiler_gui/platform/app_window.h"

#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace gantry::profiler {
namespace {

constexpr double kEventsPerSecond = 3e6; // Max rate at which a live model takes new events.
// Max number of blocks that one frame visits for rasters (Ui::detailBudget); takes about 1 ms.
constexpr uint64_t kBlocksPerFrame = 25'000;
constexpr double kLiveShare = 0.2;      // Share of one core for redrawing a live view.
constexpr double kMinPeriod = 1.0 / 15; // Min time between two live frames, in seconds.
constexpr double kMaxPeriod = 1.0;      // Max time between two live frames, in seconds.
constexpr double kIdlePeriod = 1.0;     // Max wait for input while no capture grows, in seconds.
constexpr int kFramesAfterInput = 3;    // ImGui's widgets need several frames to react to input.

/// Returns the endpoint, a process with the address at which it can be watched, for a process id or
/// an address. An address at which no process is listed becomes an endpoint with process id 0.
Result<trace::Endpoint> findEndpoint(const std::string &wanted) {
  GANTRY_ASSIGN_OR_RETURN(const std::vector<trace::Endpoint> endpoints, trace::findEndpoints());
  for (const trace::Endpoint &endpoint : endpoints) {
    if (std::to_string(endpoint.processId) == wanted || endpoint.address == wanted)
      return endpoint;
  }
  if (wanted.find_first_not_of("0123456789") != std::string::npos)
    return trace::Endpoint{0, wanted, wanted};
  return statusf(
      StatusCode::kNotFound,
      "process %s cannot be watched; gantry-profiler without arguments lists those that can",
      wanted.c_str());
}

std::string fileName(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Status drawFrame(AppWindow &window, ProfilerWindow &profiler) {
  GANTRY_ASSIGN_OR_RETURN(const bool visible, window.beginFrame());
  if (!visible)
    return Status::ok();
  profiler.frame();
  ImGui::Render();
  return window.endFrame(profiler.canvas(), profiler.ui().theme->background);
}

/// Adds new events to the model; `seconds` is the time since the last call. Returns whether any
/// events were added.
bool pumpLive(LiveCapture &live, double seconds) {
  const double maxEvents = kEventsPerSecond * std::clamp(seconds, kMinPeriod, kMaxPeriod);
  return live.pump(static_cast<size_t>(maxEvents));
}

/// Whether the event loop adds new events to the model. It adds none while the view is paused,
/// unless the process has ended or the waiting events fill half of LiveCapture::kMaxWaiting; events
/// beyond this limit would be lost.
bool isGrowing(LiveCapture *live, const Ui &ui) {
  return live != nullptr && ui.live && (!ui.paused || live->ended() || live->isFilling());
}

/// Draws a frame after input, when a live capture has grown and FramePacer allows it, and while a
/// raster of small blocks (level_of_detail.h) is incomplete. Returns when the window is closed.
Status runWindow(const Options &options, AppWindow &window, ProfilerWindow &profiler,
                 LiveCapture *live) {
  FramePacer pacer(kLiveShare, kMinPeriod, kMaxPeriod);
  int framesLeft = kFramesAfterInput;
  double pumped = 0;
  while (!window.closeWanted() && !profiler.quitWanted()) {
    const bool growing = isGrowing(live, profiler.ui());
    const double wait = growing ? pacer.wait(secondsOf(CLOCK_MONOTONIC)) : kIdlePeriod;
    const bool busy = framesLeft > 0 || (!growing && profiler.settling());
    if (window.waitForInput(busy ? 0 : wait))
      framesLeft = kFramesAfterInput;
    bool draw = framesLeft > 0 || (!growing && profiler.settling());
    const double now = secondsOf(CLOCK_MONOTONIC);
    if (growing && pacer.wait(now) == 0) {
      const bool ended = live->ended(); // Read before pump(), which then adds the last events.
      const bool grew = pumpLive(*live, now - pumped);
      pumped = now;
      if (grew)
        profiler.modelGrew();
      if (!grew && ended) {
        profiler.captureEnded();
        profiler.ui().note =
            live->status().isOk() ? "the process has ended" : live->status().message();
        framesLeft = kFramesAfterInput;
      }
      draw = draw || grew || framesLeft > 0 || profiler.settling();
      if (!draw)
        // Counts as a frame, so that the next look for events is a period later.
        pacer.frameDrawn(now, secondsOf(CLOCK_PROCESS_CPUTIME_ID));
    }
    if (!draw)
      continue;
    GANTRY_RETURN_IF_ERROR(drawFrame(window, profiler));
    pacer.frameDrawn(secondsOf(CLOCK_MONOTONIC), secondsOf(CLOCK_PROCESS_CPUTIME_ID));
    framesLeft = std::max(0, framesLeft - 1);
    const bool resting = framesLeft == 0 && (growing || !profiler.settling());
    if (resting && !options.semantics.empty())
      GANTRY_RETURN_IF_ERROR(writeFileAtomically(options.semantics, profiler.semantics().dump()));
  }
  return Status::ok();
}

} // namespace

Status listProcesses() {
  GANTRY_ASSIGN_OR_RETURN(const std::vector<trace::Endpoint> endpoints, trace::findEndpoints());
  if (endpoints.empty()) {
    std::printf(
        "no process can be watched now; a process that uses Gantry can be watched once it has "
        "opened a device\n");
    return Status::ok();
  }
  std::printf("%8s  %-24s %s\n", "process", "name", "socket");
  for (const trace::Endpoint &endpoint : endpoints)
    std::printf("%8u  %-24s %s\n", endpoint.processId, endpoint.name.c_str(),
                endpoint.address.c_str());
  std::printf("\ngantry-profiler --attach PROCESS watches one of them.\n");
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
  profiler.ui().detailBudget = kBlocksPerFrame;
  profiler.ui().live = live != nullptr;
  GANTRY_RETURN_IF_ERROR(
      openView(options, live != nullptr ? live->model() : loaded->model, title, profiler));
  profiler.ui().note = loaded != nullptr && loaded->cutOff
                           ? "the capture is incomplete: its writer was killed"
                           : window->ui().fontNote();
  GANTRY_RETURN_IF_ERROR(runWindow(options, *window, profiler, live.get()));
  return Status::ok();
}

} // namespace gantry::profiler
