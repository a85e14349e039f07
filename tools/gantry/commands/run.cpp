// gantry run: runs a model or an artifact (a compiled model) once, and shows, writes or compares
// its outputs.
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/report/compare.h"
#include "tools/gantry/runtime/device_profiles.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/runtime/model.h"
#include "tools/gantry/io/npy.h"
#include "tools/gantry/report/preview.h"
#include "tools/gantry/runtime/profiler_window.h"
#include "tools/gantry/io/trace_folder.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

using Json = nlohmann::json;

struct RunOptions {
  std::string model, profile, variant, output, traceFolder, stateIn, stateOut;
  InputOptions inputs;
  std::vector<std::string> expected;
  Tolerance tolerance;
  SessionRequest session;
  bool json = false;
  bool openProfiler = false; // --profile was given without a name.
  bool useCache = true;
};

struct Expectation {
  std::string file;
  Comparison comparison;
};

/// Writes the outputs to `target`, the path of --output, and returns the path of each output's
/// file. The target is a folder, or a .npy file if there is only one output.
std::vector<std::string> writeOutputs(const std::string &target, const std::vector<Port> &ports,
                                      const std::vector<Tensor> &outputs) {
  FileSet files;
  std::vector<std::string> paths;
  if (fs::path(target).extension() == ".npy" || isSpecialFile(target)) {
    if (outputs.size() != 1)
      throw ToolError(ExitCode::kBadInput,
                      fmt::format("--output {} is a file, but the model has {} outputs; name a "
                                  "folder",
                                  target, outputs.size()));
    files.add(target, formatNpy(outputs[0]));
    paths.push_back(target);
  } else {
    files.addFolder(target);
    std::set<std::string> used;
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::string base = sanitiseFileName(ports[i].name), name = base;
      for (int n = 2; !used.insert(name).second; ++n)
        name = fmt::format("{}_{}", base, n);
      paths.push_back(fs::path(target) / (name + ".npy"));
      files.add(paths.back(), formatNpy(outputs[i]));
    }
  }
  files.commit();
  return paths;
}

/// Throws ToolError if --trace-layers is not possible because the results of most operators are not
/// outputs of the program, as in an artifact that was compiled without --trace-layers.
void checkTraceable(const std::string &model, const Description &plan,
                    const std::vector<Port> &ports) {
  std::set<std::string> outputs;
  for (const Port &port : ports)
    outputs.insert(port.name);
  size_t hidden = 0, dispatches = 0;
  std::set<uint32_t> shown;
  for (const ValueInfo &value : plan.values)
    if (value.storage == "output")
      shown.insert(value.firstUse);
  for (uint32_t c = 0; c < plan.commands.size(); ++c)
    if (plan.commands[c].kind != "copy") {
      ++dispatches;
      hidden += !shown.count(c);
    }
  // An artifact that was compiled with --trace-layers has a few dispatches (kernel launches) whose
  // results are not outputs, because some operators need several dispatches. In other artifacts the
  // results of nearly all dispatches are not outputs.
  if (dispatches > 1 && hidden * 2 > dispatches)
    throw ToolError(
        ExitCode::kBadInput,
        fmt::format("the results of {1} dispatches of '{0}' are not outputs; trace the model, or "
                    "compile it with `gantry compile --trace-layers`",
                    model, hidden));
}

/// Writes the outputs to the folder of --trace-layers in execution order, which is the order of the
/// commands that write them. Returns their number.
size_t writeTrace(const RunOptions &options, const Description &plan,
                  const std::vector<Port> &ports, const std::vector<Tensor> &outputs,
                  const std::string &device) {
  std::map<std::string, const ValueInfo *> values;
  for (const ValueInfo &value : plan.values)
    if (value.storage == "output" || !values.count(value.name))
      values[value.name] = &value;
  std::vector<size_t> order(ports.size());
  std::iota(order.begin(), order.end(), 0);
  auto commandOf = [&](size_t i) {
    auto at = values.find(ports[i].name);
    return at == values.end() ? UINT32_MAX : at->second->firstUse;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return commandOf(a) < commandOf(b); });
  TraceWriter trace(options.traceFolder, options.model, device);
  for (size_t i : order) {
    auto at = values.find(ports[i].name);
    trace.add(ports[i].name, at == values.end() ? "" : at->second->op, outputs[i]);
  }
  trace.finish();
  return trace.count();
}

/// Reads the files of --expect. It is called before the run, so that a missing file is reported at
/// once.
std::vector<Tensor> readExpected(const std::vector<std::string> &files) {
  std::vector<Tensor> expected(files.size());
  for (size_t i = 0; i < files.size(); ++i)
    if (!files[i].empty())
      expected[i] = readTensor(files[i]);
  return expected;
}

Json jsonOf(const Comparison &c, const std::string &file) {
  return {{"file", file},
          {"within", c.within},
          {"problem", c.problem},
          {"max_abs", c.maxAbs},
          {"max_rel", c.maxRel},
          {"l2", c.l2},
          {"elements", c.count},
          {"different", c.different},
          {"rtol", c.rtol},
          {"atol", c.atol},
          {"worst_index", c.worstIndex},
          {"worst_actual", c.worstActual},
          {"worst_expected", c.worstExpected}};
}

struct Report {
  const RunOptions &options;
  const std::vector<Port> &ports;
  const std::vector<Tensor> &outputs;
  const std::vector<std::string> &files; // The file of each output; empty without --output.
  const std::vector<Expectation> &expectations;
  const HostSession &session;
  const LoadedModel &model;
  size_t traced; // Number of tensors written for --trace-layers; 0 without it.
};

void printJson(const Report &report) {
  gantry_statistics_t s = report.session.statistics();
  Json outputs = Json::array();
  for (size_t i = 0; i < report.outputs.size() && !report.traced; ++i) {
    const Tensor &tensor = report.outputs[i];
    Json output = {{"name", report.ports[i].name},
                   {"type", traitsOf(tensor.type).name},
                   {"shape", tensor.dims},
                   {"preview", previewText(tensor)}};
    if (i < report.files.size())
      output["file"] = report.files[i];
    if (!report.expectations[i].file.empty())
      output["expected"] = jsonOf(report.expectations[i].comparison, report.expectations[i].file);
    outputs.push_back(output);
  }
  Json json = {{"model", report.options.model},
               {"device", report.session.deviceInfo().name},
               {"outputs", outputs},
               {"compile_ns", static_cast<uint64_t>(report.model.compileSeconds * 1e9)},
               {"cached", report.model.cached},
               {"load_ns", s.load_ns},
               {"run_ns", s.last_run_ns},
               {"run_gpu_ns", s.last_run_gpu_ns},
               {"constant_bytes", s.constant_bytes},
               {"arena_bytes", s.arena_bytes},
               {"lower_bound_bytes", s.lower_bound_bytes},
               {"io_bytes", s.io_bytes},
               {"reserved_bytes", s.reserved_bytes},
               {"validation_messages", report.session.validationMessages()}};
  if (report.traced)
    json["traced"] = {{"folder", report.options.traceFolder}, {"tensors", report.traced}};
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void printComparison(const Expectation &expectation) {
  const Comparison &c = expectation.comparison;
  bool colour = colourOnStdout();
  print(fmt::format("    {} {}: {}\n",
                    c.within ? coloured("matches", Colour::kGreen, colour)
                             : coloured("differs from", Colour::kRed, colour),
                    printable(expectation.file), comparisonText(c)));
  if (std::string worst = worstText(c); !worst.empty())
    print("    " + worst + "\n");
}

void printText(const Report &report) {
  gantry_statistics_t s = report.session.statistics();
  bool colour = colourOnStdout();
  print(fmt::format("{} on {}\n", coloured(printable(report.options.model), Colour::kBold, colour),
                    printable(deviceText(report.session.deviceInfo()))));
  for (size_t i = 0; i < report.outputs.size() && !report.traced; ++i) {
    const Tensor &tensor = report.outputs[i];
    print(fmt::format("  {}  {} {}\n",
                      coloured(printable(report.ports[i].name), Colour::kCyan, colour),
                      traitsOf(tensor.type).name, shapeText(tensor.dims)));
    print(fmt::format("    {}\n", previewText(tensor)));
    if (i < report.files.size())
      print(fmt::format("    written to {}\n", printable(report.files[i])));
    if (!report.expectations[i].file.empty())
      printComparison(report.expectations[i]);
  }
  if (report.traced)
    print(fmt::format("  {} tensors written to {}\n", report.traced,
                      printable(report.options.traceFolder)));
  std::string compiled =
      report.model.compileSeconds > 0
          ? fmt::format("compile {}, ", humanTime(report.model.compileSeconds * 1e9))
          : "";
  if (report.model.cached)
    print(coloured(fmt::format("  cache   {}\n", cacheText()), Colour::kDim, colour));
  std::string gpu =
      report.options.session.timestamps
          ? fmt::format(" (GPU {})", humanTime(static_cast<double>(s.last_run_gpu_ns)))
          : "";
  print(fmt::format("  time    {}load {}, run {}{}\n", compiled,
                    humanTime(static_cast<double>(s.load_ns)),
                    humanTime(static_cast<double>(s.last_run_ns)), gpu));
  print(fmt::format("  memory  constants {}, arena {} (lower bound {}), reserved {}\n",
                    humanBytes(s.constant_bytes), humanBytes(s.arena_bytes),
                    humanBytes(s.lower_bound_bytes), humanBytes(s.reserved_bytes)));
  if (uint64_t messages = report.session.validationMessages())
    print(coloured(fmt::format("  the validation layers reported {} messages\n", messages),
                   Colour::kYellow, colour));
}

/// Makes the inputs of a run. A state is a buffer that keeps its value from run to run. If a state
/// has a value already, from --state-in or from the artifact, and --input does not name its input,
/// the input gets a default Tensor, which tells HostSession::bind() to keep the value.
std::vector<Tensor> inputsOf(const gantry_program_t *program, const RunOptions &options) {
  const std::vector<Port> all = inputPorts(program);
  std::set<std::string> known;
  for (size_t i = 0; i < gantry_program_state_count(program); ++i) {
    gantry_state_port_t state{};
    state.struct_size = sizeof(state);
    check(gantry_program_state(program, i, &state));
    if (state.has_initial || !options.stateIn.empty())
      known.insert(state.name);
  }
  for (const std::string &file : options.inputs.request.files)
    if (const auto given = splitAssignment(file, {known.begin(), known.end()}))
      known.erase(given->first);
  std::vector<Port> wanted;
  std::copy_if(all.begin(), all.end(), std::back_inserter(wanted),
               [&](const Port &port) { return !known.contains(port.name); });
  std::vector<Tensor> made = makeInputs(wanted, options.inputs.resolve(Filling::kNone), readTensor);
  std::vector<Tensor> inputs;
  for (size_t i = 0, next = 0; i < all.size(); ++i)
    inputs.push_back(known.contains(all[i].name) ? Tensor() : std::move(made[next++]));
  return inputs;
}

ExitCode runRun(const RunOptions &options) {
  bool tracing = !options.traceFolder.empty();
  if (tracing && (!options.output.empty() || !options.expected.empty()))
    throw ToolError(ExitCode::kBadInput, "--trace-layers writes every tensor; give --output and "
                                         "--expect to a run without it");
  // The constructor looks for the profiler before anything is compiled, so that a missing profiler
  // is reported at once.
  std::optional<ProfilerWindow> window;
  if (options.openProfiler)
    window.emplace();
  checkChoice(options.model, options.profile, options.variant);
  CompileRequest request;
  if (!isArtifact(options.model))
    request.profiles = profileToRun(options.profile, options.session.device);
  request.keepAllOutputs = tracing;
  request.useCache = options.useCache;
  LoadedModel model = loadModel(options.model, request, options.variant);
  std::vector<Port> ports = outputPorts(model.program.get());
  std::vector<std::string> expectedFiles = assignFiles(ports, options.expected, "output");
  std::vector<Tensor> expected = readExpected(expectedFiles);
  const std::vector<Tensor> inputs = inputsOf(model.program.get(), options);
  if (tracing)
    checkTraceable(options.model, describe(model.program.get(), {}), ports);

  HostSession session(model.program.get(), options.session);
  if (!options.stateIn.empty())
    session.restoreStates(options.stateIn);
  session.bind(inputs);
  if (window)
    window->open();
  session.run();
  session.readStates();
  if (!options.stateOut.empty())
    session.saveStates(options.stateOut);

  const std::vector<Tensor> &outputs = session.outputs();
  std::vector<std::string> files;
  if (!options.output.empty())
    files = writeOutputs(options.output, ports, outputs);
  size_t traced = tracing ? writeTrace(options, describe(session.program().get(), {}), ports,
                                       outputs, session.deviceInfo().name)
                          : 0;
  std::vector<Expectation> expectations(outputs.size());
  bool within = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (expectedFiles[i].empty())
      continue;
    expectations[i] = {expectedFiles[i],
                       compareTensors(outputs[i], expected[i], options.tolerance)};
    within = within && expectations[i].comparison.within;
  }
  Report report{options, ports, outputs, files, expectations, session, model, traced};
  options.json ? printJson(report) : printText(report);
  return within ? ExitCode::kOk : ExitCode::kDiffers;
}

} // namespace

void addRun(CLI::App &app, Action &action) {
  CLI::App *command =
      app.add_subcommand("run", "Run a model or an artifact once, and show or compare its outputs");
  auto options = std::make_shared<RunOptions>();
  command->add_option("MODEL", options->model, "A .gantry artifact, or a .onnx or .mlir model")
      ->required();
  options->inputs.add(*command);
  command
      ->add_option("-o,--output", options->output,
                   "Write the outputs to a folder, or to FILE.npy if there is only one output")
      ->type_name("DIR|FILE");
  command
      ->add_option("--state-in", options->stateIn,
                   "Read the states of the model from this file before the run")
      ->type_name("FILE")
      ->group("States");
  command
      ->add_option("--state-out", options->stateOut,
                   "Write the states to this file after the run, for --state-in of a later run")
      ->type_name("FILE")
      ->group("States");
  options::repeated(
      *command, "--expect", options->expected, "[NAME=]FILE",
      "Compare an output with a .npy or .pb file, in order or by name; exit code 5 if "
      "they differ")
      ->group(kComparison);
  addToleranceOptions(*command, options->tolerance);
  command
      ->add_option("--trace-layers", options->traceFolder,
                   "Write every operator's result to this folder, for `gantry diff`")
      ->type_name("DIR");
  addSessionOptions(*command, options->session);
  command->add_flag("--timestamps", options->session.timestamps, "Measure the time on the device")
      ->group(kDevice);
  command
      ->add_flag("--check-memory", options->session.checkMemory,
                 "Fail if a kernel writes outside its tensors; fills unused memory with patterns "
                 "(slow)")
      ->group(kDevice);
  CLI::Option *profile = addProfileOption(*command, options->profile);
  profile->expected(0, 1)
      ->type_name("[PROFILE]")
      ->description("Device profile to compile a model for; without this option, the device's own. "
                    "After MODEL and without a name, --profile opens gantry-profiler for the run")
      ->default_str("");
  addVariantOption(*command, options->variant);
  addCacheOption(*command, options->useCache);
  addJson(*command, options->json);
  command->footer(examples(
      {"gantry run model.onnx --random 1", "gantry run model.gantry --input x.npy --output out/",
       "gantry run model.onnx --input tokens=t.npy --expect y.npy --rtol 1e-4",
       "gantry run gpt.onnx --random 1 --dim batch=3 --dim time=7",
       "gantry run step.gantry --random 1 --state-in w.state --state-out w.state",
       "gantry run model.onnx --random 1 --trace-layers trace/",
       "gantry run model.onnx --random 1 --profile"}));
  command->callback([options, profile, &action] {
    options->openProfiler = profile->count() > 0 && options->profile.empty();
    action = [options] { return runRun(*options); };
  });
}

} // namespace gantry::tool
