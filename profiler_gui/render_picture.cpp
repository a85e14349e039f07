// Implements renderPicture(), the option --render.
#include "profiler_gui/render_picture.h"

#include "engine/base/file.h"
#include "profiler_gui/model/capture/load_capture.h"
#include "profiler_gui/open_view.h"
#include "profiler_gui/platform/offscreen.h"

#include <imgui.h>

#include <utility>

namespace gantry::profiler {

Status renderPicture(const Options &options) {
  if (options.file.empty())
    return {StatusCode::kInvalidArgument,
            "--render needs a capture or an artifact: --render out.png run.gtrace"};
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<LoadedCapture> loaded, loadCapture(options.file));
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<Offscreen> screen,
                          Offscreen::create(options.width, options.height, options.scale));
  ProfilerWindow window(screen->ui().fonts());
  const size_t slash = options.file.rfind('/');
  GANTRY_RETURN_IF_ERROR(
      openView(options, loaded->model,
               slash == std::string::npos ? options.file : options.file.substr(slash + 1), window));
  window.ui().note =
      loaded->cutOff ? "the capture is incomplete: its writer was killed" : screen->ui().fontNote();
  Picture picture;
  for (int frame = 0; frame < 2; ++frame) { // The first frame only lays out ImGui's windows.
    screen->beginFrame(1.0f / 60);
    ImGui::NewFrame();
    window.frame();
    ImGui::Render();
    GANTRY_ASSIGN_OR_RETURN(picture,
                            screen->render(window.canvas(), window.ui().theme->background));
  }
  if (!options.semantics.empty())
    GANTRY_RETURN_IF_ERROR(writeFileAtomically(options.semantics, window.semantics().dump()));
  return writePng(options.render, picture);
}

} // namespace gantry::profiler
