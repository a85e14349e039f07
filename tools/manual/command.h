// The commands and options of a program as plain data, from which man pages and shell completions
// are written. All functions are pure.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gantry::manual {

/// The kind of completions that a shell offers for the value of an option or an argument.
enum class Completion { kNothing, kFiles, kFolders, kPrograms };

/// An option (names begin with dashes), or a positional argument (one name, without dashes).
struct OptionText {
  std::vector<std::string> names; // Examples: "-o", "--output"; "MODEL".
  std::string value; // The placeholder, such as "FILE"; "" for an option without value.
  bool valueIsOptional = false;
  bool isRequired = false;
  bool isRepeated = false;
  std::vector<std::string> choices; // All valid values, if they can be listed.
  Completion completion = Completion::kNothing;
  std::string group;       // Heading in the help: "Options", "Memory".
  std::string summary;     // Purpose, one line.
  std::string description; // Purpose, range, choices and default.
};

/// A section of the help's footer, such as "Examples" with its lines.
struct SectionText {
  std::string title;
  std::vector<std::string> lines;
};

/// A command, or the program itself with its commands.
struct CommandText {
  std::string program; // The program: "gantry".
  std::string name;    // The command: "compile"; empty for the program itself.
  std::string description;
  std::vector<OptionText> options, arguments; // Hidden options are left out.
  std::vector<SectionText> sections;
  std::vector<CommandText> commands; // Subcommands of the program.

  /// Returns the name of the man page: "gantry-compile".
  std::string pageName() const { return name.empty() ? program : program + "-" + name; }
};

/// Returns the program with all its commands, read from the names, types, checks and texts of
/// `app`.
CommandText readCommands(const CLI::App &app);

/// Shortens the text to about 70 bytes. It is cut at a space, and "..." marks the cut.
std::string shortened(const std::string &text);

} // namespace gantry::manual
