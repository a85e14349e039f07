// The option --render: draws the user interface to a picture, without a window.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/options.h"

namespace gantry::profiler {

/// Loads options.file, draws it with the other options, and writes the picture to options.render
/// and, if wanted, the description of the screen to options.semantics. Errors: kInvalidArgument
/// without a file, and those of loadCapture(), Offscreen and writePng().
Status renderPicture(const Options &options);

} // namespace gantry::profiler
