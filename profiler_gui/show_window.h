// Shows a capture file or a running process in a window, and lists the processes that can be
// watched.
//
// Threads: the main thread, as GLFW requires.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/options.h"

namespace gantry::profiler {

/// Opens a window that shows options.file, or the process options.attach, and returns when the
/// window is closed. Errors: those of loadCapture(), LiveCapture::connect() and AppWindow;
/// kNotFound for an unknown process.
Status showWindow(const Options &options);

/// Prints the processes that can be watched to stdout.
Status listProcesses();

} // namespace gantry::profiler
