// gantry export: a capture for other tools.
#include "engine/trace/export.h"

#include "tools/gantry/commands.h"
#include "tools/gantry/terminal.h"

#include <fmt/format.h>
#include <memory>

namespace gantry::tool {

namespace {

struct ExportOptions {
  std::string capture;
  std::string format;
  std::string output;
};

void check(const Status &status) {
  if (status.isOk())
    return;
  throw ToolError(status.code() == StatusCode::kIo ? ExitCode::kIo : ExitCode::kBadInput,
                  status.message());
}

ExitCode exportTo(const ExportOptions &options) {
  const Result<trace::ExportFormat> format = trace::exportFormatOf(options.format);
  check(format.status());
  const auto reader = trace::CaptureReader::openFile(options.capture);
  check(reader.status());
  check(trace::exportCapture(**reader, *format, options.output));
  if ((*reader)->tail() == trace::Tail::kCutOff)
    print(fmt::format("{} has no end: its writer was stopped; what is whole was exported\n",
                      printable(options.capture)));
  return ExitCode::kOk;
}

} // namespace

void addExport(CLI::App &app, Action &action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App *command = app.add_subcommand("export", "Write a capture for another tool");
  command->add_option("capture", options->capture, "The .gtrace file")->required();
  command->add_option("--to", options->format, "perfetto, chrome, pytorch or csv")->required();
  command->add_option("-o,--output", options->output, "The file to write")->required();
  command->footer(examples({"gantry export run.gtrace --to perfetto -o run.pftrace",
                            "gantry export run.gtrace --to pytorch -o run.pickle"}));
  command->callback([options, &action] { action = [options] { return exportTo(*options); }; });
}

} // namespace gantry::tool
