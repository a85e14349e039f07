// The states of one session: which entries of a State (state.h: the buffers of named states) its
// program uses, and what a run does with them. A binding fills the arguments of a run, so that the
// ports of a state lie in its buffer, and tells the State which runs use it and which have failed.
//
// Threads: one thread uses a binding, its session and its State at a time.
#pragma once

#include "engine/program/states/state.h"

namespace gantry::program {

class StateBinding {
public:
  /// A binding of a program without states.
  StateBinding() = default;
  /// Finds the entry of each of the program's states by its name. Returns kInvalidArgument if a
  /// state has no entry, or if an entry's type, a dimension or its capacity does not suit the
  /// program.
  static Result<StateBinding> create(std::shared_ptr<const Program> program,
                                     std::shared_ptr<State> state);

  /// nullptr if the program has no states.
  const std::shared_ptr<State> &state() const { return state_; }
  explicit operator bool() const { return state_ != nullptr; }

  /// Puts the present shapes of the states into the shapes of the inputs. Returns the error of a
  /// state without a shape.
  Status fillShapes(std::span<TensorShape> inputs) const;
  /// Puts the buffers of the states into the arguments of a run. Returns the error of State::check
  /// for an entry that a run cannot use, and kInvalidArgument if the caller has given memory for
  /// the port of a state.
  Status fillArguments(std::span<TensorArgument> inputs, std::span<TensorArgument> outputs) const;
  /// Returns kInvalidArgument if an output of a state exceeds the state's capacity.
  Status checkCapacity(std::span<const OutputShape> outputs) const;

  /// Notes a run that was submitted.
  void noteRun(const std::shared_ptr<Run> &run, std::span<const OutputShape> outputs) const;
  /// Marks the entries that a failed run may have changed. `run` names the run in messages.
  void noteFailure(const std::string &run, const Status &status) const;

private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<State> state_;
  std::vector<size_t> entries_; // Per state of the program: index of the State's entry.
};

} // namespace gantry::program
