// The extension module gantry._compiler: the compiler's C API for gantry.compile(). It is a module
// of its own, so that programs that only run artifacts do not load MLIR.
//
// A compilation runs on a thread of its own that never calls Python. The caller's thread asks for
// its progress, so that it can handle Ctrl-C and leave the compilation to itself.
#include "python/src/text.h"
#include "python/src/unlocked.h"

#include <gantry/compiler.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace py = pybind11;
using gantry::python::textOf;
using gantry::python::Unlocked;

namespace {

/// The model and the options. The strings are copies, because the compilation may outlive the call.
struct Request {
  std::string model, output;
  std::vector<std::string> profiles, donated;
  std::vector<std::tuple<std::string, int64_t, int64_t>> dims;            // name, min, max
  std::vector<std::pair<std::string, std::optional<std::string>>> states; // input, output
  uint64_t memoryBudget = 0;
  bool halfPrecision = false, training = false;
};

/// The compilations that run, for waitForAll().
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  const pid_t process = getpid();
};
Running &running() {
  static auto *all = new Running; // Never destroyed: threads may use it while the process ends.
  return *all;
}

/// One compilation. All members after `request_` are protected by `mutex_`.
class Compilation {
public:
  explicit Compilation(Request request) : request_(std::move(request)) {}

  /// Starts the thread, which keeps the compilation alive until it ends.
  static void start(const std::shared_ptr<Compilation> &compilation) {
    {
      const std::lock_guard lock(running().mutex);
      ++running().count;
    }
    const auto end = [] {
      const std::lock_guard lock(running().mutex);
      --running().count;
      running().changed.notify_all();
    };
    try {
      std::thread([compilation, end] {
        compilation->run();
        end();
      }).detach();
    } catch (...) { // The system refuses to start a thread.
      end();
      throw;
    }
  }

  /// Waits until the compilation has ended or the time is over. Returns whether it has ended.
  bool wait(double seconds) {
    const Unlocked unlocked;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                             [this] { return result_.has_value(); });
  }
  /// Returns the steps since the last call: (stage, done, total).
  std::vector<std::tuple<std::string, size_t, size_t>> takeProgress() {
    const std::lock_guard lock(mutex_);
    return std::exchange(progress_, {});
  }
  /// Returns the result, of gantry_compile_result_t; the compilation must have ended.
  int result() {
    const std::lock_guard lock(mutex_);
    return result_.value();
  }
  /// Returns the diagnostics: (severity, message).
  py::list diagnostics() {
    const std::lock_guard lock(mutex_);
    py::list list;
    for (const auto &[severity, message] : diagnostics_)
      list.append(py::make_tuple(severity, textOf(message)));
    return list;
  }

private:
  void run() {
    std::vector<const char *> profiles, donated;
    for (const std::string &name : request_.profiles)
      profiles.push_back(name.c_str());
    for (const std::string &name : request_.donated)
      donated.push_back(name.c_str());
    std::vector<gantry_dim_range_t> dims;
    for (const auto &[name, low, high] : request_.dims)
      dims.push_back({name.c_str(), low, high});
    std::vector<gantry_state_pair_t> states;
    for (const auto &[input, output] : request_.states)
      states.push_back({input.c_str(), output ? output->c_str() : nullptr});
    gantry_compile_options_t options{};
    options.struct_size = sizeof(options);
    options.profiles = profiles.data();
    options.profile_count = profiles.size();
    options.dims = dims.data();
    options.dim_count = dims.size();
    options.donated_inputs = donated.data();
    options.donated_count = donated.size();
    options.states = states.data();
    options.state_count = states.size();
    options.memory_budget_bytes = request_.memoryBudget;
    options.half_precision = request_.halfPrecision;
    options.training = request_.training;
    options.user = this;
    options.diagnostic = [](void *user, int severity, const char *message) {
      auto *self = static_cast<Compilation *>(user);
      const std::lock_guard lock(self->mutex_);
      self->diagnostics_.emplace_back(severity, message);
    };
    options.progress = [](void *user, const char *stage, size_t done, size_t total) {
      auto *self = static_cast<Compilation *>(user);
      const std::lock_guard lock(self->mutex_);
      self->progress_.emplace_back(stage, done, total);
    };
    const int result = gantry_compile(request_.model.c_str(), request_.output.c_str(), &options);
    const std::lock_guard lock(mutex_);
    result_ = result;
    changed_.notify_all();
  }

  const Request request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> result_;
  std::vector<std::pair<int, std::string>> diagnostics_;
  std::vector<std::tuple<std::string, size_t, size_t>> progress_;
};

/// Waits until no compilation runs. Called at the end of the process, because the compiler's
/// libraries must not be torn down under a compilation that was left to itself.
void waitForAll() {
  const Unlocked unlocked;
  if (getpid() != running().process)
    return; // A forked child does not have the threads of its parent.
  std::unique_lock lock(running().mutex);
  running().changed.wait(lock, [] { return running().count == 0; });
}

} // namespace

PYBIND11_MODULE(_compiler, module) {
  module.doc() = "Gantry's compiler. Use gantry.compile() instead.";
  py::class_<Compilation, std::shared_ptr<Compilation>>(module, "Compilation")
      .def(py::init([](const std::string &model, const std::string &output,
                       const std::vector<std::string> &profiles,
                       const decltype(Request::dims) &dims, const std::vector<std::string> &donated,
                       const decltype(Request::states) &states, uint64_t memoryBudget,
                       bool halfPrecision, bool training) {
             auto compilation = std::make_shared<Compilation>(
                 Request{model, output, profiles, donated, dims, states, memoryBudget,
                         halfPrecision, training});
             Compilation::start(compilation);
             return compilation;
           }),
           py::arg("model"), py::arg("output"), py::arg("profiles"), py::arg("dims"),
           py::arg("donated"), py::arg("states"), py::arg("memory_budget"),
           py::arg("half_precision"), py::arg("training"))
      .def("wait", &Compilation::wait)
      .def("take_progress", &Compilation::takeProgress)
      .def_property_readonly("result", &Compilation::result)
      .def_property_readonly("diagnostics", &Compilation::diagnostics);
  module.def("wait_for_all", &waitForAll);
}
