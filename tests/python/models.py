"""Small ONNX models for the tests of the Python package, and a producer of DLPack tensors."""

import ctypes

import numpy as np
from onnx import TensorProto, helper


def model(nodes, inputs, outputs, initializers=()):
    """Returns a ModelProto. inputs, outputs: {name: (type, shape)}."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, *what) for name, what in inputs.items()],
        [helper.make_tensor_value_info(name, *what) for name, what in outputs.items()],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def add(shape, kind=TensorProto.FLOAT):
    """c = a + b."""
    return model([helper.make_node("Add", ["a", "b"], ["c"])], {"a": (kind, shape), "b": (kind, shape)}, {"c": (kind, shape)})


def double_and_negate(shape):
    """Two outputs: 2x and -x."""
    return model(
        [helper.make_node("Add", ["x", "x"], ["double"]), helper.make_node("Neg", ["x"], ["negative"])],
        {"x": (TensorProto.FLOAT, shape)},
        {"double": (TensorProto.FLOAT, shape), "negative": (TensorProto.FLOAT, shape)},
    )


def counter(shape):
    """total_out = total + step; the test keeps `total` as a state."""
    return model(
        [helper.make_node("Add", ["total", "step"], ["total_out"]), helper.make_node("Neg", ["step"], ["negative"])],
        {"total": (TensorProto.FLOAT, shape), "step": (TensorProto.FLOAT, shape)},
        {"total_out": (TensorProto.FLOAT, shape), "negative": (TensorProto.FLOAT, shape)},
    )


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Producer:
    """A producer of DLPack tensors that counts how often its deleter is called.

    versioned: the version (major, minor) of its capsules; None: unversioned. The other arguments are fields of the
    tensor that differ from those of the array."""

    def __init__(self, array, versioned=None, device=1, dtype=None, data=..., strides=..., byte_offset=0, takes_keywords=True):
        self.array = array
        self.deleted = 0
        self.capsules = []
        self._device = device
        self._takes_keywords = takes_keywords
        self._keep = []
        tensor = DLTensor()
        tensor.data = array.ctypes.data if data is ... else data
        tensor.device = DLDevice(device, 0)
        tensor.ndim = array.ndim
        codes = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}
        tensor.dtype = DLDataType(*(dtype or (codes[array.dtype.kind], array.itemsize * 8, 1)))
        tensor.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        if strides is ...:
            strides = [stride // array.itemsize for stride in array.strides]
        tensor.strides = None if strides is None else (ctypes.c_int64 * array.ndim)(*strides)
        tensor.byte_offset = byte_offset
        self._versioned, self._tensor = versioned, tensor

    def _delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self._device, 0

    def __dlpack__(self, **keywords):
        if keywords and not self._takes_keywords:
            raise TypeError(f"unexpected keywords {sorted(keywords)}")
        deleter = _DELETER(self._delete)
        managed = DLManagedTensor() if self._versioned is None else DLManagedTensorVersioned()
        if self._versioned is not None:
            managed.major, managed.minor = self._versioned
        managed.dl_tensor = self._tensor
        managed.deleter = ctypes.cast(deleter, ctypes.c_void_p)
        name = b"dltensor" if self._versioned is None else b"dltensor_versioned"
        capsule = _new_capsule(ctypes.addressof(managed), name, None)
        self._keep += [managed, deleter, name]
        self.capsules.append(capsule)
        return capsule

    def capsule_names(self):
        return [_capsule_name(capsule) for capsule in self.capsules]


def ones(*shape):
    return np.ones(shape, np.float32)
