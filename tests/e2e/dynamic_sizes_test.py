#!/usr/bin/env python3
"""Tests kernels whose sizes are known only at run time, in every variant, at sizes that are multiples of four and others.

    dynamic_sizes_test.py --gantry TOOL

A kernel may have a variant for multiples of four. Outputs are compared with those of the same model compiled for the
sizes.
"""
import argparse
import json
import pathlib
import tempfile

import onnx_file
from support import VARIANTS, Failure, Test

TEXELS = "vulkan:lavapipe"


def convolution():
    """An image of dynamic height and width."""
    g = onnx_file.Graph([1, 8, "h", "w"])
    return g.model(g.conv(g.node("Relu", ["x"], 8), 8, 3), [1, 8, "h", "w"])


def strided():
    """The width of the result is a multiple of four, or that of the input, or both, or none."""
    g = onnx_file.Graph([1, 4, "h", "w"])
    return g.model(g.conv(g.conv("x", 8, 3, 2), 4, 3), [1, 4, "a", "b"])


def products():
    """Sums over a dynamic dimension, and rows of dynamic length."""
    g = onnx_file.Graph(["h", "w"])
    scores = g.node("Softmax", [g.node("MatMul", ["x", g.node("Transpose", ["x"], 0, perm=[1, 0])], 0)], 0, axis=-1)
    return g.model(g.node("MatMul", [scores, "x"], 0), ["h", "w"])


def bias():
    """Each row is added to a row of its own, which begins at any address."""
    g = onnx_file.Graph([64, "h", "w"])
    mean = g.node("ReduceMean", ["x"], 0, axes=[0, 1], keepdims=0)
    return g.model(g.node("Add", ["x", mean], 0), [64, "h", "w"])


MODELS = {"convolution": convolution, "strided": strided, "products": products, "bias": bias}
SIZES = [(28, 28), (28, 30), (5, 9), (7, 4), (16, 64), (3, 1), (13, 72)]
FOR_MULTIPLES = ("products", "bias")  # Models with a kernel that has a variant for multiples.


def compared(test, path, dims):
    """Compares the dynamic programs, which are compiled already, with a static one."""
    words = [word for name, size in dims.items() for word in ("--dim", f"{name}={size}")]
    static = test.folder / "static.gantry"
    test.call("compile", path, "-p", "vulkan:generic", *words, "-o", static)
    folder = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
    test.call("run", static, "--random", "1", "--output", folder)
    outputs = sorted(folder.glob("*.npy"))
    return max(test.compare([], outputs, variant, 1e-5, ["--random", "1", *words]) for variant in VARIANTS)


def has_variant_for_multiples(test):
    program = json.loads(test.call("inspect", test.artifact(TEXELS), "--json"))
    if not any(variant["dim_multiples"] for kernel in program["kernels"] for variant in kernel["variants"]):
        raise Failure("no kernel has a variant for multiples")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    for name, make in MODELS.items():
        path = test.folder / f"{name}.onnx"
        path.write_bytes(make())
        test.compile(path)
        if name in FOR_MULTIPLES:
            test.check(f"{name}: variant", has_variant_for_multiples, test)
        for height, width in SIZES:
            test.check(f"{name} {height}x{width}", compared, test, path, {"h": height, "w": width})
    test.finish()


if __name__ == "__main__":
    main()
