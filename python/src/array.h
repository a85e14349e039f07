// gantry.Array: a tensor in a device's memory, which NumPy, PyTorch and others read without a copy.
//
// Ownership: an Array owns its buffer. Views of other libraries hold a reference to the Array, so
// the buffer is released when the Array and its last view are gone. Releasing needs no interpreter
// lock, so it may happen on any thread and after the interpreter has ended.
#pragma once

#include "python/src/dlpack.h"
#include "python/src/fork.h"

#include <gantry/gantry.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gantry::python {

class Array : public std::enable_shared_from_this<Array> {
public:
  /// Allocates the memory of a tensor; its contents are not initialized. name: shown in reports and
  /// traces. The memory is visible to the host and to kernels.
  Array(std::shared_ptr<Device> device, gantry_type_t type, std::vector<int64_t> dims,
        const char *name);
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() {
    if (!isForked())
      gantry_buffer_release(buffer_);
  }

  const std::shared_ptr<Device> &device() const { return device_; }
  gantry_type_t type() const { return type_; }
  const std::vector<int64_t> &dims() const { return dims_; }
  uint64_t sizeBytes() const { return sizeBytes_; }
  /// Returns the array as an argument of a run, also if this call has taken it.
  gantry_tensor_t tensor() const;
  gantry_buffer_t *buffer() const { return buffer_; }
  /// Returns the host's address of the elements. Throws if the array was donated to a run.
  void *data() const;
  /// Takes the array for a donation. Throws if something else uses the memory, or if it was taken
  /// before. name: the input's name, for the message.
  void take(const char *name);
  /// Undoes take(), if the run could not start.
  void giveBack() { uses_ = 0; }
  /// Returns whether the array was donated.
  bool isTaken() const { return uses_ < 0; }

  /// A use of the memory: a view of another library, or an argument of a call. An array in use
  /// cannot be donated.
  class View {
  public:
    /// Throws if the array was donated.
    explicit View(std::shared_ptr<Array> array);
    View(const View &) = delete;
    View &operator=(const View &) = delete;
    ~View() { --array_->uses_; }
    const Array &array() const { return *array_; }

  private:
    std::shared_ptr<Array> array_;
  };

  /// Returns a NumPy array that shares the memory.
  pybind11::array numpy();
  /// Returns a DLPack capsule (the method __dlpack__ of the array API standard).
  pybind11::object toDlpack(const pybind11::object &stream, const pybind11::object &maxVersion,
                            const pybind11::object &device, const pybind11::object &copy);
  /// Returns a new array with the same elements.
  std::shared_ptr<Array> clone();
  std::string repr() const;

private:
  [[noreturn]] void throwTaken() const;

  std::shared_ptr<Device> device_;
  gantry_buffer_t *buffer_ = nullptr;
  gantry_type_t type_;
  std::vector<int64_t> dims_;
  uint64_t sizeBytes_ = 0;
  std::atomic<int64_t> uses_{0}; // The number of views; kTaken after a donation.
  static constexpr int64_t kTaken = -1;
};

/// Returns the number of bytes of a tensor.
uint64_t bytesOf(gantry_type_t type, const std::vector<int64_t> &dims);

/// Returns a shape for messages, such as "(1, 3, 224, 224)".
std::string shapeText(const int64_t *dims, size_t rank);
/// Returns the shape of a port for messages; dynamic dimensions have their names: "(batch, 3)".
std::string shapeText(const gantry_port_info_t &port);

/// Registers the class with a module.
void registerArray(pybind11::module_ &module);

} // namespace gantry::python
