#!/usr/bin/env python3
"""Writes the models of kernel_bench, and compiles them with --gantry.

    make_models.py FOLDER [--gantry TOOL] [--profile PROFILE] [--side N] [--only NAME ...]
                   [-- COMPILER OPTION ...]

kernel_bench (kernel_bench.cpp) compares compiled kernels with hand-written ones. For each operation that it measures,
the script writes FOLDER/NAME.onnx and, with --gantry, compiles it to FOLDER/NAME.gantry. Sizes and weights equal
those of kernel_bench's hand-written kernels: kernel_bench and this script compute the weights with
equal functions, pattern(). matmul_f16_N
and matmul_f32_N have two inputs and no weights; N is --side, as in kernel_bench. The exit code is 1 if a model could
not be compiled. On Debian, the package python3-onnx is needed.
"""
import argparse
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS, SIDE, CHAIN = 64, 56, 4


def pattern(shape, seed, scale=1.0):
    """Returns the same float32 values as pattern() in contestant.cpp: in [-0.5, 0.5) times `scale`."""
    bits = np.arange(np.prod(shape), dtype=np.uint32) * np.uint32(2654435761)
    bits += np.uint32(seed * 974593)
    bits ^= bits >> np.uint32(15)
    bits *= np.uint32(2246822519)
    bits ^= bits >> np.uint32(13)
    values = (bits >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)
    return (values * np.float32(scale)).reshape(shape)


def model(name, inputs, result, nodes, weights=(), element=TensorProto.FLOAT):
    """Returns an ONNX model with the output "y" of the shape `result`. `inputs` maps names to shapes; each
    node is (operator, operands, result, attributes); each weight is (name, array). `element`: the type of the
    inputs and of the output.
    """
    graph = helper.make_graph(
        [helper.make_node(op, operands, [out], name=f"{op}_{i}", **attributes)
         for i, (op, operands, out, attributes) in enumerate(nodes)], name,
        [helper.make_tensor_value_info(n, element, shape) for n, shape in inputs.items()],
        [helper.make_tensor_value_info("y", element, result)],
        [numpy_helper.from_array(array, n) for n, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def matmul():
    size = [1024, 1024]
    return model("matmul", {"a": size}, size, [("MatMul", ["a", "b"], "y", {})], [("b", pattern(size, 2))])


def matvec():
    return model("matvec", {"x": [1, 4096]}, [1, 4096], [("Gemm", ["x", "w"], "y", {"transB": 1})],
                 [("w", pattern([4096, 4096], 2))])


def convolutions(name, layers):
    shape = [1, CHANNELS, SIDE, SIDE]
    weights = [(f"w{i}", pattern([CHANNELS, CHANNELS, 3, 3], 2 + i, 0.25)) for i in range(layers)]
    names = ["x"] + [f"t{i}" for i in range(layers - 1)] + ["y"]
    nodes = [("Conv", [names[i], f"w{i}"], names[i + 1], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})
             for i in range(layers)]
    return model(name, {"x": shape}, shape, nodes, weights)


def square(name, side, element):
    size = [side, side]
    return model(name, {"a": size, "b": size}, size, [("MatMul", ["a", "b"], "y", {})], element=element)


def add():
    shape = [(1 << 26) // 4096, 4096]
    return model("add", {"a": shape, "b": shape}, shape, [("Add", ["a", "b"], "y", {})])


def softmax():
    shape = [4096, 1024]
    return model("softmax", {"x": shape}, shape, [("Softmax", ["x"], "y", {"axis": -1})])


def models(side):
    """Maps each model's name to a function that makes it."""
    f16, f32 = f"matmul_f16_{side}", f"matmul_f32_{side}"
    return {"matmul": matmul, "conv3x3": lambda: convolutions("conv3x3", 1),
            "conv3x3_chain": lambda: convolutions("conv3x3_chain", CHAIN), "add": add, "softmax": softmax,
            "matvec": matvec, f16: lambda: square(f16, side, TensorProto.FLOAT16),
            f32: lambda: square(f32, side, TensorProto.FLOAT)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gantry", type=pathlib.Path, help="the gantry tool; without it nothing is compiled")
    parser.add_argument("--profile", default="vulkan:lavapipe", help="device profile to compile for")
    parser.add_argument("--side", type=int, default=8192, help="size N of the matrices of matmul_f16_N, matmul_f32_N")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="write only these models")
    parser.add_argument("options", nargs="*", help="further options of gantry compile, after --")
    options = parser.parse_args()
    known = models(options.side)
    wanted = options.only or list(known)
    if unknown := [name for name in wanted if name not in known]:
        parser.error(f"no model {', '.join(unknown)}; there are: {', '.join(known)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in wanted:
        source = options.folder / f"{name}.onnx"
        onnx.save(known[name](), source)
        if options.gantry:
            artifact = source.with_suffix(".gantry")
            command = [options.gantry, "compile", source, "-o", artifact, "--profile", options.profile,
                       *options.options]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
            if done.returncode:
                failed += 1
                artifact.unlink(missing_ok=True)
                print(f"{name}: {done.stderr.strip() or done.stdout.strip()}", file=sys.stderr)
            else:
                print(f"{artifact}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
