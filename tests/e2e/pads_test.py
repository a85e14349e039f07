#!/usr/bin/env python3
"""Tests operators that write into the interior of a padded output, whose border is filled once (place-pads).

    pads_test.py --gantry TOOL

A model returns the pad of a convolution, and another one the convolution itself. In every variant, the first output
must be the second one with a border.
"""
import argparse
import json
import random

from onnx_file import INT64, Graph
from support import VARIANTS, Failure, Test, read_npy, write_npy

SHAPE = 1, 4, 130, 128
LOW, HIGH = (0, 1, 2, 0), (0, 0, 1, 3)  # Elements of the border before and after each dimension.


def write_models(test):
    """Writes the two models and their input."""
    for name in ("plain", "padded"):
        g = Graph(SHAPE)
        y = g.conv("x", SHAPE[1], 3)
        dims = list(SHAPE)
        if name == "padded":
            y = g.node("Pad", [y, g.constant([8], LOW + HIGH, INT64), g.constant([], [2.5])], SHAPE[1])
            dims = [low + size + high for low, size, high in zip(LOW, SHAPE, HIGH)]
        (test.folder / f"{name}.onnx").write_bytes(g.model(y, dims))
    count = SHAPE[1] * SHAPE[2] * SHAPE[3]
    values = random.Random(2).choices((-1.0, 0.5, 2.0), k=count)
    write_npy(test.folder / "x.npy", "f", SHAPE, values)


def run(test, name, variant):
    """Compiles a model, runs it in a variant, and returns the elements of its output."""
    profile, environment, extra = VARIANTS[variant]
    test.call("compile", test.folder / f"{name}.onnx", "-p", profile, "-o", test.artifact())
    commands = json.loads(test.call("inspect", test.artifact(), "--json"))["commands"]
    pads = [command for command in commands if command["name"].startswith("Pad")]
    if name == "padded" and (len(pads) != 4 or any(pad["copy_reason"] for pad in pads)):
        raise Failure(f"four commands should fill the border, and none copy the interior: {pads}")
    report = json.loads(test.call("run", test.artifact(), "--input", test.folder / "x.npy", *extra, "--json", "--output",
                                  test.folder / "out", environment=environment))
    if report["validation_messages"] != 0:
        raise Failure(f"{report['validation_messages']} validation messages")
    return read_npy(report["outputs"][0]["file"])


def compare(test, variant):
    _, inner = run(test, "plain", variant)
    shape, found = run(test, "padded", variant)
    expected = []
    for index in range(len(found)):
        at = []
        for size, low in zip(reversed(shape), reversed(LOW)):
            at.insert(0, index % size - low)
            index //= size
        inside = all(0 <= a < size for a, size in zip(at, SHAPE))
        expected.append(inner[(at[1] * SHAPE[2] + at[2]) * SHAPE[3] + at[3]] if inside else 2.5)
    worst = max(abs(a - b) for a, b in zip(found, expected))
    if not worst <= 1e-5:
        raise Failure(f"an element differs by {worst}")
    return f"{len(found)} elements"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    write_models(test)
    for variant in VARIANTS:
        if VARIANTS[variant][0] == "vulkan:lavapipe":  # For GPUs the border costs more than a copy of this size.
            test.check(variant, compare, test, variant)
    test.finish()


if __name__ == "__main__":
    main()
