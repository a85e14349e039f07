// Implements program.h.
#include "python/src/program.h"

#include "python/src/status.h"
#include "python/src/text.h"
#include "python/src/types.h"
#include "python/src/unlocked.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gantry::python {

namespace py = pybind11;

namespace {

/// Returns the value of an Expected, or throws its error.
template <typename T> T valueOf(Expected<T> expected) {
  if (!expected)
    throw StatusError(expected.error().status(), expected.error().message());
  return std::move(*expected);
}

void check(const Error &error) {
  if (!error.ok())
    throw StatusError(error.status(), error.message());
}

/// Returns a list of names for messages: "a", "b".
template <typename Ports> std::string namesOf(const Ports &ports) {
  std::string text;
  for (const auto &port : ports)
    text += (text.empty() ? "\"" : ", \"") + std::string(port.info.name) + "\"";
  return text.empty() ? "none" : text;
}

gantry::Session openSession(const gantry::Program &program, const Device &device) {
  const Unlocked unlocked;
  return valueOf(gantry::Session::create(program, device));
}

/// Returns the library that a call's outputs are returned to: that of the first argument that is no
/// gantry.Array, or gantry itself.
Origin originOf(const std::vector<Argument> &arguments) {
  for (const Argument &argument : arguments)
    if (argument.origin() != Origin::kArray)
      return argument.origin();
  return arguments.empty() ? Origin::kNumpy : Origin::kArray;
}

/// Returns an output as an object of the caller's library, which shares its memory. PyTorch lacks
/// unsigned types of more than 8 bits; such an output stays an Array.
py::object asOrigin(py::object output, Origin origin) {
  if (origin != Origin::kTorch)
    return output;
  const py::module_ torch = py::module_::import("torch");
  if (!py::isinstance<Array>(output))
    return torch.attr("from_numpy")(output);
  if (output.cast<std::shared_ptr<Array>>()->type() != GANTRY_TYPE_BF16)
    return output;
  return torch.attr("from_dlpack")(output);
}

} // namespace

Program::Program(gantry::Program program, std::shared_ptr<Device> device)
    : device_(std::move(device)) {
  gantry::Session session = openSession(program, *device_);
  loaded_.reset(new Loaded{std::move(program), std::move(session)});
  const std::vector<gantry_port_info_t> inputs = loaded_->program.inputs(),
                                        outputs = loaded_->program.outputs();
  inputCount_ = inputs.size();
  outputCount_ = outputs.size();
  std::vector<bool> isStateInput(inputCount_), isStateOutput(outputCount_);
  for (const gantry_state_port_t &state : loaded_->program.states()) {
    isStateInput[state.input] = true;
    if (state.output != GANTRY_NO_OUTPUT)
      isStateOutput[state.output] = true;
  }
  for (size_t i = 0; i < inputCount_; ++i)
    if (!isStateInput[i])
      inputs_.push_back({i, inputs[i]});
  for (size_t i = 0; i < outputCount_; ++i)
    if (!isStateOutput[i])
      outputs_.push_back({i, outputs[i]});
  for (const Port &port : outputs_)
    isDynamic_ |= std::count(port.info.dims, port.info.dims + port.info.rank, GANTRY_DYNAMIC) > 0;
}

/// Assigns the arguments of a call to the inputs.
std::vector<py::handle> Program::bind(const py::args &positional, const py::kwargs &named) const {
  if (positional.size() > inputs_.size())
    throw py::type_error("the program takes " + std::to_string(inputs_.size()) + " inputs (" +
                         namesOf(inputs_) + "), not " + std::to_string(positional.size()));
  std::vector<py::handle> bound(inputs_.size());
  for (size_t i = 0; i < positional.size(); ++i)
    bound[i] = PyTuple_GET_ITEM(positional.ptr(), static_cast<Py_ssize_t>(i));
  for (const auto &[key, value] : named) {
    const std::string name = py::str(key);
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&](const Port &port) { return name == port.info.name; });
    if (found == inputs_.end())
      throw py::type_error("the program has no input \"" + name + "\"; its inputs are " +
                           namesOf(inputs_));
    py::handle &place = bound[static_cast<size_t>(found - inputs_.begin())];
    if (place)
      throw py::type_error("the input \"" + name + "\" is given twice");
    place = value;
  }
  for (size_t i = 0; i < bound.size(); ++i)
    if (!bound[i])
      throw py::type_error(std::string("the input \"") + inputs_[i].info.name +
                           "\" is missing; the inputs are " + namesOf(inputs_));
  return bound;
}

py::object Program::makeOutput(const Port &port, Origin origin, gantry_tensor_t &tensor) const {
  const int64_t *dims = isDynamic_ ? tensor.dims : port.info.dims;
  std::vector<int64_t> shape(dims, dims + port.info.rank);
  const bool lacksType = port.info.type == GANTRY_TYPE_BF16 ||
                         (origin == Origin::kTorch &&
                          (port.info.type == GANTRY_TYPE_U16 || port.info.type == GANTRY_TYPE_U32 ||
                           port.info.type == GANTRY_TYPE_U64));
  if (origin == Origin::kArray || origin == Origin::kDlpack || lacksType) {
    const auto array =
        std::make_shared<Array>(device_, port.info.type, std::move(shape), port.info.name);
    tensor = array->tensor();
    return py::cast(array);
  }
  // The session keeps its own memory for host outputs, so its commands are recorded once. Commands
  // that write to a new buffer in every call would be recorded in every call.
  py::array array(py::dtype(numpyName(port.info.type)), std::move(shape));
  gantry_tensor_t host{};
  host.type = port.info.type;
  std::copy_n(dims, port.info.rank, host.dims); // run() compares them.
  tensor = host;
  tensor.data = array.mutable_data();
  tensor.size_bytes = static_cast<uint64_t>(array.nbytes());
  return array;
}

/// The arrays that a call has taken for donations. If they are not donated, because the run could
/// not start, they are given back.
class TakenArrays {
public:
  TakenArrays() = default;
  TakenArrays(const TakenArrays &) = delete;
  TakenArrays &operator=(const TakenArrays &) = delete;
  ~TakenArrays() {
    for (Array *array : arrays_)
      array->giveBack();
  }
  bool isEmpty() const { return arrays_.empty(); }
  void take(Array &array, const char *name) {
    array.take(name);
    arrays_.push_back(&array);
  }
  /// Donates the arrays to the run that reads them.
  void donate(Run &run) {
    for (Array *array : std::exchange(arrays_, {}))
      python::check(gantry_run_donate(run.get(), array->buffer()));
  }

private:
  std::vector<Array *> arrays_; // The arguments of the call keep them alive.
};

bool Program::run(TakenArrays &taken, const std::vector<gantry_tensor_t> &inputs,
                  std::vector<gantry_tensor_t> &outputs) {
  const std::lock_guard lock(mutex_);
  if (isDynamic_) {
    std::vector<gantry_tensor_t> now(outputs.size());
    check(loaded_->session.outputShapes(inputs, now));
    for (const Port &port : outputs_)
      if (!std::equal(now[port.index].dims, now[port.index].dims + port.info.rank,
                      outputs[port.index].dims))
        return false;
  }
  if (taken.isEmpty()) {
    check(loaded_->session.run(inputs, outputs));
    return true;
  }
  Run run = valueOf(loaded_->session.submit(inputs, outputs));
  taken.donate(run);
  if (const auto done = run.wait(); !done)
    check(done.error());
  return true;
}

py::object Program::call(const py::args &positional, const py::kwargs &named) {
  checkProcess();
  const std::vector<py::handle> bound = bind(positional, named);
  std::vector<Argument> arguments(inputs_.size());
  std::vector<gantry_tensor_t> inputs(inputCount_), outputs(outputCount_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    arguments[i].read(bound[i], inputs_[i].info);
    inputs[inputs_[i].index] = arguments[i].tensor();
  }
  TakenArrays taken;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].info.donated && arguments[i].array())
      taken.take(*arguments[i].array(), inputs_[i].info.name);
  const Origin origin = originOf(arguments);
  std::vector<py::object> results;
  for (bool done = false; !done;) {
    if (isDynamic_) {
      const Unlocked unlocked;
      const std::lock_guard lock(mutex_);
      check(loaded_->session.outputShapes(inputs, outputs));
    }
    results.clear();
    for (const Port &port : outputs_)
      results.push_back(makeOutput(port, origin, outputs[port.index]));
    const Unlocked unlocked;
    done = run(taken, inputs, outputs);
  }
  copies_.clear();
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (arguments[i].copyReason() != CopyReason::kNone)
      copies_.push_back(
          {inputs_[i].info.name, arguments[i].tensor().size_bytes, arguments[i].copyReason()});
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (!py::isinstance<Array>(results[i]))
      copies_.push_back(
          {outputs_[i].info.name, outputs[outputs_[i].index].size_bytes, CopyReason::kHostMemory});
  if (results.size() == 1)
    return asOrigin(std::move(results.front()), origin);
  py::tuple tuple(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    tuple[i] = asOrigin(std::move(results[i]), origin);
  return tuple;
}

py::list Program::describePorts(const std::vector<Port> &ports) {
  py::list list;
  for (const Port &port : ports) {
    py::list shape;
    for (uint32_t d = 0; d < port.info.rank; ++d) {
      if (port.info.dims[d] != GANTRY_DYNAMIC)
        shape.append(port.info.dims[d]);
      else if (port.info.dim_names[d])
        shape.append(port.info.dim_names[d]);
      else
        shape.append(py::none());
    }
    py::dict entry;
    entry["name"] = port.info.name;
    entry["dtype"] = numpyName(port.info.type);
    entry["shape"] = py::tuple(shape);
    entry["donated"] = port.info.donated != 0;
    list.append(entry);
  }
  return list;
}

std::vector<std::string> Program::copies() const {
  std::vector<std::string> texts;
  for (const Copy &copy : copies_)
    texts.push_back(std::string(copy.port) + ": " + std::to_string(copy.bytes) + " bytes, " +
                    (copy.reason == CopyReason::kStrides
                         ? "because its elements do not lie one after another in memory"
                         : "from or to memory of the host; pass a gantry.Array to avoid it"));
  return texts;
}

std::string Program::describe(const std::vector<int64_t> &symbols) const {
  checkProcess();
  const Unlocked unlocked;
  return valueOf(loaded_->program.describe(symbols));
}

gantry_statistics_t Program::statistics() {
  checkProcess();
  const Unlocked unlocked;
  const std::lock_guard lock(mutex_);
  return loaded_->session.statistics();
}

std::string Program::repr() const {
  std::string text = "<gantry.Program";
  const auto add = [&](const char *separator, const std::vector<Port> &ports) {
    text += separator;
    for (size_t i = 0; i < ports.size(); ++i) {
      const gantry_port_info_t &port = ports[i].info;
      text += (i > 0 ? ", " : "") + std::string(port.name) + ": " + numpyName(port.type) + " " +
              shapeText(port);
    }
  };
  add(" (", inputs_);
  add(") -> (", outputs_);
  return text + ") on " + device_->info().name + ">";
}

// ---- states -------------------------------------------------------------------------------------

State Program::state() const {
  checkProcess();
  return valueOf(loaded_->session.state());
}

std::vector<std::string> Program::stateNames() const {
  std::vector<std::string> names;
  for (const gantry_state_port_t &state : loaded_->program.states())
    names.push_back(state.name);
  return names;
}

std::shared_ptr<Array> Program::readState(const std::string &name) {
  const Unlocked unlocked;
  const std::lock_guard lock(mutex_);
  State values = state();
  for (const gantry_state_info_t &entry : values.entries()) {
    if (name != entry.name)
      continue;
    auto array =
        std::make_shared<Array>(device_, entry.type,
                                entry.condition == GANTRY_STATE_VALID
                                    ? std::vector<int64_t>(entry.dims, entry.dims + entry.rank)
                                    : std::vector<int64_t>(),
                                entry.name);
    gantry_tensor_t tensor{};
    tensor.data = array->data();
    tensor.size_bytes = entry.condition == GANTRY_STATE_VALID ? entry.size_bytes : 0;
    check(values.read(name, tensor));
    return array;
  }
  gantry_tensor_t none{};
  check(values.read(name, none)); // The error lists the names.
  return nullptr;
}

void Program::writeState(const std::string &name, py::handle value) {
  const std::vector<gantry_port_info_t> inputs = loaded_->program.inputs();
  const auto port = std::find_if(inputs.begin(), inputs.end(),
                                 [&](const gantry_port_info_t &each) { return name == each.name; });
  Argument argument; // Empty if the name is unknown; the error of write() then lists the names.
  if (port != inputs.end())
    argument.read(value, *port);
  gantry_tensor_t tensor = argument.tensor();
  if (argument.array()) {
    tensor.data = argument.array()->data();
    tensor.buffer = nullptr;
  }
  const Unlocked unlocked;
  const std::lock_guard lock(mutex_);
  check(state().write(name, tensor));
}

void Program::saveState(const std::string &path) {
  const Unlocked unlocked;
  const std::lock_guard lock(mutex_);
  check(state().save(path));
}

void Program::restoreState(const std::string &path) {
  const Unlocked unlocked;
  const std::lock_guard lock(mutex_);
  check(state().restore(path));
}

void registerProgram(py::module_ &module) {
  py::class_<Program, std::shared_ptr<Program>>(module, "NativeProgram")
      .def(py::init([](const std::string &path, const std::shared_ptr<Device> &device) {
             std::optional<gantry::Program> loaded;
             {
               const Unlocked unlocked;
               loaded = valueOf(gantry::Program::load(path));
             }
             return std::make_shared<Program>(std::move(*loaded), device);
           }),
           py::arg("path"), py::arg("device").none(false))
      .def("__call__", &Program::call)
      .def("__repr__", &Program::repr)
      .def_property_readonly("inputs", &Program::inputs)
      .def_property_readonly("outputs", &Program::outputs)
      .def_property_readonly("copies", &Program::copies)
      .def(
          "describe",
          [](const Program &self, const std::vector<int64_t> &symbols) {
            return textOf(self.describe(symbols));
          },
          py::arg("symbols") = std::vector<int64_t>())
      .def("state_names", &Program::stateNames)
      .def("read_state", &Program::readState)
      .def("write_state", &Program::writeState)
      .def("save_state", &Program::saveState)
      .def("restore_state", &Program::restoreState)
      .def("statistics", [](Program &self) {
        const gantry_statistics_t figures = self.statistics();
        py::dict result;
        result["constant_bytes"] = figures.constant_bytes;
        result["arena_bytes"] = figures.arena_bytes;
        result["lower_bound_bytes"] = figures.lower_bound_bytes;
        result["io_bytes"] = figures.io_bytes;
        result["reserved_bytes"] = figures.reserved_bytes;
        result["runs"] = figures.runs;
        result["plans"] = figures.plans;
        result["recordings"] = figures.recordings;
        result["pipelines"] = figures.pipelines;
        result["load_ns"] = figures.load_ns;
        result["last_run_ns"] = figures.last_run_ns;
        return result;
      });
}

} // namespace gantry::python
