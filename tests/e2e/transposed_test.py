#!/usr/bin/env python3
"""Tests transposed convolutions, which the compiler computes in phases, or as one operator within a memory budget.

A phase is an ordinary convolution that computes the elements of the output at one position modulo the stride.

    transposed_test.py --gantry TOOL

The two ways share no code below the import of the node, so their outputs are compared, in every variant.
"""
import argparse
import json

import onnx_file
from support import VARIANTS, Test

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


def model(case):
    channels, outputs, group, sizes, kernel, strides, dilations, pads, output_padding, bias = case
    graph = onnx_file.Graph([2, channels] + sizes)
    inputs = ["x", graph.weight([channels, outputs // group] + kernel, 0.5)]
    if bias:
        inputs.append(graph.weight([outputs], 1.0))
    y = graph.node("ConvTranspose", inputs, outputs, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
                   output_padding=output_padding, group=group)
    rank = len(sizes)
    result = [(sizes[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 + output_padding[i] - pads[i] -
              pads[rank + i] for i in range(rank)]
    return graph.model(graph.node("Relu", [y], outputs), [2, outputs] + result)


def compared(test, case):
    path = test.folder / "model.onnx"
    path.write_bytes(model(case))
    test.compile(path, "--memory-budget", "1GiB")
    whole = json.loads(test.call("inspect", test.artifact(), "--json"))["commands"]
    test.call("run", test.artifact(), "--random", "1", "--output", test.folder / "whole")
    outputs = sorted((test.folder / "whole").glob("*.npy"))
    test.compile(path)
    phases = json.loads(test.call("inspect", test.artifact(), "--json"))["commands"]
    for variant in VARIANTS:
        test.compare([], outputs, variant, 1e-5, ["--random", "1"])
    return f"{len(phases)} commands instead of {len(whole)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    for case in CASES:
        test.check("x".join(map(str, case[:2] + tuple(case[3]) + tuple(case[4]))) + f" stride {case[5]}", compared, test,
                   case)
    test.finish()


if __name__ == "__main__":
    main()
