// Finds the plan entries that are related to a block or dispatch through the accesses of its plan.
#include "profiler_gui/panels/panels.h"

namespace gantry::profiler {
namespace {

/// Adds the entries whose value has an access for which `wanted` returns true.
template <typename Wanted>
void addAccessed(const CaptureModel &model, const Plan &plan, Wanted &&wanted,
                 std::unordered_set<uint32_t> *entries) {
  std::unordered_set<uint32_t> values;
  for (const Access &access : plan.accesses) {
    if (wanted(access))
      values.insert(access.value);
  }
  for (const uint32_t index : plan.entries) {
    if (values.contains(model.planEntries()[index].value))
      entries->insert(index);
  }
}

} // namespace

std::unordered_set<uint32_t> relatedEntries(const CaptureModel &model, const Pick &pick) {
  std::unordered_set<uint32_t> entries;
  if (pick.kind == Pick::Kind::kBlock && pick.space < model.spaces().size()) {
    const BlockTable &table = model.spaces()[pick.space].table;
    if (pick.row >= table.size() || table.entry(pick.row) == 0)
      return entries;
    const PlanEntry &entry = model.planEntries()[table.entry(pick.row) - 1];
    const Plan &plan = model.plans()[entry.plan];
    std::unordered_set<uint32_t> commands;
    for (const Access &access : plan.accesses) {
      if (access.value == entry.value)
        commands.insert(access.command);
    }
    addAccessed(
        model, plan, [&](const Access &access) { return commands.contains(access.command); },
        &entries);
  } else if (pick.kind == Pick::Kind::kDispatch && pick.dispatch < model.dispatches().size()) {
    const Dispatch &dispatch = model.dispatches()[pick.dispatch];
    const Run &run = model.runs()[dispatch.run];
    if (run.plan < model.plans().size())
      addAccessed(
          model, model.plans()[run.plan],
          [&](const Access &access) { return access.command == dispatch.command; }, &entries);
  }
  return entries;
}

} // namespace gantry::profiler
