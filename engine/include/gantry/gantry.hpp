// gantry.hpp: a thin C++17 wrapper over gantry.h; header only.
//
// The wrapper releases objects at the end of their scope, and makes the compiler warn about ignored
// failures. Each class owns one object of the C API; it can be moved but not copied. get() returns
// the C handle, for functions that have no wrapper. Functions that can fail return
// gantry::Expected<T>, or Error if they have no result; no function throws. The manual in gantry.h
// applies unchanged: threads, units, ownership and the meaning of each function.
#ifndef GANTRY_GANTRY_HPP_
#define GANTRY_GANTRY_HPP_

#include <gantry/gantry.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gantry {

/// A status and its message. The status is GANTRY_STATUS_OK if nothing failed.
class [[nodiscard]] Error {
public:
  Error() = default;
  /// Copies gantry_last_error() unless the status is GANTRY_STATUS_OK. The constructor must run
  /// directly after the failed call, on the same thread.
  explicit Error(gantry_status_t status)
      : status_(status), message_(status == GANTRY_STATUS_OK ? "" : gantry_last_error()) {}
  bool ok() const { return status_ == GANTRY_STATUS_OK; }
  gantry_status_t status() const { return status_; }
  const std::string &message() const { return message_; }

private:
  gantry_status_t status_ = GANTRY_STATUS_OK;
  std::string message_;
};

/// A value, or the error that explains why there is none. An Expected converts to true if it has a
/// value; the operators * and -> require a value.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return value_.has_value(); }
  T &operator*() { return *value_; }
  T *operator->() { return &*value_; }
  const Error &error() const { return error_; }

private:
  std::optional<T> value_;
  Error error_;
};

namespace detail {
template <typename T, void (*Release)(T *)> struct Releaser {
  void operator()(T *object) const { Release(object); }
};
template <typename T, void (*Release)(T *)> using Handle = std::unique_ptr<T, Releaser<T, Release>>;
} // namespace detail

/// Owns a gantry_device_t.
class Device {
public:
  /// Opens a device (gantry_device_create). An empty selector means the device that the environment
  /// variable GANTRY_DEVICE selects, or else the first usable device.
  static Expected<Device> open(const std::string &selector = "") {
    gantry_device_t *device = nullptr;
    if (Error error{gantry_device_create(selector.c_str(), &device)}; !error.ok())
      return error;
    return Device(device);
  }
  gantry_device_info_t info() const {
    gantry_device_info_t info;
    gantry_device_get_info(get(), &info);
    return info;
  }
  /// Returns all memory heaps with their present figures.
  Expected<std::vector<gantry_memory_heap_t>> memoryHeaps() const {
    std::vector<gantry_memory_heap_t> heaps(gantry_device_memory_heap_count(get()));
    for (uint32_t i = 0; i < heaps.size(); ++i) {
      heaps[i].struct_size = sizeof(heaps[i]);
      if (Error error{gantry_device_memory_heap(get(), i, &heaps[i])}; !error.ok())
        return error;
    }
    return heaps;
  }
  gantry_device_t *get() const { return handle_.get(); }

private:
  explicit Device(gantry_device_t *device) : handle_(device) {}
  detail::Handle<gantry_device_t, gantry_device_release> handle_;
};

/// Owns a gantry_buffer_t.
class Buffer {
public:
  /// Allocates memory that is visible to host and device (gantry_buffer_create).
  static Expected<Buffer> create(const Device &device, uint64_t sizeBytes) {
    gantry_buffer_t *buffer = nullptr;
    if (Error error{gantry_buffer_create(device.get(), sizeBytes, &buffer)}; !error.ok())
      return error;
    return Buffer(buffer);
  }
  /// Returns the host's address. Returns NULL if the memory is not visible to the host, or if the
  /// buffer was donated; in the second case check() returns the error.
  void *data() const { return gantry_buffer_data(get()); }
  /// Returns an error if the buffer cannot be used any more, because it was donated to a run or
  /// released. If it was donated, the message names the run.
  Error check() const {
    return Error(gantry_buffer_size(get()) > 0 ? GANTRY_STATUS_OK : GANTRY_STATUS_INVALID_ARGUMENT);
  }
  uint64_t size() const { return gantry_buffer_size(get()); }
  gantry_buffer_t *get() const { return handle_.get(); }
  /// Returns the handle and gives up its ownership; the object is empty afterwards.
  gantry_buffer_t *release() { return handle_.release(); }

private:
  explicit Buffer(gantry_buffer_t *buffer) : handle_(buffer) {}
  detail::Handle<gantry_buffer_t, gantry_buffer_release> handle_;
};

/// Owns a gantry_program_t.
class Program {
public:
  static Expected<Program> load(const std::string &path) {
    gantry_program_t *program = nullptr;
    if (Error error{gantry_program_load(path.c_str(), &program)}; !error.ok())
      return error;
    return Program(program);
  }
  std::vector<gantry_port_info_t> inputs() const {
    std::vector<gantry_port_info_t> ports(gantry_program_input_count(get()));
    for (size_t i = 0; i < ports.size(); ++i)
      gantry_program_input(get(), i, &ports[i]);
    return ports;
  }
  std::vector<gantry_state_port_t> states() const {
    std::vector<gantry_state_port_t> ports(gantry_program_state_count(get()));
    for (size_t i = 0; i < ports.size(); ++i) {
      ports[i].struct_size = sizeof(ports[i]);
      gantry_program_state(get(), i, &ports[i]);
    }
    return ports;
  }
  std::vector<gantry_port_info_t> outputs() const {
    std::vector<gantry_port_info_t> ports(gantry_program_output_count(get()));
    for (size_t i = 0; i < ports.size(); ++i)
      gantry_program_output(get(), i, &ports[i]);
    return ports;
  }
  /// Returns the program as JSON (gantry_program_describe). Without symbols, the sizes of a dynamic
  /// program are expressions.
  Expected<std::string> describe(const std::vector<int64_t> &symbols = {}) const {
    char *json = nullptr;
    if (Error error{gantry_program_describe(get(), symbols.empty() ? nullptr : symbols.data(),
                                            symbols.size(), &json)};
        !error.ok())
      return error;
    std::string text = json;
    gantry_free(json);
    return text;
  }
  gantry_program_t *get() const { return handle_.get(); }

private:
  explicit Program(gantry_program_t *program) : handle_(program) {}
  detail::Handle<gantry_program_t, gantry_program_release> handle_;
};

/// Owns a gantry_run_t. The destructor waits for the end of the run.
class Run {
public:
  explicit Run(gantry_run_t *run) : handle_(run) {}
  /// Waits for the end of the run. Returns true when it has ended, and false if timeoutNs passed
  /// first.
  Expected<bool> wait(uint64_t timeoutNs = UINT64_MAX) {
    int32_t done = 0;
    if (Error error{gantry_run_wait(get(), timeoutNs, &done)}; !error.ok())
      return error;
    return done != 0;
  }
  /// Donates the buffer of an input to the run (gantry_run_donate). The object keeps the handle,
  /// so that a later use of it is an error that names the run: data() returns NULL, and functions
  /// that take the buffer fail. After a failure the caller still owns the buffer.
  Error donate(Buffer &&buffer) { return Error(gantry_run_donate(get(), buffer.get())); }
  gantry_run_t *get() const { return handle_.get(); }

private:
  detail::Handle<gantry_run_t, gantry_run_release> handle_;
};

/// Owns a reference to a gantry_state_t.
class State {
public:
  explicit State(gantry_state_t *state) : handle_(state) {}
  static Expected<State> create(const Program &program, const Device &device) {
    gantry_state_t *state = nullptr;
    if (Error error{gantry_state_create(program.get(), device.get(), &state)}; !error.ok())
      return error;
    return State(state);
  }
  std::vector<gantry_state_info_t> entries() const {
    std::vector<gantry_state_info_t> infos(gantry_state_count(get()));
    for (size_t i = 0; i < infos.size(); ++i) {
      infos[i].struct_size = sizeof(infos[i]);
      gantry_state_get_info(get(), i, &infos[i]);
    }
    return infos;
  }
  Error write(const std::string &name, const gantry_tensor_t &tensor) {
    return Error(gantry_state_write(get(), name.c_str(), &tensor));
  }
  Error read(const std::string &name, gantry_tensor_t &tensor) {
    return Error(gantry_state_read(get(), name.c_str(), &tensor));
  }
  Error bind(const std::string &name, const gantry_tensor_t &tensor) {
    return Error(gantry_state_bind(get(), name.c_str(), &tensor));
  }
  Error save(const std::string &path) { return Error(gantry_state_save(get(), path.c_str())); }
  Error restore(const std::string &path) {
    return Error(gantry_state_restore(get(), path.c_str()));
  }
  gantry_state_t *get() const { return handle_.get(); }

private:
  detail::Handle<gantry_state_t, gantry_state_release> handle_;
};

/// Owns a gantry_session_t.
class Session {
public:
  static Expected<Session> create(const Program &program, const Device &device,
                                  const gantry_session_options_t *options = nullptr) {
    gantry_session_t *session = nullptr;
    if (Error error{gantry_session_create(program.get(), device.get(), options, &session)};
        !error.ok())
      return error;
    return Session(session);
  }
  Error outputShapes(const std::vector<gantry_tensor_t> &inputs,
                     std::vector<gantry_tensor_t> &outputs) {
    return Error(gantry_session_output_shapes(get(), inputs.data(), inputs.size(), outputs.data(),
                                              outputs.size()));
  }
  Error run(const std::vector<gantry_tensor_t> &inputs, std::vector<gantry_tensor_t> &outputs) {
    return Error(
        gantry_session_run(get(), inputs.data(), inputs.size(), outputs.data(), outputs.size()));
  }
  Expected<Run> submit(const std::vector<gantry_tensor_t> &inputs,
                       std::vector<gantry_tensor_t> &outputs) {
    gantry_run_t *run = nullptr;
    if (Error error{gantry_session_submit(get(), inputs.data(), inputs.size(), outputs.data(),
                                          outputs.size(), &run)};
        !error.ok())
      return error;
    return Run(run);
  }
  /// Returns a reference to the session's state (gantry_session_state).
  Expected<State> state() const {
    gantry_state_t *state = nullptr;
    if (Error error{gantry_session_state(get(), &state)}; !error.ok())
      return error;
    return State(state);
  }
  gantry_statistics_t statistics() const {
    gantry_statistics_t statistics;
    gantry_session_statistics(get(), &statistics);
    return statistics;
  }
  gantry_session_t *get() const { return handle_.get(); }

private:
  explicit Session(gantry_session_t *session) : handle_(session) {}
  detail::Handle<gantry_session_t, gantry_session_release> handle_;
};

} // namespace gantry

#endif
