// Binds the states of a program to entries of a State.
#include "engine/program/states/state_binding.h"

#include <cinttypes>

namespace gantry::program {

namespace {

/// Returns text for messages: "2, 0, 1", the order of a state with the dimensions of the port.
std::string orderText(const std::vector<uint8_t> &order, const Port &port) {
  std::string text;
  for (size_t i = 0; i < port.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(order.empty() ? i : order[i]);
  return text;
}

/// Returns kInvalidArgument if the program's state does not fit the entry of the same name.
Status checkFits(const State::Entry &entry, const StatePort &state, const Port &port) {
  bool same = entry.shape.type == port.type && entry.portDims.size() == port.dims.size();
  for (size_t d = 0; same && d < port.dims.size(); ++d)
    same = entry.portDims[d] == kDynamic || port.dims[d] == kDynamic ||
           entry.portDims[d] == port.dims[d];
  if (!same) {
    return statusf(StatusCode::kInvalidArgument, "the state '%s' is %s, but the program needs %s",
                   entry.name.c_str(), State::portText(entry).c_str(), shapeText(port).c_str());
  }
  if (entry.order != state.order)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' is stored with its dimensions in the order %s, but the program "
                   "needs the order %s; give each of the two sessions a state of its own",
                   entry.name.c_str(), orderText(entry.order, port).c_str(),
                   orderText(state.order, port).c_str());
  if (entry.capacityBytes < state.capacityBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' has room for %" PRIu64 " bytes, but the program needs %" PRIu64
                   "; create the state for the program with the larger capacity",
                   entry.name.c_str(), entry.capacityBytes, state.capacityBytes);
  return {};
}

} // namespace

Result<StateBinding> StateBinding::create(std::shared_ptr<const Program> program,
                                          std::shared_ptr<State> state) {
  StateBinding binding;
  for (const StatePort &port : program->states()) {
    const Result<size_t> entry = state->find(port.name);
    if (!entry.isOk())
      return Status(StatusCode::kInvalidArgument,
                    "the given state does not suit the program: " + entry.status().message());
    GANTRY_RETURN_IF_ERROR(
        checkFits(state->entries()[*entry], port, program->inputs()[port.input]));
    binding.entries_.push_back(*entry);
  }
  binding.program_ = std::move(program);
  binding.state_ = std::move(state);
  return binding;
}

Status StateBinding::fillShapes(std::span<TensorShape> inputs) const {
  for (size_t s = 0; s < entries_.size(); ++s) {
    const State::Entry &entry = state_->entries()[entries_[s]];
    if (entry.shape.dims.size() != entry.portDims.size())
      return state_->check(entries_[s]);
    if (const uint32_t input = program_->states()[s].input; input < inputs.size())
      inputs[input] = entry.shape;
  }
  return {};
}

Status StateBinding::fillArguments(std::span<TensorArgument> inputs,
                                   std::span<TensorArgument> outputs) const {
  for (size_t s = 0; s < entries_.size(); ++s) {
    const StatePort &port = program_->states()[s];
    TensorArgument *arguments[] = {
        port.input < inputs.size() ? &inputs[port.input] : nullptr,
        port.output && *port.output < outputs.size() ? &outputs[*port.output] : nullptr};
    GANTRY_RETURN_IF_ERROR(state_->check(entries_[s]));
    const State::Entry &entry = state_->entries()[entries_[s]];
    for (TensorArgument *argument : arguments) {
      if (!argument)
        continue;
      if (argument->data || argument->buffer)
        return statusf(StatusCode::kInvalidArgument,
                       "'%s' belongs to the state '%s', so a run takes no memory for it; write its "
                       "value with gantry_state_write, or give it a buffer with gantry_state_bind",
                       argument == arguments[0] ? program_->inputs()[port.input].name.c_str()
                                                : program_->outputs()[*port.output].name.c_str(),
                       entry.name.c_str());
      *argument = {entry.shape, nullptr, entry.buffer, entry.offset, entry.capacityBytes};
    }
  }
  return {};
}

Status StateBinding::checkCapacity(std::span<const OutputShape> outputs) const {
  for (size_t s = 0; s < entries_.size(); ++s) {
    const State::Entry &entry = state_->entries()[entries_[s]];
    const StatePort &port = program_->states()[s];
    if (!port.output || outputs[*port.output].sizeBytes <= entry.capacityBytes)
      continue;
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' has room for %" PRIu64
                   " bytes, but after this run it would be %s with %" PRIu64 " bytes",
                   entry.name.c_str(), entry.capacityBytes,
                   shapeText(outputs[*port.output].shape).c_str(), outputs[*port.output].sizeBytes);
  }
  return {};
}

void StateBinding::noteRun(const std::shared_ptr<Run> &run,
                           std::span<const OutputShape> outputs) const {
  if (!state_)
    return;
  state_->noteRun(run);
  for (size_t s = 0; s < entries_.size(); ++s)
    if (const StatePort &port = program_->states()[s]; port.output)
      state_->setShape(entries_[s], outputs[*port.output]);
}

void StateBinding::noteFailure(const std::string &run, const Status &status) const {
  if (!state_)
    return;
  const Status cause(status.code(),
                     run + " failed and may have changed it in part (" + status.message() + ")");
  for (size_t s = 0; s < entries_.size(); ++s)
    if (program_->states()[s].output)
      state_->invalidate(entries_[s], cause);
  state_->refresh();
}

} // namespace gantry::program
