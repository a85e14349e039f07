// Checks the states of a program: pairs of an input and an output that share one buffer, or inputs
// in such a buffer that runs only read.
#include "engine/artifact/verify.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::artifact {

namespace {

constexpr uint32_t kNone = UINT32_MAX; // In State, Value and Command: there is none.

/// Checks all states of one program. The time of run() is proportional to the size of the program.
class StateVerifier {
public:
  StateVerifier(const Program &program, std::span<const std::optional<int64_t>> folded)
      : program_(program), folded_(folded), takenInputs_(program.inputs()->size()),
        takenOutputs_(program.outputs()->size()), outputsOfValue_(program.values()->size()),
        lastRead_(program.values()->size(), -1),
        firstWrite_(program.values()->size(), program.commands()->size()) {
    for (const Port *output : *program.outputs())
      ++outputsOfValue_[output->value()];
    for (int64_t c = 0; c < program.commands()->size(); ++c) {
      const Command &command = *program.commands()->Get(static_cast<uint32_t>(c));
      for (uint32_t b = 0; b < command.bindings()->size(); ++b) {
        const uint32_t value = command.bindings()->Get(b);
        if (command.writes()->Get(b) == 0)
          lastRead_[value] = c;
        else if (int64_t &first = firstWrite_[storageOf(value)]; c < first)
          first = c;
      }
    }
  }

  Status run() {
    for (uint32_t i = 0; i < program_.states()->size(); ++i) {
      const State &state = *program_.states()->Get(i);
      if (!state.name() || state.name()->size() == 0)
        return statusf(StatusCode::kDataLoss, "states[%u]: its name is missing", i);
      if (!names_.insert(state.name()->string_view()).second)
        return damaged(state, "another state has the same name");
      GANTRY_RETURN_IF_ERROR(checkInput(state));
      if (state.output() != kNone)
        GANTRY_RETURN_IF_ERROR(checkOutput(state));
      if (state.initial() != kNone)
        GANTRY_RETURN_IF_ERROR(checkInitial(state));
      if (state.order() && state.order()->size() != 0)
        GANTRY_RETURN_IF_ERROR(checkOrder(state));
    }
    return {};
  }

private:
  static Status damaged(const State &state, const std::string &what) {
    return {StatusCode::kDataLoss, "state \"" + state.name()->str() + "\": " + what};
  }
  static Status outOfRange(const State &state, const char *what, uint32_t index, size_t count) {
    return damaged(state, std::string("refers to ") + what + " " + std::to_string(index) +
                              ", but the number of " + what + "s is " + std::to_string(count));
  }

  /// Returns kDataLoss if the size of a value is known and larger than the state's buffer.
  Status checkCapacity(const State &state, const Value &value) const {
    const std::optional<int64_t> size = folded_[value.size()];
    if (size && static_cast<uint64_t>(*size) > state.capacity_bytes())
      return damaged(state, "has a value of " + std::to_string(*size) +
                                " bytes, but a capacity of " +
                                std::to_string(state.capacity_bytes()));
    return {};
  }

  Status checkInput(const State &state) {
    if (state.input() >= takenInputs_.size())
      return outOfRange(state, "input", state.input(), takenInputs_.size());
    if (takenInputs_[state.input()])
      return damaged(state, "its input belongs to another state");
    takenInputs_[state.input()] = true;
    const Value &value = valueOf(*program_.inputs()->Get(state.input()));
    if (value.storage() != Storage::input)
      return damaged(state, "its input is donated");
    return checkCapacity(state, value);
  }

  Status checkOutput(const State &state) {
    if (state.output() >= takenOutputs_.size())
      return outOfRange(state, "output", state.output(), takenOutputs_.size());
    if (takenOutputs_[state.output()])
      return damaged(state, "its output belongs to another state");
    takenOutputs_[state.output()] = true;
    const Port &input = *program_.inputs()->Get(state.input());
    const Port &output = *program_.outputs()->Get(state.output());
    if (output.type() != input.type() || output.dims()->size() != input.dims()->size())
      return damaged(state, "its input and its output differ in type or rank");
    for (uint32_t d = 0; d < input.dims()->size(); ++d) {
      const auto from = folded_[input.dims()->Get(d)], to = folded_[output.dims()->Get(d)];
      if (from && to && *from != *to)
        return damaged(state, "its input and its output differ in dimension " + std::to_string(d));
    }
    if (outputsOfValue_[output.value()] != 1)
      return damaged(state, "another output has the value of its output");
    const int64_t lastRead = lastRead_[input.value()],
                  firstWrite = firstWrite_[storageOf(output.value())];
    if (lastRead > firstWrite)
      return damaged(state, "commands[" + std::to_string(lastRead) +
                                "] reads the old value after the new one was written");
    if (program_.knows_storage() && lastRead == firstWrite && input.value() != output.value() &&
        !isInPlace(*program_.commands()->Get(static_cast<uint32_t>(lastRead)), input.value(),
                   output.value()))
      return damaged(state, "commands[" + std::to_string(lastRead) +
                                "] writes the new value over the old one, which it reads");
    return checkCapacity(state, valueOf(output));
  }

  /// Returns kDataLoss if the order does not contain each dimension of the state's ports once.
  Status checkOrder(const State &state) const {
    const uint32_t rank = program_.inputs()->Get(state.input())->dims()->size();
    uint64_t seen = 0; // Bit d is set if dimension d was found; a rank is at most 8.
    for (const uint8_t dim : *state.order())
      seen |= dim < rank ? uint64_t{1} << dim : 0;
    if (state.order()->size() != rank || seen != (uint64_t{1} << rank) - 1)
      return damaged(state, "its order must contain each of the " + std::to_string(rank) +
                                " dimensions once");
    return {};
  }

  Status checkInitial(const State &state) const {
    if (state.initial() >= program_.values()->size())
      return outOfRange(state, "value", state.initial(), program_.values()->size());
    const Value &value = *program_.values()->Get(state.initial());
    const Value &input = valueOf(*program_.inputs()->Get(state.input()));
    if (value.storage() != Storage::constant)
      return damaged(state, "its first value is no constant");
    // Equal constants are stored once, even if their types differ, so only the sizes must agree.
    if (folded_[value.size()] != folded_[input.size()])
      return damaged(state, "its first value and its input differ in size");
    return {};
  }

  /// Returns the value of which a value is a part, or the value itself.
  uint32_t storageOf(uint32_t value) const {
    const uint32_t base = program_.values()->Get(value)->base();
    return base == kNone ? value : base;
  }

  /// Returns whether a command that reads a state's old value may write its new value: the command
  /// says that its result takes the place of the old value, or it copies the old value to the new
  /// one, which the runtime omits because both lie in the same buffer.
  static bool isInPlace(const Command &command, uint32_t oldValue, uint32_t newValue) {
    const auto &bindings = *command.bindings();
    if (command.kind() == CommandKind::copy)
      return bindings.Get(0) == oldValue && bindings.Get(1) == newValue;
    return command.in_place() != kNone && bindings.Get(command.in_place()) == oldValue;
  }

  const Value &valueOf(const Port &port) const { return *program_.values()->Get(port.value()); }

  const Program &program_;
  std::span<const std::optional<int64_t>> folded_;
  std::set<std::string_view> names_;
  std::vector<bool> takenInputs_, takenOutputs_;
  std::vector<uint32_t> outputsOfValue_; // Per value: the number of outputs that have this value.
  std::vector<int64_t> lastRead_;        // Per value: index of a command; -1: none reads it.
  // Per value: index of the first command that writes it or a part of it; the number of commands:
  // none.
  std::vector<int64_t> firstWrite_;
};

} // namespace

Status checkStates(const Program &program, std::span<const std::optional<int64_t>> folded) {
  const bool any = program.states() && program.states()->size() != 0;
  return any ? StateVerifier(program, folded).run() : Status::ok();
}

} // namespace gantry::artifact
