// model_bench: compares whole compiled models with the hand-written convolution, in one run.
//
//   model_bench [--device D] [--rounds N] [--dim NAME=N …] [--json FILE] ARTIFACT …
//
// For each model it prints the seconds of a run (CPU seconds of one thread on a software device,
// the device's own time on a GPU), the rate in operations per second, and the model's rate ÷ the
// rate of the hand-written 3×3 convolution (shaders/bench), which runs in turn with the model. The
// ratio says what share of a good kernel's speed the whole model reaches. Figures are medians of
// the rounds; the column "best" is the model's best round ÷ the convolution's best round. The exit
// code is 1, with a line on stderr for each failure, if something failed.
#include "benchmarks/kernels/measure.h"
#include "benchmarks/kernels/workloads.h"
#include "benchmarks/models/model_run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace gantry::bench {
namespace {

using Json = nlohmann::json;

struct Options {
  std::vector<std::string> artifacts, dimTexts;
  std::string device, json;
  uint32_t rounds = 5;
};

Json measure(Runtime &runtime, Contestant &conv, double convWork, const std::string &artifact,
             const Options &options) {
  ModelRun model(runtime, artifact, parseDims(options.dimTexts));
  std::vector<double> seconds, convRates, ratios;
  for (uint32_t round = 0; round < options.rounds; ++round) {
    convRates.push_back(convWork / conv.seconds());
    seconds.push_back(model.seconds());
    ratios.push_back(model.flops() / seconds.back() / convRates.back());
  }
  const gantry_statistics_t statistics = model.statistics();
  const double median = medianOf(seconds);
  const double best = model.flops() / *std::ranges::min_element(seconds);
  return {{"model", std::filesystem::path(artifact).stem().string()},
          {"seconds", median},
          {"gflop", model.flops() * 1e-9},
          {"gflops", model.flops() / median * 1e-9},
          {"conv_gflops", medianOf(convRates) * 1e-9},
          {"ratio", medianOf(ratios)},
          {"best_ratio", best / *std::ranges::max_element(convRates)},
          {"dispatches", model.dispatches()},
          {"arena_bytes", statistics.arena_bytes},
          {"load_ns", statistics.load_ns}};
}

bool run(const Options &options) {
  Gpu gpu(options.device);
  Runtime runtime(gpu.info().name);
  const Workload workload = convWorkload(Sizes::kFull, 1);
  const std::unique_ptr<Contestant> conv = workload.reference(gpu);
  if (!(workload.error(conv->result()) <= workload.tolerance))
    throw GpuError("the hand-written convolution is wrong on this device");
  fmt::print("{}, {}\n\n{:28} {:>10} {:>10} {:>10} {:>12} {:>6} {:>6} {:>6}\n", gpu.info().name,
             gpu.info().software ? "CPU seconds" : "GPU seconds", "model", "seconds", "GFLOP",
             "GFLOP/s", "conv GFLOP/s", "ratio", "best", "disp.");
  Json rows = Json::array();
  bool good = true;
  for (const std::string &artifact : options.artifacts) {
    try {
      const Json row = measure(runtime, *conv, workload.work, artifact, options);
      fmt::print("{:28} {:10.4f} {:10.3f} {:10.2f} {:12.2f} {:6.3f} {:6.3f} {:6}\n",
                 row["model"].get<std::string>(), row["seconds"].get<double>(),
                 row["gflop"].get<double>(), row["gflops"].get<double>(),
                 row["conv_gflops"].get<double>(), row["ratio"].get<double>(),
                 row["best_ratio"].get<double>(), row["dispatches"].get<uint64_t>());
      std::fflush(stdout);
      rows.push_back(row);
    } catch (const GpuError &error) {
      fmt::print(stderr, "{}: {}\n", artifact, error.what());
      good = false;
    }
  }
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << Json{{"device", gpu.info().name}, {"models", rows}}.dump(2) << "\n";
    if (!file.flush())
      throw GpuError(options.json + " could not be written");
  }
  return good;
}

int main(int argc, char **argv) {
  // The driver reads these variables when it is loaded. They make kernels run in the submitting
  // thread with 256-bit vectors, as in kernel_bench. Values that the user has set are kept.
  setenv("LP_NUM_THREADS", "0", 0);
  setenv("LP_NATIVE_VECTOR_WIDTH", "256", 0);
  Options options;
  CLI::App app("Compares whole compiled models with the hand-written convolution");
  app.add_option("artifacts", options.artifacts, "compiled models (.gantry)")->required();
  app.add_option("--device", options.device, "index of the device, or part of its name");
  app.add_option("--rounds", options.rounds, "number of rounds")->check(CLI::Range(1, 1000));
  app.add_option("--dim", options.dimTexts, "size of a dynamic dimension: batch=2")
      ->allow_extra_args(false);
  app.add_option("--json", options.json, "also write the results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options) ? 0 : 1;
  } catch (const std::exception &error) {
    fmt::print(stderr, "model_bench: error: {}\n", error.what());
    return 1;
  }
}

} // namespace
} // namespace gantry::bench

int main(int argc, char **argv) { return gantry::bench::main(argc, argv); }
