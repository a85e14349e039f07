#!/usr/bin/env python3
"""Evaluates ONNX files node by node in PyTorch, with floats in double precision.

The evaluator computes expected values for tests. It shares no code with the compiler. It computes in
float64 and rounds results to f32 at the end, so their error is about half an f32 ulp.

    reference.py MODEL --input FILE.npy|FILE.pb|arange ... [--value NAME] [--output OUT.npy]
    reference.py --check FOLDER ...     (folders with model.onnx and test_data_set_0/)

--input arange stands for the numbers 0, 1/n, ..., (n - 1)/n in the shape of the model's only input.
--value selects an inner result by its ONNX name; the default is the model's first output.
The script needs python3-torch, python3-onnx and python3-numpy. The tests do not run it.
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
import torch
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from operators import OPERATORS  # noqa: E402
import shape_operators  # noqa: E402,F401  (registers its operators)


def to_torch(array):
    array = np.array(array)  # A writable copy.
    if array.dtype in (np.float32, np.float16):
        array = array.astype(np.float64)
    return torch.from_numpy(array)


def to_numpy(tensor):
    array = tensor.numpy()
    return array.astype(np.float32) if array.dtype == np.float64 else array


def attribute_value(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return to_torch(numpy_helper.to_array(value))
    return value.decode() if isinstance(value, bytes) else value


def evaluate(model, inputs):
    """Returns all values of the graph by name. inputs are NumPy arrays in the order of the graph's inputs."""
    graph = model.graph
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    values = {t.name: to_torch(numpy_helper.to_array(t)) for t in graph.initializer}
    ports = [i.name for i in graph.input if i.name not in values]
    if len(ports) != len(inputs):
        raise ValueError(f"the model has {len(ports)} inputs ({', '.join(ports)}), {len(inputs)} were given")
    values.update({name: to_torch(array) for name, array in zip(ports, inputs)})
    for node in graph.node:
        if node.op_type not in OPERATORS:
            raise NotImplementedError(f"operator {node.op_type} of node {node.name or node.output[0]}")
        operands = [values[name] if name else None for name in node.input]
        attributes = {a.name: attribute_value(a) for a in node.attribute}
        results = OPERATORS[node.op_type](operands, attributes, opset, len(node.output))
        for name, result in zip(node.output, results if isinstance(results, (tuple, list)) else (results,)):
            if name:
                values[name] = result
    return values


def read_tensor(path):
    if str(path).endswith(".npy"):
        return np.load(path)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(pathlib.Path(path).read_bytes())
    return numpy_helper.to_array(tensor)


def arange_input(model):
    """Returns arange(n)/n in the shape of the model's only input.

    ONNX's light test models (onnx/backend/test/data/light) are tested with this input."""
    constants = {t.name for t in model.graph.initializer}
    port, = [i for i in model.graph.input if i.name not in constants]
    shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32) / np.float32(count)).reshape(shape)


def relative_l2(value, expected):
    value, expected = value.astype(np.float64), expected.astype(np.float64)
    return np.linalg.norm(value - expected) / (np.linalg.norm(expected) or 1.0)


def check(folder):
    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    inputs = [read_tensor(p) for p in sorted(data.glob("input_*.pb"), key=lambda p: int(p.stem[6:]))]
    values = evaluate(model, inputs)
    worst = 0.0
    for index, port in enumerate(model.graph.output):
        expected = read_tensor(data / f"output_{index}.pb")
        value = to_numpy(values[port.name])
        if value.shape != expected.shape:
            print(f"FAIL {folder.name}: {port.name} is {value.shape}, expected {expected.shape}")
            return False
        worst = max(worst, relative_l2(value, expected))
    print(f"{'ok  ' if worst <= 1e-5 else 'FAIL'} {folder.name}: relative L2 {worst:.2e}")
    return worst <= 1e-5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", nargs="+", type=pathlib.Path)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--value")
    parser.add_argument("--output")
    options = parser.parse_args()
    if options.check:
        return 0 if all([check(folder) for folder in options.check]) else 1
    if not options.model:
        parser.error("a model or --check is needed")
    model = onnx.load(options.model)
    inputs = [arange_input(model) if name == "arange" else read_tensor(name) for name in options.input]
    value = to_numpy(evaluate(model, inputs)[options.value or model.graph.output[0].name])
    print(f"{value.dtype} {list(value.shape)}")
    if options.output:
        np.save(options.output, value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
