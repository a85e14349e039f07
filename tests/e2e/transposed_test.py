#!/usr/bin/env python3
"""Tests transposed convolutions, which the compiler computes in phases, or as one operator within a memory budget.

A phase is an ordinary convolution that computes the elements of the output at one position modulo the stride. If all
phases read the same elements of the input, one sum computes them. Otherwise, if the stride divides the sizes of the
output, the convolutions write the output; in other cases an operator moves their results.

    transposed_test.py --gantry TOOL

The two ways share no code below the import of the node, so their outputs are compared, in every variant.
"""
import argparse
import json
import math
import pathlib
import tempfile

import onnx_file
from support import PROFILES, VARIANTS, Failure, Test

# Channels, output channels, group, input sizes, kernel, strides, dilations, pads, output padding, bias.
CASES = [
    (8, 4, 1, [5, 7], [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], [0, 0], True),
    (4, 8, 1, [6, 5], [4, 4], [2, 2], [1, 1], [1, 1, 1, 1], [0, 0], False),
    (8, 8, 1, [5, 5], [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], [1, 1], True),
    (6, 3, 1, [4, 9], [3, 5], [1, 3], [1, 1], [0, 2, 1, 2], [0, 2], True),
    (6, 4, 2, [4, 5], [3, 2], [2, 3], [2, 1], [1, 0, 0, 1], [0, 1], True),
    (8, 8, 8, [6, 6], [4, 4], [2, 2], [1, 1], [1, 1, 1, 1], [0, 0], False),
    (4, 4, 1, [3, 4], [1, 1], [2, 2], [1, 1], [0, 0, 0, 0], [1, 0], True),
    (4, 4, 1, [5, 4], [3, 3], [2, 4], [3, 2], [2, 0, 2, 1], [1, 3], True),
    (4, 6, 1, [9], [5], [3], [1], [2, 1], [1], True),
    (4, 2, 1, [3, 2, 4], [2, 3, 3], [2, 1, 2], [1, 1, 1], [0, 1, 1, 0, 1, 1], [0, 0, 1], True),
]
# Cases in which one sum computes all phases.
ONE_SUM = [
    (8, 16, 1, [5, 7], [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], [0, 0], True),
    (8, 3, 1, [5, 4], [4, 6], [2, 3], [1, 1], [0, 0, 0, 0], [0, 0], False),
    (1, 5, 1, [9], [3], [3], [1], [0, 0], [0], True),
    (6, 7, 1, [4], [6], [2], [1], [0, 4], [0], True),
    (8, 16, 1, [5, 4], [2, 3], [2, 1], [1, 1], [0, 0, 0, 0], [0, 0], True),
]
# Cases in which the convolutions of the phases write the output.
INTERLEAVED = [
    (8, 17, 1, [5, 7], [4, 4], [2, 2], [1, 1], [1, 1, 1, 1], [0, 0], True),
    (3, 18, 1, [5, 4], [4, 4], [2, 2], [1, 1], [1, 1, 1, 1], [0, 0], True),
    (4, 5, 1, [4, 4], [5, 3], [3, 2], [1, 1], [1, 1, 1, 1], [0, 1], True),
    (4, 8, 1, [3, 2, 4], [3, 3, 3], [2, 2, 2], [1, 1, 1], [1, 1, 1, 1, 1, 1], [1, 1, 1], True),
    (4, 16, 1, [3, 2, 5], [2, 2, 2], [2, 2, 2], [1, 1, 1], [0, 0, 0, 0, 0, 0], [0, 0, 0], True),
    (16, 16, 16, [4, 5], [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], [0, 0], False),
]

# Cases in which the groups are computed as images, and the convolutions of the phases write the output. Relu is an
# operator of its own, because a reshape is before it.
GROUPS_AS_IMAGES = [
    (6, 9, 3, [4, 5], [4, 4], [2, 2], [1, 1], [1, 1, 1, 1], [0, 0], False),
    (21, 24, 3, [6, 12], [3, 4], [1, 2], [1, 1], [0, 0, 1, 2], [0, 0], False),
    (10, 14, 2, [5], [4], [2], [1], [1, 1], [0], False),
]


def model(case, joined=False, equal=False, relu=True):
    """relu: Relu follows the transposed convolution. joined: the output is concatenated with another tensor, and a
    convolution reads the result. equal: all weights are equal, so that the phases are equal too, as in an upsampling by
    repetition."""
    channels, outputs, group, sizes, kernel, strides, dilations, pads, output_padding, bias = case
    graph = onnx_file.Graph([2, channels] + sizes)
    weights = [channels, outputs // group] + kernel
    equals = [0.25] * math.prod(weights)
    inputs = ["x", graph.constant(weights, equals) if equal else graph.weight(weights, 0.5)]
    if bias:
        inputs.append(graph.weight([outputs], 1.0))
    y = graph.node("ConvTranspose", inputs, outputs, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
                   output_padding=output_padding, group=group)
    if relu:
        y = graph.node("Relu", [y], outputs)
    rank = len(sizes)
    result = [(sizes[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 + output_padding[i] - pads[i] -
              pads[rank + i] for i in range(rank)]
    if joined:
        other = graph.node("Add", [graph.weight([2, outputs] + result, 1.0), y], outputs)
        y = graph.concat(graph.node("Neg", [other], outputs), y)
        taps = [3] * rank
        y = graph.node("Conv", [y, graph.weight([outputs, 2 * outputs] + taps, 0.5)], outputs, kernel_shape=taps,
                       pads=[1] * 2 * rank)
    return graph.model(y, [2, outputs] + result)


def compared(test, case, **options):
    path = test.folder / "model.onnx"
    path.write_bytes(model(case, **options))
    test.compile(path, "--memory-budget", "1GiB", profiles=PROFILES[:1])
    whole = json.loads(test.call("inspect", test.artifact(), "--json"))["commands"]
    folder = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
    test.call("run", test.artifact(), "--random", "1", "--output", folder)
    outputs = sorted(folder.glob("*.npy"))
    test.compile(path)
    phases = json.loads(test.call("inspect", test.artifact(), "--json"))["commands"]
    for variant in VARIANTS:
        test.compare([], outputs, variant, 1e-5, ["--random", "1"])
    return f"{len(phases)} commands instead of {len(whole)}"


def counted(test, case, expected, **options):
    """Compares the outputs, and checks the number of commands."""
    said = compared(test, case, **options)
    count = len(json.loads(test.call("inspect", test.artifact(), "--json"))["commands"])
    if count != expected:
        raise Failure(f"{count} commands, expected {expected}")
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    for case in CASES:
        test.check("x".join(map(str, case[:2] + tuple(case[3]) + tuple(case[4]))) + f" stride {case[5]}", compared, test,
                   case)
    for case in ONE_SUM + INTERLEAVED:
        # The sum, or a convolution for each phase; the concatenation adds two commands.
        expected = 1 if case in ONE_SUM else math.prod(case[5])
        name = "x".join(map(str, case[:2] + tuple(case[3]) + tuple(case[4]))) + f" stride {case[5]} in place"
        test.check(name, counted, test, case, expected)
        test.check(name + ", concatenated", lambda: counted(test, case, expected + 2, joined=True))
    for case in GROUPS_AS_IMAGES:
        name = "x".join(map(str, case[:3] + tuple(case[3]))) + f" stride {case[5]}, groups as images"
        count = math.prod(case[5])
        test.check(name, lambda: counted(test, case, count, relu=False))
        test.check(name + ", Relu", counted, test, case, count + 1)
        test.check(name + ", concatenated", lambda: counted(test, case, count + 3, joined=True))
    # Four commands: one for all phases, two copies (a column, then a row), and Relu.
    test.check("equal phases", lambda: counted(test, INTERLEAVED[-1], 4, equal=True))
    test.finish()


if __name__ == "__main__":
    main()
