// The command line of the tool as one table: every command with its options and help.
//
// main.cpp parses with it; man pages, completions and tests read it (tools/options/option.h).
#pragma once

#include "tools/gantry/commands/commands.h"

namespace gantry::tool {

/// Adds the name, the commands and their options to an empty `app`. Parsing sets `action` to what
/// the chosen command does; both must outlive the parsing.
void buildApplication(CLI::App &app, Action &action);

} // namespace gantry::tool
