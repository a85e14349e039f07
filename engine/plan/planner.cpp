#include "engine/plan/plan.h"
#include "engine/plan/problem_builder.h"
#include "engine/plan/sharing.h"

#include <algorithm>
#include <cmath>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

constexpr uint64_t kUnpinnedShare = 4; // of the work, one part looks for an earlier plan

Result<WorkMeter> meterOf(const PlanRequest &request) {
  if (request.deadlineSeconds == 0)
    return WorkMeter(request.workLimit);
  if (!(request.deadlineSeconds > 0) || request.deadlineSeconds > 1e9)
    return statusf(StatusCode::kInvalidArgument, "a deadline of %g s is no positive time",
                   request.deadlineSeconds);
  const auto wait = std::chrono::duration_cast<WorkMeter::Clock::duration>(
      std::chrono::duration<double>(request.deadlineSeconds));
  return WorkMeter(request.workLimit, WorkMeter::Clock::now() + wait);
}

/// Offsets within arenas, and the height of each.
void divideIntoArenas(const std::vector<Value> &values, const BuiltProblem &built, Plan &plan) {
  const Problem &problem = built.problem;
  const uint64_t region = problem.regionSize;
  plan.arenas.assign(values.size(), 0);
  plan.arenaHeights.assign(1, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (built.itemOfValue[i] == kNoItem)
      continue;
    const auto arena = static_cast<uint32_t>(plan.offsets[i] / region);
    plan.arenas[i] = arena;
    plan.offsets[i] %= region;
    if (arena >= plan.arenaHeights.size())
      plan.arenaHeights.resize(arena + size_t{1});
    plan.arenaHeights[arena] =
        std::max(plan.arenaHeights[arena], plan.offsets[i] + problem.size[built.itemOfValue[i]]);
  }
  plan.heightBytes = 0;
  for (const uint64_t height : plan.arenaHeights)
    plan.heightBytes += height;
}

/// Whether each pinned value lies at its place. Those without bytes, which lie anywhere, go there.
bool agrees(const std::vector<Value> &values, const std::vector<Pin> &pins, Plan &plan) {
  for (const Pin &pin : pins) {
    if (values[pin.value].sizeBytes == 0)
      plan.offsets[pin.value] = pin.offset;
    else if (plan.offsets[pin.value] != pin.offset ||
             (plan.arenas.empty() ? 0 : plan.arenas[pin.value]) != pin.arena)
      return false;
  }
  return true;
}

Result<Plan> planOnce(const std::vector<Value> &values, const PlanRequest &request) {
  const Constraints &constraints = request.constraints;
  GANTRY_ASSIGN_OR_RETURN(WorkMeter meter, meterOf(request));
  GANTRY_ASSIGN_OR_RETURN(SharedSolution solution,
                          solveShared(values, constraints, request.enoughBytes, meter));
  const BuiltProblem &built = solution.built;
  Plan plan;
  plan.lowerBoundBytes = solution.lowerBound;
  plan.peakCommand = static_cast<uint32_t>(solution.peakCommand);
  plan.heightBytes = solution.optimum.best.height;
  plan.offsets.assign(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i)
    if (built.itemOfValue[i] != kNoItem)
      plan.offsets[i] = solution.optimum.best.offset[built.itemOfValue[i]];
  for (const Pin &pin : constraints.pins)
    if (values[pin.value].sizeBytes == 0)
      plan.offsets[pin.value] = pin.offset;
  if (built.problem.regionSize > 0)
    divideIntoArenas(values, built, plan);
  // Of several arenas the tops of all but the last are not counted by the search.
  plan.provenBoundBytes = built.problem.regionSize > 0
                              ? plan.lowerBoundBytes
                              : std::max(solution.optimum.bound, plan.lowerBoundBytes);

  const uint64_t highest = plan.arenaHeights.empty() ? plan.heightBytes : 0;
  if (highest > constraints.arenaCapBytes)
    return statusf(StatusCode::kOutOfMemory,
                   "the best plan needs %llu bytes, more than the %llu of one arena (no plan needs "
                   "less than %llu); allow more arenas, or a larger one",
                   static_cast<Printable>(highest),
                   static_cast<Printable>(constraints.arenaCapBytes),
                   static_cast<Printable>(plan.provenBoundBytes));
  if (plan.arenaHeights.size() > constraints.mostArenas)
    return statusf(
        StatusCode::kOutOfMemory,
        "the best plan needs %zu arenas of %llu bytes, more than the %u allowed (no plan "
        "needs less than %llu bytes in all)",
        plan.arenaHeights.size(), static_cast<Printable>(constraints.arenaCapBytes),
        constraints.mostArenas, static_cast<Printable>(plan.provenBoundBytes));
  return plan;
}

} // namespace

Result<Plan> planArena(const std::vector<Value> &values) { return planArena(values, {}); }

Result<Plan> planArena(const std::vector<Value> &values, const PlanRequest &request) {
  const std::vector<Pin> &pins = request.constraints.pins;
  GANTRY_RETURN_IF_ERROR(checkRequest(values, request.constraints));
  if (pins.empty())
    return planOnce(values, request);
  // What is kept is mostly a part of an earlier plan of the same values: then the plan without pins
  // is that plan again, and agrees with them.
  PlanRequest unpinned = request;
  unpinned.constraints.pins.clear();
  unpinned.workLimit = request.workLimit / kUnpinnedShare;
  unpinned.deadlineSeconds = request.deadlineSeconds / kUnpinnedShare;
  Result<Plan> earlier = planOnce(values, unpinned);
  const bool fits = earlier.isOk() && agrees(values, pins, *earlier);
  if (fits && earlier->heightBytes <= std::max(request.enoughBytes, earlier->provenBoundBytes))
    return earlier;
  Result<Plan> plan = planOnce(values, request);
  return fits && (!plan.isOk() || earlier->heightBytes < plan->heightBytes) ? std::move(earlier)
                                                                            : std::move(plan);
}

} // namespace gantry::plan
