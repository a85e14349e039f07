// Makes or checks the memory plan for one set of shapes.
#include "engine/program/shape_plan.h"
#include "engine/base/align.h"
#include "engine/hazards/hazards.h"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <numeric>

namespace gantry::program {

namespace {

constexpr uint32_t kNoBase = UINT32_MAX; // Value.base: the value is no part of another one.

/// Returns the range of bytes to bind for a value, relative to its slot, or to the output of which
/// it is a part. sizeBytes: the bytes of its elements.
Result<ByteRange> boundRangeOf(const artifact::Value &value, const ShapePlan &plan,
                               uint64_t sizeBytes) {
  const int64_t offset = value.slot_offset() == UINT32_MAX ? 0 : plan.exprs[value.slot_offset()];
  if (offset < 0 || offset % value.alignment() != 0)
    return statusf(StatusCode::kDataLoss,
                   "'%s' begins %" PRId64 " bytes after its slot, which is no multiple of its "
                   "alignment %u; the artifact is damaged, compile the model again",
                   value.name()->c_str(), offset, value.alignment());
  const auto start = static_cast<uint64_t>(offset);
  if (!artifact::hasBox(value))
    return ByteRange{start, sizeBytes};
  const Box box = artifact::boxOf(value, plan.exprs);
  const ByteRange range = isValid(box) ? rangeOf(box) : ByteRange{};
  if (!isValid(box) || (range.sizeBytes > 0 && range.offset < start))
    return statusf(StatusCode::kDataLoss,
                   "'%s' lies outside of its storage; the artifact is damaged, compile the model "
                   "again",
                   value.name()->c_str());
  return ByteRange{start, range.sizeBytes == 0 ? 0 : range.offset + range.sizeBytes - start};
}

/// Sets partOffsets and spanBytes of a value that is a part of an output.
Status placePart(const artifact::Value &value, uint32_t index, ShapePlan &plan) {
  GANTRY_ASSIGN_OR_RETURN(const ByteRange range, boundRangeOf(value, plan, plan.sizeBytes[index]));
  const std::optional<uint64_t> end = checkedAdd(range.offset, range.sizeBytes);
  if (!end || *end > plan.sizeBytes[value.base()])
    return statusf(StatusCode::kDataLoss,
                   "'%s' lies outside of its output; the artifact is damaged, compile the model "
                   "again",
                   value.name()->c_str());
  plan.partOffsets[index] = range.offset;
  plan.spanBytes[index] = range.sizeBytes;
  return {};
}

/// Returns the slots, and sets slotOfValue to the slot of each transient. Sets spanBytes and
/// partOffsets. Sets plan.offsets to the offsets of transients relative to their slots; the caller
/// adds the offsets of the slots.
Result<std::vector<Slot>> collectSlots(const artifact::Program &program, ShapePlan &plan,
                                       std::vector<uint32_t> &slotOfValue) {
  std::vector<Slot> slots;
  std::map<uint32_t, uint32_t> numbers; // Maps the artifact's slot number to the index in `slots`.
  slotOfValue.assign(program.values()->size(), UINT32_MAX);
  plan.spanBytes = plan.sizeBytes;
  plan.offsets.assign(program.values()->size(), kNoOffset);
  plan.partOffsets = plan.offsets;
  for (uint32_t i = 0; i < program.values()->size(); ++i) {
    const artifact::Value &value = *program.values()->Get(i);
    if (value.storage() == artifact::Storage::output && value.base() != kNoBase)
      GANTRY_RETURN_IF_ERROR(placePart(value, i, plan));
    if (value.storage() != artifact::Storage::transient)
      continue;
    auto [at, isNew] = numbers.try_emplace(value.slot(), static_cast<uint32_t>(slots.size()));
    slotOfValue[i] = at->second;
    GANTRY_ASSIGN_OR_RETURN(const ByteRange range, boundRangeOf(value, plan, plan.sizeBytes[i]));
    plan.offsets[i] = range.offset;
    plan.spanBytes[i] = range.sizeBytes;
    const std::optional<uint64_t> end = checkedAdd(range.offset, range.sizeBytes);
    if (!end)
      return statusf(StatusCode::kInvalidArgument,
                     "a tensor of %" PRIu64 " bytes at %" PRIu64 " overflows 64 bits",
                     range.sizeBytes, range.offset);
    const plan::SlotUse use{range.offset, range.sizeBytes, value.first_use(), value.last_use()};
    if (isNew) {
      slots.push_back(
          {i, value.byte_offset(), *end, value.alignment(), use.firstUse, use.lastUse, {use}});
      continue;
    }
    Slot &slot = slots[at->second];
    slot.uses.push_back(use);
    if (plan.sizeBytes[i] > plan.sizeBytes[slot.value])
      slot.value = i;
    slot.sizeBytes = std::max(slot.sizeBytes, *end);
    slot.alignment = std::max<uint64_t>(slot.alignment, value.alignment());
    slot.firstUse = std::min(slot.firstUse, value.first_use());
    slot.lastUse = std::max(slot.lastUse, value.last_use());
  }
  for (const artifact::Port *input : *program.inputs())
    if (const uint32_t slot = slotOfValue[input->value()]; slot != UINT32_MAX)
      slots[slot].donated = true;
  return slots;
}

/// Returns the accesses of the program's commands for placeBarriers(). A space is a memory object:
/// only accesses to the same space can conflict. The arena is space 0, and each value outside the
/// arena is a space of its own, with two exceptions: the output of a state (an input and an output
/// that share one buffer) lies in the space of its input, and a part of an output lies in the space
/// of the output.
std::vector<hazards::Command> commandsOf(const artifact::Program &program, const ShapePlan &plan) {
  std::vector<uint32_t> spaces(program.values()->size());
  std::iota(spaces.begin(), spaces.end(), 1);
  for (uint32_t i = 0; program.states() && i < program.states()->size(); ++i)
    if (const artifact::State &state = *program.states()->Get(i); state.output() != UINT32_MAX)
      spaces[program.outputs()->Get(state.output())->value()] =
          spaces[program.inputs()->Get(state.input())->value()];
  for (uint32_t v = 0; v < spaces.size(); ++v)
    if (plan.partOffsets[v] != kNoOffset)
      spaces[v] = spaces[program.values()->Get(v)->base()];
  std::vector<hazards::Command> commands;
  for (const artifact::Command *source : *program.commands()) {
    hazards::Command command;
    for (uint32_t b = 0; b < source->bindings()->size(); ++b) {
      const uint32_t value = source->bindings()->Get(b);
      const bool transient = plan.offsets[value] != kNoOffset;
      const uint64_t offset = transient                              ? plan.offsets[value]
                              : plan.partOffsets[value] != kNoOffset ? plan.partOffsets[value]
                                                                     : 0;
      command.accesses.push_back({transient ? 0 : spaces[value], offset, plan.spanBytes[value],
                                  source->writes()->Get(b) != 0});
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

Result<plan::Plan> placeSlots(const std::vector<Slot> &slots, const ShapePlanOptions &options) {
  std::vector<plan::Slot> values;
  for (const Slot &slot : slots) {
    const std::optional<uint64_t> size = checkedAdd(slot.sizeBytes, options.guardBytes + 3);
    if (!size)
      return statusf(StatusCode::kInvalidArgument,
                     "a tensor of %" PRIu64 " bytes overflows 64 bits", slot.sizeBytes);
    values.push_back({std::max(slot.alignment, options.minAlignment), slot.uses});
    // With guards, no other slot may use a part of this slot during its life: poison fills the
    // whole slot, and the guard follows its last byte.
    if (options.guardBytes)
      values.back().uses = {{0, *size, slot.firstUse, slot.lastUse}};
  }
  // The limit allows some milliseconds of work, because a run waits for the plan.
  plan::PlanRequest request;
  request.workLimit = 300'000;
  GANTRY_ASSIGN_OR_RETURN(plan::Plan placed, plan::planSlots(values, request));
  GANTRY_RETURN_IF_ERROR(plan::validateSlots(values, placed));
  return placed;
}

Status checkArtifactPlan(const artifact::Program &program, const std::vector<Slot> &slots) {
  std::vector<plan::Slot> values;
  plan::Plan placed;
  for (const Slot &slot : slots) {
    values.push_back({slot.alignment, slot.uses});
    placed.offsets.push_back(slot.offset);
  }
  placed.heightBytes = program.arena_bytes();
  placed.lowerBoundBytes = program.lower_bound_bytes();
  placed.peakCommand = program.peak_command();
  const Status status = plan::validateSlots(values, placed);
  if (!status.isOk())
    return statusf(StatusCode::kDataLoss, "the artifact's plan is wrong: %s",
                   status.message().c_str());
  return {};
}

/// Returns kDataLoss if two values have sizes for these shapes that do not fit. The source and the
/// target of a copy must have equal sizes. For a command that writes only some elements of its
/// result (Command.partial), the result must not be smaller than the operand that holds the other
/// elements; it is larger if a state grows. The reader of artifacts checks only sizes that are
/// constant.
Status checkCopies(const artifact::Program &program, const ShapePlan &plan) {
  for (const artifact::Command *command : *program.commands()) {
    const bool isCopy = command->kind() == artifact::CommandKind::copy;
    if (!isCopy && !command->partial())
      continue;
    const uint64_t from =
        plan.sizeBytes[command->bindings()->Get(isCopy ? 0 : command->in_place())];
    for (uint32_t b = 0; b < command->bindings()->size(); ++b)
      if (const uint64_t to = plan.sizeBytes[command->bindings()->Get(b)];
          command->writes()->Get(b) && (isCopy ? from != to : from > to))
        return statusf(StatusCode::kDataLoss,
                       "'%s' copies a value of %" PRIu64 " bytes to one of %" PRIu64
                       " bytes; the artifact is damaged, compile the model again",
                       command->name()->c_str(), from, to);
  }
  return {};
}

} // namespace

Result<ShapePlan> makeShapePlan(const artifact::Program &program, std::span<const int64_t> symbols,
                                const ShapePlanOptions &options) {
  ShapePlan plan;
  GANTRY_ASSIGN_OR_RETURN(plan.exprs, artifact::evaluateExprs(program, symbols));
  for (const artifact::Value *value : *program.values())
    plan.sizeBytes.push_back(static_cast<uint64_t>(plan.exprs[value->size()]));
  GANTRY_RETURN_IF_ERROR(checkCopies(program, plan));
  std::vector<uint32_t> slotOfValue;
  GANTRY_ASSIGN_OR_RETURN(plan.slots, collectSlots(program, plan, slotOfValue));

  const bool replan = (program.dynamic() && !program.bounded()) || options.guardBytes > 0;
  if (replan) {
    GANTRY_ASSIGN_OR_RETURN(plan::Plan placed, placeSlots(plan.slots, options));
    for (size_t i = 0; i < plan.slots.size(); ++i)
      plan.slots[i].offset = placed.offsets[i];
    plan.arenaBytes = placed.heightBytes;
    plan.lowerBoundBytes = placed.lowerBoundBytes;
    plan.peakCommand = placed.peakCommand;
  } else {
    GANTRY_RETURN_IF_ERROR(checkArtifactPlan(program, plan.slots));
    plan.arenaBytes = program.arena_bytes();
    plan.lowerBoundBytes = program.lower_bound_bytes();
    plan.peakCommand = program.peak_command();
  }
  for (uint32_t i = 0; i < slotOfValue.size(); ++i)
    if (slotOfValue[i] != UINT32_MAX)
      plan.offsets[i] += plan.slots[slotOfValue[i]].offset;

  for (uint32_t i = 0; i < program.values()->size(); ++i) {
    const bool onHost = program.values()->Get(i)->storage() == artifact::Storage::host;
    plan.hostOffsets.push_back(onHost ? plan.hostBytes : kNoOffset);
    if (onHost && __builtin_add_overflow(plan.hostBytes, roundUp(plan.sizeBytes[i], 256) + 256,
                                         &plan.hostBytes))
      return Status(StatusCode::kInvalidArgument, "the tensors on the host overflow 64 bits");
  }

  std::vector<hazards::Command> commands = commandsOf(program, plan);
  if (replan || program.dynamic())
    hazards::placeBarriers(commands);
  else
    for (uint32_t i = 0; i < commands.size(); ++i)
      commands[i].barrierBefore = program.commands()->Get(i)->barrier_before();
  for (const hazards::Command &command : commands)
    plan.barrierBefore.push_back(command.barrierBefore);
  return plan;
}

uint64_t arenaBytesOf(const ShapePlan &plan) {
  return plan.slots.empty() ? 0 : std::max<uint64_t>(256, roundUp(plan.arenaBytes, 256));
}

} // namespace gantry::program
