// The options of Gantry's programs: numbers with a range, choices, repeated values.
//
// CLI11 keeps the table of options. The functions of the first half set an option's placeholder,
// range and choices, which the help shows. Every option with a number must be limited with whole()
// or real(), and every option with a fixed set of values with choice(), so that the error for a
// wrong value lists the valid ones. The functions of the second half read the table, for help.h,
// man pages and completions.
//
// Threads: the functions change or read one CLI::App, which one thread may use at a time.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::options {

// ---- adding options -----------------------------------------------------------------------------

/// Limits an option to whole numbers in [min, max]. Returns the option.
CLI::Option *whole(CLI::Option *option, const std::string &placeholder, uint64_t min, uint64_t max);

/// Limits an option to finite numbers in [min, max]. Returns the option.
CLI::Option *real(CLI::Option *option, const std::string &placeholder, double min, double max);

/// Limits an option to one of the words. Returns the option.
CLI::Option *choice(CLI::Option *option, const std::string &placeholder,
                    const std::vector<std::string> &words);

/// Limits an option with a function: `refuse` returns the error for a value, or an empty string if
/// the value is valid. Returns the option.
CLI::Option *checked(CLI::Option *option, const std::string &placeholder,
                     std::function<std::string(const std::string &)> refuse);

/// Adds an option that may be given several times, with exactly one value each time.
CLI::Option *repeated(CLI::App &app, const std::string &name, std::vector<std::string> &values,
                      const std::string &placeholder, const std::string &help);

/// Adds an option with an optional value: `--dump-ir` or `--dump-ir=PASS`. If the option is given
/// without a value, `value` becomes `absent`.
CLI::Option *optionalValue(CLI::App &app, const std::string &name, std::string &value,
                           const std::string &absent, const std::string &placeholder,
                           const std::string &help);

/// Adds a positional that takes the rest of the command line, from the first word that is not an
/// option of this program: `gantry record -o FILE COMMAND ARGUMENT...`. `app` must have no other
/// positional.
CLI::Option *remainder(CLI::App &app, const std::string &placeholder,
                       std::vector<std::string> &words, const std::string &help);

// ---- reading options ----------------------------------------------------------------------------

/// Returns the option's long name ("--device"), else its short name, else the positional's
/// placeholder.
std::string nameOf(const CLI::Option &option);

/// Returns the option as the help shows it: "-d, --device DEVICE", "--json", "--dump-ir[=PASS]",
/// "MODEL".
std::string usageOf(const CLI::Option &option);

/// Returns the placeholder of the value; empty for a switch.
std::string placeholderOf(const CLI::Option &option);

/// Returns the words of choice(); empty for other options.
std::vector<std::string> choicesOf(const CLI::Option &option);

/// Returns the description with range, choices, default, and the options that it needs or excludes,
/// in words: "Measure for this long (0 to 86400; default 1; not with --runs)".
std::string describe(const CLI::Option &option);

/// Returns whether the option never takes the next word as its value: it takes no value, or was
/// made by optionalValue().
bool isSwitch(const CLI::Option &option);
bool hasOptionalValue(const CLI::Option &option); ///< Whether its value may be left out.
bool isRepeated(const CLI::Option &option);       ///< Whether it was made by repeated().
bool isRemainder(const CLI::Option &option);      ///< Whether it was made by remainder().

/// Returns the options of an app in the order of their definition: only the positionals if
/// `positional` is set, otherwise all other options.
std::vector<const CLI::Option *> optionsOf(const CLI::App &app, bool positional);

/// Returns the word of `words` that differs from `word` in the fewest letters; empty if all differ
/// in so many letters that `word` is probably not a misspelling of one.
std::string closest(std::string_view word, const std::vector<std::string> &words);

} // namespace gantry::options
