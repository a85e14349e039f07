// Implements WhatIfGraph and the planning of live ranges.
#include "profiler_gui/model/analysis/what_if_graph.h"

#include <algorithm>
#include <unordered_map>

namespace gantry::profiler {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// The state of one value of the plan while the graph is built command by command.
struct Versions {
  uint32_t current = kNone;     // Index in the graph of the value's current version.
  std::vector<uint32_t> tokens; // The tokens of the current version's readers.
  uint32_t writesLeft = 0;      // Number of later commands that write the value.
};

bool contains(const std::vector<uint32_t> &list, uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Returns, for each value that contains others, as a concatenation contains its inputs, the values
/// inside of it.
std::unordered_map<uint32_t, std::vector<uint32_t>> partsOf(const CaptureModel &model,
                                                            const Plan &plan) {
  std::unordered_map<uint32_t, std::vector<const PlanEntry *>> slots;
  for (const uint32_t index : plan.entries)
    if (const PlanEntry &entry = model.planEntries()[index]; entry.storage == Storage::kTransient)
      slots[entry.slot].push_back(&entry);
  std::unordered_map<uint32_t, std::vector<uint32_t>> parts;
  for (const auto &[slot, entries] : slots)
    for (const PlanEntry *whole : entries)
      for (const PlanEntry *part : entries)
        if (part->sizeBytes < whole->sizeBytes && whole->offset <= part->offset &&
            part->offset < whole->offset + whole->sizeBytes)
          parts[whole->value].push_back(part->value);
  return parts;
}

struct CommandValues {
  std::vector<std::vector<uint32_t>> reads, writes; // Per command: values, without repetitions.
};

/// Returns the values that each command reads and writes. A command that reads a value reads the
/// values inside of it, too.
CommandValues valuesOfCommands(const CaptureModel &model, const Plan &plan) {
  CommandValues values{std::vector<std::vector<uint32_t>>(plan.commands.size()),
                       std::vector<std::vector<uint32_t>>(plan.commands.size())};
  const auto add = [](std::vector<uint32_t> &list, uint32_t value) {
    if (!contains(list, value))
      list.push_back(value);
  };
  const auto parts = partsOf(model, plan);
  for (const Access &access : plan.accesses) {
    if (access.command >= plan.commands.size())
      continue;
    if (access.write) {
      add(values.writes[access.command], access.value);
      continue;
    }
    add(values.reads[access.command], access.value);
    if (const auto inside = parts.find(access.value); inside != parts.end())
      for (const uint32_t part : inside->second)
        add(values.reads[access.command], part);
  }
  return values;
}

} // namespace

WhatIfGraph::WhatIfGraph(const CaptureModel &model, uint32_t planIndex) {
  const Plan &plan = model.plans()[planIndex];
  const size_t commands = plan.commands.size();
  const auto [reads, writes] = valuesOfCommands(model, plan);
  std::unordered_map<uint32_t, Versions> versions;
  for (const std::vector<uint32_t> &written : writes)
    for (const uint32_t value : written)
      ++versions[value].writesLeft;
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
        version.current = add(entryOf(value), false); // The value exists before the run.
      op.reads.push_back(version.current);
      const bool ownWrite = contains(writes[c], value);
      if (version.writesLeft > (ownWrite ? 1u : 0u) || ownWrite)
        repeatable[c] = false; // This command or a later one overwrites the operand.
      if (!ownWrite && version.writesLeft > 0) {
        tokens.push_back(add(kNone, true));
        version.tokens.push_back(tokens.back());
      }
    }
    for (const uint32_t value : writes[c]) {
      Versions &version = versions[value];
      const uint32_t entry = entryOf(value);
      const bool first = op.writes.empty();
      if (version.current != kNone) { // This command must run after the old version's writer.
        if (!contains(op.reads, version.current))
          op.reads.push_back(version.current);
        if (first)
          op.mayTake.push_back(version.current);
        repeatable[c] = false;
      }
      op.reads.insert(op.reads.end(), version.tokens.begin(), version.tokens.end());
      version.tokens.clear();
      --version.writesLeft;
      repeatable[c] = repeatable[c] && isTransient(entry) && version.writesLeft == 0;
      // The command's first result may take over the storage of an operand in the same slot.
      for (const uint32_t read : reads[c]) {
        const uint32_t other = entryOf(read);
        const uint32_t taken = versions[read].current;
        if (first && read != value && isTransient(entry) && isTransient(other) &&
            model.planEntries()[entry].slot == model.planEntries()[other].slot &&
            model.planEntries()[entry].offset == model.planEntries()[other].offset)
          op.mayTake.push_back(taken);
      }
      version.current = add(entry, true);
      op.writes.push_back(version.current);
    }
    op.writes.insert(op.writes.end(), tokens.begin(), tokens.end());
  }
}

std::vector<LiveRange> liveRangesOf(const WhatIfGraph &graph, const std::vector<uint32_t> &order) {
  std::vector<LiveRange> ranges(graph.problem.values.size());
  for (uint32_t value = 0; value < ranges.size(); ++value)
    ranges[value] = {value, kNone, 0};
  for (uint32_t position = 0; position < order.size(); ++position) {
    const plan::OrderProblem::Operator &op = graph.problem.operators[order[position]];
    for (const auto *list : {&op.reads, &op.writes}) {
      for (const uint32_t value : *list) {
        ranges[value].firstUse = std::min(ranges[value].firstUse, position);
        ranges[value].lastUse = std::max(ranges[value].lastUse, position);
      }
    }
  }
  std::erase_if(ranges, [&](const LiveRange &range) {
    return range.firstUse == kNone || graph.problem.values[range.value].sizeBytes == 0;
  });
  return ranges;
}

Status planLiveRanges(const WhatIfGraph &graph, const std::vector<uint32_t> &order,
                      const std::vector<LiveRange> &ranges, WhatIf *answer) {
  // The first and last live range of each value. A result can take over storage only for its first
  // range, and an operand can give up its storage only at the end of its last range.
  std::vector<uint32_t> firstRange(graph.problem.values.size(), kNone);
  std::vector<uint32_t> lastRange(graph.problem.values.size(), kNone);
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (firstRange[ranges[i].value] == kNone ||
        ranges[i].firstUse < ranges[firstRange[ranges[i].value]].firstUse)
      firstRange[ranges[i].value] = i;
    if (lastRange[ranges[i].value] == kNone ||
        ranges[i].lastUse > ranges[lastRange[ranges[i].value]].lastUse)
      lastRange[ranges[i].value] = i;
  }
  std::vector<uint32_t> storageOf(ranges.size());
  std::vector<plan::Value> values;
  std::vector<uint32_t> byBegin(ranges.size());
  for (uint32_t i = 0; i < ranges.size(); ++i)
    byBegin[i] = i;
  std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return ranges[a].firstUse != ranges[b].firstUse ? ranges[a].firstUse < ranges[b].firstUse
                                                    : a < b;
  });
  std::vector<bool> taken(ranges.size());
  for (const uint32_t i : byBegin) {
    const LiveRange &range = ranges[i];
    const uint64_t bytes = graph.problem.values[range.value].sizeBytes;
    const plan::OrderProblem::Operator &op = graph.problem.operators[order[range.firstUse]];
    uint32_t from = kNone;
    if (firstRange[range.value] == i && !op.writes.empty() && op.writes[0] == range.value) {
      for (const uint32_t operand : op.mayTake) {
        const uint32_t last = lastRange[operand];
        if (last != kNone && !taken[last] && ranges[last].lastUse == range.firstUse)
          from = last;
      }
    }
    if (from == kNone) {
      storageOf[i] = static_cast<uint32_t>(values.size());
      values.push_back({bytes, kAlignment, range.firstUse, range.lastUse});
      continue;
    }
    taken[from] = true;
    storageOf[i] = storageOf[from];
    plan::Value &value = values[storageOf[i]];
    value.sizeBytes = std::max(value.sizeBytes, bytes);
    value.lastUse = std::max(value.lastUse, range.lastUse);
  }
  plan::PlanRequest request;
  request.workLimit = kPlannerWorkLimit;
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan planned, plan::planArena(values, request));
  answer->arenaBytes = planned.heightBytes;
  answer->lowerBoundBytes = planned.lowerBoundBytes;
  answer->places.clear();
  for (size_t i = 0; i < ranges.size(); ++i)
    answer->places.push_back({graph.entries[ranges[i].value], planned.offsets[storageOf[i]],
                              graph.problem.values[ranges[i].value].sizeBytes, ranges[i].firstUse,
                              ranges[i].lastUse});
  return Status::ok();
}

} // namespace gantry::profiler
