// Implements fishCompletion() of writers.h.
#include "tools/manual/writers.h"

namespace gantry::manual {
namespace {

std::string inQuotes(const std::string &text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + "'";
}

/// Returns the call of fish's `complete` that describes an option, with a newline. `begin` is the
/// beginning of the call: the program and, if the program has commands, the condition (-n) under
/// which the shell offers the option, for example that the user has typed a certain command.
std::string optionLine(const std::string &begin, const OptionText &option) {
  std::string line = begin;
  for (const std::string &name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty() && !option.valueIsOptional) {
    if (!option.choices.empty()) {
      std::string words;
      for (const std::string &choice : option.choices)
        words += (words.empty() ? "" : " ") + choice;
      line += " -x -a " + inQuotes(words);
    } else if (option.completion == Completion::kFolders) {
      line += " -x -a '(__fish_complete_directories)'";
    } else {
      line += option.completion == Completion::kFiles ? " -r -F" : " -x";
    }
  }
  return line + " -d " + inQuotes(option.summary) + "\n";
}

} // namespace

std::string fishCompletion(const CommandText &program) {
  const std::string begin = "complete -c " + program.program;
  std::string text = "# Completion of " + program.program +
                     " for fish. Generated from the program's options: do not edit.\n";
  if (program.commands.empty()) {
    for (const OptionText &option : program.options)
      text += optionLine(begin, option);
    return text;
  }
  text += begin + " -f\n";
  for (const OptionText &option : program.options)
    text += optionLine(begin + " -n __fish_use_subcommand", option);
  for (const CommandText &command : program.commands)
    text += begin + " -n __fish_use_subcommand -a " + command.name + " -d " +
            inQuotes(shortened(command.description)) + "\n";
  for (const CommandText &command : program.commands) {
    const std::string within = begin + " -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const OptionText &option : command.options)
      text += optionLine(within, option);
    for (const OptionText &argument : command.arguments)
      text += argument.completion == Completion::kPrograms
                  ? within + " -x -a '(__fish_complete_subcommand)'\n"
                  : within + " -F\n";
  }
  return text;
}

} // namespace gantry::manual
