// Implements manPage() of writers.h.
#include "tools/manual/writers.h"

#include <gantry/version.h>

#include <algorithm>
#include <cctype>

namespace gantry::manual {
namespace {

/// Escapes text for roff. Dashes become ASCII minus signs, so that options can be copied from the
/// page. A dot or a quote at the beginning of the text is escaped, because roff would read the text
/// as a request.
std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  if (!result.empty() && (result[0] == '.' || result[0] == '\''))
    result = "\\&" + result;
  return result;
}

std::string upperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string bold(const std::string &text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string &text) { return "\\fI" + escaped(text) + "\\fR"; }

/// Returns the names and the placeholder of an option: "-o, --output=FILE".
std::string optionHead(const OptionText &option) {
  std::string head;
  for (const std::string &name : option.names)
    head += (head.empty() ? "" : ", ") + bold(name);
  if (option.value.empty())
    return head;
  const bool isLong = option.names.back().starts_with("--");
  const std::string value = (isLong ? "=" : " ") + italic(option.value);
  return head + (option.valueIsOptional ? "[" + value + "]" : value);
}

/// Returns the description for the NAME section: without the subject "Gantry", with a lower-case
/// first letter, and without a full stop.
std::string headline(const CommandText &command) {
  std::string text = command.description;
  if (text.starts_with("Gantry "))
    text.erase(0, text.find(' ') + 1);
  while (!text.empty() && (text.back() == '.' || text.back() == '\n'))
    text.pop_back();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string synopsis(const CommandText &command) {
  std::string text = bold(command.program);
  if (!command.name.empty())
    text += " " + bold(command.name);
  else if (!command.commands.empty())
    return text + " " + italic("COMMAND") + " [" + italic("OPTION") + " ...]";
  text += " [" + italic("OPTION") + " ...]";
  for (const OptionText &option : command.options)
    if (option.isRequired)
      text += " " + bold(option.names.back()) + " " + italic(option.value);
  for (const OptionText &argument : command.arguments) {
    const std::string name = italic(argument.names[0]) + (argument.isRepeated ? " ..." : "");
    text += argument.isRequired ? " " + name : " [" + name + "]";
  }
  return text;
}

/// Returns the length of the term at the beginning of a line. Two spaces separate the term from its
/// meaning, or one space if the term is too long for its column.
size_t termLength(const std::string &line) {
  const size_t gap = line.find("  ");
  return gap != std::string::npos ? gap : line.find(' ');
}

/// Formats a section. Lines without indentation are text. If the first line is indented and has a
/// term and its meaning, separated by two spaces, all indented lines are terms with their meanings.
/// Otherwise the indented lines are examples, which are shown unchanged.
std::string sectionBody(const SectionText &section) {
  const bool isList =
      section.lines[0].find_first_not_of(' ') > 0 &&
      section.lines[0].find("  ", section.lines[0].find_first_not_of(' ')) != std::string::npos;
  std::string text;
  bool isExample = false;
  for (const std::string &line : section.lines) {
    const size_t begin = line.find_first_not_of(' ');
    const std::string content = line.substr(begin);
    if ((begin > 0 && !isList) != isExample)
      text += isExample ? ".RE\n.fi\n" : ".nf\n.RS 4\n";
    isExample = begin > 0 && !isList;
    const size_t length = termLength(content);
    if (begin > 0 && isList && length != std::string::npos)
      text += ".TP\n" + bold(content.substr(0, length)) + "\n" +
              escaped(content.substr(content.find_first_not_of(' ', length))) + "\n";
    else
      text += escaped(content) + "\n";
  }
  return text + (isExample ? ".RE\n.fi\n" : "");
}

/// Formats the options by group. The first group, "Options", has no heading.
std::string optionList(const std::vector<OptionText> &options) {
  std::vector<std::string> groups = {"Options"};
  for (const OptionText &option : options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  std::string text;
  for (const std::string &group : groups) {
    if (group != groups[0])
      text += ".SS " + escaped(group) + "\n";
    for (const OptionText &option : options)
      if (option.group == group)
        text += ".TP\n" + optionHead(option) + "\n" +
                (option.description.empty() ? "\\&" : escaped(option.description)) + "\n";
  }
  return text;
}

std::string reference(const std::string &page) { return ".BR " + escaped(page) + " (1)"; }

} // namespace

std::string manPage(const CommandText &command, const CommandText &all, const std::string &date) {
  std::string text = ".\\\" Generated from the program's options: do not edit.\n";
  text += ".TH " + escaped(upperCase(command.pageName())) + " 1 " + date + " \"Gantry " +
          GANTRY_VERSION_STRING + "\" \"User commands\"\n.nh\n.ad l\n";
  text += ".SH NAME\n" + escaped(command.pageName()) + " \\- " + escaped(headline(command)) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(command) + "\n";
  if (!command.arguments.empty()) {
    text += ".SH ARGUMENTS\n";
    for (const OptionText &argument : command.arguments)
      text += ".TP\n" + italic(argument.names[0]) + "\n" +
              (argument.description.empty() ? "\\&" : escaped(argument.description)) + "\n";
  }
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandText &sub : command.commands)
      text += ".TP\n" + bold(all.program + " " + sub.name) + "\n" + escaped(sub.description) + "\n";
  }
  text += ".SH OPTIONS\n" + optionList(command.options);
  for (const SectionText &section : command.sections)
    text += ".SH " + upperCase(section.title.empty() ? "Notes" : section.title) + "\n" +
            sectionBody(section);
  text += ".SH SEE ALSO\n";
  std::vector<std::string> pages;
  if (command.name.empty())
    for (const CommandText &sub : all.commands)
      pages.push_back(sub.pageName());
  else
    pages.push_back(all.program);
  for (const char *program : {"gantry", "gantry-profiler"})
    if (all.program != program)
      pages.emplace_back(program);
  for (size_t i = 0; i < pages.size(); ++i)
    text += reference(pages[i]) + (i + 1 < pages.size() ? ",\n" : "\n");
  return text;
}

} // namespace gantry::manual
