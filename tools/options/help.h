// The help text of a program or of one of its commands, in the shape of cargo's and gh's:
// what it does, the usage line, commands, arguments, options by group, then the footer.
//
//   Usage: gantry run [OPTIONS] MODEL
//
//   Options:
//     -d, --device DEVICE   The device: its index or part of its name
//
// Units, ranges and defaults are words behind the description (option.h). Text is wrapped at the
// given width; headings are bold and options cyan where colour is wanted. Pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gantry::options {

struct HelpStyle {
  int width = 100;     ///< columns; at least 40 are used
  bool colour = false; ///< ANSI escape sequences for headings and names
};

/// The width and the colour of standard output: a terminal's own width up to 100 columns; no
/// colour where it is not a terminal, NO_COLOR is set or TERM is "dumb".
HelpStyle styleOfStandardOutput();

/// `app` is the program or one of its commands. The footer is printed as it is; its lines that
/// begin at the left and end with a colon are headings.
std::string helpText(const CLI::App &app, const HelpStyle &style);

} // namespace gantry::options
