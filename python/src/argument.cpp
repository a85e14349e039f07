// Implements argument.h.
#include "python/src/argument.h"

#include "python/src/status.h"
#include "python/src/types.h"

#include <cstring>
#include <unordered_set>

namespace gantry::python {

namespace py = pybind11;

namespace {

/// Returns the start of a message about an argument.
std::string about(const gantry_port_info_t &port) {
  return std::string("input \"") + port.name + "\": ";
}

std::string kindOf(py::handle object) {
  const py::handle type = reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
  const std::string module = py::str(type.attr("__module__"));
  const std::string name = py::str(type.attr("__qualname__"));
  return module == "builtins" ? name : module + "." + name;
}

/// Returns whether an object's class belongs to a package, such as "torch.", given with its dot.
bool isOfPackage(py::handle object, const char *package) {
  const size_t length = std::strlen(package);
  const char *name = Py_TYPE(object.ptr())->tp_name; // "torch.Tensor", or "Tensor" for classes.
  if (std::strncmp(name, package, length) == 0)
    return true;
  const py::handle type = reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
  const py::object module = type.attr("__module__");
  return py::isinstance<py::str>(module) &&
         (std::string(py::str(module)) + ".").compare(0, length, package) == 0;
}

void checkType(gantry_type_t wanted, const std::string &given, const gantry_port_info_t &port) {
  refuse(about(port) + "the program takes " + numpyName(wanted) + ", not " + given +
         "; convert it, for example with x.astype(\"" + numpyName(wanted) + "\")");
}

void checkShape(const gantry_tensor_t &tensor, const gantry_port_info_t &port) {
  bool fits = tensor.rank == port.rank;
  for (uint32_t d = 0; fits && d < port.rank; ++d)
    fits = port.dims[d] == GANTRY_DYNAMIC || port.dims[d] == tensor.dims[d];
  if (!fits)
    refuse(about(port) + "the program takes shape " + shapeText(port) + ", not " +
           shapeText(tensor.dims, tensor.rank));
}

/// Throws unless the host can read the memory of a DLPack device type.
void checkDevice(int64_t type, const gantry_port_info_t &port) {
  if (type != kDLCPU && type != kDLCUDAHost && type != kDLROCMHost)
    refuse(
        about(port) + "the tensor lies on DLPack's device type " + std::to_string(type) +
        ", whose memory this program cannot read; move it to the host, for example with x.cpu()");
}

/// Copies the elements of a tensor with any strides (in bytes) to `target`, in row-major order.
char *copyElements(const char *source, const int64_t *dims, const int64_t *strides, uint32_t rank,
                   size_t elementSize, char *target) {
  if (rank == 0) {
    std::memcpy(target, source, elementSize);
    return target + elementSize;
  }
  for (int64_t i = 0; i < dims[0]; ++i)
    target =
        copyElements(source + i * strides[0], dims + 1, strides + 1, rank - 1, elementSize, target);
  return target;
}

/// Returns the capsule of an object, versioned if the object's __dlpack__ knows versions.
py::object capsuleOf(py::handle object) {
  // The classes whose __dlpack__ has no keyword max_version, as those of PyTorch 1.13 and
  // NumPy 1.24. The interpreter lock protects the set.
  static std::unordered_set<PyTypeObject *> old;
  const py::object make = object.attr("__dlpack__");
  if (old.count(Py_TYPE(object.ptr())) == 0) {
    try {
      return make(py::arg("max_version") =
                      py::make_tuple(kDLPackVersion.major, kDLPackVersion.minor));
    } catch (py::error_already_set &error) {
      if (!error.matches(PyExc_TypeError))
        throw;
    }
    py::object capsule = make(); // If this fails too, the error is the producer's own.
    old.insert(Py_TYPE(object.ptr()));
    return capsule;
  }
  return make();
}

} // namespace

void Argument::release() {
  if (managed_ && managed_->deleter)
    managed_->deleter(managed_);
  if (versioned_ && versioned_->deleter)
    versioned_->deleter(versioned_);
  managed_ = nullptr;
  versioned_ = nullptr;
}

void Argument::read(py::handle object, const gantry_port_info_t &port) {
  if (py::isinstance<Array>(object)) {
    origin_ = Origin::kArray;
    array_ = object.cast<std::shared_ptr<Array>>();
    use_.emplace(array_); // Also throws if the array was donated.
    tensor_ = array_->tensor();
    if (tensor_.type != port.type)
      checkType(port.type, numpyName(tensor_.type), port);
    checkShape(tensor_, port);
    if (port.donated)
      use_.reset(); // The call takes it.
    return;
  }
  const bool isScalar = isOfPackage(object, "numpy.") && !py::isinstance<py::array>(object);
  if (isScalar && py::hasattr(object, "dtype")) {
    scalar_ = py::module_::import("numpy").attr("asarray")(object);
    object = scalar_;
  }
  if (py::isinstance<py::array>(object)) {
    origin_ = Origin::kNumpy;
    return readNumpy(object, port);
  }
  if (!py::hasattr(object, "__dlpack__"))
    refuse(about(port) +
           "takes a NumPy array, a PyTorch tensor, a gantry.Array or another object "
           "with __dlpack__, not " +
           kindOf(object));
  origin_ = isOfPackage(object, "torch.") ? Origin::kTorch : Origin::kDlpack;
  // PyTorch 1.13 does not export bool.
  if (origin_ == Origin::kTorch && port.type == GANTRY_TYPE_BOOL) {
    scalar_ = object.attr("numpy")();
    return readNumpy(scalar_, port);
  }
  readDlpack(object, port);
}

void Argument::readNumpy(py::handle object, const gantry_port_info_t &port) {
  const auto array = py::reinterpret_borrow<py::array>(object);
  const py::dtype dtype = array.dtype();
  const char code = dtype.kind();
  const auto bits = static_cast<uint8_t>(dtype.itemsize() * 8);
  const int dlpack = code == 'f'   ? kDLFloat
                     : code == 'i' ? kDLInt
                     : code == 'u' ? kDLUInt
                     : code == 'b' ? kDLBool
                                   : 0xff;
  const auto type = typeOf({static_cast<uint8_t>(dlpack), bits, 1});
  const bool isNative =
      dtype.byteorder() == '=' || dtype.byteorder() == '|' || dtype.byteorder() == '<';
  if (!type || *type != port.type || !isNative)
    checkType(port.type, py::str(py::handle(dtype)), port);
  tensor_.type = port.type;
  if (array.ndim() > GANTRY_MAX_RANK)
    refuse(about(port) + "has " + std::to_string(array.ndim()) +
           " dimensions; at most 8 are possible");
  tensor_.rank = static_cast<uint32_t>(array.ndim());
  std::copy_n(array.shape(), tensor_.rank, tensor_.dims);
  checkShape(tensor_, port);
  tensor_.size_bytes = static_cast<uint64_t>(array.nbytes());
  if (array.flags() & py::array::c_style) {
    tensor_.data = const_cast<void *>(array.data());
    copyReason_ = CopyReason::kHostMemory;
    return;
  }
  int64_t strides[GANTRY_MAX_RANK];
  std::copy_n(array.strides(), tensor_.rank, strides);
  gather(static_cast<const char *>(array.data()), strides);
}

void Argument::readDlpack(py::handle object, const gantry_port_info_t &port) {
  if (py::hasattr(object, "__dlpack_device__")) {
    const py::object device = object.attr("__dlpack_device__")();
    if (!py::isinstance<py::tuple>(device) || py::len(device) != 2)
      refuse(about(port) + "__dlpack_device__ of " + kindOf(object) + " returned " +
             std::string(py::str(device)) + ", not a device type and a number");
    checkDevice(py::int_(device[py::int_(0)]).cast<int64_t>(), port);
  }
  const py::object capsule = capsuleOf(object);
  PyObject *raw = capsule.ptr();
  // From here on the argument owns the tensor, and its destructor calls the deleter.
  if (PyCapsule_IsValid(raw, kVersionedCapsule)) {
    versioned_ =
        static_cast<DLManagedTensorVersioned *>(PyCapsule_GetPointer(raw, kVersionedCapsule));
    PyCapsule_SetName(raw, kUsedVersionedCapsule);
    if (versioned_->version.major != kDLPackVersion.major)
      refuse(about(port) + "the tensor has version " + std::to_string(versioned_->version.major) +
             " of DLPack; version 1 is supported");
    return readTensor(versioned_->dl_tensor, port);
  }
  if (PyCapsule_IsValid(raw, kCapsule)) {
    managed_ = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(raw, kCapsule));
    PyCapsule_SetName(raw, kUsedCapsule);
    return readTensor(managed_->dl_tensor, port);
  }
  const char *name = PyCapsule_CheckExact(raw) ? PyCapsule_GetName(raw) : nullptr;
  refuse(about(port) + "__dlpack__ of " + kindOf(object) + " returned " +
         (name ? std::string("a capsule named \"") + name + "\"" : kindOf(capsule)) +
         ", not a DLPack tensor that nobody has taken yet");
}

void Argument::readTensor(const DLTensor &source, const gantry_port_info_t &port) {
  const auto type = typeOf(source.dtype);
  if (!type || *type != port.type)
    checkType(port.type, nameOf(source.dtype), port);
  tensor_.type = *type;
  if (source.ndim < 0 || source.ndim > GANTRY_MAX_RANK)
    refuse(about(port) + "has " + std::to_string(source.ndim) +
           " dimensions; at most 8 are possible");
  checkDevice(source.device.device_type, port);
  tensor_.rank = static_cast<uint32_t>(source.ndim);
  if (tensor_.rank > 0 && !source.shape)
    refuse(about(port) + "the DLPack tensor has no shape");
  std::copy_n(source.shape, tensor_.rank, tensor_.dims);
  checkShape(tensor_, port);
  const auto elementSize = static_cast<int64_t>(gantry_type_size(*type));
  int64_t bytes = elementSize;
  bool isEmpty = false;
  for (uint32_t d = 0; d < tensor_.rank; ++d) {
    isEmpty |= tensor_.dims[d] == 0;
    if (tensor_.dims[d] < 0 ||
        __builtin_mul_overflow(bytes, std::max<int64_t>(tensor_.dims[d], 1), &bytes))
      refuse(about(port) + "the shape " + shapeText(tensor_.dims, tensor_.rank) +
             " is not possible");
  }
  tensor_.size_bytes = isEmpty ? 0 : static_cast<uint64_t>(bytes);
  if (!isEmpty && !source.data)
    refuse(about(port) + "the DLPack tensor has elements but no memory");
  char *data = static_cast<char *>(source.data) + source.byte_offset;
  int64_t strides[GANTRY_MAX_RANK];
  bool isDense = true;
  int64_t expected = 1;
  for (uint32_t d = tensor_.rank; d-- > 0;) {
    strides[d] = (source.strides ? source.strides[d] : expected) * elementSize;
    isDense = isDense && (tensor_.dims[d] == 1 || strides[d] == expected * elementSize);
    expected *= std::max<int64_t>(tensor_.dims[d], 1);
  }
  if (!isDense && tensor_.size_bytes > 0)
    return gather(data, strides);
  static char empty; // Tensors without elements may have no memory.
  tensor_.data = tensor_.size_bytes > 0 ? data : &empty;
  copyReason_ = CopyReason::kHostMemory;
}

void Argument::gather(const char *data, const int64_t *strides) {
  gathered_.resize(std::max<uint64_t>(tensor_.size_bytes, 1));
  if (tensor_.size_bytes > 0)
    copyElements(data, tensor_.dims, strides, tensor_.rank, gantry_type_size(tensor_.type),
                 gathered_.data());
  tensor_.data = gathered_.data();
  copyReason_ = CopyReason::kStrides;
}

} // namespace gantry::python
