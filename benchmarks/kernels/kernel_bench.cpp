// kernel_bench: compares the kernels that Gantry generated with references (hand-written kernels,
// or the vendor's library) and with the device's ceilings, which are measured peak rates
// (contestant.h). In each round all of them run in turn.
//
//   kernel_bench [--artifacts FOLDER] [--device D] [--rounds N] [--only NAME …] [--side N]
//   [--json FILE] [--check]
//
// It needs neither the compiler nor a network. FOLDER has the artifacts, which are the compiled
// models of make_models.py (matmul.gantry …); where an artifact is absent, the columns of the
// generated kernel show "-". --check runs the references in small sizes and only checks their
// results. The exit code is 1, with one line on stderr, if something failed or a result was wrong.
//
// On a software device times are CPU seconds and rates are per core: kernels run in the submitting
// thread (LP_NUM_THREADS=0) with 256-bit vectors (LP_NATIVE_VECTOR_WIDTH=256), unless the
// environment sets other values. On a GPU times are the device's own.
#include "benchmarks/kernels/measure.h"
#include "benchmarks/kernels/overhead.h"
#include "benchmarks/kernels/workloads.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace gantry::bench {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kCeilingElements = uint64_t{1} << 25; // 128 MiB per tensor, more than a cache.
constexpr uint32_t kMaxSideInSoftware = 1024; // Larger matmuls take minutes on a software device.

struct Options {
  std::string artifacts, device, json;
  std::vector<std::string> only;
  uint32_t rounds = 5, side = 8192;
  bool check = false, overhead = true;
};

struct Entry {
  std::string name;
  std::function<Workload(Sizes)> make;
  bool large = false; // Whether a software device runs the workload only if --only names it.
};

std::vector<Entry> entries(const Options &options) {
  const uint32_t side = options.side;
  const bool large = side > kMaxSideInSoftware;
  const std::string suffix = std::to_string(side);
  return {
      {"matmul", matmulWorkload},
      {"conv3x3", [](Sizes sizes) { return convWorkload(sizes, 1); }},
      {"conv3x3_chain", [](Sizes sizes) { return convWorkload(sizes, 4); }},
      {"add", addWorkload},
      {"softmax", softmaxWorkload},
      {"matvec", matvecWorkload},
      {"matmul_f16_" + suffix, [side](Sizes) { return squareWorkload(side, true); }, large},
      {"matmul_f32_" + suffix, [side](Sizes) { return squareWorkload(side, false); }, large},
  };
}

std::string rate(double value, Unit unit) {
  return fmt::format("{:.2f} {}", value, unit == Unit::kFlops ? "GFLOP/s" : "GB/s");
}

std::string ratio(const std::optional<Comparison::Ratio> &ratio) {
  return ratio ? fmt::format("{:.2f} {:.2f}", ratio->median, ratio->best) : "-";
}

void printHead() {
  fmt::print("{:14} {:24} {:>14} {:>14} {:>10}  {:>27} {:>10} {:>10}\n", "kernel", "size",
             "generated", "reference", "gen/ref", "ceiling", "gen/ceil", "ref/ceil");
}

void printRow(const Comparison &c) {
  fmt::print("{:14} {:24} {:>14} {:>14} {:>10}  {:>27} {:>10} {:>10}\n", c.name, c.shape,
             c.generatedRate ? rate(*c.generatedRate, c.unit) : "-",
             c.referenceRate ? rate(*c.referenceRate, c.unit) : "-", ratio(c.generatedToReference),
             rate(c.ceilingRate, c.unit) + " " + nameOf(c.ceiling), ratio(c.generatedToCeiling),
             ratio(c.referenceToCeiling));
  if (!c.referenceMissing.empty())
    fmt::print("  {}: no {}: {}\n", c.name, c.referenceName, c.referenceMissing);
  std::fflush(stdout);
}

void printCheck(const Comparison &c) {
  if (c.referenceError)
    fmt::print("{}: relative error {:.1e}\n", c.name, *c.referenceError);
  else
    fmt::print("{}: not checked: no {}: {}\n", c.name, c.referenceName, c.referenceMissing);
}

Json jsonOf(const Comparison &c) {
  auto optional = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  auto ratio = [](const std::optional<Comparison::Ratio> &value) {
    return value ? Json{{"median", value->median}, {"best", value->best}} : Json();
  };
  return {{"name", c.name},
          {"size", c.shape},
          {"unit", c.unit == Unit::kFlops ? "GFLOP/s" : "GB/s"},
          {"reference_name", c.referenceName},
          {"reference_missing", c.referenceMissing},
          {"reference", optional(c.referenceRate)},
          {"reference_error", optional(c.referenceError)},
          {"ceiling", nameOf(c.ceiling)},
          {"ceiling_rate", c.ceilingRate},
          {"reference_to_ceiling", ratio(c.referenceToCeiling)},
          {"generated", optional(c.generatedRate)},
          {"generated_error", optional(c.generatedError)},
          {"generated_to_reference", ratio(c.generatedToReference)},
          {"generated_to_copy", ratio(c.generatedToCopy)},
          {"generated_to_ceiling", ratio(c.generatedToCeiling)}};
}

/// Returns the path of a workload's artifact, or "" if there is none.
std::string artifactOf(const Options &options, const std::string &name) {
  if (options.artifacts.empty())
    return "";
  const std::filesystem::path path = std::filesystem::path(options.artifacts) / (name + ".gantry");
  return std::filesystem::exists(path) ? path.string() : "";
}

bool wanted(const Options &options, const std::string &name) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

/// Throws before the measurement if a name or a folder does not exist.
void validate(const Options &options) {
  const std::vector<Entry> all = entries(options);
  std::string names;
  for (const Entry &entry : all)
    names.append(names.empty() ? "" : ", ").append(entry.name);
  for (const std::string &name : options.only)
    if (std::none_of(all.begin(), all.end(),
                     [&](const Entry &entry) { return name == entry.name; }))
      throw GpuError("no kernel \"" + name + "\"; there are: " + names);
  if (!options.artifacts.empty() && !std::filesystem::is_directory(options.artifacts))
    throw GpuError(options.artifacts + " is not a folder");
}

std::string environment() {
  return fmt::format("LP_NUM_THREADS={} LP_NATIVE_VECTOR_WIDTH={}", std::getenv("LP_NUM_THREADS"),
                     std::getenv("LP_NATIVE_VECTOR_WIDTH"));
}

Json measureAll(const Options &options, Gpu &gpu) {
  std::unique_ptr<Runtime> runtime;
  auto theRuntime = [&]() -> Runtime & {
    if (!runtime)
      runtime = std::make_unique<Runtime>(gpu.info().name);
    return *runtime;
  };
  Json rows = Json::array();
  for (const Entry &entry : entries(options)) {
    if (!wanted(options, entry.name))
      continue;
    if (entry.large && gpu.info().software && options.only.empty()) {
      fmt::print("{}: not run on a software device unless --only names it: it takes minutes\n",
                 entry.name);
      continue;
    }
    const std::string artifact = options.check ? "" : artifactOf(options, entry.name);
    const Workload workload = entry.make(options.check ? Sizes::kSmall : Sizes::kFull);
    const Comparison comparison =
        compare(gpu, artifact.empty() ? nullptr : &theRuntime(), workload, artifact,
                options.check ? 0 : options.rounds, kCeilingElements);
    if (options.check)
      printCheck(comparison);
    else
      printRow(comparison);
    rows.push_back(jsonOf(comparison));
  }
  Json json = {{"device", gpu.info().name},
               {"uuid", fmt::format("{:02x}", fmt::join(gpu.info().uuid, ""))},
               {"time", gpu.info().software ? "CPU seconds" : "GPU timestamps"},
               {"environment", gpu.info().software ? environment() : ""},
               {"rounds", options.rounds},
               {"kernels", rows}};
  if (!options.check && options.overhead) {
    const Overhead overhead = measureOverhead(gpu, theRuntime(), options.rounds);
    fmt::print("\na dispatch: {:.0f} ns by the runtime, {:.0f} ns recorded by hand, ratio {:.2f}\n",
               overhead.runtimeNs, overhead.rawNs, overhead.ratio);
    json["dispatch"] = {
        {"runtime_ns", overhead.runtimeNs}, {"raw_ns", overhead.rawNs}, {"ratio", overhead.ratio}};
  }
  return json;
}

void run(const Options &options) {
  validate(options);
  Gpu gpu(options.device);
  fmt::print("{}, {}, medians of {} rounds; ratios: median of the rounds, then best / best\n\n",
             gpu.info().name,
             gpu.info().software ? "CPU seconds, " + environment() : "GPU timestamps",
             options.rounds);
  if (!options.check)
    printHead();
  const Json json = measureAll(options, gpu);
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << json.dump(2) << "\n";
    if (!file.flush())
      throw GpuError(options.json + " could not be written");
  }
  if (gpu.validationMessages())
    throw GpuError(std::to_string(gpu.validationMessages()) + " validation messages");
}

int main(int argc, char **argv) {
  // The driver reads these variables when it is loaded. Values that the user has set are kept.
  setenv("LP_NUM_THREADS", "0", 0);
  setenv("LP_NATIVE_VECTOR_WIDTH", "256", 0);
  Options options;
  CLI::App app("Compares generated kernels with hand-written ones and with the device's ceilings");
  app.add_option("--artifacts", options.artifacts, "folder with compiled models");
  app.add_option("--device", options.device, "index of the device, or part of its name");
  app.add_option("--rounds", options.rounds, "number of rounds")->check(CLI::Range(1, 1000));
  app.add_option("--only", options.only, "run only these kernels");
  app.add_option("--side", options.side, "size N of the matrices of matmul_f16_N and matmul_f32_N")
      ->check(CLI::Range(16, 16384));
  app.add_option("--json", options.json, "also write the results to this file");
  app.add_flag("--check", options.check, "check the references in small sizes, measure nothing");
  app.add_flag("!--no-overhead", options.overhead, "do not measure the cost of a dispatch");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception &error) {
    fmt::print(stderr, "kernel_bench: error: {}\n", error.what());
    return 1;
  }
  return 0;
}

} // namespace
} // namespace gantry::bench

int main(int argc, char **argv) { return gantry::bench::main(argc, argv); }
