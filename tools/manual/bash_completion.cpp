// Implements bashCompletion() of writers.h.
#include "tools/manual/writers.h"

namespace gantry::manual {
namespace {

/// Returns the shell assignment that selects the completions of an option's value.
std::string offer(const OptionText &option) {
  if (!option.choices.empty()) {
    std::string words;
    for (const std::string &choice : option.choices)
      words += (words.empty() ? "" : " ") + choice;
    return "words='" + words + "'";
  }
  switch (option.completion) {
  case Completion::kFiles:
    return "kind=file";
  case Completion::kFolders:
    return "kind=directory";
  case Completion::kPrograms:
    return "kind=command";
  case Completion::kNothing:
    break;
  }
  return "kind=none";
}

/// Returns the entries of a case statement for a command: one for each option with a value, which
/// completes the value, and one for all other words.
std::string entries(const CommandText &command) {
  std::string text, names;
  for (const OptionText &option : command.options) {
    std::string pattern;
    for (const std::string &name : option.names) {
      names += (names.empty() ? "" : " ") + name;
      // An optional value can only follow a "=".
      pattern += (pattern.empty() ? "" : "|") + ("'" + command.name + " " + name) +
                 (option.valueIsOptional ? "='" : "'|'" + command.name + " " + name + "='");
    }
    if (!option.value.empty())
      text += "    " + pattern + ") " + offer(option) + " ;;\n";
  }
  text +=
      "    '" + command.name + " '*)\n      if [[ $current == -* ]]; then words='" + names + "'";
  if (command.commands.empty())
    return text + "; else kind=file; fi ;;\n";
  std::string commands;
  for (const CommandText &sub : command.commands)
    commands += (commands.empty() ? "" : " ") + sub.name;
  return text + "; else words='" + commands + "'; fi ;;\n";
}

} // namespace

std::string bashCompletion(const CommandText &program) {
  std::string function = "_" + program.program;
  for (char &c : function)
    c = c == '-' ? '_' : c;
  std::string text = "# Completion of " + program.program +
                     " for bash. Generated from the program's options: do not edit.\n";
  text += function + "() {\n";
  text += R"(  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' words='' kind=''
  # bash splits "--option=value" into three words.
  if [[ $current == = ]]; then
    current='' previous=$previous=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}=
  fi
)";
  if (!program.commands.empty())
    text += "  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n";
  text += "  case \"$command $previous\" in\n" + [&] {
    std::string cases;
    for (const CommandText &command : program.commands)
      cases += entries(command);
    return cases + entries(program);
  }();
  text += "  esac\n";
  // In commands that run another program, such as `gantry record`, the words after "--" are that
  // program and its arguments.
  for (const CommandText &command : program.commands)
    for (const OptionText &argument : command.arguments)
      if (argument.completion == Completion::kPrograms)
        text += "  if [[ $command == " + command.name +
                " && \" ${COMP_WORDS[*]:2:COMP_CWORD - 2} \" == *' -- '* ]]; then\n"
                "    kind=file words=''\n"
                "    [[ $previous == -- ]] && kind=command\n  fi\n";
  text += R"(  case $kind in
    file | directory)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -A "$kind" -- "$current") ;;
    command) mapfile -t COMPREPLY < <(compgen -A command -- "$current") ;;
    none) COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
  esac
}
)";
  return text + "complete -F " + function + " " + program.program + "\n";
}

} // namespace gantry::manual
