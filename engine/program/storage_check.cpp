// Translates a program and its plan to the input of hazards::checkStorage().
#include "engine/program/storage_check.h"

#include "engine/hazards/hazards.h"

namespace gantry::program {

namespace {

/// The value of Value.base and Command.in_place (engine/artifact/artifact.fbs) that means "none".
constexpr uint32_t kNone = UINT32_MAX;

} // namespace

Status checkStorage(const artifact::Program &program, const ShapePlan &plan) {
  // `values` is indexed like the program's values, so that messages name the program's indices.
  // Values that lie neither in the arena nor in an output are not checked.
  std::vector<hazards::StoredValue> values(program.values()->size());
  std::vector<uint64_t> offsets(plan.offsets);
  uint64_t end = plan.arenaBytes; // Outputs count as if they lay after the arena.
  for (uint32_t v = 0; v < program.values()->size(); ++v) {
    const artifact::Value &value = *program.values()->Get(v);
    if (value.storage() == artifact::Storage::output && value.base() == kNone) {
      offsets[v] = end;
      end += plan.sizeBytes[v];
    }
  }
  for (uint32_t v = 0; v < program.values()->size(); ++v) {
    if (const uint32_t base = program.values()->Get(v)->base(); plan.partOffsets[v] != kNoOffset)
      offsets[v] = offsets[base] + plan.partOffsets[v];
  }
  for (uint32_t v = 0; v < program.values()->size(); ++v) {
    if (offsets[v] == kNoOffset)
      continue;
    const artifact::Value &value = *program.values()->Get(v);
    const uint32_t storage = value.base() == kNone ? v : value.base();
    hazards::StoredValue &entry = values[v];
    entry.offset = offsets[storage];
    entry.storage = storage;
    entry.box = artifact::hasBox(value) ? artifact::boxOf(value, plan.exprs)
                                        : boxOfRange(offsets[v] - entry.offset, plan.sizeBytes[v]);
  }
  for (const artifact::Port *input : *program.inputs())
    if (offsets[input->value()] != kNoOffset)
      values[input->value()].isFilledBefore = true;
  std::vector<hazards::StorageCommand> commands;
  for (const artifact::Command *command : *program.commands()) {
    hazards::StorageCommand entry;
    for (uint32_t b = 0; b < command->bindings()->size(); ++b)
      if (const uint32_t value = command->bindings()->Get(b); offsets[value] != kNoOffset)
        (command->writes()->Get(b) ? entry.writes : entry.reads).push_back(value);
    if (command->in_place() != kNone)
      if (const uint32_t value = command->bindings()->Get(command->in_place());
          offsets[value] != kNoOffset) {
        entry.inPlace = value;
        // The operand must not be read after the result has overwritten it. The checker allows a
        // value's bytes to be overwritten by another value of its storage, so the operand becomes a
        // storage of its own.
        values[value].storage = value;
      }
    commands.push_back(std::move(entry));
  }
  // The caller reads the outputs after the last command.
  hazards::StorageCommand last;
  for (const artifact::Port *output : *program.outputs())
    if (offsets[output->value()] != kNoOffset)
      last.reads.push_back(output->value());
  commands.push_back(std::move(last));
  return hazards::checkStorage(values, commands);
}

} // namespace gantry::program
