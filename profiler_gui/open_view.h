// Applies the options of the command line that say what a window or a picture shows at first.
//
// Threads: the thread that draws the window.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/options.h"
#include "profiler_gui/panels/profiler_window.h"

#include <string>

namespace gantry::profiler {

/// Shows the capture, which must outlive the profiler window, under this title, with the theme, the
/// view, the second capture, the time range and the search of the options. Fails if the second
/// capture cannot be loaded.
Status openView(const Options &options, const CaptureModel &model, std::string title,
                ProfilerWindow &profiler);

} // namespace gantry::profiler
