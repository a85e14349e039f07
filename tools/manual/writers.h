// Pure functions that return the text of the files that manual.h writes.
#pragma once

#include "tools/manual/command.h"

namespace gantry::manual {

/// Returns the man page of a command, or of the program itself, in roff. `date` is like
/// "2026-01-31". `all` is the program with its commands, for the section SEE ALSO.
std::string manPage(const CommandText &command, const CommandText &all, const std::string &date);

// Each function returns a shell's completion script for a program with its commands.
std::string bashCompletion(const CommandText &program);
std::string zshCompletion(const CommandText &program);
std::string fishCompletion(const CommandText &program);

} // namespace gantry::manual
