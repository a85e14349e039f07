// How fast the planner reaches a capacity or the bound on hard instances of some hundred buffers,
// and under constraints: CPU time beside height ÷ goal. Every plan is checked by the validator.
//
// Instances are CSV files (id,lower,upper,size), or planted packings made from seeds where none are
// given. Each is planned as it is, shuffled and mirrored in time; with alignments (goal: 1.02 × the
// bound of the rounded sizes); and again with parts of its own plan pinned (goal: its height).
#include "engine/plan/plan.h"
#include "tests/support/plan_instances.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

namespace gantry::bench {

namespace {

using plan::Plan;
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

  /// Plans and records; the plan is empty where it failed.
  Plan measure(const std::string &kind, const Instance &instance, PlanRequest request) {
    request.workLimit = work_;
    const double begin = processorSeconds();
    Result<Plan> plan = plan::planArena(instance.values, request);
    const double seconds = processorSeconds() - begin;
    if (plan.isOk())
      if (const Status valid = plan::validatePlan(instance.values, *plan, request.constraints);
          !valid.isOk())
        plan = valid;
    if (!plan.isOk()) {
      std::fprintf(stderr, "%s: %s\n", instance.name.c_str(), plan.status().message().c_str());
      failed_ = true;
      return {};
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
    return plan.take();
  }

  int print(const std::string &jsonPath) const {
    std::printf("%-18s %10s %10s %10s %10s %12s\n", "", "total s", "GM ms", "max ms", "goal met",
                "worst ratio");
    for (const auto &[kind, summary] : summaries_) {
      double total = 0;
      double logs = 0;
      for (const double seconds : summary.seconds) {
        total += seconds;
        logs += std::log(seconds);
      }
      const auto count = static_cast<double>(summary.seconds.size());
      std::printf("%-18s %10.3f %10.2f %10.1f %6zu/%-3zu %12.4f\n", kind.c_str(), total,
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

/// The bound of the sizes each rounded up to its own alignment, which a plan of values of different
/// alignments may even go below.
uint64_t roundedBound(std::vector<Value> values) {
  for (Value &value : values) {
    value.sizeBytes = (value.sizeBytes + value.alignment - 1) / value.alignment * value.alignment;
    value.alignment = 1;
  }
  return plan::lowerBound(values);
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

/// Three draws of pins from a known solution; `whose`: the planner's own plan, or one that it does
/// not come to by itself.
void measurePins(Table &table, const Instance &instance, const Plan &known,
                 const std::string &whose) {
  for (const uint64_t percent : {10, 50, 90})
    for (const uint64_t draw : {0, 1000, 2000}) {
      std::mt19937_64 random(draw + percent);
      PlanRequest request;
      request.enoughBytes = known.heightBytes;
      for (uint32_t i = 0; i < instance.values.size(); ++i)
        if (random() % 100 < percent)
          request.constraints.pins.push_back({i, known.offsets[i], 0});
      table.measure("pinned " + std::to_string(percent) + " %, " + whose, instance, request);
    }
}

} // namespace

int runAll(const std::vector<std::string> &files, uint64_t capacity, uint64_t work,
           bool constraints, const std::string &jsonPath) {
  std::vector<Instance> instances;
  for (const std::string &file : files)
    instances.push_back(readInstance(file));
  if (files.empty())
    instances = plantedInstances();
  Table table(work);
  for (const Instance &instance : instances) {
    PlanRequest request;
    request.enoughBytes = capacity;
    const Plan known = table.measure("as it is", instance, request);
    Instance shuffled = instance;
    std::shuffle(shuffled.values.begin(), shuffled.values.end(), std::mt19937_64(1));
    table.measure("shuffled", shuffled, request);
    const Plan other = table.measure("mirrored", mirrored(instance), request); // holds here, too
    if (!constraints || known.offsets.empty() || other.offsets.empty())
      continue;
    measureAlignments(table, instance);
    measurePins(table, instance, known, "own");
    measurePins(table, instance, other, "other");
  }
  return table.print(jsonPath);
}

} // namespace gantry::bench

int main(int argc, char **argv) {
  CLI::App app("Time and height of the planner on tight instances and under constraints");
  std::vector<std::string> files;
  uint64_t capacity = 0;
  uint64_t work = gantry::plan::kDefaultWork;
  bool constraints = false;
  std::string jsonPath;
  app.add_option("FILE.csv", files, "id,lower,upper,size; planted packings where none are given");
  app.add_option("--capacity", capacity, "the goal; 0: the lower bound");
  app.add_option("--work", work, "units of work for each plan");
  app.add_flag("--constraints", constraints, "alignments and pins too");
  app.add_option("--json", jsonPath, "also write all rows to this file");
  CLI11_PARSE(app, argc, argv);
  return gantry::bench::runAll(files, capacity, work, constraints, jsonPath);
}
