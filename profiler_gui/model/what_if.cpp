#include "profiler_gui/model/what_if.h"

#include "engine/plan/plan.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace gantry::profiler {
namespace {

constexpr uint64_t kAlignment = 256; // of transients in artifacts, unless told otherwise
constexpr uint64_t kWork = 2'000'000;

} // namespace

Result<WhatIf> whatIf(const CaptureModel &model, uint32_t entry, double factor) {
  if (entry >= model.planEntries().size() || !(factor > 0) || factor > 1024)
    return statusf(StatusCode::kInvalidArgument,
                   "entry %u of %zu with %g times its size: the factor is above 0, 1024 at most",
                   entry, model.planEntries().size(), factor);
  const PlanEntry &changed = model.planEntries()[entry];
  if (changed.storage != Storage::kTransient)
    return Status(StatusCode::kInvalidArgument, "only transients lie in the arena");
  WhatIf answer;
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
  return answer;
}

} // namespace gantry::profiler
