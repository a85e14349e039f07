// An argument of a run: reads the tensor of a Python object without a copy where its memory allows.
//
// Accepted are gantry.Array, NumPy arrays and scalars, and every object with __dlpack__ whose
// memory the host can read (PyTorch and others). Python's numbers and lists are not accepted: their
// type would be a guess.
#pragma once

#include "python/src/array.h"

#include <optional>

namespace gantry::python {

/// The library that an argument comes from. A run returns its outputs as objects of that library.
enum class Origin : uint8_t { kNumpy, kTorch, kArray, kDlpack };

/// Why an argument was copied.
enum class CopyReason : uint8_t {
  kNone,       // It was not copied: the run reads the buffer of a gantry.Array.
  kHostMemory, // The runtime has copied host memory into the session's memory.
  kStrides,    // Its elements do not lie one after another; they were gathered first.
};

class Argument {
public:
  Argument() = default;
  Argument(const Argument &) = delete;
  Argument &operator=(const Argument &) = delete;
  Argument(Argument &&) = delete;
  ~Argument() { release(); }

  /// Reads an object as the input `port`. Throws if its type, shape or memory do not suit. The
  /// object must stay alive as long as the argument.
  void read(pybind11::handle object, const gantry_port_info_t &port);

  const gantry_tensor_t &tensor() const { return tensor_; }
  Origin origin() const { return origin_; }
  CopyReason copyReason() const { return copyReason_; }
  /// The gantry.Array that the argument is, or null.
  const std::shared_ptr<Array> &array() const { return array_; }

private:
  void readNumpy(pybind11::handle object, const gantry_port_info_t &port);
  void readDlpack(pybind11::handle object, const gantry_port_info_t &port);
  void readTensor(const DLTensor &source, const gantry_port_info_t &port);
  void gather(const char *data, const int64_t *strides);
  /// Calls the deleter of the consumed tensor, once.
  void release();

  gantry_tensor_t tensor_{};
  Origin origin_ = Origin::kNumpy;
  CopyReason copyReason_ = CopyReason::kNone;
  std::shared_ptr<Array> array_;
  std::optional<Array::View> use_; // Unset for an array that is donated.
  pybind11::object scalar_;        // The array of a NumPy scalar.
  // The consumed tensor, of one of the two kinds.
  DLManagedTensor *managed_ = nullptr;
  DLManagedTensorVersioned *versioned_ = nullptr;
  std::vector<char> gathered_; // The elements of a tensor with gaps.
};

} // namespace gantry::python
