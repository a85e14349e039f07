// The program with a window: a capture file, or a process that is being watched.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/options.h"

namespace gantry::profiler {

/// Until the window is closed.
Status showWindow(const Options &options);

/// Prints the processes that can be watched.
Status listProcesses();

} // namespace gantry::profiler
