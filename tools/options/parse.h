// Parses a command line. An error is one sentence with the wrong word, the valid ones, and the help
// to read.
//
// parse() first checks the words against the table of options (unknown commands and options,
// missing and superfluous values); then CLI11 converts the values and calls the callbacks.
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

/// Gives the program its help option; the text of --help is helpText(). Call it for the program and
/// for every command.
void addHelp(CLI::App &app);

/// Parses the words after the program's name. Returns the text to print for --help or --version,
/// and nothing if the program is to run. Throws UsageError.
std::optional<std::string> parse(CLI::App &app, std::vector<std::string> words);

} // namespace gantry::options
