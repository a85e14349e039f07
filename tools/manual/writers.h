// The texts that manual.h writes, each a pure function of the commands.
#pragma once

#include "tools/manual/command.h"

namespace gantry::manual {

/// Returns a man page in roff. `date` is like "2026-01-31"; `all` is the program with its commands,
/// for SEE ALSO.
std::string manPage(const CommandText &command, const CommandText &all, const std::string &date);

// Completion scripts of a program and its commands.
std::string bashCompletion(const CommandText &program);
std::string zshCompletion(const CommandText &program);
std::string fishCompletion(const CommandText &program);

} // namespace gantry::manual
