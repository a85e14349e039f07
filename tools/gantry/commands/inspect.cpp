// gantry inspect: shows what a compiled model contains and where its memory goes, as tables, as
// JSON or as a picture.
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/io/description.h"
#include "tools/gantry/runtime/device_profiles.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/runtime/model.h"
#include "tools/gantry/report/plan_compare.h"
#include "tools/gantry/report/plan_svg.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gantry::tool {
namespace {

using Align = Table::Align;

struct InspectOptions {
  std::string model, profile, variant, plot, title, compare, why;
  std::vector<std::string> dims;
  bool json = false, dispatches = false, copies = false, useCache = true;
};

void printPorts(const char *title, const std::vector<Port> &ports) {
  print(coloured(fmt::format("\n{}\n", title), Colour::kBold, colourOnStdout()));
  Table table({{"name", Align::kLeft, true}, {"type"}, {"shape"}});
  constexpr size_t kMax = 12; // An artifact made with --trace-layers has hundreds of outputs.
  for (size_t i = 0; i < ports.size() && i < kMax; ++i) {
    std::vector<const char *> names;
    for (const std::string &name : ports[i].dimNames)
      names.push_back(name.c_str());
    const std::string &state = ports[i].state;
    table.addRow({ports[i].name + (ports[i].donated         ? " (donated)"
                                   : state.empty()          ? ""
                                   : state == ports[i].name ? " (state)"
                                                            : " (state " + state + ")"),
                  traitsOf(ports[i].type).name,
                  shapeText(ports[i].dims, names.empty() ? nullptr : names.data())});
  }
  print(table.format(colourOnStdout(), terminalWidth()));
  if (ports.size() > kMax)
    print(fmt::format("  and {} more\n", ports.size() - kMax));
}

std::string symbolList(const Description &plan, const char *format) {
  std::string text;
  for (const SymbolInfo &symbol : plan.symbols)
    text += (text.empty() ? "" : " ") + fmt::format(fmt::runtime(format), symbol.name);
  return text;
}

void printMemory(const Description &plan) {
  print(coloured("\nmemory\n", Colour::kBold, colourOnStdout()));
  auto line = [](const char *what, const std::string &value) {
    print(fmt::format("  {:<12}  {}\n", what, value));
  };
  auto exact = [](uint64_t bytes) {
    return fmt::format("{:>10}  ({} bytes)", humanBytes(bytes), bytes);
  };
  if (plan.constantBytes)
    line("constants", exact(*plan.constantBytes));
  if (!plan.planned()) {
    if (plan.bounded)
      line("arena",
           fmt::format("{} for all sizes within the bounds", humanBytes(*plan.arenaBytes)));
    line(plan.bounded ? "plan" : "arena", fmt::format("depends on the sizes of the inputs; give {}",
                                                      symbolList(plan, "--dim {}=N")));
    return;
  }
  line("arena height", exact(*plan.arenaBytes));
  line("lower bound", exact(*plan.lowerBoundBytes));
  line("ratio", fmt::format("{:>10.3f}", planRatio(plan)));
  if (std::string order = orderText(plan); !order.empty())
    line("order", order);
  const char *label = "strips";
  for (const std::string &chain : stripsText(plan)) {
    line(label, chain);
    label = "";
  }
  label = "budget";
  for (const std::string &step : budgetText(plan)) {
    line(label, step);
    label = "";
  }
}

void printPeak(const Description &plan) {
  std::vector<size_t> alive = aliveAt(plan, plan.peakCommand);
  if (!plan.planned() || alive.empty())
    return;
  std::string command =
      plan.peakCommand < plan.commands.size() ? plan.commands[plan.peakCommand].name : "?";
  print(coloured(fmt::format("\npeak at command {}: {}\n", plan.peakCommand, printable(command)),
                 Colour::kBold, colourOnStdout()));
  Table table({{"tensor", Align::kLeft, true},
               {"made by", Align::kLeft, false},
               {"type"},
               {"shape"},
               {"size", Align::kRight},
               {"offset", Align::kRight},
               {"alive"}});
  for (size_t i : alive) {
    const ValueInfo &value = plan.values[i];
    table.addRow({value.name, elideMiddle(value.op, 40), value.type, dimsText(value),
                  humanBytes(value.sizeBytes.value_or(0)),
                  value.offset ? humanBytes(*value.offset) : "?",
                  fmt::format("{}-{}", value.firstUse, value.lastUse)});
  }
  print(table.format(colourOnStdout(), terminalWidth()));
}

void printDispatches(const Description &plan) {
  print(coloured("\ncommands\n", Colour::kBold, colourOnStdout()));
  Table table({{"#", Align::kRight},
               {"operators", Align::kLeft, true},
               {"kernel"},
               {"workgroups", Align::kRight},
               {"shared", Align::kRight},
               {"flops", Align::kRight},
               {"bytes", Align::kRight},
               {"barrier"}});
  auto optional = [](const std::optional<uint64_t> &value, auto format) {
    return value ? format(*value) : std::string("?");
  };
  for (size_t c = 0; c < plan.commands.size(); ++c) {
    const CommandInfo &command = plan.commands[c];
    table.addRow(
        {std::to_string(c), command.name,
         command.kind == "copy" ? "copy" : elideMiddle(command.kernel, 32),
         command.workgroups.empty() ? "-" : command.workgroups, humanBytes(command.sharedBytes),
         optional(command.flops, [](uint64_t v) { return humanCount(static_cast<double>(v)); }),
         optional(command.bytes, [](uint64_t v) { return humanBytes(v); }),
         command.barrierBefore ? "yes" : "-"});
  }
  print(table.format(colourOnStdout(), terminalWidth()));
}

/// Returns the bytes that a partial command, which writes only some rows of a tensor, writes:
/// command.bytes without its operands. Returns nullopt if a size is not known.
std::optional<uint64_t> bytesOfReplacedRows(const Description &plan, const CommandInfo &command) {
  std::optional<uint64_t> bytes = command.bytes;
  for (const size_t operand : command.read) {
    if (!bytes || operand >= plan.values.size() || !plan.values[operand].sizeBytes)
      return std::nullopt;
    *bytes -= std::min(*bytes, *plan.values[operand].sizeBytes);
  }
  return bytes;
}

/// Prints the commands that only copy a tensor, each with the tensor and the reason for the copy.
/// Then prints the donated inputs, which some runs copy before the first command.
void printCopies(const Description &plan, const std::vector<Port> &inputs) {
  Table table({{"#", Align::kRight},
               {"tensor", Align::kLeft, true},
               {"shape"},
               {"copied", Align::kRight},
               {"why it is copied"}});
  uint64_t bytes = 0;
  size_t count = 0;
  for (size_t c = 0; c < plan.commands.size(); ++c) {
    const CommandInfo &command = plan.commands[c];
    if (command.copyReason.empty() || command.written.empty() ||
        command.written.front() >= plan.values.size())
      continue;
    const ValueInfo &value = plan.values[command.written.front()];
    const std::optional<uint64_t> size =
        command.isPartial ? bytesOfReplacedRows(plan, command) : value.sizeBytes;
    ++count;
    bytes += size.value_or(0);
    table.addRow({std::to_string(c), value.name, dimsText(value), size ? humanBytes(*size) : "?",
                  command.copyReason});
  }
  const std::string sum = plan.sized ? fmt::format(", {} in each run", humanBytes(bytes)) : "";
  print(coloured(count == 0 ? "\nno tensor is copied\n"
                            : fmt::format("\n{} of {} commands only cop{} a tensor{}\n", count,
                                          plan.commands.size(), count == 1 ? "ies" : "y", sum),
                 Colour::kBold, colourOnStdout()));
  if (count > 0)
    print(table.format(colourOnStdout(), terminalWidth()));
  for (const Port &input : inputs)
    if (input.donated)
      print(fmt::format("the donated input {} lies in the arena; if the caller passes it in a "
                        "buffer of its own, the run copies it into the arena\n",
                        printable(input.name)));
}

std::string growthText(int64_t bytes) {
  if (bytes == 0)
    return "";
  return (bytes > 0 ? "+" : "-") + humanBytes(static_cast<uint64_t>(std::abs(bytes)));
}

/// Compiles the model, or loads one variant of the artifact (the program for one device profile):
/// the requested one, else the one for this machine's default device, else the first.
LoadedModel loadForInspection(const std::string &path, const InspectOptions &options) {
  CompileRequest request;
  request.useCache = options.useCache;
  if (!isArtifact(path)) {
    request.profiles = {options.profile.empty() ? profileOfDefaultDevice() : options.profile};
    return loadModel(path, request);
  }
  LoadedModel model = loadModel(path, request, options.variant);
  const size_t count = gantry_program_variant_count(model.program.get());
  if (count == 1 || !options.variant.empty())
    return model;
  const std::string own = profileOfDefaultDevice();
  size_t chosen = 0;
  for (size_t i = 0; i < count; ++i)
    if (gantry_program_variant_profile(model.program.get(), i) == own)
      chosen = i;
  gantry_program_t *variant = nullptr;
  check(gantry_program_variant(model.program.get(), chosen, &variant));
  model.program.reset(variant);
  return model;
}

ExitCode compareWith(const InspectOptions &options, const Description &now,
                     const std::map<std::string, int64_t> &dims) {
  LoadedModel other = loadForInspection(options.compare, options);
  if (!other.compiled)
    check(gantry_program_verify(other.program.get()));
  const PlanComparison comparison = comparePlans(describe(other.program.get(), dims), now);
  if (options.json) {
    auto list = [](const std::vector<PlanChange> &changes) {
      nlohmann::json rows = nlohmann::json::array();
      for (const PlanChange &change : changes)
        rows.push_back({{"what", change.what},
                        {"before", change.before},
                        {"now", change.now},
                        {"growth_bytes", change.growth}});
      return rows;
    };
    const nlohmann::json json = {{"figures", list(comparison.figures)},
                                 {"tensors", list(comparison.tensors)},
                                 {"commands", list(comparison.commands)},
                                 {"reordered", comparison.reordered},
                                 {"grew", comparison.grew}};
    print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    auto table = [&](const char *title, const std::vector<PlanChange> &changes) {
      if (changes.empty())
        return;
      print(coloured(fmt::format("\n{}\n", title), Colour::kBold, colourOnStdout()));
      Table rows({{"", Align::kLeft, true},
                  {"before", Align::kRight},
                  {"now", Align::kRight},
                  {"change", Align::kRight}});
      for (const PlanChange &change : changes)
        rows.addRow({change.what, change.before, change.now, growthText(change.growth)});
      print(rows.format(colourOnStdout(), terminalWidth()));
    };
    print(fmt::format("{}  compared with {}\n",
                      coloured(printable(options.model), Colour::kBold, colourOnStdout()),
                      printable(options.compare)));
    table("memory", comparison.figures);
    table("tensors of the arena that changed", comparison.tensors);
    table("commands that changed", comparison.commands);
    if (comparison.tensors.empty() && comparison.commands.empty())
      print(comparison.reordered ? "\nthe same tensors and commands, in another order\n"
                                 : "\nthe same tensors and commands\n");
  }
  return comparison.grew ? ExitCode::kDiffers : ExitCode::kOk;
}

/// Returns the title of the picture: --title, else the file's name without its extension. A file
/// that is called "model", as in some collections of models, gets its folder's name.
std::string titleOf(const InspectOptions &options) {
  if (!options.title.empty())
    return options.title;
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(options.model, error);
  std::string stem = path.stem();
  return stem == "model" && path.has_parent_path() ? path.parent_path().filename().string() : stem;
}

/// Prints the variants of one dispatch's kernel (such as one for each way to access buffers), and
/// the tiles that the compiler compared for each; a tile is the part of the result that one
/// invocation or workgroup computes. `which` is the dispatch's index among the commands, its name,
/// or a part of its name that is unique among the dispatches.
void printWhy(const Description &plan, const std::string &which) {
  const CommandInfo *found = nullptr;
  size_t matches = 0;
  for (size_t i = 0; i < plan.commands.size(); ++i)
    if (plan.commands[i].kind == "dispatch" &&
        (which == std::to_string(i) || plan.commands[i].name.find(which) != std::string::npos)) {
      found = &plan.commands[i];
      ++matches;
      if (which == std::to_string(i) || found->name == which) {
        matches = 1;
        break;
      }
    }
  if (matches != 1)
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("{} dispatches are called '{}'; give the index or the name of one: "
                                "`gantry inspect --dispatches` lists them",
                                matches == 0 ? "no" : std::to_string(matches), which));
  const bool colour = colourOnStdout();
  print(fmt::format("{}\n", coloured(printable(found->name), Colour::kBold, colour)));
  for (const KernelInfo &kernel : plan.kernels) {
    if (kernel.name != found->kernel)
      continue;
    for (const VariantInfo &variant : kernel.variants) {
      print(fmt::format(
          "\n  {}: {}\n    {} of shared memory{}{}\n",
          coloured(variant.binding, Colour::kBold, colour), printable(variant.tile),
          humanBytes(variant.sharedBytes),
          variant.boxesBytes > variant.sharedBytes
              ? fmt::format(" (its allocations sum to {} and share storage)",
                            humanBytes(variant.boxesBytes))
              : "",
          variant.subgroupSize ? fmt::format("; subgroups of {}", variant.subgroupSize) : ""));
      if (!variant.dimMultiples.empty())
        print(fmt::format("    only if the dims are multiples of {}\n",
                          fmt::join(variant.dimMultiples, ", ")));
      if (variant.predictedCost != 0)
        print(fmt::format(
            "    predicted cost {:.3g}; {:.0f} % of the memory accesses are of vectors\n",
            static_cast<double>(variant.predictedCost),
            100.0 * static_cast<double>(variant.vectorAccesses) /
                static_cast<double>(std::max<uint64_t>(1, variant.accesses))));
      for (const std::string &line : variant.comparison)
        print(fmt::format("    {}\n", printable(line)));
    }
  }
}

ExitCode runInspect(const InspectOptions &options) {
  std::map<std::string, int64_t> dims = parseDims(options.dims);
  checkChoice(options.model, options.profile, options.variant);
  LoadedModel model = loadForInspection(options.model, options);
  std::string json;
  if (!model.compiled) // A report on a damaged file would be misleading.
    check(gantry_program_verify(model.program.get()));
  Description plan = describe(model.program.get(), dims, &json);
  if (!options.plot.empty()) {
    if (!plan.planned())
      throw ToolError(ExitCode::kBadInput,
                      fmt::format("the plan of '{}' depends on the sizes of its inputs; give {}",
                                  options.model, symbolList(plan, "--dim {}=N")));
    const std::string ending = std::filesystem::path(options.plot).extension().string();
    if (!ending.empty() && ending != ".svg")
      throw ToolError(ExitCode::kBadInput,
                      fmt::format("--plot {}: the picture is SVG; name a file that ends with .svg",
                                  options.plot));
    FileSet files;
    files.add(options.plot, std::string_view(drawPlan(plan, titleOf(options))));
    files.commit();
  }
  if (!options.compare.empty())
    return compareWith(options, plan, dims);
  if (!options.why.empty()) {
    printWhy(plan, options.why);
    return ExitCode::kOk;
  }
  if (options.json) {
    print(json + (json.ends_with('\n') ? "" : "\n"));
    return ExitCode::kOk;
  }
  const auto copies = static_cast<size_t>(
      std::count_if(plan.commands.begin(), plan.commands.end(),
                    [](const CommandInfo &command) { return !command.copyReason.empty(); }));
  uint64_t shared = 0;
  for (const CommandInfo &command : plan.commands)
    shared = std::max(shared, command.sharedBytes);
  print(fmt::format("{}  {} kernels, {} commands{}, at most {} of shared memory{}\n",
                    coloured(printable(options.model), Colour::kBold, colourOnStdout()),
                    plan.kernelCount, plan.commands.size(),
                    copies == 0 ? ""
                                : fmt::format(", of which {} only cop{} a tensor", copies,
                                              copies == 1 ? "ies" : "y"),
                    humanBytes(shared),
                    plan.profile.empty() ? "" : ", profile " + printable(plan.profile)));
  if (plan.variants.size() > 1)
    print(fmt::format("  variants  {}; --variant shows another\n",
                      printable(fmt::format("{}", fmt::join(plan.variants, ", ")))));
  if (model.cached)
    print(coloured(fmt::format("  cache     {}\n", cacheText()), Colour::kDim, colourOnStdout()));
  printPorts("inputs", inputPorts(model.program.get()));
  printPorts("outputs", outputPorts(model.program.get()));
  printMemory(plan);
  printPeak(plan);
  if (options.dispatches)
    printDispatches(plan);
  if (options.copies)
    printCopies(plan, inputPorts(model.program.get()));
  if (!options.plot.empty())
    print(fmt::format("\nwrote {}\n", printable(options.plot)));
  return ExitCode::kOk;
}

} // namespace

void addInspect(CLI::App &app, Action &action) {
  CLI::App *command =
      app.add_subcommand("inspect", "Show where a model's memory goes: table and picture");
  auto options = std::make_shared<InspectOptions>();
  command->add_option("MODEL", options->model, "A .gantry artifact, or a .onnx or .mlir model")
      ->required();
  options::repeated(*command, "--dim", options->dims, "NAME=N",
                    "The size of a dynamic dimension: batch=2");
  command->add_flag("--dispatches", options->dispatches,
                    "List the commands with their workgroups and shared memory");
  command->add_flag("--copies", options->copies,
                    "List the commands that only copy a tensor, each with the reason");
  CLI::Option *const why =
      command
          ->add_option("--why", options->why,
                       "Explain the choice of a dispatch's kernel: its variants, each with the "
                       "tiles that were compared")
          ->type_name("DISPATCH");
  command->add_option("--plot", options->plot, "Draw the arena: time across, addresses up")
      ->type_name("FILE.svg");
  command
      ->add_option("--compare", options->compare,
                   "Show what changed since another compilation; exit code 5 if the arena or the "
                   "constants grew")
      ->type_name("OLD")
      ->excludes(why);
  command->add_option("--title", options->title, "The picture's title")
      ->type_name("TITLE")
      ->default_str("the model's name");
  addProfileOption(*command, options->profile);
  addVariantOption(*command, options->variant);
  addCacheOption(*command, options->useCache);
  addJson(*command, options->json, "Print everything as JSON (docs/artifact-json.md)");
  command->get_option("--json")->excludes(why);
  command->footer(examples({"gantry inspect model.onnx", "gantry inspect model.gantry --dispatches",
                            "gantry inspect model.gantry --copies",
                            "gantry inspect model.gantry --plot plan.svg",
                            "gantry inspect model.gantry --why conv1",
                            "gantry inspect gpt.gantry --dim batch=2 --dim time=16",
                            "gantry inspect new.gantry --compare old.gantry"}));
  command->callback([options, &action] { action = [options] { return runInspect(*options); }; });
}

} // namespace gantry::tool
