// gantry export: writes a capture (a recorded trace, a .gtrace file) in the format of another tool.
#include "engine/trace/export/export.h"

#include "tools/gantry/commands/commands.h"
#include "tools/gantry/report/terminal.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace gantry::tool {

namespace {

struct ExportOptions {
  std::string capture;
  std::string format;
  std::string output;
};

ExitCode exitCodeOf(StatusCode code) {
  switch (code) {
  case StatusCode::kIo:
    return ExitCode::kIo;
  case StatusCode::kOutOfMemory:
  case StatusCode::kInternal:
    return ExitCode::kInternal;
  default:
    return ExitCode::kBadInput;
  }
}

void check(const Status &status) {
  if (!status.isOk())
    throw ToolError(exitCodeOf(status.code()), status.message());
}

ExitCode exportTo(const ExportOptions &options) {
  const Result<trace::ExportFormat> format = trace::exportFormatOf(options.format);
  check(format.status());
  const auto reader = trace::CaptureReader::openFile(options.capture);
  check(reader.status());
  std::error_code error;
  if (std::filesystem::exists(options.output, error) &&
      std::filesystem::equivalent(options.capture, options.output, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("the output '{}' is the capture itself; name another file with -o",
                                options.output));
  check(trace::exportCapture(**reader, *format, options.output));
  if ((*reader)->tail() == trace::Tail::kCutOff)
    print(fmt::format("{} is incomplete, because its writer was stopped; it was exported up to its "
                      "last complete chunk\n",
                      printable(options.capture)));
  return ExitCode::kOk;
}

} // namespace

void addExport(CLI::App &app, Action &action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App *command = app.add_subcommand("export", "Write a capture for another tool");
  command->add_option("CAPTURE", options->capture, "The .gtrace file")->required();
  options::choice(command->add_option("--to", options->format, "The format to write"), "FORMAT",
                  {"perfetto", "chrome", "pytorch", "csv"})
      ->required();
  command->add_option("-o,--output", options->output, "The file to write")
      ->type_name("FILE")
      ->required();
  command->footer(examples({"gantry export run.gtrace --to perfetto -o run.pftrace",
                            "gantry export run.gtrace --to pytorch -o run.pickle"}));
  command->callback([options, &action] { action = [options] { return exportTo(*options); }; });
}

} // namespace gantry::tool
