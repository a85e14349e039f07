// gantry.Program: a compiled model on a device, which is called like a function.
//
// Threads: several Python threads may call one program. Its runs take turns; the interpreter lock
// is free while a run waits or executes.
#pragma once

#include "python/src/argument.h"

#include <mutex>

namespace gantry::python {

class Program {
public:
  /// Takes an artifact and opens a session on the device.
  Program(gantry::Program program, std::shared_ptr<Device> device);

  /// Runs the program. positional: the inputs in order; named: by name. Returns the output, or a
  /// tuple of outputs if there are several.
  pybind11::object call(const pybind11::args &positional, const pybind11::kwargs &named);

  /// The inputs or outputs, without those of states: a list of dictionaries.
  pybind11::list inputs() const { return describePorts(inputs_); }
  pybind11::list outputs() const { return describePorts(outputs_); }
  /// The copies of the last call: texts that name the tensor, its bytes and the reason.
  std::vector<std::string> copies() const;
  /// Returns the artifact as JSON. symbols: the sizes of a dynamic program; empty: expressions.
  std::string describe(const std::vector<int64_t> &symbols) const;
  gantry_statistics_t statistics();
  const std::shared_ptr<Device> &device() const { return device_; }
  std::string repr() const;

  /// The values of a state, by the input's name.
  std::shared_ptr<Array> readState(const std::string &name);
  void writeState(const std::string &name, pybind11::handle value);
  std::vector<std::string> stateNames() const;
  void saveState(const std::string &path);
  void restoreState(const std::string &path);

private:
  /// A port that a call passes.
  struct Port {
    size_t index; // Among all inputs or outputs of the program.
    gantry_port_info_t info;
  };
  /// A copy that the last call made.
  struct Copy {
    const char *port;
    uint64_t bytes;
    CopyReason reason;
  };

  static pybind11::list describePorts(const std::vector<Port> &ports);
  std::vector<pybind11::handle> bind(const pybind11::args &positional,
                                     const pybind11::kwargs &named) const;
  /// An output of a call: an Array, or a NumPy array whose memory the run writes.
  pybind11::object makeOutput(const Port &port, Origin origin, gantry_tensor_t &tensor) const;
  /// Runs the program and waits; `taken` are the arrays to donate. Returns false, without a run, if
  /// the shapes of the outputs have changed since they were made, because another call has changed
  /// a state.
  bool run(class TakenArrays &taken, const std::vector<gantry_tensor_t> &inputs,
           std::vector<gantry_tensor_t> &outputs);
  State state() const;

  /// The program and its session, in the order in which they are made.
  struct Loaded {
    gantry::Program program;
    gantry::Session session;
  };

  std::shared_ptr<Device> device_;
  std::unique_ptr<Loaded, UnlessForked> loaded_;
  std::mutex mutex_; // Held during a run. Taken without the interpreter lock.
  std::vector<Port> inputs_, outputs_;
  size_t inputCount_ = 0, outputCount_ = 0; // With the ports of states.
  bool isDynamic_ = false;                  // Whether an output's shape depends on the inputs.
  std::vector<Copy> copies_;                // The interpreter lock protects it.
};

/// Registers the class with a module.
void registerProgram(pybind11::module_ &module);

} // namespace gantry::python
