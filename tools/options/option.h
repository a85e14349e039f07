// The options of Gantry's programs: numbers with a range, choices, repeated values.
//
// CLI11 keeps the table of options; this header adds what a reader of the help needs to know about
// each: the placeholder of its value, its range, its choices, its default. Every number must be
// added with whole() or real(), every choice with choice(), so that a wrong value is refused with
// the values that are valid. Read the table with the functions of the second half; help.h, man
// pages and completions are made from them.
//
// Threads: the functions change or read one CLI::App; the caller serialises.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::options {

// ---- making options
// -------------------------------------------------------------------------------

/// Limits an option to whole numbers in [min, max]. Returns the option.
CLI::Option *whole(CLI::Option *option, const std::string &placeholder, uint64_t min, uint64_t max);

/// Limits an option to finite numbers in [min, max]. Returns the option.
CLI::Option *real(CLI::Option *option, const std::string &placeholder, double min, double max);

/// Limits an option to one of the words. Returns the option.
CLI::Option *choice(CLI::Option *option, const std::string &placeholder,
                    const std::vector<std::string> &words);

/// Limits an option by a rule of its own: `refuse` returns what is wrong with a value, or nothing.
/// Returns the option.
CLI::Option *checked(CLI::Option *option, const std::string &placeholder,
                     std::function<std::string(const std::string &)> refuse);

/// An option that may be given several times, with exactly one value each time.
CLI::Option *repeated(CLI::App &app, const std::string &name, std::vector<std::string> &values,
                      const std::string &placeholder, const std::string &help);

/// A switch whose value may be left away: `--dump-ir` or `--dump-ir=PASS`. The string is `absent`
/// when the switch stands alone.
CLI::Option *optionalValue(CLI::App &app, const std::string &name, std::string &value,
                           const std::string &absent, const std::string &placeholder,
                           const std::string &help);

/// The rest of the command line, from the first word on that is not an option of this program:
/// `gantry record -o FILE COMMAND ARGUMENT...`. Must be the only positional.
CLI::Option *remainder(CLI::App &app, const std::string &placeholder,
                       std::vector<std::string> &words, const std::string &help);

// ---- reading them
// ---------------------------------------------------------------------------------

/// "--device" where the option has a long name, else "-d", else the positional's placeholder.
std::string nameOf(const CLI::Option &option);

/// "-d, --device DEVICE", "--json", "--dump-ir[=PASS]", "MODEL".
std::string usageOf(const CLI::Option &option);

/// The placeholder of the value; empty for a switch.
std::string placeholderOf(const CLI::Option &option);

/// The words of choice(); empty for other options.
std::vector<std::string> choicesOf(const CLI::Option &option);

/// The description with range, choices, default and conflicts in words:
/// "Runs before the measurement (0 to 1000000; default 3)".
std::string describe(const CLI::Option &option);

bool isSwitch(const CLI::Option &option);         ///< takes no value
bool hasOptionalValue(const CLI::Option &option); ///< optionalValue(), or expected(0, 1)
bool isRepeated(const CLI::Option &option);       ///< repeated()
bool isRemainder(const CLI::Option &option);      ///< remainder()

/// The options of an app in the order of their definition: the positionals, or the others.
std::vector<const CLI::Option *> optionsOf(const CLI::App &app, bool positional);

/// The word of `words` that differs from `word` in the fewest letters; empty where none is close.
std::string closest(std::string_view word, const std::vector<std::string> &words);

} // namespace gantry::options
