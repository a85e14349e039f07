// Man pages and shell completions of a program, written from its own table of options
// (tools/options/option.h), so that they say what the program does.
//
// The folder that they are written to is laid out like the share folder of a prefix: man/man1,
// bash-completion/completions, zsh/site-functions, fish/vendor_completions.d. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gantry::manual {

/// Writes the man page of the program, one for each of its commands, and its completions. app has
/// its name, all its commands and options. Files of the folder are overwritten. The pages bear the
/// date of SOURCE_DATE_EPOCH (seconds since 1970), or today's. Returns the exit code: 0, or 3 after
/// a message on standard error where a file cannot be written.
int writeManual(const CLI::App &app, const std::string &folder);

} // namespace gantry::manual
