#include "profiler_gui/model/what_if_graph.h"

#include <algorithm>
#include <unordered_map>

namespace gantry::profiler {
namespace {

constexpr uint64_t kAlignment = 256; // of transients in artifacts, unless told otherwise
constexpr uint64_t kWork = 2'000'000;
constexpr uint32_t kNone = UINT32_MAX;

struct Versions {
  uint32_t current = kNone;     // value of the graph
  std::vector<uint32_t> tokens; // of those who read it
  uint32_t writesLeft = 0;
};

bool overlap(const std::vector<uint32_t> &list, uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

} // namespace

WhatIfGraph::WhatIfGraph(const CaptureModel &model, uint32_t planIndex) {
  const Plan &plan = model.plans()[planIndex];
  const size_t commands = plan.commands.size();
  std::vector<std::vector<uint32_t>> reads(commands);
  std::vector<std::vector<uint32_t>> writes(commands);
  std::unordered_map<uint32_t, Versions> versions;
  for (const Access &access : plan.accesses) {
    if (access.command >= commands)
      continue;
    std::vector<uint32_t> &list = access.write ? writes[access.command] : reads[access.command];
    if (overlap(list, access.value))
      continue;
    list.push_back(access.value);
    versions[access.value].writesLeft += access.write ? 1 : 0;
  }
  const auto entryOf = [&](uint32_t value) -> uint32_t {
    const PlanEntry *entry = model.entryOf(plan, value);
    return entry == nullptr ? kNone : static_cast<uint32_t>(entry - model.planEntries().data());
  };
  const auto isTransient = [&](uint32_t entry) {
    return entry != kNone && model.planEntries()[entry].storage == Storage::kTransient;
  };
  const auto add = [&](uint32_t entry, bool written) {
    const bool bytes = written && isTransient(entry);
    problem.values.push_back({bytes ? model.planEntries()[entry].sizeBytes : 0, false});
    entries.push_back(entry);
    return static_cast<uint32_t>(problem.values.size() - 1);
  };
  problem.operators.resize(commands);
  repeatable.assign(commands, true);
  for (size_t c = 0; c < commands; ++c) {
    plan::OrderProblem::Operator &op = problem.operators[c];
    std::vector<uint32_t> tokens;
    for (const uint32_t value : reads[c]) {
      Versions &version = versions[value];
      if (version.current == kNone)
        version.current = add(entryOf(value), false); // there before the run
      op.reads.push_back(version.current);
      const bool ownWrite = overlap(writes[c], value);
      if (version.writesLeft > (ownWrite ? 1u : 0u) || ownWrite)
        repeatable[c] = false; // what it reads will be another
      if (!ownWrite && version.writesLeft > 0) {
        tokens.push_back(add(kNone, true));
        version.tokens.push_back(tokens.back());
      }
    }
    for (const uint32_t value : writes[c]) {
      Versions &version = versions[value];
      const uint32_t entry = entryOf(value);
      const bool first = op.writes.empty();
      if (version.current != kNone) { // written again: after its writer and all its readers
        if (!overlap(op.reads, version.current))
          op.reads.push_back(version.current);
        if (first)
          op.mayTake.push_back(version.current);
        repeatable[c] = false;
      }
      op.reads.insert(op.reads.end(), version.tokens.begin(), version.tokens.end());
      version.tokens.clear();
      --version.writesLeft;
      repeatable[c] = repeatable[c] && isTransient(entry) && version.writesLeft == 0;
      for (const uint32_t read : reads[c]) {
        const uint32_t other = entryOf(read);
        const uint32_t taken = versions[read].current;
        if (first && read != value && isTransient(entry) && isTransient(other) &&
            model.planEntries()[entry].slot == model.planEntries()[other].slot)
          op.mayTake.push_back(taken);
      }
      version.current = add(entry, true);
      op.writes.push_back(version.current);
    }
    op.writes.insert(op.writes.end(), tokens.begin(), tokens.end());
  }
}

std::vector<Stay> staysOf(const WhatIfGraph &graph, const std::vector<uint32_t> &order) {
  std::vector<Stay> stays(graph.problem.values.size());
  for (uint32_t value = 0; value < stays.size(); ++value)
    stays[value] = {value, kNone, 0};
  for (uint32_t position = 0; position < order.size(); ++position) {
    const plan::OrderProblem::Operator &op = graph.problem.operators[order[position]];
    for (const auto *list : {&op.reads, &op.writes}) {
      for (const uint32_t value : *list) {
        stays[value].firstUse = std::min(stays[value].firstUse, position);
        stays[value].lastUse = std::max(stays[value].lastUse, position);
      }
    }
  }
  std::erase_if(stays, [&](const Stay &stay) {
    return stay.firstUse == kNone || graph.problem.values[stay.value].sizeBytes == 0;
  });
  return stays;
}

Status planStays(const WhatIfGraph &graph, const std::vector<uint32_t> &order,
                 const std::vector<Stay> &stays, WhatIf *answer) {
  // The last stay of each value and the first, for those that go on in the same storage.
  std::vector<uint32_t> firstStay(graph.problem.values.size(), kNone);
  std::vector<uint32_t> lastStay(graph.problem.values.size(), kNone);
  for (uint32_t i = 0; i < stays.size(); ++i) {
    if (firstStay[stays[i].value] == kNone ||
        stays[i].firstUse < stays[firstStay[stays[i].value]].firstUse)
      firstStay[stays[i].value] = i;
    if (lastStay[stays[i].value] == kNone ||
        stays[i].lastUse > stays[lastStay[stays[i].value]].lastUse)
      lastStay[stays[i].value] = i;
  }
  std::vector<uint32_t> storageOf(stays.size());
  std::vector<plan::Value> values;
  std::vector<uint32_t> byBegin(stays.size());
  for (uint32_t i = 0; i < stays.size(); ++i)
    byBegin[i] = i;
  std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return stays[a].firstUse != stays[b].firstUse ? stays[a].firstUse < stays[b].firstUse : a < b;
  });
  std::vector<bool> taken(stays.size());
  for (const uint32_t i : byBegin) {
    const Stay &stay = stays[i];
    const uint64_t bytes = graph.problem.values[stay.value].sizeBytes;
    const plan::OrderProblem::Operator &op = graph.problem.operators[order[stay.firstUse]];
    uint32_t from = kNone;
    if (firstStay[stay.value] == i && !op.writes.empty() && op.writes[0] == stay.value) {
      for (const uint32_t operand : op.mayTake) {
        const uint32_t last = lastStay[operand];
        if (last != kNone && !taken[last] && stays[last].lastUse == stay.firstUse)
          from = last;
      }
    }
    if (from == kNone) {
      storageOf[i] = static_cast<uint32_t>(values.size());
      values.push_back({bytes, kAlignment, stay.firstUse, stay.lastUse});
      continue;
    }
    taken[from] = true;
    storageOf[i] = storageOf[from];
    plan::Value &value = values[storageOf[i]];
    value.sizeBytes = std::max(value.sizeBytes, bytes);
    value.lastUse = std::max(value.lastUse, stay.lastUse);
  }
  plan::PlanRequest request;
  request.workLimit = kWork;
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan planned, plan::planArena(values, request));
  answer->arenaBytes = planned.heightBytes;
  answer->lowerBoundBytes = planned.lowerBoundBytes;
  answer->places.clear();
  for (size_t i = 0; i < stays.size(); ++i)
    answer->places.push_back({graph.entries[stays[i].value], planned.offsets[storageOf[i]],
                              graph.problem.values[stays[i].value].sizeBytes, stays[i].firstUse,
                              stays[i].lastUse});
  return Status::ok();
}

} // namespace gantry::profiler
