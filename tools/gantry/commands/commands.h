// The commands of the tool, one source file each. Each add* function adds a command with its
// options to the CLI11 application and sets the action that runs it.
//
// A command prints its results with print(). It returns its exit code or throws ToolError.
//
// Threads: one thread at a time.
#pragma once

#include "tools/gantry/report/compare.h"
#include "tools/gantry/error.h"
#include "tools/gantry/io/inputs.h"
#include "tools/gantry/runtime/session.h"
#include "tools/options/option.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace gantry::tool {

/// The function that runs the chosen command. Parsing sets it; main() calls it afterwards.
using Action = std::function<ExitCode()>;

void addCompile(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addBench(CLI::App &app, Action &action);
void addCache(CLI::App &app, Action &action);
void addDevices(CLI::App &app, Action &action);
void addDiff(CLI::App &app, Action &action);
void addPlan(CLI::App &app, Action &action); // Defined in planning/plan.cpp.
void addTune(CLI::App &app, Action &action);
void addRecord(CLI::App &app, Action &action); // Defined in trace/record.cpp.
void addExport(CLI::App &app, Action &action); // Defined in trace/export.cpp.

// Options that several commands share (options.cpp).

/// The options that describe inputs: --input, --shape, --dim, --random, --arange, --int-range.
struct InputOptions {
  InputRequest request;
  CLI::Option *random = nullptr;
  bool arange = false;

  /// Adds the options. This object must outlive the parsing.
  void add(CLI::App &command);
  /// Returns the request; must be called after parsing. `otherwise` says how inputs without a file
  /// are filled if neither --random nor --arange was given.
  InputRequest resolve(Filling otherwise) const;
};

/// Adds --device, --binding and --dispatch-limit. Like the add* functions below, stores the values
/// of the options in its second argument, which must outlive the parsing.
void addSessionOptions(CLI::App &command, SessionRequest &request);
/// Adds --profile.
CLI::Option *addProfileOption(CLI::App &command, std::string &profile);
/// Adds --variant, for commands that take artifacts (compiled models), which may contain a program
/// for each of several kinds of devices.
void addVariantOption(CLI::App &command, std::string &variant);
/// Adds --no-cache, for commands that compile models before they run them.
void addCacheOption(CLI::App &command, bool &useCache);
/// Adds --precision.
void addPrecisionOption(CLI::App &command, CompileRequest &request);
/// Parses a size such as "256MiB", "1.5 GiB" or "4096" (bytes, at least 1). Throws
/// ToolError(kBadInput) with the name of `option`.
uint64_t parseBytes(const std::string &text, const std::string &option);
/// Adds --rtol, --atol and --l2.
void addToleranceOptions(CLI::App &command, Tolerance &tolerance);
/// The groups of options in the help, in addition to CLI11's "Options".
inline constexpr const char *kInputs = "Inputs", *kDevice = "Device", *kComparison = "Comparison";
/// Adds the switch --json.
void addJson(CLI::App &command, bool &json, const std::string &help = "Print JSON");
/// Returns the footer of a help text: "Examples:" with one indented line per example, and a
/// reference to the exit codes.
std::string examples(std::initializer_list<const char *> lines);

} // namespace gantry::tool
