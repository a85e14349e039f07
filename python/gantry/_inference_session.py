"""gantry.InferenceSession: the calls of ONNX Runtime that most programs use. A program tries Gantry by changing one import:

    import gantry as ort
    session = ort.InferenceSession("model.onnx")
    outputs = session.run(None, {session.get_inputs()[0].name: x})
"""

import numpy as np

from ._compile import compile as compile_model
from ._device import device as open_device
from ._program import load
from ._runtime import Array, array
from .errors import InvalidArgumentError

_TYPES = {
    "float32": "float",
    "float64": "double",
}
_NUMPY_TYPES = {text: name for name, text in _TYPES.items()}


class SessionOptions:
    """An object for programs that set options of ONNX Runtime. Gantry optimizes every model and chooses its threads itself,
    so that the options have no effect."""


class NodeArg:
    """An input or output: name, type ("tensor(float)") and shape. A dynamic dimension is a name, or None."""

    def __init__(self, port):
        self.name = port["name"]
        self.shape = list(port["shape"])
        self.type = f"tensor({_TYPES.get(port['dtype'], port['dtype'])})"

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class OrtValue:
    """A tensor on the host (a NumPy array) or on the device (a gantry.Array)."""

    def __init__(self, value):
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(value, device_type="cpu", device_id=0):
        """Keeps a NumPy array, or copies it to the device if device_type is not "cpu"."""
        return OrtValue(value if device_type == "cpu" else array(value, open_device()))  # device_id has no effect.

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """Makes a tensor of zeros. element_type: a NumPy dtype."""
        return OrtValue.ortvalue_from_numpy(np.zeros(shape, element_type), device_type, device_id)

    @staticmethod
    def from_dlpack(value):
        """Takes a tensor with __dlpack__ that lies in memory of the host, without a copy."""
        return OrtValue(np.from_dlpack(value))

    def numpy(self):
        """Returns a NumPy array that shares the memory."""
        return self._value.numpy() if isinstance(self._value, Array) else self._value

    def shape(self):
        return list(self._value.shape)

    def data_type(self):
        name = str(self._value.dtype)
        return f"tensor({_TYPES.get(name, name)})"

    def device_name(self):
        return "gpu" if isinstance(self._value, Array) else "cpu"

    def update_inplace(self, value):
        """Copies a NumPy array of the same shape and type into the tensor."""
        target = self.numpy()
        if value.shape != target.shape or value.dtype != target.dtype:
            raise InvalidArgumentError(
                f"the value has shape {value.shape} and dtype {value.dtype}; the tensor has {target.shape} and {target.dtype}"
            )
        target[...] = value

    def __dlpack__(self, **keywords):
        return self._value.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._value.__dlpack_device__()


class IOBinding:
    """Inputs and outputs of runs, bound by name. run_with_iobinding() uses them."""

    def __init__(self, session):
        self._session = session
        self.clear_binding_inputs()
        self.clear_binding_outputs()

    def bind_cpu_input(self, name, value):
        """Binds a NumPy array."""
        self._session._require(name, self._session.get_inputs(), "input")
        self._inputs[name] = value

    def bind_ortvalue_input(self, name, value):
        self.bind_cpu_input(name, value._value)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds memory of the host at an address (device_type "cpu"), which must stay valid until the run has ended."""
        if device_type != "cpu":
            raise InvalidArgumentError(
                f'bind_input binds addresses of the host (device_type "cpu"), not of "{device_type}"; '
                "bind a tensor with bind_ortvalue_input"
            )
        self.bind_cpu_input(name, _memory_at(buffer_ptr, shape, element_type))

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Asks for an output: on the host, at the address buffer_ptr if that is given, or on the device."""
        self._session._require(name, self._session.get_outputs(), "output")
        target = OrtValue(_memory_at(buffer_ptr, shape, element_type)) if buffer_ptr is not None else None
        self._outputs[name] = (device_type, target)

    def bind_ortvalue_output(self, name, value):
        """The run copies the output into the tensor."""
        self._session._require(name, self._session.get_outputs(), "output")
        self._outputs[name] = (value.device_name(), value)

    def get_outputs(self):
        """Returns the outputs of the last run in the order in which they were bound: a list of OrtValue."""
        return [OrtValue(value) for value in self._results]

    def copy_outputs_to_cpu(self):
        """Returns the outputs of the last run as NumPy arrays."""
        return [value.numpy() for value in self.get_outputs()]

    def clear_binding_inputs(self):
        self._inputs = {}

    def clear_binding_outputs(self):
        self._outputs = {}
        self._results = []

    def synchronize_inputs(self):
        """Does nothing: bound inputs are read when a run starts."""

    def synchronize_outputs(self):
        """Does nothing: a run has ended when run_with_iobinding() returns."""

    def _run(self):
        results = self._session._call(self._inputs)
        self._results = []
        for name, (device_type, target) in self._outputs.items():
            value = results[name]
            if target is not None:
                target.update_inplace(np.asarray(value))
                value = target._value
            elif device_type == "cpu":
                value = np.asarray(value)
            elif not isinstance(value, Array):
                value = array(value, self._session._program_device)
            self._results.append(value)


class InferenceSession:
    """A model on a device, with the methods of ONNX Runtime's class.

    path_or_bytes: an .onnx or .mlir file, the bytes of an ONNX model, or a .gantry artifact. sess_options, providers and
    provider_options are accepted and have no effect. Other arguments are those of gantry.compile()."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **options):
        self._program_device = open_device(options.get("device"))
        if isinstance(path_or_bytes, (bytes, bytearray)) or not str(path_or_bytes).endswith(".gantry"):
            self._program = compile_model(path_or_bytes, **options)
        else:
            unknown = sorted(set(options) - {"device"})
            if unknown:
                raise TypeError(f"an artifact is compiled already; it takes no {', '.join(unknown)}")
            self._program = load(path_or_bytes, self._program_device)
        self._options = sess_options or SessionOptions()
        self._inputs = [NodeArg(port) for port in self._program.inputs]
        self._outputs = [NodeArg(port) for port in self._program.outputs]

    @property
    def program(self):
        """The gantry.Program."""
        return self._program

    def get_inputs(self):
        return self._inputs

    def get_outputs(self):
        return self._outputs

    def get_providers(self):
        return ["GantryExecutionProvider"]

    def get_session_options(self):
        return self._options

    def run(self, output_names, input_feed, run_options=None):
        """Runs the model. output_names: the outputs to return, or None for all. input_feed: {name: NumPy array}. Returns a
        list of NumPy arrays."""
        names = [port.name for port in self._outputs] if not output_names else list(output_names)
        for name in names:
            self._require(name, self._outputs, "output")
        feed = {name: value._value if isinstance(value, OrtValue) else value for name, value in input_feed.items()}
        results = self._call(feed)
        return [np.asarray(results[name]) for name in names]

    def run_with_ort_values(self, output_names, input_feed, run_options=None):
        """Like run(), with OrtValues as inputs and outputs."""
        return [OrtValue(value) for value in self.run(output_names, input_feed, run_options)]

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, binding, run_options=None):
        binding._run()

    def _call(self, feed):
        """Returns the outputs of a run by name."""
        for name in feed:
            self._require(name, self._inputs, "input")
        results = self._program(**feed)
        results = results if isinstance(results, tuple) else (results,)
        return {port.name: value for port, value in zip(self._outputs, results)}

    @staticmethod
    def _require(name, ports, kind):
        if all(port.name != name for port in ports):
            names = ", ".join(f'"{port.name}"' for port in ports) or "none"
            raise InvalidArgumentError(f'the model has no {kind} "{name}"; its {kind}s are {names}')


def _memory_at(address, shape, element_type):
    """Returns a NumPy array of memory of the host at an address."""
    if not address or shape is None or element_type is None:
        raise InvalidArgumentError("memory at an address needs the address, the shape and the element type")

    class Memory:
        dtype = np.dtype(_NUMPY_TYPES.get(element_type, element_type) if isinstance(element_type, str) else element_type)
        __array_interface__ = {"version": 3, "data": (int(address), False), "typestr": dtype.str, "shape": tuple(shape)}

    return np.asarray(Memory())
