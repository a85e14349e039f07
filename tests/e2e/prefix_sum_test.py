#!/usr/bin/env python3
"""Tests CumSum, of short axes and of long ones, which are divided into blocks, in every variant.

    prefix_sum_test.py --gantry TOOL
"""
import argparse
import itertools
import math

import onnx_file
from support import Test

# Shape and axis. Blocks have 32 elements; an axis of 2,100 has more than 64 blocks.
CASES = [([3, 20], 1), ([2, 65, 3], 1), ([96, 5], 0), ([2, 100], -1), ([2100], 0)]


def sums(values, exclusive, reverse):
    if reverse:
        return sums(values[::-1], exclusive, False)[::-1]
    total, result = 0.0, []
    for value in values:
        result.append(total if exclusive else total + value)
        total += value
    return result


def compared(test, shape, axis, exclusive, reverse):
    graph = onnx_file.Graph(shape)
    elements = [graph.random.uniform(-1, 1) for _ in range(math.prod(shape))]
    inner, size = math.prod(shape[axis:][1:]), shape[axis]
    expected = [0.0] * len(elements)
    for outer, i in itertools.product(range(len(elements) // (inner * size)), range(inner)):
        places = slice(outer * size * inner + i, (outer + 1) * size * inner, inner)
        expected[places] = sums(elements[places], exclusive, reverse)
    y = graph.node("CumSum", ["x", graph.constant([1], [axis], onnx_file.INT64)], 0, exclusive=exclusive, reverse=reverse)
    return test.compare_plain(graph.model(y, shape), (shape, elements), (shape, expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    for (shape, axis), exclusive, reverse in itertools.product(CASES, (0, 1), (0, 1)):
        kind = " exclusive" * exclusive + " reverse" * reverse
        test.check(f"{'x'.join(map(str, shape))} along {axis}{kind}", compared, test, shape, axis, exclusive, reverse)
    test.finish()


if __name__ == "__main__":
    main()
