#!/usr/bin/env python3
"""Tests Resize: sizes, modes and coordinate modes, compared with a plain implementation, in every variant.

    resize_test.py --gantry TOOL
"""
import argparse
import itertools
import math

import onnx_file
from support import Test

# Shape, scales, mode, coordinate mode, nearest mode. The scales are exact in f32.
CASES = [
    ([2, 8, 7, 6], [1, 1, 2, 2], "linear", "half_pixel", ""),
    ([1, 8, 5, 6], [1, 1, 4, 3], "linear", "asymmetric", ""),
    ([1, 3, 5, 9], [1, 1, 2, 2], "linear", "align_corners", ""),
    ([1, 4, 9, 8], [1, 1, 0.625, 1.75], "linear", "half_pixel", ""),
    ([2, 4, 12, 8], [1, 1, 0.5, 0.5], "linear", "pytorch_half_pixel", ""),
    ([1, 4, 1, 2], [1, 1, 3, 8], "linear", "half_pixel", ""),
    ([3, 13], [1, 2.5], "linear", "half_pixel", ""),
    ([1, 4, 3, 4, 5], [1, 1, 2, 2, 2], "linear", "half_pixel", ""),
    ([1, 4, 6, 5], [1, 1, 2, 2], "cubic", "half_pixel", ""),
    ([1, 3, 4, 7], [1, 1, 1.5, 0.75], "cubic", "align_corners", ""),
    ([1, 4, 1, 3], [1, 1, 2, 3], "cubic", "half_pixel", ""),
    ([1, 4, 5, 6], [1, 1, 2.5, 1.5], "nearest", "half_pixel", "round_prefer_floor"),
    ([1, 4, 8, 6], [1, 1, 0.75, 0.5], "nearest", "asymmetric", "ceil"),
    ([1, 4, 5, 6], [1, 1, 2, 1.5], "nearest", "align_corners", "round_prefer_ceil"),
    ([1, 4, 5, 6], [1, 1, 2.5, 3], "nearest", "tf_half_pixel_for_nn", "floor"),
]


def coordinate(mode, at, size, wanted, scale):
    if mode == "asymmetric":
        return at / scale
    if mode == "align_corners":
        return at * (size - 1) / (scale * size - 1) if wanted > 1 and scale * size > 1 else 0
    if mode == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    if mode == "pytorch_half_pixel" and wanted == 1:
        return 0
    return (at + 0.5) / scale - 0.5


def taps(mode, nearest, at):
    """Returns (position, weight) of each element that is read for a coordinate."""
    base = math.floor(at)
    t, u = at - base, 1 - (at - base)
    if mode == "nearest":
        rounded = {"floor": base, "ceil": math.ceil(at), "round_prefer_floor": math.ceil(at - 0.5),
                   "round_prefer_ceil": math.floor(at + 0.5)}
        return [(rounded[nearest], 1)]
    if mode == "linear":
        return [(base, u), (base + 1, t)]
    a = -0.75  # Keys' cubic kernel, the default of ONNX.
    far = lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    near = lambda d: ((a + 2) * d - (a + 3)) * d * d + 1
    return [(base - 1, far(t + 1)), (base, near(t)), (base + 1, near(u)), (base + 2, far(u + 1))]


def resized(values, shape, scales, mode, coordinates, nearest):
    """Returns (values, shape) of the result: resizes one axis after another."""
    for axis, scale in enumerate(scales):
        if scale == 1:
            continue
        size, wanted = shape[axis], math.floor(shape[axis] * scale)
        inner = math.prod(shape[axis + 1:])
        result = []
        for outer, at in itertools.product(range(math.prod(shape[:axis])), range(wanted)):
            weights = taps(mode, nearest, coordinate(coordinates, at, size, wanted, scale))
            rows = [(outer * size + min(max(position, 0), size - 1), weight) for position, weight in weights]
            result += [sum(values[row * inner + i] * weight for row, weight in rows) for i in range(inner)]
        values, shape = result, shape[:axis] + [wanted] + shape[axis + 1:]
    return values, shape


def compared(test, shape, scales, mode, coordinates, nearest):
    graph = onnx_file.Graph(shape)
    elements = [graph.random.uniform(-1, 1) for _ in range(math.prod(shape))]
    values, result = resized([-element for element in elements], shape, scales, mode, coordinates, nearest)
    negative = graph.node("Neg", ["x"], shape[1])
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if nearest:
        attributes["nearest_mode"] = nearest
    y = graph.node("Resize", [negative, "", graph.constant([len(scales)], scales)], shape[1], **attributes)
    return test.compare_plain(graph.model(y, result), (shape, elements), (result, values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    for case in CASES:
        shape, scales, mode, coordinates, nearest = case
        sizes = ["x".join(map(str, numbers)) for numbers in (shape, scales)]
        test.check(f"{sizes[0]} by {sizes[1]}, {mode}, {coordinates} {nearest}".strip(), compared, test, *case)
    test.finish()


if __name__ == "__main__":
    main()
