// Implements parse.h.
#include "tools/options/parse.h"

#include "tools/options/help.h"
#include "tools/options/option.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace gantry::options {
namespace {

[[noreturn]] void fail(const CLI::App &app, const std::string &message) {
  throw UsageError(fmt::format("{}; `{} --help` shows the usage", message, pathOf(app)));
}

std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : optionsOf(app, false))
    for (const std::string &name : option->get_lnames())
      names.push_back(name);
  return names;
}

std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// A word of the form "--name", "--name=value", "-n" or "-nvalue", split into name and value.
struct OptionWord {
  const CLI::Option *option = nullptr; // Null if the name is unknown.
  std::string name;                    // The option as typed: "--name" or "-n".
  std::optional<std::string> value;    // The value in the same word, if there is one.
};

bool looksLikeOption(const std::string &word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && !(word[1] >= '0' && word[1] <= '9');
}

/// Checks the words for one app (the program or a command), with the rules by which CLI11 reads
/// them, and throws UsageError for a mistake.
class WordReader {
public:
  WordReader(const CLI::App &app, std::vector<std::string> words)
      : app_(app), words_(std::move(words)) {}

  bool helpWanted() const { return help_; }
  const std::vector<std::string> &words() const { return words_; }

  void read() {
    for (size_t i = 0; i < words_.size() && !help_; ++i) {
      if (words_[i] == "--") {
        for (++i; i < words_.size(); ++i)
          positionals_.push_back(words_[i]);
      } else if (looksLikeOption(words_[i])) {
        i += readOption(i);
      } else if (takesRemainder()) { // This word begins another program's command line.
        words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(i), "--");
        --i;
      } else {
        positionals_.push_back(words_[i]);
      }
    }
    if (!help_)
      checkCounts();
  }

private:
  OptionWord takeApart(const std::string &word) const {
    OptionWord result;
    const bool isLong = word.starts_with("--");
    const size_t equals = isLong ? word.find('=') : std::string::npos;
    result.name = isLong ? word.substr(0, equals) : word.substr(0, 2);
    if (equals != std::string::npos)
      result.value = word.substr(equals + 1);
    else if (!isLong && word.size() > 2)
      result.value = word.substr(2);
    for (const CLI::Option *option : optionsOf(app_, false))
      if (isLong ? option->check_lname(result.name.substr(2))
                 : option->check_sname(result.name.substr(1)))
        result.option = option;
    return result;
  }

  /// Returns how many of the following words are the option's value.
  size_t readOption(size_t at) {
    const OptionWord word = takeApart(words_[at]);
    if (!word.option) {
      const std::string bare = word.name.substr(word.name.find_first_not_of('-'));
      const std::string near = closest(bare, optionNames(app_));
      fail(app_, fmt::format("unknown option '{}'{}", word.name,
                             near.empty() ? "" : fmt::format("; did you mean '--{}'?", near)));
    }
    const CLI::Option &option = *word.option;
    help_ = help_ || nameOf(option) == "--help";
    const size_t times = ++given_[&option];
    if (times > 1 && !isSwitch(option) && !isRepeated(option))
      fail(app_,
           fmt::format("option '{}' was given {} times; it takes one value", word.name, times));
    if (word.value) {
      if (isSwitch(option) && !hasOptionalValue(option))
        fail(app_,
             fmt::format("option '{}' takes no value, but '{}' was given", word.name, *word.value));
      if (!word.value->empty() || isSwitch(option))
        return 0;
    }
    if (isSwitch(option))
      return 0;
    const bool another = at + 1 < words_.size();
    // The next word is not the value if a required argument would be missing without it.
    if (hasOptionalValue(option))
      return another && words_[at + 1] != "--" && !looksLikeOption(words_[at + 1]) &&
                     words_.size() - at - 1 > missingArguments()
                 ? 1
                 : 0;
    if (!another || (word.value && word.value->empty()))
      fail(app_, fmt::format("option '{}' needs a value: {}", word.name, usageOf(option)));
    return 1;
  }

  /// Returns the number of required arguments that are still missing.
  size_t missingArguments() const {
    size_t required = 0;
    for (const CLI::Option *option : optionsOf(app_, true))
      required += option->get_required() ? 1 : 0;
    return required - std::min(required, positionals_.size());
  }

  bool takesRemainder() const {
    const auto positionals = optionsOf(app_, true);
    return positionals.size() == 1 && isRemainder(*positionals[0]);
  }

  void checkCounts() const {
    const auto positionals = optionsOf(app_, true);
    if (!takesRemainder() && positionals_.size() > positionals.size())
      fail(app_, fmt::format("unexpected argument '{}'; {}", positionals_[positionals.size()],
                             expectedText(positionals)));
    for (const CLI::Option *option : optionsOf(app_, false)) {
      if (!given_.count(option))
        continue;
      for (const CLI::Option *other : option->get_excludes())
        if (given_.count(other))
          fail(app_, fmt::format("'{}' and '{}' cannot be used together", nameOf(*option),
                                 nameOf(*other)));
      for (const CLI::Option *other : option->get_needs())
        if (!given_.count(other))
          fail(app_,
               fmt::format("'{}' can only be used with '{}'", nameOf(*option), nameOf(*other)));
    }
    for (size_t i = positionals_.size(); i < positionals.size(); ++i)
      if (positionals[i]->get_required())
        fail(app_, fmt::format("{} is missing: {}", placeholderOf(*positionals[i]),
                               positionals[i]->get_description()));
    for (const CLI::Option *option : optionsOf(app_, false))
      if (option->get_required() && !given_.count(option))
        fail(app_,
             fmt::format("option '{}' is missing: {}", nameOf(*option), option->get_description()));
  }

  std::string expectedText(const std::vector<const CLI::Option *> &positionals) const {
    if (positionals.empty())
      return fmt::format("`{}` takes options only", pathOf(app_));
    std::string names;
    for (const CLI::Option *option : positionals)
      names += (names.empty() ? "" : " and ") + placeholderOf(*option);
    return fmt::format("`{}` takes only {}", pathOf(app_), names);
  }

  const CLI::App &app_;
  std::vector<std::string> words_;
  std::vector<std::string> positionals_;
  std::map<const CLI::Option *, size_t> given_;
  bool help_ = false;
};

/// Returns the command that the first word names; the program itself if it has no commands or if
/// the first word is an option. Throws UsageError for an unknown command.
CLI::App *chooseCommand(CLI::App &app, const std::vector<std::string> &words) {
  const std::vector<std::string> names = commandNames(app);
  if (names.empty())
    return &app;
  if (words.empty())
    fail(app, fmt::format("no command was given; the commands are {}", fmt::join(names, ", ")));
  if (looksLikeOption(words[0]))
    return &app; // The word is --help, --version, or unknown.
  if (std::find(names.begin(), names.end(), words[0]) == names.end()) {
    const std::string near = closest(words[0], names);
    fail(app, fmt::format("there is no command '{}'; {}the commands are {}", words[0],
                          near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                          fmt::join(names, ", ")));
  }
  return app.get_subcommand(words[0]);
}

} // namespace

void addHelp(CLI::App &app) { app.set_help_flag("-h,--help", "Show this help"); }

std::optional<std::string> parse(CLI::App &app, std::vector<std::string> words) {
  if (!words.empty() && words[0] == "help" && !commandNames(app).empty()) {
    words.erase(words.begin()); // `gantry help run` becomes `gantry run --help`.
    words.push_back("--help");
  }
  CLI::App *command = chooseCommand(app, words);
  const bool isProgram = command == &app;
  std::vector<std::string> own = words;
  if (!isProgram)
    own.erase(own.begin());
  WordReader reader(*command, own);
  reader.read();
  if (reader.helpWanted())
    return helpText(*command, styleOfStandardOutput());
  words = reader.words();
  if (!isProgram)
    words.insert(words.begin(), command->get_name());
  std::reverse(words.begin(), words.end()); // CLI11 reads a vector from its end.
  try {
    app.parse(words);
  } catch (const CLI::CallForVersion &version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::ConversionError &error) { // The option has no check of its own.
    const std::string text = error.what();      // "Could not convert: --name = value"
    const size_t colon = text.find(": "), equals = text.find(" = ", colon + 2);
    if (colon == std::string::npos || equals == std::string::npos)
      fail(*command, text);
    fail(*command,
         fmt::format("{}: '{}' is not a value of this option",
                     text.substr(colon + 2, equals - colon - 2), text.substr(equals + 3)));
  } catch (const CLI::ParseError &error) { // For example "--random: 'x' is not a whole number ...".
    fail(*command, error.what());
  }
  return std::nullopt;
}

} // namespace gantry::options
