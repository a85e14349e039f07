// planArena(): checks a request, builds the solvers' problem, solves it, and makes the plan.
#include "engine/plan/plan.h"
#include "engine/plan/problem_builder.h"
#include "engine/plan/request_check.h"
#include "engine/plan/search/solve.h"

#include <algorithm>

namespace gantry::plan {

namespace {

/// For a request with pins, the plan without pins gets 1 / kUnpinnedDivisor of the request's work
/// limit and deadline.
constexpr uint64_t kUnpinnedDivisor = 4;

Result<WorkMeter> meterOf(const PlanRequest &request) {
  if (request.deadlineSeconds == 0)
    return WorkMeter(request.workLimit);
  if (!(request.deadlineSeconds > 0) || request.deadlineSeconds > 1e9)
    return statusf(StatusCode::kInvalidArgument,
                   "the deadline is %g s; it must be positive and at most 1e9 s",
                   request.deadlineSeconds);
  const auto wait = std::chrono::duration_cast<WorkMeter::Clock::duration>(
      std::chrono::duration<double>(request.deadlineSeconds));
  return WorkMeter(request.workLimit, WorkMeter::Clock::now() + wait);
}

/// Moves pinned values without bytes, which may lie anywhere, to their pins. Returns whether every
/// other pinned value already lies at its pin.
bool matchesPins(const std::vector<Value> &values, const std::vector<Pin> &pins, Plan &plan) {
  for (const Pin &pin : pins) {
    if (values[pin.value].sizeBytes == 0)
      plan.offsets[pin.value] = pin.offset;
    else if (plan.offsets[pin.value] != pin.offset)
      return false;
  }
  return true;
}

Result<Plan> planOnce(const std::vector<Value> &values, const PlanRequest &request) {
  GANTRY_ASSIGN_OR_RETURN(WorkMeter meter, meterOf(request));
  GANTRY_ASSIGN_OR_RETURN(const BuiltProblem built, buildProblem(values, request.pins));
  const Optimum optimum = solve(built.problem, request.enoughBytes, meter);
  Plan plan;
  plan.lowerBoundBytes = built.problem.lowerBound;
  plan.provenBoundBytes = optimum.bound;
  plan.peakCommand = built.peakCommand;
  plan.heightBytes = optimum.best.height;
  plan.offsets.assign(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i)
    if (built.itemOfValue[i] != kNoItem)
      plan.offsets[i] = optimum.best.offset[built.itemOfValue[i]];
  return plan;
}

} // namespace

Result<Plan> planArena(const std::vector<Value> &values) { return planArena(values, {}); }

Result<Plan> planArena(const std::vector<Value> &values, const PlanRequest &request) {
  GANTRY_RETURN_IF_ERROR(checkRequest(values, request.pins));
  if (request.pins.empty())
    return planOnce(values, request);
  PlanRequest unpinned = request;
  unpinned.pins.clear();
  unpinned.workLimit = request.workLimit / kUnpinnedDivisor;
  unpinned.deadlineSeconds = request.deadlineSeconds / kUnpinnedDivisor;
  GANTRY_ASSIGN_OR_RETURN(Plan earlier, planOnce(values, unpinned));
  const bool fits = matchesPins(values, request.pins, earlier);
  if (fits && earlier.heightBytes <= std::max(request.enoughBytes, earlier.provenBoundBytes))
    return earlier;
  GANTRY_ASSIGN_OR_RETURN(Plan plan, planOnce(values, request));
  matchesPins(values, request.pins, plan);
  return fits && earlier.heightBytes < plan.heightBytes ? std::move(earlier) : std::move(plan);
}

} // namespace gantry::plan
