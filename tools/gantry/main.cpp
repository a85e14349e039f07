// The command line of Gantry: parses, calls one command, reports one error. docs/cli.md is its
// manual.
#include "tools/gantry/commands.h"
#include "tools/gantry/terminal.h"

#include <exception>
#include <fmt/format.h>
#include <gantry/gantry.h>
#include <new>

namespace {

using namespace gantry::tool;

constexpr const char *kFooter = R"(Examples:
  gantry compile model.onnx -o model.gantry
  gantry run model.onnx --random 1
  gantry run model.gantry --input x.npy --expect y.npy
  gantry inspect model.gantry --plot plan.svg
  gantry bench model.gantry --top 10
  gantry tune model.onnx -o tuning.json
  gantry devices

Exit codes:
  0  all went well
  1  wrong usage, or an input that is missing, damaged or does not fit
  2  the model has operators, or asks for features, that are not supported
  3  a file could not be read or written
  4  the device failed, there is none, or Gantry has a defect
  5  a comparison was made and the values differ

Environment:
  GANTRY_ATTACH      0: no viewer may attach to the process
  GANTRY_DEVICE      the device, as --device takes it
  GANTRY_FLIGHT_RECORDER  keep the last seconds, and write them here on a crash
  GANTRY_TRACE       record the process to this .gtrace file
  GANTRY_TRACE_TIMES all: times of every run on a software device, too (see gantry.h)
  GANTRY_VALIDATION  1 or sync: run under the Vulkan validation layers
  NO_COLOR           print without colour)";

std::string commandOf(const CLI::App &app) {
  for (const CLI::App *sub : app.get_subcommands())
    return "gantry " + sub->get_name();
  return "gantry";
}

int runTool(int argc, char **argv) {
  CLI::App app("Gantry compiles models to portable GPU programs, runs them, and shows where the "
               "memory goes.",
               "gantry");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("gantry ") + gantry_version());
  app.require_subcommand(1);
  Action action;
  addCompile(app, action);
  addRun(app, action);
  addInspect(app, action);
  addBench(app, action);
  addDevices(app, action);
  addDiff(app, action);
  addPlan(app, action);
  addTune(app, action);
  addRecord(app, action);
  addExport(app, action);

  // Said here, since CLI11 names the word nowhere and takes "nonsense --help" for a wish for help.
  std::string commands;
  bool known = argc < 2 || argv[1][0] == '-';
  for (const CLI::App *sub : app.get_subcommands([](const CLI::App *) { return true; })) {
    commands += (commands.empty() ? "" : ", ") + sub->get_name();
    known = known || sub->get_name() == argv[1];
  }
  if (!known) {
    throw ToolError(
        ExitCode::kBadInput,
        fmt::format("there is no command \"{}\"; the commands are {}", argv[1], commands));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    const auto chosen = app.get_subcommands();
    print(chosen.empty() ? app.help() : chosen[0]->help("gantry"));
    finishOutput();
    return 0;
  } catch (const CLI::CallForVersion &version) {
    print(std::string(version.what()) + "\n");
    finishOutput();
    return 0;
  } catch (const CLI::ParseError &error) {
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("{}; `{} --help` shows the usage", error.what(), commandOf(app)));
  }
  ExitCode code = action();
  finishOutput();
  return static_cast<int>(code);
}

} // namespace

int main(int argc, char **argv) {
  try {
    return runTool(argc, argv);
  } catch (const ToolError &error) {
    printError(error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc &) {
    printError("the machine has not enough memory for this");
    return static_cast<int>(ExitCode::kInternal);
  } catch (const std::exception &error) {
    printError(error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
