// Implements zshCompletion() of writers.h.
#include "tools/manual/writers.h"

namespace gantry::manual {
namespace {

/// Escapes text for a word in single quotes, and the characters of `special` with a backslash.
std::string escaped(const std::string &text, const std::string &special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (special.find(c) != std::string::npos)
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

/// Returns the specification of the value of an option or an argument for zsh's _arguments, such as
/// ":FILE:_files".
std::string valueSpec(const OptionText &option, const std::string &value) {
  std::string action;
  if (!option.choices.empty()) {
    for (const std::string &choice : option.choices)
      action += (action.empty() ? "(" : " ") + choice;
    action += ")";
  } else if (option.completion == Completion::kFiles) {
    action = "_files";
  } else if (option.completion == Completion::kFolders) {
    action = "_files -/";
  }
  return (option.valueIsOptional ? "::" : ":") + escaped(value, ":\\") + ":" + action;
}

/// Returns the specifications of a command's options and arguments for zsh's _arguments.
std::string specifications(const CommandText &command, const std::string &indent) {
  std::string text;
  const auto add = [&](const std::string &specification) {
    text += " \\\n" + indent + "'" + specification + "'";
  };
  for (const OptionText &option : command.options) {
    std::string all;
    for (const std::string &name : option.names)
      all += (all.empty() ? "" : " ") + name;
    for (const std::string &name : option.names) {
      std::string entry = option.isRepeated ? "*" : "(" + all + ")";
      entry += name;
      const bool isLong = name.starts_with("--");
      if (!option.value.empty() && isLong)
        entry += option.valueIsOptional ? "=-" : "=";
      entry += "[" + escaped(option.summary, "[]\\:") + "]";
      if (!option.value.empty())
        entry += valueSpec(option, option.value);
      add(entry);
    }
  }
  for (const OptionText &argument : command.arguments) {
    const std::string name = escaped(argument.names[0], ":\\");
    // The first word is a program; the words after it are completed as that program's arguments.
    if (argument.completion == Completion::kPrograms) {
      add("(-)1:" + name + ":_command_names -e");
      add("*::argument:_normal");
    } else {
      add(":" + name + ":_files");
    }
  }
  return text;
}

} // namespace

std::string zshCompletion(const CommandText &program) {
  const std::string &name = program.program;
  std::string text = "#compdef " + name + "\n# Completion of " + name +
                     " for zsh. Generated from the program's options: do not edit.\n";
  if (program.commands.empty())
    return text + "_arguments -S" + specifications(program, "  ") + "\n";
  // The array is not called "commands", because zsh's _normal reads an array of that name.
  text += "local curcontext=\"$curcontext\" state line\nlocal -a names\n";
  text += "_arguments -C" + specifications(program, "  ") +
          " \\\n  '1: :->command' \\\n  '*:: :->arguments'\n";
  text += "case $state in\n  command)\n    names=(\n";
  for (const CommandText &command : program.commands)
    text += "      '" + command.name + ":" + escaped(shortened(command.description), "\\:") + "'\n";
  text += "    )\n    _describe -t commands '" + name + " command' names ;;\n";
  text += "  arguments)\n    curcontext=\"${curcontext%:*:*}:" + name +
          "-$words[1]:\"\n    case $words[1] in\n";
  for (const CommandText &command : program.commands)
    text += "      " + command.name + ")\n        _arguments -S" +
            specifications(command, "          ") + " ;;\n";
  return text + "    esac ;;\nesac\n";
}

} // namespace gantry::manual
