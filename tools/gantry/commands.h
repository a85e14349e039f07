// The commands of the tool, one file each. Each add* describes its options to CLI11 and says what
// to do when it is chosen.
//
// A command returns its exit code or throws ToolError; it prints results with print(). One thread.
#pragma once

#include "tools/gantry/compare.h"
#include "tools/gantry/error.h"
#include "tools/gantry/inputs.h"
#include "tools/gantry/session.h"
#include "tools/options/option.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace gantry::tool {

/// Set by the chosen command while the arguments are parsed, and called afterwards.
using Action = std::function<ExitCode()>;

void addCompile(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addBench(CLI::App &app, Action &action);
void addCache(CLI::App &app, Action &action);
void addDevices(CLI::App &app, Action &action);
void addDiff(CLI::App &app, Action &action);
void addPlan(CLI::App &app, Action &action); // planning/plan.cpp
void addTune(CLI::App &app, Action &action);
void addRecord(CLI::App &app, Action &action); // trace/record.cpp
void addExport(CLI::App &app, Action &action); // trace/export.cpp

// Options that several commands share (options.cpp).

/// --input, --shape, --dim, --random, --arange, --int-range.
struct InputOptions {
  InputRequest request;
  CLI::Option *random = nullptr;
  bool arange = false;

  void add(CLI::App &command);
  /// The request, with `otherwise` as the filling where neither --random nor --arange was given.
  InputRequest resolve(Filling otherwise) const;
};

void addSessionOptions(CLI::App &command, SessionRequest &request);
CLI::Option *addProfileOption(CLI::App &command, std::string &profile);
/// --variant, for commands that take artifacts.
void addVariantOption(CLI::App &command, std::string &variant);
/// --no-cache, for commands that compile models on the way.
void addCacheOption(CLI::App &command, bool &useCache);
/// --precision; `request` must outlive the parsing.
void addPrecisionOption(CLI::App &command, CompileRequest &request);
/// "256MiB", "1.5 GiB", "4096": bytes, at least 1. Throws ToolError(kBadInput).
uint64_t parseBytes(const std::string &text, const std::string &option);
/// --rtol, --atol, --l2.
void addToleranceOptions(CLI::App &command, Tolerance &tolerance);
/// The groups of options in the help, beside CLI11's own "Options".
inline constexpr const char *kInputs = "Inputs", *kDevice = "Device", *kComparison = "Comparison";
/// The switch --json, in the last group.
void addJson(CLI::App &command, bool &json, const std::string &help = "Print JSON");
/// "Examples:" with one indented line for each, and the pointer to the exit codes.
std::string examples(std::initializer_list<const char *> lines);

} // namespace gantry::tool
