// Implements array.h.
#include "python/src/array.h"

#include "python/src/status.h"
#include "python/src/types.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>

namespace gantry::python {

namespace py = pybind11;

namespace {

/// The context of an exported tensor: the array that owns the memory, and the lists that the
/// DLTensor refers to.
struct Exported {
  explicit Exported(std::shared_ptr<Array> array) : view(std::move(array)) {}
  Array::View view;
  std::vector<int64_t> shape, strides;
};

/// Returns the strides of a dense row-major tensor, in elements.
std::vector<int64_t> stridesOf(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(dims[d], 1);
  return strides;
}

void fill(DLTensor &tensor, Exported &exported) {
  const Array &array = exported.view.array();
  exported.shape = array.dims();
  exported.strides = stridesOf(array.dims());
  tensor.data = array.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(exported.shape.size());
  tensor.dtype = dlpackType(array.type());
  tensor.shape = exported.shape.data();
  tensor.strides = exported.strides.data();
  tensor.byte_offset = 0;
}

/// Calls the deleter of a tensor whose capsule nobody has consumed. The capsule's name tells.
template <typename Managed> void dropCapsule(PyObject *capsule, const char *name) {
  if (!PyCapsule_IsValid(capsule, name))
    return;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter)
    managed->deleter(managed);
}

/// Makes a capsule for a managed tensor.
template <typename Managed>
py::object makeCapsule(std::unique_ptr<Exported> exported, std::unique_ptr<Managed> managed,
                       const char *name, PyCapsule_Destructor drop) {
  fill(managed->dl_tensor, *exported);
  managed->manager_ctx = exported.get();
  managed->deleter = [](Managed *self) {
    delete static_cast<Exported *>(self->manager_ctx);
    delete self;
  };
  PyObject *capsule = PyCapsule_New(managed.get(), name, drop);
  if (!capsule)
    throw py::error_already_set();
  exported.release();
  managed.release();
  return py::reinterpret_steal<py::object>(capsule);
}

/// Throws Python's BufferError, with which __dlpack__ says that it cannot export a tensor.
[[noreturn]] void bufferError(const std::string &message) {
  PyErr_SetString(PyExc_BufferError, message.c_str());
  throw py::error_already_set();
}

} // namespace

uint64_t bytesOf(gantry_type_t type, const std::vector<int64_t> &dims) {
  uint64_t bytes = gantry_type_size(type);
  for (int64_t dim : dims)
    bytes *= static_cast<uint64_t>(dim);
  return bytes;
}

std::string shapeText(const int64_t *dims, size_t rank) {
  std::string text = "(";
  for (size_t d = 0; d < rank; ++d)
    text += (d > 0 ? ", " : "") + std::to_string(dims[d]);
  return text + (rank == 1 ? ",)" : ")");
}

std::string shapeText(const gantry_port_info_t &port) {
  std::string text = "(";
  for (uint32_t d = 0; d < port.rank; ++d) {
    text += d > 0 ? ", " : "";
    if (port.dims[d] != GANTRY_DYNAMIC)
      text += std::to_string(port.dims[d]);
    else
      text += port.dim_names[d] ? port.dim_names[d] : "any";
  }
  return text + (port.rank == 1 ? ",)" : ")");
}

Array::Array(std::shared_ptr<Device> device, gantry_type_t type, std::vector<int64_t> dims,
             const char *name)
    : device_(std::move(device)), type_(type), dims_(std::move(dims)),
      sizeBytes_(bytesOf(type, dims_)) {
  checkProcess();
  // An empty tensor has a buffer, too, because PyTorch 1.13 never releases one without memory.
  check(gantry_buffer_create_kind(device_->get(), GANTRY_MEMORY_UNIFIED,
                                  std::max<uint64_t>(sizeBytes_, 1), name, &buffer_));
}

Array::View::View(std::shared_ptr<Array> array) : array_(std::move(array)) {
  int64_t uses = array_->uses_;
  do {
    if (uses < 0)
      array_->throwTaken();
  } while (!array_->uses_.compare_exchange_weak(uses, uses + 1));
}

void Array::take(const char *name) {
  int64_t expected = 0;
  if (uses_.compare_exchange_strong(expected, kTaken))
    return;
  if (expected < 0)
    throwTaken();
  throw StatusError(
      GANTRY_STATUS_FAILED_PRECONDITION,
      std::string("input \"") + name +
          "\": the array cannot be donated, because a NumPy array, another tensor, or "
          "another argument or call uses its memory; delete that tensor, or pass "
          "x.copy()");
}

/// Throws the error that names the run that took the array.
void Array::throwTaken() const {
  if (gantry_buffer_size(buffer_) == 0)
    throw StatusError(GANTRY_STATUS_INVALID_ARGUMENT, gantry_last_error());
  refuse("the array is donated to a call that has not ended, or is donated twice in one call");
}

gantry_tensor_t Array::tensor() const {
  checkProcess();
  gantry_tensor_t tensor{};
  tensor.type = type_;
  tensor.rank = static_cast<uint32_t>(dims_.size());
  std::copy(dims_.begin(), dims_.end(), tensor.dims);
  tensor.buffer = buffer_;
  tensor.size_bytes = sizeBytes_;
  return tensor;
}

void *Array::data() const {
  checkProcess();
  void *data = gantry_buffer_data(buffer_);
  if (!data)
    throw StatusError(GANTRY_STATUS_INVALID_ARGUMENT, gantry_last_error());
  return data;
}

py::array Array::numpy() {
  if (type_ == GANTRY_TYPE_BF16)
    refuse("NumPy has no bfloat16; convert the array with torch.from_dlpack(array).float()");
  auto view = std::make_unique<View>(shared_from_this());
  void *memory = data();
  std::vector<py::ssize_t> strides;
  for (int64_t stride : stridesOf(dims_))
    strides.push_back(stride * static_cast<py::ssize_t>(gantry_type_size(type_)));
  py::capsule base(view.get(), [](void *kept) { delete static_cast<View *>(kept); });
  view.release();
  return py::array(py::dtype(numpyName(type_)),
                   std::vector<py::ssize_t>(dims_.begin(), dims_.end()), std::move(strides), memory,
                   base);
}

std::shared_ptr<Array> Array::clone() {
  const View view(shared_from_this());
  auto copy = std::make_shared<Array>(device_, type_, dims_, "copy");
  std::memcpy(copy->data(), data(), sizeBytes_);
  return copy;
}

py::object Array::toDlpack(const py::object &stream, const py::object &maxVersion,
                           const py::object &device, const py::object &copy) {
  if (!stream.is_none())
    bufferError("__dlpack__: stream must be None, because the memory belongs to the host");
  if (!device.is_none() && !device.equal(py::make_tuple(int(kDLCPU), 0)))
    bufferError("__dlpack__: the array can be exported to the device (1, 0) (CPU) only, not to " +
                std::string(py::str(device)));
  const bool copies = !copy.is_none() && copy.cast<bool>();
  auto exported = std::make_unique<Exported>(copies ? clone() : shared_from_this());
  const bool isVersioned =
      !maxVersion.is_none() && maxVersion.cast<std::pair<uint32_t, uint32_t>>().first >= 1;
  if (!isVersioned)
    return makeCapsule(std::move(exported), std::make_unique<DLManagedTensor>(), kCapsule,
                       [](PyObject *capsule) { dropCapsule<DLManagedTensor>(capsule, kCapsule); });
  auto managed = std::make_unique<DLManagedTensorVersioned>();
  managed->version = kDLPackVersion;
  managed->flags = copies ? kDLIsCopied : 0;
  return makeCapsule(
      std::move(exported), std::move(managed), kVersionedCapsule,
      [](PyObject *capsule) { dropCapsule<DLManagedTensorVersioned>(capsule, kVersionedCapsule); });
}

std::string Array::repr() const {
  std::string text = "gantry.Array(shape=" + shapeText(dims_.data(), dims_.size()) +
                     ", dtype=" + numpyName(type_) + ", device=\"" + device_->info().name + "\")";
  return isTaken() ? text + " (donated)" : text;
}

void registerArray(py::module_ &module) {
  py::class_<Array, std::shared_ptr<Array>>(module, "Array", R"(A tensor in a device's memory.

NumPy (`numpy()`, `numpy.asarray`), PyTorch (`torch.from_dlpack`) and every library with DLPack share the memory
without a copy. A program takes an Array as an input without a copy, too. The memory is released when the Array and
all views of it are gone.)")
      .def_property_readonly(
          "shape", [](const Array &self) { return py::tuple(py::cast(self.dims())); },
          "The extents, a tuple.")
      .def_property_readonly(
          "dtype",
          [](const Array &self) -> py::object {
            if (self.type() == GANTRY_TYPE_BF16)
              return py::str("bfloat16");
            return py::dtype(numpyName(self.type()));
          },
          "The NumPy dtype; the text \"bfloat16\" for bfloat16, which NumPy lacks.")
      .def_property_readonly(
          "ndim", [](const Array &self) { return self.dims().size(); }, "The number of dimensions.")
      .def_property_readonly("nbytes", &Array::sizeBytes, "The size in bytes.")
      .def_property_readonly(
          "is_donated", &Array::isTaken,
          "Whether a run has taken the memory. Reading the elements or passing the array to a "
          "program then raises.")
      .def("numpy", &Array::numpy, "Returns a NumPy array that shares the memory.")
      .def(
          "__array__",
          [](Array &self, const py::object &dtype) -> py::object {
            py::object array = self.numpy();
            return dtype.is_none() ? array : array.attr("astype")(dtype, py::arg("copy") = false);
          },
          py::arg("dtype") = py::none())
      .def("copy", &Array::clone, "Returns a new Array with the same elements.")
      .def("__dlpack__", &Array::toDlpack, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(),
           "Returns a DLPack capsule of the memory, versioned if max_version is at least (1, 0).")
      .def(
          "__dlpack_device__", [](const Array &) { return py::make_tuple(int(kDLCPU), 0); },
          "Returns DLPack's device type and number: (1, 0), memory of the host.")
      .def("__len__",
           [](const Array &self) {
             if (self.dims().empty())
               throw py::type_error("len() of an array without dimensions");
             return self.dims().front();
           })
      .def("__repr__", &Array::repr);
}

} // namespace gantry::python
