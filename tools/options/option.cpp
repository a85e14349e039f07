// Implements option.h.
#include "tools/options/option.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace gantry::options {
namespace {

// Names of the validators, by the kind of their check. A validator's description is the check in
// words for the help, such as "1 to 100".
constexpr const char *kChoices = "choices";
constexpr const char *kRange = "range";
constexpr const char *kRule = "rule";

// The help does not show upper limits of this size and above, because they only refuse absurd
// values.
constexpr double kUnlimited = 1e6;

std::string numberText(double number) { return fmt::format("{:.15g}", number); }

std::string rangeText(double min, double max) {
  if (max < kUnlimited)
    return fmt::format("{} to {}", numberText(min), numberText(max));
  if (min > 0 && min < 1e-3)
    return "more than 0";
  return min > 0 ? fmt::format("at least {}", numberText(min)) : std::string();
}

CLI::Option *addCheck(CLI::Option *option, const std::string &placeholder, const char *kind,
                      const std::string &words,
                      std::function<std::string(const std::string &)> refuse) {
  auto check = [refuse = std::move(refuse)](std::string &text) { return refuse(text); };
  return option->type_name(placeholder)->check(CLI::Validator(check, words, kind));
}

/// Returns the description of the option's validator of one kind; empty if it has none.
std::string wordsOf(const CLI::Option &option, const char *kind) {
  // CLI11 2.1 has no const access to validators.
  auto &mutableOption = const_cast<CLI::Option &>(option);
  try {
    const CLI::Validator *validator = mutableOption.get_validator(kind);
    return validator->get_name() == kind ? validator->get_description() : std::string();
  } catch (const CLI::OptionNotFound &) {
    return {};
  }
}

/// Returns the edit distance (Levenshtein) of two words.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

} // namespace

CLI::Option *whole(CLI::Option *option, const std::string &placeholder, uint64_t min,
                   uint64_t max) {
  auto refuse = [min, max](const std::string &text) {
    uint64_t number = 0;
    const char *end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && next == end && number >= min && number <= max)
      return std::string();
    return fmt::format("'{}' is not a whole number from {} to {}", text, min, max);
  };
  return addCheck(option, placeholder, kRange,
                  rangeText(static_cast<double>(min), static_cast<double>(max)), refuse);
}

CLI::Option *real(CLI::Option *option, const std::string &placeholder, double min, double max) {
  auto refuse = [min, max](const std::string &text) {
    double number = 0;
    const char *end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && next == end && number >= min && number <= max)
      return std::string();
    return fmt::format("'{}' is not a number from {} to {}", text, numberText(min),
                       numberText(max));
  };
  return addCheck(option, placeholder, kRange, rangeText(min, max), refuse);
}

CLI::Option *choice(CLI::Option *option, const std::string &placeholder,
                    const std::vector<std::string> &words) {
  auto refuse = [words](const std::string &text) {
    if (std::find(words.begin(), words.end(), text) != words.end())
      return std::string();
    return fmt::format("'{}' is not one of {}", text, fmt::join(words, ", "));
  };
  return addCheck(option, placeholder, kChoices, fmt::format("{}", fmt::join(words, ", ")), refuse);
}

CLI::Option *checked(CLI::Option *option, const std::string &placeholder,
                     std::function<std::string(const std::string &)> refuse) {
  return addCheck(option, placeholder, kRule, "", std::move(refuse));
}

CLI::Option *repeated(CLI::App &app, const std::string &name, std::vector<std::string> &values,
                      const std::string &placeholder, const std::string &help) {
  return app.add_option(name, values, help)
      ->type_size(1)
      ->allow_extra_args(false)
      ->type_name(placeholder);
}

CLI::Option *optionalValue(CLI::App &app, const std::string &name, std::string &value,
                           const std::string &absent, const std::string &placeholder,
                           const std::string &help) {
  return app.add_flag(fmt::format("{}{{{}}}", name, absent), value, help)
      ->type_name(fmt::format("[={}]", placeholder));
}

CLI::Option *remainder(CLI::App &app, const std::string &placeholder,
                       std::vector<std::string> &words, const std::string &help) {
  return app.add_option(placeholder, words, help)->required();
}

std::string nameOf(const CLI::Option &option) {
  if (!option.get_lnames().empty())
    return "--" + option.get_lnames()[0];
  return option.get_snames().empty() ? option.get_name(true) : "-" + option.get_snames()[0];
}

std::string placeholderOf(const CLI::Option &option) {
  if (!option.nonpositional())
    return option.get_name(true);
  std::string text = option.get_type_name(); // The placeholder, then ":WORDS" per validator.
  for (const char *kind : {kChoices, kRange, kRule})
    if (const std::string words = wordsOf(option, kind);
        !words.empty() && text.ends_with(":" + words))
      text.resize(text.size() - words.size() - 1);
  return text;
}

std::string usageOf(const CLI::Option &option) {
  if (!option.nonpositional())
    return isRemainder(option) ? option.get_name(true) + "..." : option.get_name(true);
  std::string names;
  for (const std::string &name : option.get_snames())
    names += (names.empty() ? "-" : ", -") + name;
  for (const std::string &name : option.get_lnames())
    names += (names.empty() ? "--" : ", --") + name;
  const std::string placeholder = placeholderOf(option);
  if (placeholder.empty() || placeholder.starts_with("[="))
    return names + placeholder;
  return names + " " + placeholder;
}

std::vector<std::string> choicesOf(const CLI::Option &option) {
  const std::string words = wordsOf(option, kChoices);
  std::vector<std::string> list;
  for (size_t from = 0; from < words.size();) {
    const size_t to = std::min(words.find(", ", from), words.size());
    list.push_back(words.substr(from, to - from));
    from = to + 2;
  }
  return list;
}

bool isSwitch(const CLI::Option &option) { return option.get_items_expected_max() == 0; }

bool hasOptionalValue(const CLI::Option &option) {
  return placeholderOf(option).starts_with("[=") ||
         (option.get_expected_min() == 0 && option.get_items_expected_max() > 0);
}

bool isRepeated(const CLI::Option &option) {
  return option.nonpositional() && option.get_expected_max() > 1;
}

bool isRemainder(const CLI::Option &option) {
  return !option.nonpositional() && option.get_expected_max() > 1;
}

std::string describe(const CLI::Option &option) {
  std::vector<std::string> notes;
  if (const std::string words = wordsOf(option, kChoices); !words.empty())
    notes.push_back(words);
  if (const std::string words = wordsOf(option, kRange); !words.empty())
    notes.push_back(words);
  if (!option.get_default_str().empty())
    notes.push_back("default " + option.get_default_str());
  if (isRepeated(option))
    notes.push_back("may be repeated");
  for (const CLI::Option *other : option.get_needs())
    notes.push_back("needs " + nameOf(*other));
  for (const CLI::Option *other : option.get_excludes())
    notes.push_back("not with " + nameOf(*other));
  const std::string &text = option.get_description();
  return notes.empty() ? text : fmt::format("{} ({})", text, fmt::join(notes, "; "));
}

std::vector<const CLI::Option *> optionsOf(const CLI::App &app, bool positional) {
  return app.get_options(
      [positional](const CLI::Option *option) { return option->nonpositional() != positional; });
}

std::string closest(std::string_view word, const std::vector<std::string> &words) {
  std::string best;
  // A candidate that differs in `limit` or more letters is a different word, not a typing error.
  size_t limit = (word.size() < 4 ? 1 : std::max<size_t>(word.size() / 3, 2)) + 1;
  for (const std::string &candidate : words) {
    // The beginning of a candidate (--rand for --random) counts as a difference of one letter.
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    if (const size_t letters = begins ? 1 : distance(word, candidate); letters < limit) {
      limit = letters;
      best = candidate;
    }
  }
  return best;
}

} // namespace gantry::options
