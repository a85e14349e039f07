// Implements the functions that answer what-if questions.
#include "profiler_gui/model/analysis/what_if.h"

#include "engine/plan/slots.h"
#include "profiler_gui/model/analysis/what_if_graph.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gantry::profiler {
namespace {

constexpr int kMaxBudgetAttempts = 6;

Status checkPlan(const CaptureModel &model, uint32_t plan) {
  if (plan < model.plans().size())
    return Status::ok();
  return statusf(StatusCode::kInvalidArgument,
                 "plan %u: the capture has %zu plans, numbered from 0", plan, model.plans().size());
}

std::vector<uint32_t> givenOrder(const WhatIfGraph &graph) {
  std::vector<uint32_t> order(graph.problem.operators.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

/// Returns the mean duration of each command in ns; 0 for a command without dispatches.
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

/// Splits each live range at the actions that remove its value from the arena for a while.
std::vector<LiveRange> liveRangesWithin(const std::vector<LiveRange> &whole,
                                        const std::vector<plan::BudgetAction> &actions) {
  std::vector<LiveRange> ranges;
  for (const LiveRange &range : whole) {
    std::vector<const plan::BudgetAction *> own;
    for (const plan::BudgetAction &action : actions) {
      if (action.value == range.value)
        own.push_back(&action);
    }
    std::sort(own.begin(), own.end(),
              [](const auto *a, const auto *b) { return a->after < b->after; });
    LiveRange part = range;
    for (const plan::BudgetAction *action : own) {
      part.lastUse = action->after;
      ranges.push_back(part);
      part = {range.value, action->before, range.lastUse};
    }
    ranges.push_back(part);
  }
  return ranges;
}

} // namespace

Result<WhatIf> whatIfSize(const CaptureModel &model, uint32_t entry, double factor) {
  if (entry >= model.planEntries().size() || !(factor > 0) || factor > 1024)
    return statusf(StatusCode::kInvalidArgument,
                   "entry %u with factor %g: the capture has %zu entries, numbered from 0, and the "
                   "factor must be above 0 and at most 1024",
                   entry, factor, model.planEntries().size());
  const PlanEntry &changed = model.planEntries()[entry];
  if (changed.storage != Storage::kTransient)
    return Status(StatusCode::kInvalidArgument,
                  "only a transient can be resized; this value is not in the arena");
  WhatIf answer;
  answer.kind = WhatIf::Kind::kSize;
  answer.plan = changed.plan;
  std::vector<plan::Slot> before, after;
  std::unordered_map<uint32_t, size_t> numberOfSlot; // In `before` and `after`.
  std::unordered_map<uint32_t, uint64_t> startOfSlot;
  for (const uint32_t index : model.plans()[changed.plan].entries) {
    const PlanEntry &each = model.planEntries()[index];
    if (each.storage != Storage::kTransient)
      continue;
    const auto start = startOfSlot.emplace(each.slot, each.offset).first;
    start->second = std::min(start->second, each.offset);
  }
  for (const uint32_t index : model.plans()[changed.plan].entries) {
    const PlanEntry &each = model.planEntries()[index];
    if (each.storage != Storage::kTransient)
      continue;
    const auto [found, isNew] = numberOfSlot.emplace(each.slot, before.size());
    if (isNew) {
      before.push_back({kAlignment, {}});
      after.push_back({kAlignment, {}});
    }
    uint64_t bytes = each.sizeBytes;
    const uint64_t start = each.offset - startOfSlot[each.slot]; // Within its slot.
    before[found->second].uses.push_back({start, bytes, each.firstUse, each.lastUse});
    if (index == entry) {
      bytes = std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(bytes) * factor));
      answer.valueBytes = bytes;
    }
    answer.places.push_back({index, start, bytes, each.firstUse, each.lastUse});
    after[found->second].uses.push_back({start, bytes, each.firstUse, each.lastUse});
  }
  plan::PlanRequest request;
  request.workLimit = kPlannerWorkLimit;
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan present, plan::planSlots(before, request));
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan planned, plan::planSlots(after, request));
  answer.arenaBefore = present.heightBytes;
  answer.arenaBytes = planned.heightBytes;
  answer.lowerBoundBytes = planned.lowerBoundBytes;
  for (WhatIfPlace &place : answer.places)
    place.offset += planned.offsets[numberOfSlot[model.planEntries()[place.entry].slot]];
  return answer;
}

Result<WhatIf> whatIfOrder(const CaptureModel &model, uint32_t plan) {
  GANTRY_RETURN_IF_ERROR(checkPlan(model, plan));
  const WhatIfGraph graph(model, plan);
  WhatIf answer;
  answer.kind = WhatIf::Kind::kOrder;
  answer.plan = plan;
  const std::vector<uint32_t> given = givenOrder(graph);
  GANTRY_RETURN_IF_ERROR(planLiveRanges(graph, given, liveRangesOf(graph, given), &answer));
  answer.arenaBefore = answer.arenaBytes;
  GANTRY_ASSIGN_OR_RETURN(const plan::Order found, plan::searchOrder(graph.problem));
  GANTRY_RETURN_IF_ERROR(
      planLiveRanges(graph, found.operators, liveRangesOf(graph, found.operators), &answer));
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
  const std::vector<LiveRange> whole = liveRangesOf(graph, given);
  GANTRY_RETURN_IF_ERROR(planLiveRanges(graph, given, whole, &answer));
  answer.arenaBefore = answer.arenaBytes;
  plan::BudgetProblem problem;
  problem.graph = graph.problem;
  problem.recomputeCost = meanTimes(model, plan);
  problem.hostByteCost = 1 / kHostBytesPerNs;
  for (size_t i = 0; i < problem.recomputeCost.size(); ++i) {
    if (!graph.repeatable[i] || problem.recomputeCost[i] <= 0)
      problem.recomputeCost[i] = -1;
  }
  // fitBudget() limits the live bytes, but the planned arena may be slightly larger than the live
  // bytes. If it exceeds the budget, the next attempt has a smaller target.
  uint64_t target = budgetBytes;
  for (int attempt = 0; attempt < kMaxBudgetAttempts; ++attempt) {
    GANTRY_ASSIGN_OR_RETURN(const plan::BudgetPlan found, plan::fitBudget(problem, target));
    answer.minBytes = found.minPeakBytes;
    answer.minCommand = found.minPeakAt;
    if (!found.fits)
      break; // The answer keeps the arena of the previous attempt.
    GANTRY_RETURN_IF_ERROR(
        planLiveRanges(graph, given, liveRangesWithin(whole, found.actions), &answer));
    std::unordered_set<uint32_t> recomputed;
    std::unordered_set<uint32_t> moved;
    answer.hostBytes = 0;
    answer.extraNs = 0;
    for (const plan::BudgetAction &action : found.actions) {
      const bool move = action.kind == plan::BudgetAction::Kind::kMove;
      (move ? moved : recomputed).insert(action.value);
      answer.hostBytes +=
          move ? graph.problem.values[action.value].sizeBytes * (action.store ? 2 : 1) : 0;
      answer.extraNs += action.cost;
    }
    answer.recomputed = static_cast<uint32_t>(recomputed.size());
    answer.movedToHost = static_cast<uint32_t>(moved.size());
    answer.fits = answer.arenaBytes <= budgetBytes;
    if (answer.fits)
      break;
    target -= std::min(target, answer.arenaBytes - budgetBytes);
  }
  return answer;
}

} // namespace gantry::profiler
