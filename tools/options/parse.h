// Parses a command line. An error is one line with the wrong word, the valid words if there are
// few, and the command that shows the help.
//
// parse() first checks the words against the table of options (unknown commands and options,
// missing and superfluous values). Then CLI11 converts the values and calls the callbacks.
//
// Threads: one thread at a time.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gantry::options {

/// The error for a command line that cannot be parsed; what() is one line without a newline.
class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Adds the option --help, whose text is helpText(), to a program or a command. The caller must
/// call this function for the program and for every command.
void addHelp(CLI::App &app);

/// Parses the words after the program's name. Returns the text to print for --help or --version, or
/// nothing if the program should run. Throws UsageError.
std::optional<std::string> parse(CLI::App &app, std::vector<std::string> words);

} // namespace gantry::options
