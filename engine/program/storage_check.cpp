#include "engine/program/storage_check.h"

#include "engine/plan/plan.h"

namespace gantry::program {

namespace {

constexpr uint32_t kNone = UINT32_MAX; // Value.base, Command.in_place, and values elsewhere.

/// Returns the bytes of a transient in the arena.
plan::Box boxOf(const artifact::Program &program, const ShapePlan &plan, uint32_t index,
                uint64_t storageOffset) {
  const artifact::Value &value = *program.values()->Get(index);
  if (!value.box() || value.box()->size() == 0)
    return plan::boxOfRange(plan.offsets[index] - storageOffset, plan.sizeBytes[index]);
  plan::Box box{artifact::elementSize(value.type()), {}};
  const auto number = [&](uint32_t at) {
    return static_cast<uint64_t>(plan.exprs[value.box()->Get(at)]);
  };
  for (uint32_t i = 0; i < value.box()->size(); i += 3)
    box.dims.push_back({number(i), number(i + 1), number(i + 2)});
  return box;
}

} // namespace

Status checkStorage(const artifact::Program &program, const ShapePlan &plan) {
  std::vector<plan::StoredValue> values;
  std::vector<uint32_t> stored(program.values()->size(), kNone); // Index in `values`.
  for (uint32_t v = 0; v < program.values()->size(); ++v)
    if (plan.offsets[v] != kNoOffset) {
      stored[v] = static_cast<uint32_t>(values.size());
      values.emplace_back();
    }
  for (uint32_t v = 0; v < program.values()->size(); ++v) {
    if (stored[v] == kNone)
      continue;
    const uint32_t base = program.values()->Get(v)->base();
    const uint32_t storage = base == kNone ? v : base;
    plan::StoredValue &entry = values[stored[v]];
    entry.offset = plan.offsets[storage];
    entry.storage = stored[storage];
    entry.box = boxOf(program, plan, v, entry.offset);
  }
  for (const artifact::Port *input : *program.inputs())
    if (stored[input->value()] != kNone)
      values[stored[input->value()]].isFilledBefore = true;
  std::vector<plan::StorageCommand> commands;
  for (const artifact::Command *command : *program.commands()) {
    plan::StorageCommand entry;
    for (uint32_t b = 0; b < command->bindings()->size(); ++b)
      if (const uint32_t value = stored[command->bindings()->Get(b)]; value != kNone)
        (command->writes()->Get(b) ? entry.writes : entry.reads).push_back(value);
    if (command->in_place() != kNone)
      if (const uint32_t value = stored[command->bindings()->Get(command->in_place())];
          value != kNone)
        entry.inPlace = value;
    commands.push_back(std::move(entry));
  }
  return plan::checkStorage(values, commands);
}

} // namespace gantry::program
