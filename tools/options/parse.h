// Parses a command line and says what is wrong with it in one sentence: the word that was given,
// what would be valid, and the help to read.
//
// parse() first reads the words against the table of options (unknown commands and options, missing
// and superfluous values), then lets CLI11 convert the values and call the callbacks.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gantry::options {

/// A command line that cannot be understood; what() is one line without a newline.
class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Gives the program its help option; the text of --help is helpText(). Call it for the program and
/// for every command.
void addHelp(CLI::App &app);

/// Parses the words behind the program's name. Returns the text to print where --help or --version
/// was asked for, and nothing where the program is to run. Throws UsageError.
std::optional<std::string> parse(CLI::App &app, std::vector<std::string> words);

} // namespace gantry::options
