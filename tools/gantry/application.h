// The table of the tool's commands, with their options and help texts.
//
// main.cpp parses the command line with this table. manual_main.cpp generates man pages and
// completions from it (tools/manual).
//
// Threads: one thread at a time.
#pragma once

#include "tools/gantry/commands/commands.h"

namespace gantry::tool {

/// Adds the name, the commands and their options to an empty `app`. Parsing sets `action` to a
/// function that runs the chosen command. `action` must live until parsing has ended.
void buildApplication(CLI::App &app, Action &action);

} // namespace gantry::tool
