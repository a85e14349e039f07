// A command of a program as plain data: what man pages and completions are written from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gantry::manual {

/// What a shell offers for the value of an option.
enum class Completion { kNothing, kFiles, kFolders, kPrograms };

/// An option (names begin with dashes), or a positional argument (one name, without dashes).
struct OptionText {
  std::vector<std::string> names; // "-o", "--output"; "MODEL"
  std::string
      value; // The placeholder in the help, such as "FILE"; "" if the option takes no value.
  bool valueIsOptional = false;
  bool isRequired = false;
  bool isRepeated = false;
  std::vector<std::string> choices; // the only values there are, if they can be listed
  Completion completion = Completion::kNothing;
  std::string group;       // the heading in the help: "Options", "Memory"
  std::string summary;     // Purpose, one line.
  std::string description; // Includes range, choices and default.
};

/// A part of the text below the options: "Examples", and its lines.
struct SectionText {
  std::string title;
  std::vector<std::string> lines;
};

struct CommandText {
  std::string program; // "gantry"
  std::string name;    // "compile"; "" for the program itself
  std::string description;
  std::vector<OptionText> options, arguments; // Hidden options are left out.
  std::vector<SectionText> sections;
  std::vector<CommandText> commands; // Subcommands of the program.

  /// "gantry-compile": the name of the man page.
  std::string pageName() const { return name.empty() ? program : program + "-" + name; }
};

/// The program with all its commands. Reads the names, types, checks and texts of app.
CommandText readCommands(const CLI::App &app);

/// The text up to about 70 bytes, cut at a space, with "..." where it was cut.
std::string shortened(const std::string &text);

} // namespace gantry::manual
