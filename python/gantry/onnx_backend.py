"""Gantry as a backend of the onnx package (onnx.backend.base), so that ONNX's own tests drive it:

    import onnx.backend.test, gantry.onnx_backend
    runner = onnx.backend.test.BackendTest(gantry.onnx_backend, __name__)
    globals().update(runner.test_cases)

Models that need an operator or a type that Gantry lacks raise BackendIsNotSupposedToImplementIt, which ONNX's runner
counts as skipped."""

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from . import Error, UnsupportedError
from ._compile import compile as compile_model


class Representation(BackendRep):
    """A model that is ready to run."""

    def __init__(self, program):
        self._program = program

    def run(self, inputs, **keywords):
        """Runs the model. inputs: the arrays in order. Returns a named tuple of the outputs."""
        arrays = [np.asarray(value) for value in inputs]
        results = self._program(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        names = [port["name"] for port in self._program.outputs]
        return namedtupledict("Outputs", names)(*(np.asarray(value) for value in results))


class GantryBackend(Backend):
    """The interface of onnx.backend.base."""

    _last = None  # The content and the program of the model that was compiled last.

    @classmethod
    def is_compatible(cls, model, device="CPU", **keywords):
        """Returns whether Gantry has the model's operators and types. Other errors are left to prepare()."""
        try:
            cls._compiled(model)
        except UnsupportedError:
            return False
        except Error:
            return True
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **keywords):
        """Compiles a model for the device of gantry.device()."""
        super().prepare(model, device, **keywords)
        try:
            return Representation(cls._compiled(model))
        except UnsupportedError as error:
            raise BackendIsNotSupposedToImplementIt(str(error)) from error

    @classmethod
    def _compiled(cls, model):
        """Returns the program of a model. Keeps the last one, because ONNX's runner calls is_compatible() and then prepare()
        with the same model."""
        content = model.SerializeToString()
        if cls._last is None or cls._last[0] != content:
            cls._last = content, compile_model(content, progress=False)
        return cls._last[1]

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **keywords):
        return cls.prepare(model, device, **keywords).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **keywords):
        """Runs one node. outputs_info: (dtype, shape) of each output."""
        super().run_node(node, inputs, device, outputs_info, **keywords)
        arrays = [np.asarray(value) for value in inputs]
        types = onnx.helper.mapping.NP_TYPE_TO_TENSOR_TYPE
        infos = [
            onnx.helper.make_tensor_value_info(name, types[value.dtype], value.shape)
            for name, value in zip((name for name in node.input if name), arrays)
        ]
        outputs = [
            onnx.helper.make_tensor_value_info(name, types[np.dtype(dtype)], shape)
            for name, (dtype, shape) in zip(node.output, outputs_info or [])
        ] or [onnx.ValueInfoProto(name=name) for name in node.output]
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", infos, outputs))
        if not outputs_info:
            model = onnx.shape_inference.infer_shapes(model)
        return cls.run_model(model, arrays, device)

    @classmethod
    def supports_device(cls, device):
        """Returns whether a device of ONNX's tests is supported: "CPU", which stands for the device of gantry.device()."""
        return device == "CPU"


prepare = GantryBackend.prepare
run_model = GantryBackend.run_model
run_node = GantryBackend.run_node
is_compatible = GantryBackend.is_compatible
supports_device = GantryBackend.supports_device
