// Implements budget_cost.h.
#include "tools/gantry/report/budget_cost.h"
#include "tools/gantry/report/bench_statistics.h"
#include "tools/gantry/cache/unnamed_file.h"
#include "tools/gantry/runtime/session.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace gantry::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kWarmups = 2, kMinRuns = 5;
constexpr std::chrono::milliseconds kTime{1500};

/// Runs once and returns the elapsed nanoseconds.
double timeOf(HostSession &session) {
  const Clock::time_point start = Clock::now();
  session.run();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

} // namespace

BudgetCost measureBudget(const std::string &model, const std::string &fitted,
                         CompileRequest request) {
  request.memoryBudget = 0;
  request.dumpNative = request.dumpIr = request.dumpIrPass = request.dumpSpirv =
      ""; // This compilation must not overwrite the other's dumps.
  const auto whole = UnnamedFile::temporary();
  if (!whole.isOk())
    throw ToolError(ExitCode::kIo, whole.status().message());
  compileModel(model, whole->path(), request);
  LoadedModel programs[] = {loadModel(fitted), loadModel(whole->path())};
  InputRequest random;
  random.filling = Filling::kRandom;
  const std::vector<Tensor> inputs =
      makeInputs(inputPorts(programs[0].program.get()), random, readTensor);
  HostSession with(programs[0].program.get(), SessionRequest());
  HostSession without(programs[1].program.get(), SessionRequest());
  for (HostSession *session : {&with, &without}) {
    session->bind(inputs);
    for (size_t i = 0; i < kWarmups; ++i)
      session->run();
  }
  // The two sessions run in turns, so that other load on the machine affects both equally.
  Progress progress;
  std::vector<double> withNs, withoutNs, ratios;
  const Clock::time_point start = Clock::now();
  while (ratios.size() < kMinRuns || Clock::now() - start < kTime) {
    withNs.push_back(timeOf(with));
    withoutNs.push_back(timeOf(without));
    ratios.push_back(withNs.back() / withoutNs.back());
    progress.update("measuring the cost of the budget", ratios.size(),
                    std::max(ratios.size(), kMinRuns));
  }
  return {with.deviceInfo().name, spreadOf(withNs).median, spreadOf(withoutNs).median,
          spreadOf(ratios).median, ratios.size()};
}

std::string costText(const BudgetCost &cost) {
  return fmt::format("{:.2f} x the time without a budget ({} instead of {}, {} runs of each on {})",
                     cost.slowdown, humanTime(cost.withNs), humanTime(cost.withoutNs), cost.runs,
                     printable(cost.device));
}

} // namespace gantry::tool
