// planArena(): checks a request, builds the solvers' problem, solves it, and makes the plan.
#include "engine/plan/plan.h"
#include "engine/plan/problem_builder.h"
#include "engine/plan/request_check.h"
#include "engine/plan/search/solve.h"

namespace gantry::plan {

namespace {

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

} // namespace

Result<Plan> planArena(const std::vector<Value> &values) { return planArena(values, {}); }

Result<Plan> planArena(const std::vector<Value> &values, const PlanRequest &request) {
  GANTRY_RETURN_IF_ERROR(checkRequest(values));
  GANTRY_ASSIGN_OR_RETURN(WorkMeter meter, meterOf(request));
  const BuiltProblem built = buildProblem(values);
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

} // namespace gantry::plan
