// gantry compile: compiles a model to an artifact, a .gantry file, and prints a summary of it.
#include "tools/gantry/report/budget_cost.h"
#include "tools/gantry/cache/unnamed_file.h"
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/runtime/device_profiles.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/runtime/model.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

struct CompileOptions {
  std::string model, output, dumpFolder = "gantry-dump", dumpIr;
  bool dumpSpirv = false, json = false, measure = false;
  std::vector<std::string> dims;
  CompileRequest request;
};

/// Compiles the model to the output. Regular files are written under another name and renamed when
/// they are complete. That is not possible for a device or a pipe, so the artifact is then compiled
/// to a temporary file and copied.
void compileTo(const CompileOptions &options) {
  if (!isSpecialFile(options.output)) {
    compileModel(options.model, options.output, options.request);
    return;
  }
  const auto artifact = UnnamedFile::temporary();
  if (!artifact.isOk())
    throw ToolError(ExitCode::kIo, artifact.status().message());
  compileModel(options.model, artifact->path(), options.request);
  FileSet files;
  files.add(options.output, readFile(artifact->path()));
  files.commit();
}

void printSummary(const CompileOptions &options, const Description &plan, double seconds,
                  const std::optional<BudgetCost> &cost) {
  std::error_code error;
  uint64_t fileBytes = fs::file_size(options.output, error);
  if (options.json) {
    nlohmann::json json = {{"output", options.output},
                           {"file_bytes", error ? 0 : fileBytes},
                           {"kernels", plan.kernelCount},
                           {"commands", plan.commands.size()},
                           {"constant_bytes", plan.constantBytes.value_or(0)},
                           {"dynamic", plan.dynamic},
                           {"bounded", plan.bounded},
                           {"profile", plan.profile},
                           {"variants", plan.variants},
                           {"seconds", seconds}};
    if (plan.arenaBytes && plan.lowerBoundBytes) {
      json["arena_bytes"] = *plan.arenaBytes;
      json["lower_bound_bytes"] = *plan.lowerBoundBytes;
      json["ratio"] = planRatio(plan);
      json["model_order_bytes"] = plan.modelOrderBytes.value_or(*plan.lowerBoundBytes);
      json["model_order_stages"] = plan.modelOrderStages;
      json["order_stages"] = plan.orderStages;
    }
    if (!plan.strips.empty())
      json["model_operations"] = plan.modelOperations;
    for (const Description::StripChain &chain : plan.strips)
      json["strips"].push_back({{"first", chain.first},
                                {"last", chain.last},
                                {"count", chain.count},
                                {"saved_bytes", chain.savedBytes},
                                {"operations", chain.operations}});
    if (plan.budget)
      json["budget"] = {{"bytes", plan.budget->bytes},
                        {"before_bytes", plan.budget->beforeBytes},
                        {"recomputed", plan.budget->recomputed},
                        {"recomputed_bytes", plan.budget->recomputedBytes},
                        {"moved", plan.budget->moved}};
    if (cost)
      json["budget_cost"] = {{"slowdown", cost->slowdown},
                             {"with_ns", cost->withNs},
                             {"without_ns", cost->withoutNs},
                             {"runs", cost->runs},
                             {"device", cost->device}};
    return print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  print(fmt::format("{} {} ({}) in {}\n", coloured("wrote", Colour::kGreen, colourOnStdout()),
                    options.output, humanBytes(fileBytes), humanTime(seconds * 1e9)));
  print(fmt::format("  {:<9}  {}{}\n", plan.variants.size() == 1 ? "profile" : "variants",
                    printable(fmt::format("{}", fmt::join(plan.variants, ", "))),
                    plan.variants.size() == 1 ? "" : "; figures of the first:"));
  print(fmt::format("  kernels    {} in {} commands\n", plan.kernelCount, plan.commands.size()));
  print(fmt::format("  constants  {}\n", humanBytes(plan.constantBytes.value_or(0))));
  if (!plan.arenaBytes || !plan.lowerBoundBytes) {
    std::string free; // Names of the dimensions whose sizes have no upper limit.
    for (const SymbolInfo &symbol : plan.symbols)
      if (symbol.max == 0)
        free += (free.empty() ? "" : ", ") + symbol.name;
    return print(fmt::format(
        "  arena      planned at run time, for the sizes of the inputs{}\n",
        options.dims.empty() || free.empty() ? "" : "; dimensions without a bound: " + free));
  }
  print(fmt::format("  arena      {}, lower bound {}, ratio {:.3f}{}\n",
                    humanBytes(*plan.arenaBytes), humanBytes(*plan.lowerBoundBytes),
                    planRatio(plan), plan.bounded ? ", for all sizes within the bounds" : ""));
  if (std::string order = orderText(plan); !order.empty())
    print(fmt::format("  order      {}\n", order));
  const char *label = "strips";
  for (const std::string &chain : stripsText(plan)) {
    print(fmt::format("  {:<9}  {}\n", label, chain));
    label = "";
  }
  label = "budget";
  for (const std::string &step : budgetText(plan)) {
    print(fmt::format("  {:<9}  {}\n", label, step));
    label = "";
  }
  if (cost)
    print(fmt::format("  {:<9}  {}\n", "cost", costText(*cost)));
}

ExitCode runCompile(CompileOptions options) {
  std::error_code error;
  if (!fs::exists(options.model, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("cannot open '{}': no such file", options.model));
  if (isArtifact(options.model))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("'{}' is not a model; the compiler takes .onnx "
                                "and .mlir files",
                                options.model));
  options.request.dims = parseDimRanges(options.dims);
  if (options.request.profiles.empty())
    options.request.profiles = profilesOfThisMachine();
  if (options.output.empty())
    options.output = fs::path(options.model).filename().replace_extension(".gantry");
  checkOutput(options.model, options.output);
  const bool dumpNative = !options.request.nativeChips.empty();
  FileSet dumps; // Without commit(), removes the created folder if the compilation left it empty.
  if (!options.dumpIr.empty() || options.dumpSpirv || dumpNative)
    dumps.addFolder(options.dumpFolder);
  if (!options.dumpIr.empty()) {
    options.request.dumpIr = options.dumpFolder;
    options.request.dumpIrPass = options.dumpIr == "*" ? "" : options.dumpIr;
  }
  if (dumpNative)
    options.request.dumpNative = options.dumpFolder;
  if (options.dumpSpirv)
    options.request.dumpSpirv = options.dumpFolder;

  auto start = std::chrono::steady_clock::now();
  compileTo(options);
  dumps.commit();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (isSpecialFile(options.output)) // The artifact cannot be read back from a device or a pipe.
    return ExitCode::kOk;
  std::optional<BudgetCost> cost;
  if (options.measure)
    cost = measureBudget(options.model, options.output, options.request);
  printSummary(options, describe(loadModel(options.output).program.get(), {}), seconds, cost);
  return ExitCode::kOk;
}

/// Adds the options that limit memory.
void addMemoryOptions(CLI::App &command, const std::shared_ptr<CompileOptions> &options) {
  CLI::Option *budget =
      command
          .add_option_function<std::string>(
              "--memory-budget",
              [options](const std::string &text) {
                options->request.memoryBudget = parseBytes(text, "--memory-budget");
              },
              "Max size of the arena: 256MiB, 1.5GiB, or bytes. To fit, operators run in strips of "
              "rows, and tensors are recomputed or moved to host memory. Constants, inputs and "
              "outputs are not counted")
          ->type_name("SIZE")
          ->group("Memory");
  command
      .add_flag("--measure", options->measure,
                "Run the model with and without the budget, and print the slowdown")
      ->needs(budget)
      ->group("Memory");
  command
      .add_option_function<std::string>(
          "--shared-memory",
          [options](const std::string &text) {
            options->request.sharedMemory = static_cast<uint32_t>(
                std::min<uint64_t>(parseBytes(text, "--shared-memory"), UINT32_MAX));
          },
          "Max shared memory of a workgroup. Kernels use the best tile within this limit, if "
          "necessary one without shared memory")
      ->type_name("SIZE")
      ->default_str("the profile's")
      ->group("Memory");
}

/// Adds the options that declare states.
void addStateOptions(CLI::App &command, CompileRequest &request) {
  options::repeated(command, "--state", request.states, "INPUT[=OUTPUT]",
                    "An input, or an ONNX initializer, that keeps its buffer from run to run, and "
                    "the output that runs write to this buffer; without OUTPUT, runs only read the "
                    "buffer. A star stands for any text: 'past.*=present.*'")
      ->group("States");
  command
      .add_flag("--training", request.training,
                "Compile one step of the ONNX model's training (training_info); the initializers "
                "that it updates become states")
      ->group("States");
}

/// Adds the options that choose measured tiles.
void addTuningOptions(CLI::App &command, const std::shared_ptr<CompileOptions> &options) {
  command
      .add_option("--tuning", options->request.tuning,
                  "A table of measured tiles, made by `gantry tune`. Kernels that are in the table "
                  "for the profile use these tiles instead of the predicted ones")
      ->type_name("FILE")
      ->group("Tuning");
  command
      .add_flag("!--no-built-in-tuning", options->request.builtInTuning,
                "Do not use the measured tiles that ship with the compiler")
      ->group("Tuning");
}

/// Adds the options that write intermediate results.
void addDumpOptions(CLI::App &command, const std::shared_ptr<CompileOptions> &options) {
  const char *dumps = "Looking inside";
  options::optionalValue(command, "--dump-ir", options->dumpIr, "*", "PASS",
                         "Write the IR after each pass, or only after one")
      ->group(dumps);
  command.add_flag("--dump-spirv", options->dumpSpirv, "Write each kernel's SPIR-V")->group(dumps);
  options::repeated(command, "--dump-native", options->request.nativeChips, "CHIP",
                    "Write each kernel as assembly of this chip: sm_80 (PTX), gfx1100 (AMDGPU)")
      ->group(dumps);
  command.add_option("--dump-dir", options->dumpFolder, "Folder of the dumps")
      ->type_name("DIR")
      ->default_str("gantry-dump")
      ->group(dumps);
  command
      .add_option("--reproducer", options->request.reproducer,
                  "Where to write a reproducer if a pass fails")
      ->type_name("FILE")
      ->group(dumps);
}

} // namespace

void addCompile(CLI::App &app, Action &action) {
  CLI::App *command =
      app.add_subcommand("compile", "Compile a model (.onnx, .mlir) to an artifact");
  auto options = std::make_shared<CompileOptions>();
  command->add_option("MODEL", options->model, "The model: .onnx or .mlir")->required();
  command->add_option("-o,--output", options->output, "The artifact")
      ->type_name("FILE")
      ->default_str("the model's name with .gantry, in this folder");
  options::repeated(*command, "-p,--profile", options->request.profiles, "PROFILE",
                    "A device profile to make a variant for; the first is the baseline")
      ->default_str("vulkan:generic and those of this machine's devices");
  command->add_flag("--trace-layers", options->request.keepAllOutputs,
                    "Make every operator's result an output, for `gantry run --trace-layers`");
  options::repeated(
      *command, "--dim", options->dims, "NAME=SIZES",
      "Sizes of a dynamic dimension: batch=3 (exactly; kernels are specialized for it), "
      "time=..64 (at most), time=8..64. If all dimensions are bounded, memory is planned once");
  options::repeated(
      *command, "--donate", options->request.donated, "INPUT",
      "An input whose memory a run may reuse: it lies in the arena, and other tensors "
      "use its place after its last use");
  addStateOptions(*command, options->request);
  addPrecisionOption(*command, options->request);
  command->add_flag("--keep-order", options->request.keepOrder,
                    "Run the operators in the model's order, not in the one with the lowest peak");
  command->add_flag("!--no-strips", options->request.strips,
                    "Compute every tensor whole, and no chain of operators in strips of rows");
  command->add_flag("!--separate-kernels", options->request.shareKernels,
                    "Make a kernel for each size, instead of one that takes the size as an "
                    "argument. Loading takes longer, runs are up to a few per cent faster");
  addJson(*command, options->json, "Print the summary as JSON");
  addMemoryOptions(*command, options);
  addTuningOptions(*command, options);
  addDumpOptions(*command, options);
  command->footer(examples({"gantry compile model.onnx", "gantry compile model.onnx -o m.gantry",
                            "gantry compile model.onnx --memory-budget 64MiB --measure",
                            "gantry compile model.onnx --dim batch=1 --dim time=..128",
                            "gantry compile step.onnx --state w=w_next --state m=m_next",
                            "gantry compile model.onnx --profile vulkan:lavapipe --tuning t.json",
                            "gantry compile model.onnx --dump-native sm_80 --dump-native gfx1100",
                            "gantry compile model.onnx --dump-ir=form-dispatches --dump-dir ir/"}));
  command->callback([options, &action] { action = [options] { return runCompile(*options); }; });
}

} // namespace gantry::tool
