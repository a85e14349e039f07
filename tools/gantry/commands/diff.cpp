// gantry diff: compares the tensors of two folders that `gantry run --trace-layers` wrote
// (io/trace_folder.h).
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/io/trace_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gantry::tool {
namespace {

using Json = nlohmann::json;

struct DiffOptions {
  std::string a, b;
  Tolerance tolerance;
  bool json = false;
};

void printJson(const TraceDiff &diff, size_t differing, const TraceEntry *first) {
  Json tensors = Json::array();
  for (const TraceDifference &d : diff.compared) {
    const Comparison &c = d.comparison;
    tensors.push_back({{"name", d.entry.name},
                       {"op", d.entry.op},
                       {"order", d.entry.order},
                       {"within", c.within},
                       {"problem", c.problem},
                       {"max_abs", c.maxAbs},
                       {"max_rel", c.maxRel},
                       {"l2", c.l2},
                       {"elements", c.count},
                       {"different", c.different},
                       {"worst_index", c.worstIndex},
                       {"worst_actual", c.worstActual},
                       {"worst_expected", c.worstExpected}});
  }
  Json result = {{"compared", diff.compared.size()},
                 {"differing", differing},
                 {"first", first ? Json{{"name", first->name}, {"op", first->op}} : Json()},
                 {"only_in_a", diff.onlyInA},
                 {"only_in_b", diff.onlyInB},
                 {"tensors", tensors}};
  print(result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void printMissing(const char *folder, const std::vector<std::string> &names) {
  if (names.empty())
    return;
  std::string list;
  for (size_t i = 0; i < names.size() && i < 3; ++i)
    list += (i ? ", " : "") + printable(names[i]);
  print(fmt::format("  {} only in {}: {}{}\n", names.size(), folder, list,
                    names.size() > 3 ? ", ..." : ""));
}

void printText(const TraceDiff &diff, const DiffOptions &options, size_t differing,
               const TraceEntry *first) {
  using Align = Table::Align;
  bool colour = colourOnStdout();
  Table table({{"#", Align::kRight},
               {"tensor", Align::kLeft, true},
               {"L2", Align::kRight},
               {"max abs", Align::kRight},
               {"differ", Align::kRight},
               {"worst at"},
               {"A", Align::kRight},
               {"B", Align::kRight}});
  for (const TraceDifference &d : diff.compared) {
    const Comparison &c = d.comparison;
    if (c.within)
      continue;
    if (!c.problem.empty())
      table.addRow({std::to_string(d.entry.order), d.entry.name, "", "", "", c.problem, "", ""});
    else
      table.addRow({std::to_string(d.entry.order), d.entry.name, fmt::format("{:.3g}", c.l2),
                    fmt::format("{:.3g}", c.maxAbs), fmt::format("{} of {}", c.different, c.count),
                    indexText(c.worstIndex), c.worstActual, c.worstExpected});
  }
  if (!table.empty())
    print(table.format(colour, terminalWidth()) + "\n");
  printMissing(options.a.c_str(), diff.onlyInA);
  printMissing(options.b.c_str(), diff.onlyInB);
  if (!first)
    return print(coloured(fmt::format("  all {} tensors agree\n", diff.compared.size()),
                          Colour::kGreen, colour));
  print(fmt::format("  {} of {} tensors differ\n", differing, diff.compared.size()));
  std::string made = first->op.empty() ? "" : fmt::format(", made by {}", first->op);
  print(coloured(
      fmt::format("  the first that diverges is {}{}\n", printable(first->name), printable(made)),
      Colour::kRed, colour));
}

/// Throws ToolError if a folder is missing; the message names all missing folders.
void checkFolders(const DiffOptions &options) {
  std::string missing;
  size_t count = 0;
  for (const std::string &folder : {options.a, options.b}) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error))
      continue;
    const bool exists = std::filesystem::exists(folder, error);
    missing += fmt::format("{}'{}' {}", count++ ? ", and " : "", folder,
                           exists ? "is a file, not a folder" : "does not exist");
  }
  if (count > 0)
    throw ToolError(
        ExitCode::kBadInput,
        fmt::format("cannot compare: {}; `gantry run MODEL --trace-layers FOLDER` makes "
                    "such a folder",
                    missing));
}

ExitCode runDiff(const DiffOptions &options) {
  checkFolders(options);
  TraceDiff diff = diffTraces(TraceFolder(options.a), TraceFolder(options.b), options.tolerance);
  size_t differing = 0;
  const TraceEntry *first = nullptr;
  for (const TraceDifference &d : diff.compared) {
    if (d.comparison.within)
      continue;
    first = first ? first : &d.entry;
    ++differing;
  }
  options.json ? printJson(diff, differing, first) : printText(diff, options, differing, first);
  return differing ? ExitCode::kDiffers : ExitCode::kOk;
}

} // namespace

void addDiff(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "diff", "Compare two folders of `run --trace-layers`, operator by operator");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("A", options->a, "A folder with an index.json")->required();
  command
      ->add_option("B", options->b,
                   "Another such folder, or a folder with .npy files named after the tensors")
      ->required();
  addToleranceOptions(*command, options->tolerance);
  addJson(*command, options->json);
  command->footer(
      examples({"gantry run model.onnx --random 1 --device 0 --trace-layers gpu/",
                "gantry run model.onnx --random 1 --device llvmpipe --trace-layers cpu/",
                "gantry diff gpu/ cpu/ --rtol 1e-3"}));
  command->callback([options, &action] { action = [options] { return runDiff(*options); }; });
}

} // namespace gantry::tool
