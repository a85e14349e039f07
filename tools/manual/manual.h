// Writes the man pages and shell completions of a program. They are generated from the table of
// options with which the program parses its command line (tools/options/option.h), so they cannot
// differ from the program.
//
// The output folder has the layout of a prefix's share folder: man/man1,
// bash-completion/completions, zsh/site-functions, fish/vendor_completions.d.
//
// Threads: one thread at a time.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gantry::manual {

/// Writes the man page of the program, one man page per command, and the completions to `folder`.
/// `app` must have its name and all commands and options. Existing files are overwritten. The pages
/// have the date of SOURCE_DATE_EPOCH (seconds since 1970), else today's date. Returns the exit
/// code: 0, or 3 after a message on standard error if a file cannot be written.
int writeManual(const CLI::App &app, const std::string &folder);

} // namespace gantry::manual
