#include "profiler_gui/model/what_if.h"

#include "profiler_gui/model/what_if_graph.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gantry::profiler {
namespace {

constexpr uint64_t kAlignment = 256; // of transients in artifacts, unless told otherwise
constexpr uint64_t kWork = 2'000'000;
constexpr int kBudgetTries = 6;

Status checkPlan(const CaptureModel &model, uint32_t plan) {
  if (plan < model.plans().size())
    return Status::ok();
  return statusf(StatusCode::kInvalidArgument, "plan %u of %zu", plan, model.plans().size());
}

std::vector<uint32_t> givenOrder(const WhatIfGraph &graph) {
  std::vector<uint32_t> order(graph.problem.operators.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

/// Per command, how long it took on the mean; 0 where it never ran.
std::vector<double> meanTimes(const CaptureModel &model, uint32_t plan) {
  std::vector<double> sums(model.plans()[plan].commands.size());
  std::vector<double> counts(sums.size());
  for (uint32_t i = 0; i < model.dispatches().size(); ++i) {
    const Dispatch &dispatch = model.dispatches()[i];
    if (model.runs()[dispatch.run].plan != plan || dispatch.command >= sums.size())
      continue;
    sums[dispatch.command] += static_cast<double>(dispatch.endNs - dispatch.beginNs);
    counts[dispatch.command] += 1;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = counts[i] > 0 ? sums[i] / counts[i] : 0;
  return sums;
}

/// The given order's stays, with what is gone in between.
std::vector<Stay> staysWithin(const std::vector<Stay> &whole,
                              const std::vector<plan::BudgetAction> &actions) {
  std::vector<Stay> stays;
  for (const Stay &stay : whole) {
    std::vector<const plan::BudgetAction *> own;
    for (const plan::BudgetAction &action : actions) {
      if (action.value == stay.value)
        own.push_back(&action);
    }
    std::sort(own.begin(), own.end(),
              [](const auto *a, const auto *b) { return a->after < b->after; });
    Stay part = stay;
    for (const plan::BudgetAction *action : own) {
      part.lastUse = action->after;
      stays.push_back(part);
      part = {stay.value, action->before, stay.lastUse};
    }
    stays.push_back(part);
  }
  return stays;
}

} // namespace

Result<WhatIf> whatIfSize(const CaptureModel &model, uint32_t entry, double factor) {
  if (entry >= model.planEntries().size() || !(factor > 0) || factor > 1024)
    return statusf(StatusCode::kInvalidArgument,
                   "entry %u of %zu with %g times its size: the factor is above 0, 1024 at most",
                   entry, model.planEntries().size(), factor);
  const PlanEntry &changed = model.planEntries()[entry];
  if (changed.storage != Storage::kTransient)
    return Status(StatusCode::kInvalidArgument, "only transients lie in the arena");
  WhatIf answer;
  answer.kind = WhatIf::Kind::kSize;
  answer.plan = changed.plan;
  std::vector<plan::Value> values;
  std::unordered_map<uint32_t, size_t> ofSlot;
  std::vector<uint64_t> after;
  for (const uint32_t index : model.plans()[changed.plan].entries) {
    const PlanEntry &each = model.planEntries()[index];
    if (each.storage != Storage::kTransient)
      continue;
    const auto [at, fresh] = ofSlot.emplace(each.slot, values.size());
    if (fresh) {
      values.push_back({0, kAlignment, each.firstUse, each.lastUse});
      after.push_back(0);
    }
    plan::Value &value = values[at->second];
    uint64_t bytes = each.sizeBytes;
    value.sizeBytes = std::max(value.sizeBytes, bytes);
    if (index == entry) {
      bytes = std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(bytes) * factor));
      answer.valueBytes = bytes;
    }
    answer.places.push_back({index, 0, bytes, each.firstUse, each.lastUse});
    after[at->second] = std::max(after[at->second], bytes);
    value.firstUse = std::min(value.firstUse, each.firstUse);
    value.lastUse = std::max(value.lastUse, each.lastUse);
  }
  plan::PlanRequest request;
  request.workLimit = kWork;
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan before, plan::planArena(values, request));
  for (size_t i = 0; i < values.size(); ++i)
    values[i].sizeBytes = after[i];
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan planned, plan::planArena(values, request));
  answer.arenaBefore = before.heightBytes;
  answer.arenaBytes = planned.heightBytes;
  answer.lowerBoundBytes = planned.lowerBoundBytes;
  for (WhatIfPlace &place : answer.places)
    place.offset = planned.offsets[ofSlot[model.planEntries()[place.entry].slot]];
  return answer;
}

Result<WhatIf> whatIfOrder(const CaptureModel &model, uint32_t plan) {
  GANTRY_RETURN_IF_ERROR(checkPlan(model, plan));
  const WhatIfGraph graph(model, plan);
  WhatIf answer;
  answer.kind = WhatIf::Kind::kOrder;
  answer.plan = plan;
  const std::vector<uint32_t> given = givenOrder(graph);
  GANTRY_RETURN_IF_ERROR(planStays(graph, given, staysOf(graph, given), &answer));
  answer.arenaBefore = answer.arenaBytes;
  GANTRY_ASSIGN_OR_RETURN(const plan::Order found, plan::searchOrder(graph.problem));
  GANTRY_RETURN_IF_ERROR(
      planStays(graph, found.operators, staysOf(graph, found.operators), &answer));
  answer.order = found.operators;
  answer.stages = found.stages;
  answer.stagesBefore = found.givenStages;
  answer.optimal = found.optimal;
  for (uint32_t i = 0; i < found.operators.size(); ++i)
    answer.commandsMoved += found.operators[i] != i;
  return answer;
}

Result<WhatIf> whatIfBudget(const CaptureModel &model, uint32_t plan, uint64_t budgetBytes) {
  GANTRY_RETURN_IF_ERROR(checkPlan(model, plan));
  const WhatIfGraph graph(model, plan);
  WhatIf answer;
  answer.kind = WhatIf::Kind::kBudget;
  answer.plan = plan;
  answer.budgetBytes = budgetBytes;
  const std::vector<uint32_t> given = givenOrder(graph);
  const std::vector<Stay> whole = staysOf(graph, given);
  GANTRY_RETURN_IF_ERROR(planStays(graph, given, whole, &answer));
  answer.arenaBefore = answer.arenaBytes;
  plan::BudgetProblem problem;
  problem.graph = graph.problem;
  problem.recomputeCost = meanTimes(model, plan);
  problem.hostByteCost = 1 / kHostBytesPerNs;
  for (size_t i = 0; i < problem.recomputeCost.size(); ++i) {
    if (!graph.repeatable[i] || problem.recomputeCost[i] <= 0)
      problem.recomputeCost[i] = -1;
  }
  // The budget holds for what is alive; the arena may be a little higher, and then less is asked.
  uint64_t target = budgetBytes;
  for (int attempt = 0; attempt < kBudgetTries; ++attempt) {
    GANTRY_ASSIGN_OR_RETURN(const plan::BudgetPlan found, plan::fitBudget(problem, target));
    answer.leastBytes = found.leastPeakBytes;
    answer.leastCommand = found.leastAt;
    if (!found.fits)
      break; // the last attempt's answer, if any, comes nearest
    GANTRY_RETURN_IF_ERROR(planStays(graph, given, staysWithin(whole, found.actions), &answer));
    std::unordered_set<uint32_t> again;
    std::unordered_set<uint32_t> moved;
    answer.hostBytes = 0;
    answer.extraNs = 0;
    for (const plan::BudgetAction &action : found.actions) {
      const bool move = action.kind == plan::BudgetAction::Kind::kMove;
      (move ? moved : again).insert(action.value);
      answer.hostBytes +=
          move ? graph.problem.values[action.value].sizeBytes * (action.store ? 2 : 1) : 0;
      answer.extraNs += action.cost;
    }
    answer.computedAgain = static_cast<uint32_t>(again.size());
    answer.movedToHost = static_cast<uint32_t>(moved.size());
    answer.fits = answer.arenaBytes <= budgetBytes;
    if (answer.fits)
      break;
    target -= std::min(target, answer.arenaBytes - budgetBytes);
  }
  return answer;
}

} // namespace gantry::profiler
