// planner_tight_bench: measures how fast the planner reaches a wanted height, the goal, on hard
// instances of some hundred buffers. The planner (engine/plan/plan.h) gives buffers of known sizes
// and lifetimes offsets in one memory block, whose size is the height of the plan. The lower bound
// is the largest sum of sizes that are alive at one moment. The goal is the larger of --capacity
// and the lower bound. The table shows CPU time (total, geometric mean, max), the number of plans
// that met the goal, and the worst height ÷ goal. plan::validatePlan() checks every plan.
//
//   planner_tight_bench [FILE.csv ...] [--capacity N] [--work N] [--scaled] [--alignments]
//                       [--json FILE]
//
// Instances are CSV files (id,lower,upper,size; a buffer is alive in [lower, upper)), or packings
// made from seeds if no file is given. Each instance is planned as given, with its buffers in
// random order, and mirrored in time. With --scaled, it is also planned with sizes and capacity
// times 1000003/1000, rounded down, and with sizes reduced by one byte and by up to 0.5 % at
// random. With --alignments, it is also planned with alignments (the goal is 1.02 times the lower
// bound of the sizes rounded up to the alignments). Exit code 1 if planning or a check failed.
#include "engine/plan/plan.h"
#include "tests/support/plan_instances.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

namespace gantry::bench {

namespace {

using plan::PlanRequest;
using plan::Value;

struct Instance {
  std::string name;
  std::vector<Value> values;
};

double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Instance readInstance(const std::string &path) {
  Instance instance{std::filesystem::path(path).stem().string(), {}};
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::string id;
    uint32_t lower = 0;
    uint32_t upper = 0;
    Value value;
    if (fields >> id >> lower >> upper >> value.sizeBytes && lower < upper) {
      value.firstUse = lower;
      value.lastUse = upper - 1;
      instance.values.push_back(value);
    }
  }
  if (instance.values.empty()) {
    std::cerr << path
              << ": no buffers; expected a CSV file with the columns id, lower, upper, size\n";
    std::exit(2);
  }
  return instance;
}

std::vector<Instance> plantedInstances() {
  std::vector<Instance> instances;
  for (const uint32_t count : {100, 200, 400})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Instance instance{"planted " + std::to_string(count) + "/" + std::to_string(seed), {}};
      const plan::Problem problem = test::problemOf(test::guillotinePacking(count, seed));
      for (uint32_t i = 0; i < problem.count(); ++i)
        instance.values.push_back({problem.size[i], 1, problem.begin[i], problem.end[i] - 1});
      instances.push_back(std::move(instance));
    }
  return instances;
}

class Table {
public:
  explicit Table(uint64_t work) : work_(work) {}

  /// Plans an instance, validates the plan and adds a row.
  void measure(const std::string &kind, const Instance &instance, PlanRequest request) {
    request.workLimit = work_;
    const double begin = processorSeconds();
    Result<plan::Plan> plan = plan::planArena(instance.values, request);
    const double seconds = processorSeconds() - begin;
    if (plan.isOk())
      if (const Status valid = plan::validatePlan(instance.values, *plan); !valid.isOk())
        plan = valid;
    if (!plan.isOk()) {
      std::fprintf(stderr, "%s: %s\n", instance.name.c_str(), plan.status().message().c_str());
      failed_ = true;
      return;
    }
    const uint64_t goal = std::max(request.enoughBytes, plan->lowerBoundBytes);
    const double ratio = static_cast<double>(plan->heightBytes) / static_cast<double>(goal);
    rows_.push_back({{"kind", kind},
                     {"instance", instance.name},
                     {"buffers", instance.values.size()},
                     {"seconds", seconds},
                     {"height", plan->heightBytes},
                     {"goal", goal},
                     {"bound", plan->lowerBoundBytes}});
    Summary &summary = summaryOf(kind);
    summary.seconds.push_back(seconds);
    summary.met += ratio <= 1 ? 1 : 0;
    summary.worst = std::max(summary.worst, ratio);
  }

  int print(const std::string &jsonPath) const {
    std::printf("%-24s %10s %10s %10s %10s %12s\n", "", "total s", "GM ms", "max ms", "goal met",
                "worst ratio");
    for (const auto &[kind, summary] : summaries_) {
      double total = 0;
      double logs = 0;
      for (const double seconds : summary.seconds) {
        total += seconds;
        logs += std::log(seconds);
      }
      const auto count = static_cast<double>(summary.seconds.size());
      std::printf("%-24s %10.3f %10.2f %10.1f %6zu/%-3zu %12.4f\n", kind.c_str(), total,
                  std::exp(logs / count) * 1e3,
                  *std::max_element(summary.seconds.begin(), summary.seconds.end()) * 1e3,
                  summary.met, summary.seconds.size(), summary.worst);
    }
    if (!jsonPath.empty())
      std::ofstream(jsonPath) << nlohmann::json(rows_).dump(1) << "\n";
    return failed_ ? 1 : 0;
  }

private:
  struct Summary {
    std::vector<double> seconds;
    size_t met = 0;
    double worst = 0;
  };
  Summary &summaryOf(const std::string &kind) {
    for (auto &[name, summary] : summaries_)
      if (name == kind)
        return summary;
    return summaries_.emplace_back(kind, Summary{}).second;
  }

  uint64_t work_;
  bool failed_ = false;
  std::vector<std::pair<std::string, Summary>> summaries_;
  std::vector<nlohmann::json> rows_;
};

Instance shuffled(Instance instance) {
  std::shuffle(instance.values.begin(), instance.values.end(), std::mt19937_64(1));
  return instance;
}

Instance mirrored(Instance instance) {
  uint32_t last = 0;
  for (const Value &value : instance.values)
    last = std::max(last, value.lastUse);
  for (Value &value : instance.values) {
    const uint32_t first = last - value.lastUse;
    value.lastUse = last - value.firstUse;
    value.firstUse = first;
  }
  return instance;
}

/// Returns the lower bound of the sizes, each rounded up to the value's own alignment. A plan may
/// be lower than this, because values of smaller alignment can use the bytes between the end of a
/// value and its rounded end.
uint64_t roundedBound(std::vector<Value> values) {
  for (Value &value : values) {
    value.sizeBytes = (value.sizeBytes + value.alignment - 1) / value.alignment * value.alignment;
    value.alignment = 1;
  }
  return plan::lowerBound(values);
}

/// Plans an instance as given, with its values (buffers) in random order, and mirrored in time.
void measureVariants(Table &table, const std::string &kind, const Instance &instance,
                     uint64_t capacity) {
  PlanRequest request;
  request.enoughBytes = capacity;
  table.measure(kind + "as given", instance, request);
  table.measure(kind + "shuffled", shuffled(instance), request);
  table.measure(kind + "mirrored", mirrored(instance), request);
}

void measureScaled(Table &table, const Instance &instance, uint64_t capacity) {
  Instance scaled = instance;
  for (Value &value : scaled.values)
    value.sizeBytes = value.sizeBytes * 1000003 / 1000;
  measureVariants(table, "scaled, ", scaled, capacity * 1000003 / 1000);
  Instance less = instance;
  for (Value &value : less.values)
    value.sizeBytes -= 1;
  measureVariants(table, "less 1 byte, ", less, capacity);
  std::mt19937_64 random(7);
  less = instance;
  for (Value &value : less.values)
    value.sizeBytes -= random() % (value.sizeBytes / 200 + 1);
  measureVariants(table, "less 0.5 %, ", less, capacity);
}

void measureAlignments(Table &table, const Instance &instance) {
  constexpr uint64_t kAlignments[] = {256, 4096, 16384};
  for (size_t which = 0; which <= std::size(kAlignments); ++which) {
    const bool mixed = which == std::size(kAlignments);
    Instance aligned = instance;
    for (size_t i = 0; i < aligned.values.size(); ++i)
      aligned.values[i].alignment = kAlignments[mixed ? i % std::size(kAlignments) : which];
    PlanRequest request;
    request.enoughBytes = roundedBound(aligned.values) / 100 * 102;
    table.measure(mixed ? "aligned mixed" : "aligned " + std::to_string(kAlignments[which]),
                  aligned, request);
  }
}

} // namespace

struct Options {
  std::vector<std::string> files;
  uint64_t capacity = 0; // The goal in bytes; 0: the lower bound.
  uint64_t work = plan::kDefaultWork;
  bool scaled = false;
  bool alignments = false;
  std::string jsonPath;
};

int runAll(const Options &options) {
  std::vector<Instance> instances;
  for (const std::string &file : options.files)
    instances.push_back(readInstance(file));
  if (options.files.empty())
    instances = plantedInstances();
  Table table(options.work);
  const uint64_t capacity = options.capacity;
  for (const Instance &instance : instances) {
    measureVariants(table, "", instance, capacity);
    if (options.scaled)
      measureScaled(table, instance, capacity);
    if (options.alignments)
      measureAlignments(table, instance);
  }
  return table.print(options.jsonPath);
}

} // namespace gantry::bench

int main(int argc, char **argv) {
  CLI::App app(
      "Measures the planner on tight instances, and with scaled sizes and with alignments");
  gantry::bench::Options options;
  app.add_option("FILE.csv", options.files,
                 "Buffers as id,lower,upper,size; without files, packings made from seeds");
  app.add_option("--capacity", options.capacity, "The goal in bytes; 0: the lower bound");
  app.add_option("--work", options.work, "Units of work for each plan");
  app.add_flag("--scaled", options.scaled, "Also plan scaled and reduced sizes");
  app.add_flag("--alignments", options.alignments, "Also plan with alignments");
  app.add_option("--json", options.jsonPath, "Also write all rows to this file");
  CLI11_PARSE(app, argc, argv);
  return gantry::bench::runAll(options);
}
