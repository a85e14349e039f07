// Implements command.h.
#include "tools/manual/command.h"

#include "tools/options/option.h"

#include <cctype>
#include <sstream>

namespace gantry::manual {
namespace {

/// Returns whether the placeholder contains the word: "[NAME=]FILE" contains FILE, "PROFILE" does
/// not.
bool hasWord(const std::string &placeholder, const std::string &word) {
  const size_t at = placeholder.find(word);
  return at != std::string::npos &&
         (at == 0 || !std::isalnum(static_cast<unsigned char>(placeholder[at - 1])));
}

OptionText readOption(const CLI::Option &option) {
  OptionText text;
  text.group = option.get_group();
  text.summary = shortened(option.get_description());
  text.description = options::describe(option);
  text.isRequired = option.get_required();
  text.isRepeated = options::isRepeated(option) || options::isRemainder(option);
  text.choices = options::choicesOf(option);
  text.value = options::placeholderOf(option);
  if (!option.nonpositional()) {
    text.names = {text.value};
    text.completion = options::isRemainder(option) ? Completion::kPrograms : Completion::kFiles;
    return text;
  }
  for (const std::string &name : option.get_snames())
    text.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    text.names.push_back("--" + name);
  text.valueIsOptional = options::hasOptionalValue(option);
  for (const std::string begin : {"[=", "["}) // Removes the brackets of an optional value.
    if (text.valueIsOptional && text.value.starts_with(begin) && text.value.ends_with("]"))
      text.value = text.value.substr(begin.size(), text.value.size() - begin.size() - 1);
  if (hasWord(text.value, "FILE"))
    text.completion = Completion::kFiles;
  else if (hasWord(text.value, "DIR"))
    text.completion = Completion::kFolders;
  return text;
}

/// Splits the footer into sections. A line that begins with a short title and a colon starts a
/// section: "Examples:" with the indented lines below it, or "Exit codes: see ...". All other lines
/// belong to the section above them. Lines before the first title are a section without a title.
std::vector<SectionText> readSections(const std::string &footer) {
  std::vector<SectionText> sections;
  std::istringstream stream(footer);
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(':');
    const bool isIndented = line.empty() || line.front() == ' ';
    const bool isTitled = !isIndented && colon != std::string::npos &&
                          (colon + 1 == line.size() || line[colon + 1] == ' ') && colon < 24;
    if (isTitled) {
      sections.push_back({line.substr(0, colon), {}});
      line = colon + 1 < line.size() ? line.substr(colon + 2) : "";
      if (!line.empty())
        line[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[0])));
    }
    if (line.empty())
      continue;
    if (sections.empty())
      sections.push_back({});
    sections.back().lines.push_back(line);
  }
  return sections;
}

CommandText readCommand(const CLI::App &app, const std::string &program, const std::string &name) {
  CommandText text;
  text.program = program;
  text.name = name;
  text.description = app.get_description();
  text.sections = readSections(app.get_footer());
  for (const bool isPositional : {false, true})
    for (const CLI::Option *option : options::optionsOf(app, isPositional))
      if (!option->get_group().empty()) // Hidden options have no group.
        (isPositional ? text.arguments : text.options).push_back(readOption(*option));
  return text;
}

} // namespace

CommandText readCommands(const CLI::App &app) {
  CommandText text = readCommand(app, app.get_name(), "");
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    if (!command->get_group().empty())
      text.commands.push_back(readCommand(*command, app.get_name(), command->get_name()));
  return text;
}

std::string shortened(const std::string &text) {
  constexpr size_t kMaxBytes = 70;
  if (text.size() <= kMaxBytes)
    return text;
  return text.substr(0, text.rfind(' ', kMaxBytes - 3)) + "...";
}

} // namespace gantry::manual
