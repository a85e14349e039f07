// planner_scale_bench: measures how close the planner comes to the lower bound on instances with
// many buffers, and how much time and memory it takes.
//
// The planner (engine/plan/plan.h) gives buffers of known sizes and lifetimes offsets in one memory
// block, whose size is the height of the plan. The lower bound of the height is the largest
// sum of the sizes of the buffers that are alive at one moment.
//
//   planner_scale_bench [--json FILE] [--seeds N] [--largest N] [--work N]
//
// Instances are made from seeds (tests/support/plan_instances.h). Three families are
// packings. They cut a rectangle of time by addresses into buffers without gaps, so that their
// optimum is the lower bound: with cuts from edge to edge ("guillotine"); with such cuts at few
// distinct times ("few moments"), so that many buffers begin or end together; and with cuts in
// spirals. "Scaled" multiplies the sizes of the first family and rounds them up, so that its
// optimum may be above the bound. The other families are the buffers of graphs like those of
// models. The columns are:
//   first ms          CPU time until the fast tier (engine/plan/search/fast_tier.h) has its first
//                     plan
//   fast, worst, ms   the fast tier's height ÷ the lower bound (median and max of the seeds), and
//                     its median CPU time
//   search, worst, ms the same for the large-neighbourhood search
//                     (engine/plan/search/large_neighbourhood.h), which starts from the fast tier's
//                     plan and is limited to --work units of work per buffer; a unit takes 10 to
//                     30 ns
//   B/buf             max heap memory that a call held, including its result, in bytes per buffer
//   ns/nlg            the fast tier's time ÷ (n log2 n) in nanoseconds; n: the number of buffers
// A checker that shares no code with the planner checks every plan. Exit code 1 if a plan is wrong
// or the JSON file cannot be written.
#include "engine/plan/search/fast_tier.h"
#include "engine/plan/search/large_neighbourhood.h"
#include "tests/support/plan_instances.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// ---- replaced operators new and delete, which count the bytes held -----------------------------

namespace {
size_t heldBytes = 0;
size_t maxBytes = 0;
} // namespace

void *operator new(size_t bytes) {
  void *memory = std::malloc(bytes);
  if (memory == nullptr)
    std::abort();
  heldBytes += malloc_usable_size(memory);
  maxBytes = std::max(maxBytes, heldBytes);
  return memory;
}
void operator delete(void *memory) noexcept {
  heldBytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept { operator delete(memory); }

namespace gantry::bench {
namespace {

using plan::Placement;
using plan::Problem;
using plan::WorkMeter;

constexpr uint64_t kNoLimit = uint64_t{1} << 62;

double cpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Call {
  Placement placement;
  double milliseconds = 0;
  double bytesPerItem = 0;
};

/// Runs and measures one call, and checks its placement.
Call measure(const Problem &problem, const std::function<Placement()> &call) {
  Call result;
  const size_t before = heldBytes;
  maxBytes = heldBytes;
  const double start = cpuMilliseconds();
  result.placement = call();
  result.milliseconds = cpuMilliseconds() - start;
  result.bytesPerItem = static_cast<double>(maxBytes - before) / problem.count();
  const std::string fault = test::faultOf(problem, result.placement);
  if (!fault.empty()) {
    std::fprintf(stderr, "planner_scale_bench: invalid placement: %s\n", fault.c_str());
    std::exit(1);
  }
  return result;
}

struct Family {
  std::string name;
  std::function<std::vector<test::Interval>(uint32_t count, uint64_t seed)> make;
  std::vector<uint32_t> counts;
};

std::vector<Family> families() {
  std::vector<Family> all;
  const std::vector<uint32_t> decades = {1'000, 10'000, 100'000, 1'000'000};
  all.push_back({"guillotine",
                 [](uint32_t count, uint64_t seed) { return test::guillotinePacking(count, seed); },
                 decades});
  all.push_back({"guillotine, scaled",
                 [](uint32_t count, uint64_t seed) {
                   auto intervals = test::guillotinePacking(count, seed);
                   for (test::Interval &interval : intervals)
                     interval.sizeBytes = (interval.sizeBytes * 317 + 99'999) / 100'000;
                   return intervals;
                 },
                 decades});
  all.push_back({"guillotine, few moments",
                 [](uint32_t count, uint64_t seed) {
                   return test::guillotinePacking(count, seed, count / 2);
                 },
                 {1'000, 10'000, 100'000}});
  all.push_back({"spirals",
                 [](uint32_t count, uint64_t seed) { return test::spiralPacking(count, seed); },
                 {1'000, 10'000, 100'000}});
  for (const test::GraphKind kind : test::kGraphKinds)
    all.push_back(
        {test::graphKindName(kind),
         [kind](uint32_t count, uint64_t seed) { return test::modelGraph(kind, count, seed); },
         {300, 1'000, 20'000, 40'000, 60'000}});
  return all;
}

nlohmann::json runRow(const Family &family, uint32_t count, uint64_t seeds, uint64_t work) {
  std::vector<double> fastRatios, fastTimes, firstTimes, betterRatios, betterTimes, bytes, growths;
  double items = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Problem problem = test::problemOf(family.make(count, seed));
    const double bound = static_cast<double>(problem.lowerBound);
    const Call first = measure(problem, [&] {
      WorkMeter meter(1);
      return plan::placeFast(problem, meter);
    });
    const Call fast = measure(problem, [&] {
      WorkMeter meter(kNoLimit);
      return plan::placeFast(problem, meter);
    });
    const Call better = measure(problem, [&] {
      WorkMeter meter(work * problem.count());
      return plan::improvePlacement(problem, fast.placement, 0, meter);
    });
    items += static_cast<double>(problem.count()) / static_cast<double>(seeds);
    firstTimes.push_back(first.milliseconds);
    fastRatios.push_back(static_cast<double>(fast.placement.height) / bound);
    fastTimes.push_back(fast.milliseconds);
    betterRatios.push_back(static_cast<double>(better.placement.height) / bound);
    betterTimes.push_back(better.milliseconds);
    bytes.push_back(std::max(fast.bytesPerItem, better.bytesPerItem));
    growths.push_back(fast.milliseconds * 1e6 / (problem.count() * std::log2(problem.count())));
  }
  const auto worst = [](const std::vector<double> &values) {
    return *std::max_element(values.begin(), values.end());
  };
  std::printf("%-24s %8.0f | %8.2f | %7.4f %7.4f %9.2f | %7.4f %7.4f %9.2f | %6.0f %6.2f\n",
              family.name.c_str(), items, median(firstTimes), median(fastRatios), worst(fastRatios),
              median(fastTimes), median(betterRatios), worst(betterRatios), median(betterTimes),
              worst(bytes), median(growths));
  std::fflush(stdout);
  return {{"family", family.name},
          {"buffers", items},
          {"firstMilliseconds", median(firstTimes)},
          {"fastRatio", median(fastRatios)},
          {"fastRatioWorst", worst(fastRatios)},
          {"fastMilliseconds", median(fastTimes)},
          {"fastMillisecondsWorst", worst(fastTimes)},
          {"searchRatio", median(betterRatios)},
          {"searchRatioWorst", worst(betterRatios)},
          {"searchMilliseconds", median(betterTimes)},
          {"bytesPerBufferWorst", worst(bytes)},
          {"nanosecondsPerNLogN", median(growths)}};
}

int runAll(const std::string &jsonPath, uint64_t seeds, uint32_t largest, uint64_t work) {
  std::printf("%-24s %8s | %8s | %7s %7s %9s | %7s %7s %9s | %6s %6s\n", "instance", "buffers",
              "first ms", "fast", "worst", "ms", "search", "worst", "ms", "B/buf", "ns/nlg");
  nlohmann::json rows = nlohmann::json::array();
  for (const Family &family : families())
    for (const uint32_t count : family.counts)
      if (count <= largest)
        rows.push_back(runRow(family, count, seeds, work));
  if (jsonPath.empty())
    return 0;
  std::ofstream file(jsonPath);
  file << rows.dump(2) << '\n';
  if (!file.flush()) {
    std::fprintf(stderr, "planner_scale_bench: cannot write %s\n", jsonPath.c_str());
    return 1;
  }
  return 0;
}

} // namespace
} // namespace gantry::bench

int main(int argc, char **argv) {
  CLI::App app(
      "Measures height, time and memory of the planner's fast tier and large-neighbourhood "
      "search on large instances");
  std::string jsonPath;
  uint64_t seeds = 5;
  uint32_t largest = 1'000'000;
  uint64_t work = 2'000;
  app.add_option("--json", jsonPath, "Also write the table to this file");
  app.add_option("--seeds", seeds, "Instances for each row")->check(CLI::PositiveNumber);
  app.add_option("--largest", largest, "Leave out rows that ask for more buffers than this");
  app.add_option("--work", work, "Units of work per buffer that the search may spend");
  CLI11_PARSE(app, argc, argv);
  return gantry::bench::runAll(jsonPath, seeds, largest, work);
}
