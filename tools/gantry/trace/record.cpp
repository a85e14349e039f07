// gantry record: runs a command whose memory and dispatches are recorded to a file.
#include "tools/gantry/commands.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace gantry::tool {

namespace {

struct RecordOptions {
  std::string output;
  std::vector<std::string> command;
};

/// The command takes this process's place, so its exit code and signals are its own.
ExitCode record(const RecordOptions &options) {
  if (setenv("GANTRY_TRACE", options.output.c_str(), 1) != 0 ||
      setenv("GANTRY_TRACE_TIMES", "all", 0) != 0)
    throw ToolError(ExitCode::kInternal,
                    std::string("cannot set GANTRY_TRACE: ") + std::strerror(errno));
  std::vector<char *> arguments;
  for (const std::string &argument : options.command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw ToolError(errno == ENOENT ? ExitCode::kBadInput : ExitCode::kIo,
                  "cannot start " + options.command[0] + ": " + std::strerror(errno));
}

} // namespace

void addRecord(CLI::App &app, Action &action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App *command =
      app.add_subcommand("record", "Run a command and record its memory and dispatches to a file");
  command->add_option("-o,--output", options->output, "The .gtrace file")->required();
  command->add_option("command", options->command, "The command with its arguments, after --")
      ->required();
  command->footer(examples({"gantry record -o run.gtrace -- gantry bench model.gantry",
                            "gantry record -o train.gtrace -- ./my-program --steps 100"}));
  command->callback([options, &action] { action = [options] { return record(*options); }; });
}

} // namespace gantry::tool
