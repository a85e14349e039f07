// Implements help.h.
#include "tools/options/help.h"

#include "tools/options/option.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gantry::options {
namespace {

constexpr int kMinWidth = 40, kMaxWidth = 100;
constexpr const char *kMainGroup = "Options"; // CLI11's default group; shown first.
constexpr size_t kNameColumns = 26; // Descriptions of longer names start on the next line.
constexpr const char *kBold = "\x1b[1m", *kCyan = "\x1b[36m", *kPlain = "\x1b[0m";

struct Row {
  std::string name, text;
};

class Writer {
public:
  explicit Writer(const HelpStyle &style)
      : style_(style), width_(static_cast<size_t>(std::max(style.width, kMinWidth))) {}

  void heading(const std::string &text) { text_ += "\n" + paint(text + ":", kBold) + "\n"; }

  void paragraph(const std::string &text) { wrap(text, 0, 0); }

  void rows(const std::vector<Row> &rows) {
    size_t column = 0;
    for (const Row &row : rows)
      if (row.name.size() <= kNameColumns)
        column = std::max(column, row.name.size());
    for (const Row &row : rows) {
      text_ += "  " + paint(row.name, kCyan);
      const bool beside = row.name.size() <= column;
      if (beside)
        text_ += std::string(column - row.name.size() + 2, ' ');
      else
        text_ += "\n" + std::string(column + 4, ' ');
      wrap(row.text, column + 4, column + 4);
    }
  }

  void usage(const std::string &text) {
    text_ += "\n" + paint("Usage:", kBold) + " " + text + "\n";
  }

  void footer(const std::string &text) {
    std::istringstream lines(text);
    text_ += "\n";
    for (std::string line; std::getline(lines, line);) {
      const bool isHeading = !line.empty() && line[0] != ' ' && line.back() == ':';
      text_ += (isHeading ? paint(line, kBold) : line) + "\n";
    }
  }

  std::string take() { return std::move(text_); }

private:
  std::string paint(const std::string &text, const char *colour) const {
    return style_.colour ? colour + text + kPlain : text;
  }

  /// Wraps `text`, starting at column `at`; further lines start at column `indent`.
  void wrap(const std::string &text, size_t at, size_t indent) {
    std::istringstream words(text);
    bool first = true;
    for (std::string word; words >> word; first = false) {
      if (!first && at + 1 + word.size() > width_) {
        text_ += "\n" + std::string(indent, ' ');
        at = indent;
      } else if (!first) {
        text_ += " ";
        ++at;
      }
      text_ += word;
      at += word.size();
    }
    text_ += "\n";
  }

  HelpStyle style_;
  size_t width_;
  std::string text_;
};

std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  return app.get_subcommands([](const CLI::App *) { return true; });
}

std::string usageLine(const CLI::App &app) {
  std::string text = pathOf(app);
  if (!commandsOf(app).empty())
    return text + " COMMAND [OPTIONS]";
  text += " [OPTIONS]";
  for (const CLI::Option *option : optionsOf(app, false))
    if (option->get_required()) // Required options are part of the usage line.
      text += " " + nameOf(*option) + " " + placeholderOf(*option);
  for (const CLI::Option *option : optionsOf(app, true)) {
    const std::string name = isRemainder(*option) ? "[--] " + usageOf(*option) : usageOf(*option);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

/// Returns an option's names. Options without a short name are indented, so that long names align.
std::string alignedUsage(const CLI::Option &option) {
  return (option.get_snames().empty() ? "    " : "") + usageOf(option);
}

} // namespace

HelpStyle styleOfStandardOutput() {
  HelpStyle style;
  winsize size{};
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::min<int>(size.ws_col, kMaxWidth);
  const char *noColour = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
  style.colour = terminal && (!noColour || !*noColour) && term && std::strcmp(term, "dumb") != 0;
  return style;
}

std::string pathOf(const CLI::App &app) {
  const CLI::App *parent = app.get_parent();
  return parent ? pathOf(*parent) + " " + app.get_name() : app.get_name();
}

std::string helpText(const CLI::App &app, const HelpStyle &style) {
  Writer writer(style);
  writer.paragraph(app.get_description());
  writer.usage(usageLine(app));
  std::vector<Row> rows;
  for (const CLI::App *command : commandsOf(app))
    rows.push_back({command->get_name(), command->get_description()});
  if (!rows.empty()) {
    writer.heading("Commands");
    writer.rows(rows);
  }
  rows.clear();
  for (const CLI::Option *option : optionsOf(app, true))
    rows.push_back({usageOf(*option), describe(*option)});
  if (!rows.empty()) {
    writer.heading("Arguments");
    writer.rows(rows);
  }
  std::vector<std::string> groups = {kMainGroup};
  for (const CLI::Option *option : optionsOf(app, false))
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  for (const std::string &group : groups) {
    if (group.empty())
      continue; // A group without a name has the hidden options.
    rows.clear();
    for (const CLI::Option *option : optionsOf(app, false))
      if (option->get_group() == group)
        rows.push_back({alignedUsage(*option), describe(*option)});
    writer.heading(group);
    writer.rows(rows);
  }
  if (!app.get_footer().empty())
    writer.footer(app.get_footer());
  return writer.take();
}

} // namespace gantry::options
