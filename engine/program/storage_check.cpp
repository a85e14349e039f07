// Translates a program and its plan to the input of hazards::checkStorage().
#include "engine/program/storage_check.h"

#include "engine/hazards/hazards.h"

#include <algorithm>

namespace gantry::program {

namespace {

/// The value of Value.base and Command.in_place (engine/artifact/artifact.fbs) that means "none".
constexpr uint32_t kNone = UINT32_MAX;

/// Returns for each value that is the output of a state the value of the state's input, which has
/// the same buffer; kNone for all other values, and for a state that the program does not change.
std::vector<uint32_t> inputsOfStates(const artifact::Program &program) {
  std::vector<uint32_t> inputs(program.values()->size(), kNone);
  if (program.states())
    for (const artifact::State *state : *program.states())
      if (state->output() != kNone) {
        const uint32_t input = program.inputs()->Get(state->input())->value(),
                       output = program.outputs()->Get(state->output())->value();
        if (input != output)
          inputs[output] = input;
      }
  return inputs;
}

} // namespace

Status checkStorage(const artifact::Program &program, const ShapePlan &plan) {
  // `values` is indexed like the program's values, so that messages name the program's indices.
  // Values that lie neither in the arena nor in an output nor in a state are not checked.
  std::vector<hazards::StoredValue> values(program.values()->size());
  std::vector<uint64_t> offsets(plan.offsets);
  const std::vector<uint32_t> stateInputs = inputsOfStates(program);
  uint64_t end = plan.arenaBytes; // Outputs and states count as if they lay after the arena.
  for (uint32_t v = 0; v < program.values()->size(); ++v) {
    const artifact::Value &value = *program.values()->Get(v);
    if (value.storage() != artifact::Storage::output || value.base() != kNone)
      continue;
    offsets[v] = end;
    uint64_t size = plan.sizeBytes[v];
    if (const uint32_t input = stateInputs[v]; input != kNone) {
      offsets[input] = end;
      size = std::max(size, plan.sizeBytes[input]);
    }
    end += size;
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
    if (command->in_place() != kNone &&
        offsets[command->bindings()->Get(command->in_place())] != kNoOffset)
      entry.inPlace = command->bindings()->Get(command->in_place());
    entry.isPartial = command->partial();
    // Recording omits the copy of a state to itself, which a state that keeps its value has.
    if (command->kind() == artifact::CommandKind::copy &&
        stateInputs[command->bindings()->Get(1)] == command->bindings()->Get(0))
      entry.inPlace = command->bindings()->Get(0);
    // The operand must not be read after the result has overwritten it. The checker allows a
    // value's bytes to be overwritten by another value of its storage, so the operand becomes a
    // storage of its own.
    if (entry.inPlace)
      values[*entry.inPlace].storage = *entry.inPlace;
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
