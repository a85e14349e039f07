// The option --render: draws the user interface into a PNG file, without a window. One thread.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/options.h"

namespace gantry::profiler {

/// Loads options.file, draws it with the other options, and writes the picture to options.render.
/// If options.semantics is not empty, also writes the description of the screen
/// (panels/semantics.h) to that file.
/// Errors: kInvalidArgument without a file, and those of loadCapture(), Offscreen, writePng() and
/// writeFileAtomically().
Status renderPicture(const Options &options);

} // namespace gantry::profiler
