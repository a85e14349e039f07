#!/usr/bin/env python3
"""Measures when the operators before a concatenation should write into its result (a view of it) instead of tensors
of their own, which are then copied.

    concats.py [--gantry TOOL] [--seconds S] [--only TEXT]

Each row is a concatenation of two computed tensors and an operator that reads the result. The script compiles it
twice: as it is, where the compiler chooses between a view and a copy, and with the two tensors as further outputs,
which forces a copy. It prints the times of all dispatches (kernel launches) in microseconds, the ratio of the first
time to the second, and the compiler's choice. The constants of codegen/passes/storage/place_concats.cpp, by which the
compiler chooses, are right if views have ratios below 1. To measure a view where the compiler copies, build the compiler
with a smaller constant. Debian: python3-onnx.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = ((30, 34), (62, 66))
SIZES = (28, 53, 56)
IMAGE_READERS = {
    "convolution 3x3, 16 filters": ("Conv", 16, 3),
    "convolution 3x3, 64 filters": ("Conv", 64, 3),
    "convolution 1x1, 64 filters": ("Conv", 64, 1),
    "convolution 1x1, 256 filters": ("Conv", 256, 1),
    "depthwise 3x3": ("Depthwise", 0, 3),
    "maximum 3x3": ("MaxPool", 0, 3),
    "mean": ("GlobalAveragePool", 0, 1),
}
MATRICES = ((1024, 30, 34), (1024, 126, 130), (512, 510, 514))
ROW_READERS = {"matmul, 64 columns": 64, "matmul, 512 columns": 512, "softmax": 0}


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(parts, node, weights, result, stored):
    """Returns the model of a row. parts: the shapes of the concatenated tensors. stored: whether these tensors are
    outputs of the model too, which forces a copy."""
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"t{i}"]) for i in range(2)]
    nodes += [helper.make_node("Concat", ["t0", "t1"], ["c"], axis=1), node]
    outputs = [value("y", result)] + ([value(f"t{i}", shape) for i, shape in enumerate(parts)] if stored else [])
    graph = helper.make_graph(nodes, "concat", [value(f"x{i}", shape) for i, shape in enumerate(parts)], outputs,
                              [numpy_helper.from_array(array, name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def image_case(a, b, size, reader):
    operator, filters, kernel = IMAGE_READERS[reader]
    channels, weights, inputs, attributes = a + b, [], ["c"], {}
    if operator in ("Conv", "Depthwise"):
        shape = (filters, channels, kernel, kernel) if operator == "Conv" else (channels, 1, kernel, kernel)
        weights.append(("w", np.full(shape, 0.01, np.float32)))
        inputs.append("w")
        attributes["group"] = 1 if operator == "Conv" else channels
        operator = "Conv"
    if operator != "GlobalAveragePool":
        attributes.update(kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)
    result = [1, filters or channels, size, size] if attributes else [1, channels, 1, 1]
    node = helper.make_node(operator, inputs, ["y"], **attributes)
    return [[1, a, size, size], [1, b, size, size]], node, weights, result


def matrix_case(rows, a, b, reader):
    columns = ROW_READERS[reader]
    parts = [[rows, a], [rows, b]]
    if columns:
        return (parts, helper.make_node("MatMul", ["c", "w"], ["y"]),
                [("w", np.full((a + b, columns), 0.01, np.float32))], [rows, columns])
    return parts, helper.make_node("Softmax", ["c"], ["y"], axis=-1), [], [rows, a + b]


def time_of(gantry, artifact, seconds):
    """Returns the sum of the dispatches' shortest times in microseconds, and the number of dispatches."""
    command = [gantry, "bench", artifact, "--json", "--seconds", str(seconds)]
    output = subprocess.run(command, check=True, capture_output=True, text=True,
                            env={"LP_NUM_THREADS": "1", **os.environ}).stdout
    dispatches = json.loads(output)["dispatches"]
    return sum(entry["min_ns"] for entry in dispatches) / 1e3, len(dispatches)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.25, help="time per measurement (default: %(default)s s)")
    parser.add_argument("--only", default="", help="measure only the rows whose name contains this text")
    options = parser.parse_args()
    cases = {f"{a} + {b} at {size}x{size}, {reader}": image_case(a, b, size, reader)
             for a, b in CHANNELS for size in SIZES for reader in IMAGE_READERS}
    cases |= {f"{rows} x ({a} + {b}), {reader}": matrix_case(rows, a, b, reader)
              for rows, a, b in MATRICES for reader in ROW_READERS}
    print(f"{'case':48} {'as it is us':>12} {'copied us':>10} {'ratio':>6}  choice")
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases.items():
            if options.only not in name:
                continue
            artifacts = []
            for stored in (False, True):
                path = pathlib.Path(folder) / f"{int(stored)}.onnx"
                onnx.save(model(*case, stored), path)
                artifacts.append(path.with_suffix(".gantry"))
                subprocess.run([options.gantry, "compile", path, "-p", "vulkan:lavapipe", "-o", artifacts[-1]],
                               check=True, capture_output=True)
            rounds = [[time_of(options.gantry, artifact, options.seconds) for artifact in artifacts] for _ in range(2)]
            free, copied = (min(r[k][0] for r in rounds) for k in (0, 1))
            choice = "copy" if rounds[0][0][1] == rounds[0][1][1] else "view"
            print(f"{name:48} {free:12.0f} {copied:10.0f} {free / copied:6.2f}  {choice}", flush=True)


if __name__ == "__main__":
    main()
