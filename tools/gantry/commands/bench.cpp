// gantry bench: measures the time to a model's first answer, of whole runs, and of each dispatch
// (kernel launch).
#include "tools/gantry/report/bench_statistics.h"
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/runtime/device_profiles.h"
#include "tools/gantry/runtime/model.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gantry::tool {
namespace {

using Align = Table::Align;
using Json = nlohmann::json;

struct BenchOptions {
  std::string model, profile, variant;
  InputOptions inputs;
  SessionRequest session;
  size_t runs = 0;   // Number of measured runs; 0: measure for `seconds`.
  size_t warmup = 3; // Runs before the measurement.
  size_t top = 0;    // Number of dispatches to print; 0: all.
  double seconds = 1;
  bool json = false, noTimestamps = false, useCache = true;
};

struct Measurement {
  double firstRunNs = 0;                          // The first run, even if it is a warm-up run.
  std::vector<double> hostNs, gpuNs;              // One time per measured run.
  std::vector<gantry_dispatch_info_t> dispatches; // Dispatches of the last run.
  std::vector<std::vector<double>> dispatchNs;    // Indexed by dispatch, then by run.
};

double nowNs() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Measurement measure(HostSession &session, const BenchOptions &options) {
  constexpr size_t kMinRuns = 5;
  Progress progress;
  Measurement result;
  auto timedRun = [&] {
    double before = nowNs();
    session.run();
    const double time = nowNs() - before;
    if (result.firstRunNs == 0)
      result.firstRunNs = time;
    return time;
  };
  for (size_t i = 0; i < options.warmup; ++i) {
    progress.update("warm-up", i, options.warmup);
    timedRun();
  }
  double start = nowNs(), limitNs = options.seconds * 1e9;
  auto wanted = [&] {
    size_t done = result.hostNs.size();
    return options.runs ? done < options.runs : done < kMinRuns || nowNs() - start < limitNs;
  };
  while (wanted()) {
    result.hostNs.push_back(timedRun());
    if (options.session.timestamps) {
      result.gpuNs.push_back(static_cast<double>(session.statistics().last_run_gpu_ns));
      result.dispatches = session.dispatches();
      result.dispatchNs.resize(result.dispatches.size());
      for (size_t d = 0; d < result.dispatches.size(); ++d)
        result.dispatchNs[d].push_back(static_cast<double>(result.dispatches[d].gpu_ns));
    }
    size_t done = result.hostNs.size();
    options.runs ? progress.update("runs", done, options.runs)
                 : progress.update("runs", static_cast<size_t>((nowNs() - start) / 1e6),
                                   static_cast<size_t>(limitNs / 1e6));
  }
  return result;
}

struct DispatchRow {
  gantry_dispatch_info_t info;
  Spread spread;
};

/// Returns one row per dispatch, the slowest first.
std::vector<DispatchRow> rowsOf(const Measurement &measurement) {
  std::vector<DispatchRow> rows;
  for (size_t d = 0; d < measurement.dispatches.size(); ++d)
    rows.push_back({measurement.dispatches[d], spreadOf(measurement.dispatchNs[d])});
  std::stable_sort(rows.begin(), rows.end(), [](const DispatchRow &a, const DispatchRow &b) {
    return a.spread.median > b.spread.median;
  });
  return rows;
}

std::string extent(const uint32_t (&v)[3]) { return fmt::format("{}x{}x{}", v[0], v[1], v[2]); }

/// Returns the amount per nanosecond, which is the rate in units of 1e9 per second.
double perNs(uint64_t amount, double ns) { return ns > 0 ? static_cast<double>(amount) / ns : 0; }

Json jsonOf(const Spread &spread) {
  return {{"median_ns", spread.median},
          {"p10_ns", spread.p10},
          {"p90_ns", spread.p90},
          {"min_ns", spread.min},
          {"count", spread.count}};
}

void printJson(const BenchOptions &options, const HostSession &session,
               const Measurement &measurement, const std::vector<DispatchRow> &rows, size_t shown,
               bool cached) {
  gantry_statistics_t s = session.statistics();
  Json dispatches = Json::array();
  for (size_t i = 0; i < shown; ++i) {
    const gantry_dispatch_info_t &info = rows[i].info;
    Json row = jsonOf(rows[i].spread);
    row["name"] = info.name ? info.name : "";
    row["flops"] = info.flops;
    row["bytes"] = info.bytes;
    row["gflops"] = perNs(info.flops, rows[i].spread.median);
    row["gbytes_per_s"] = perNs(info.bytes, rows[i].spread.median);
    row["workgroups"] = info.workgroups;
    row["workgroup_size"] = info.workgroup_size;
    row["parts"] = info.parts;
    row["shared_bytes"] = info.shared_bytes;
    row["binding"] = bindingName(info.binding);
    dispatches.push_back(std::move(row));
  }
  Json json = {{"model", options.model},
               {"device", session.deviceInfo().name},
               {"cached", cached},
               {"profile", describe(session.program().get(), {}).profile},
               {"run", jsonOf(spreadOf(measurement.hostNs))},
               {"load_ns", s.load_ns},
               {"first_run_ns", measurement.firstRunNs},
               {"first_answer_ns", static_cast<double>(s.load_ns) + measurement.firstRunNs},
               {"pipelines", s.pipelines},
               {"constant_bytes", s.constant_bytes},
               {"arena_bytes", s.arena_bytes},
               {"lower_bound_bytes", s.lower_bound_bytes},
               {"reserved_bytes", s.reserved_bytes},
               {"dispatches", dispatches}};
  if (!measurement.gpuNs.empty())
    json["gpu"] = jsonOf(spreadOf(measurement.gpuNs));
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void printSpread(const char *what, const Spread &spread) {
  print(fmt::format("  {:<5} {} median, {} to {} (p10 to p90), {} min, {} runs\n", what,
                    coloured(humanTime(spread.median), Colour::kGreen, colourOnStdout()),
                    humanTime(spread.p10), humanTime(spread.p90), humanTime(spread.min),
                    spread.count));
}

void printText(const BenchOptions &options, const HostSession &session,
               const Measurement &measurement, const std::vector<DispatchRow> &rows, size_t shown,
               bool cached) {
  print(fmt::format("{} on {}\n",
                    coloured(printable(options.model), Colour::kBold, colourOnStdout()),
                    printable(deviceText(session.deviceInfo()))));
  if (cached)
    print(coloured(fmt::format("  cache {}\n", cacheText()), Colour::kDim, colourOnStdout()));
  const gantry_statistics_t statistics = session.statistics();
  const auto loadNs = static_cast<double>(statistics.load_ns);
  print(fmt::format(
      "  start {} to the first answer: load {} ({} pipelines), first run {}\n",
      coloured(humanTime(loadNs + measurement.firstRunNs), Colour::kGreen, colourOnStdout()),
      humanTime(loadNs), statistics.pipelines, humanTime(measurement.firstRunNs)));
  printSpread("run", spreadOf(measurement.hostNs));
  if (rows.empty())
    return;
  printSpread("GPU", spreadOf(measurement.gpuNs));
  double total = 0;
  uint64_t flops = 0, bytes = 0;
  for (const DispatchRow &row : rows) {
    total += row.spread.median;
    flops += row.info.flops;
    bytes += row.info.bytes;
  }
  print(fmt::format("  rate  {:.4g} GFLOP/s, {:.4g} GB/s over all dispatches\n\n",
                    perNs(flops, total), perNs(bytes, total)));
  Table table({{"operators", Align::kLeft, true},
               {"median", Align::kRight},
               {"p10-p90", Align::kRight},
               {"share", Align::kRight},
               {"GFLOP/s", Align::kRight},
               {"GB/s", Align::kRight},
               {"workgroups", Align::kRight},
               {"size", Align::kRight},
               {"shared", Align::kRight}});
  for (size_t i = 0; i < shown; ++i) {
    const gantry_dispatch_info_t &info = rows[i].info;
    const Spread &spread = rows[i].spread;
    table.addRow(
        {info.name ? info.name : "", humanTime(spread.median),
         fmt::format("{}-{}", humanTime(spread.p10), humanTime(spread.p90)),
         fmt::format("{:.1f} %", total > 0 ? 100 * spread.median / total : 0.0),
         fmt::format("{:.2f}", perNs(info.flops, spread.median)),
         fmt::format("{:.2f}", perNs(info.bytes, spread.median)),
         extent(info.workgroups) + (info.parts > 1 ? fmt::format(" in {}", info.parts) : ""),
         extent(info.workgroup_size), humanBytes(info.shared_bytes)});
  }
  print(table.format(colourOnStdout(), terminalWidth()));
  if (shown < rows.size())
    print(fmt::format("  and {} more; --top {} shows all\n", rows.size() - shown, rows.size()));
}

ExitCode runBench(BenchOptions options) {
  options.session.timestamps = !options.noTimestamps;
  checkChoice(options.model, options.profile, options.variant);
  CompileRequest request;
  if (!isArtifact(options.model))
    request.profiles = profileToRun(options.profile, options.session.device);
  request.useCache = options.useCache;
  LoadedModel model = loadModel(options.model, request, options.variant);
  std::vector<Tensor> inputs = makeInputs(inputPorts(model.program.get()),
                                          options.inputs.resolve(Filling::kRandom), readTensor);
  HostSession session(model.program.get(), options.session);
  session.bind(inputs);
  Measurement measurement = measure(session, options);
  std::vector<DispatchRow> rows = rowsOf(measurement);
  size_t shown = options.top ? std::min(options.top, rows.size()) : rows.size();
  options.json ? printJson(options, session, measurement, rows, shown, model.cached)
               : printText(options, session, measurement, rows, shown, model.cached);
  return ExitCode::kOk;
}

} // namespace

void addBench(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "bench", "Measure a model: time to the first answer, per run and per dispatch");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("MODEL", options->model, "A .gantry artifact, or a .onnx or .mlir model")
      ->required();
  CLI::Option *runs = options::whole(
      command->add_option("-n,--runs", options->runs, "Runs to measure"), "N", 1, 1'000'000'000);
  runs->default_str("as many as --seconds take, at least 5");
  options::real(command->add_option("--seconds", options->seconds, "Measure for this long"), "S", 0,
                86400)
      ->default_str("1")
      ->excludes(runs);
  options::whole(command->add_option("--warmup", options->warmup, "Runs before the measurement"),
                 "N", 0, 1'000'000)
      ->default_str("3");
  options::whole(command->add_option("--top", options->top, "Show only the N slowest dispatches"),
                 "N", 1, 1'000'000'000);
  options->inputs.add(*command);
  addSessionOptions(*command, options->session);
  command
      ->add_flag("--no-timestamps", options->noTimestamps,
                 "Measure only whole runs, not the dispatches on the device")
      ->group(kDevice);
  addProfileOption(*command, options->profile);
  addVariantOption(*command, options->variant);
  addCacheOption(*command, options->useCache);
  addJson(*command, options->json);
  command->footer(
      examples({"gantry bench model.gantry", "gantry bench model.onnx --runs 100 --top 10",
                "gantry bench gpt.onnx --dim batch=1 --dim time=64 --json"}));
  command->callback([options, &action] { action = [options] { return runBench(*options); }; });
}

} // namespace gantry::tool
