// Writes the help text of a program or of one of its commands, similar to those of cargo and gh:
// the purpose, the usage line, commands, arguments, options by group, then the footer.
//
//   Usage: gantry run [OPTIONS] MODEL
//
//   Options:
//     -d, --device DEVICE   The device: its index or part of its name
//
// Ranges, choices and defaults follow the description (option.h). Text is wrapped at the given
// width. With colour, headings are bold and options are cyan. helpText() is a pure function.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gantry::options {

struct HelpStyle {
  int width = 100;     ///< Width in columns; less than 40 counts as 40.
  bool colour = false; ///< Whether to use ANSI escape sequences.
};

/// Returns the style for standard output: the terminal's width, up to 100 columns, and colour.
/// There is no colour if standard output is not a terminal, NO_COLOR is set, or TERM is "dumb" or
/// unset.
HelpStyle styleOfStandardOutput();

/// Returns the program's name and the command's: "gantry run".
std::string pathOf(const CLI::App &app);

/// Returns the help of `app`, the program or one of its commands. The footer is printed unchanged;
/// its lines that begin at the left and end with a colon are headings.
std::string helpText(const CLI::App &app, const HelpStyle &style);

} // namespace gantry::options
