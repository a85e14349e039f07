// --render: the user interface as a picture, without a window.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/options.h"

namespace gantry::profiler {

Status renderPicture(const Options &options);

} // namespace gantry::profiler
