#!/usr/bin/env python3
"""Tests batch normalisations and ReLUs that a convolution or a matmul computes while it reads its operand (a prologue).

    prologue_test.py --gantry TOOL

Each model has one input. In every variant its output must equal the reference, which this script computes. On the
software device, the model must have as many commands as the same model without the normalisations. A convolution with
windows has no prologue, because it would compute it once for each window, so it needs one command more. Its padding
is 0 after the ReLU, not before the normalisation.
"""
import argparse
import json
import math
import random

from onnx_file import Graph
from support import Failure, Test

SIZE = 5, 7  # Height and width of the images.
EPSILON = 1e-5  # The default of BatchNormalization.


def uniform(source, count, low, high):
    """Returns multiples of 1/64, so that f32 represents them exactly."""
    return [round(64 * source.uniform(low, high)) / 64 for _ in range(count)]


class Model:
    """A graph and its input. The methods return the name of a result and its reference: a function that computes the
    planes of an image, one for each channel, from the planes of the input. is_plain: leaves out the normalisations."""

    def __init__(self, images, channels, dims, is_plain=False):
        self.random = random.Random(5)
        self.is_plain = is_plain
        self.images, self.channels, self.dims = images, channels, dims
        self.graph = Graph([images, channels, *dims])

    def norm(self, x):
        """Adds a batch normalisation and a ReLU."""
        if self.is_plain:
            return x, lambda image: image
        channels = self.graph.channels[x]
        scale, shift, mean, variance = (uniform(self.random, channels, *range_)
                                        for range_ in ((0.5, 1.5), (-1, 1), (-1, 1), (0.5, 1.5)))
        names = [self.graph.constant([channels], values) for values in (scale, shift, mean, variance)]
        y = self.graph.node("BatchNormalization", [x, *names], channels)

        def reference(image):
            factors = [s / math.sqrt(v + EPSILON) for s, v in zip(scale, variance)]
            return [[max(0.0, factors[c] * (value - mean[c]) + shift[c]) for value in plane]
                    for c, plane in enumerate(image)]
        return self.graph.node("Relu", [y], channels), reference

    def conv(self, x, outputs, kernel):
        """Adds a convolution whose results have the size of the images."""
        inputs = self.graph.channels[x]
        weights = uniform(self.random, outputs * inputs * kernel * kernel, -1, 1)
        name = self.graph.constant([outputs, inputs, kernel, kernel], weights)
        y = self.graph.node("Conv", [x, name], outputs, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)
        height, width = self.dims
        reach = range(-(kernel // 2), kernel // 2 + 1)

        def pixel(image, o, row, column):
            total, at = 0.0, o * inputs * kernel * kernel
            for c in range(inputs):
                for dr in reach:
                    for dc in reach:
                        if 0 <= row + dr < height and 0 <= column + dc < width:
                            total += weights[at] * image[c][(row + dr) * width + column + dc]
                        at += 1
            return total

        def reference(image):
            return [[pixel(image, o, *divmod(i, width)) for i in range(height * width)] for o in range(outputs)]
        return y, reference


def compile_and_count(test, data):
    path = test.folder / "counted.onnx"
    path.write_bytes(data)
    test.call("compile", path, "-p", "vulkan:lavapipe", "-o", test.artifact())
    return len(json.loads(test.call("inspect", test.artifact(), "--json"))["commands"])


def check(test, make, images, channels, outputs, additional):
    """make: adds the operators to a Model. additional: how many commands the normalisations may add."""
    counts = []
    for is_plain in (True, False):
        model = Model(images, channels, SIZE, is_plain)
        y, reference = make(model)
        data = model.graph.model(y, [images, outputs, *SIZE])
        counts.append(compile_and_count(test, data))
    if counts[1] != counts[0] + additional:
        raise Failure(f"{counts[1]} commands, and {counts[0]} without normalisations; expected {additional} more")
    pixels = math.prod(SIZE)
    x = uniform(model.random, images * channels * pixels, -2, 2)
    planes = [x[start:start + pixels] for start in range(0, len(x), pixels)]
    expected = [value for image in range(images)
                for plane in reference(planes[image * channels:(image + 1) * channels]) for value in plane]
    return test.compare_plain(data, ([images, channels, *SIZE], x), ([images, outputs, *SIZE], expected))


def dense_layers(growth, kernel):
    """Two layers of a dense block. Each reads the concatenation of all tensors before it, and adds `growth` channels."""
    def make(model):
        tensors, references = ["x"], [lambda image: image]
        for _ in range(2):
            joined = model.graph.concat(*tensors) if len(tensors) > 1 else "x"
            before = list(references)
            normed, norm = model.norm(joined)
            y, conv = model.conv(normed, growth, kernel)
            tensors.append(y)
            references.append(lambda image, before=before, norm=norm, conv=conv:
                              conv(norm([plane for reference in before for plane in reference(image)])))
        y = model.graph.concat(*tensors)
        return y, lambda image: [plane for reference in references for plane in reference(image)]
    return make


def matmul(test):
    """A scale and an offset for each column of an operand, and a ReLU, before a matmul."""
    source = random.Random(7)
    rows, depth, columns = 37, 24, 20
    scale, shift, weights = (uniform(source, n, -1, 1) for n in (depth, depth, depth * columns))
    graph = Graph([rows, depth])
    y = graph.node("Mul", ["x", graph.constant([depth], scale)], 1)
    y = graph.node("Relu", [graph.node("Add", [y, graph.constant([depth], shift)], 1)], 1)
    y = graph.node("MatMul", [y, graph.constant([depth, columns], weights)], 1)
    if (count := compile_and_count(test, graph.model(y, [rows, columns]))) != 1:
        raise Failure(f"{count} commands instead of one")
    x = uniform(source, rows * depth, -2, 2)
    read = [max(0.0, x[i] * scale[i % depth] + shift[i % depth]) for i in range(rows * depth)]
    expected = [sum(read[row * depth + k] * weights[k * columns + column] for k in range(depth))
                for row in range(rows) for column in range(columns)]
    return test.compare_plain(graph.model(y, [rows, columns]), ([rows, depth], x), ([rows, columns], expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    # The first normalisation before a 3x3 convolution is computed by the command that copies the model's input into the
    # layout of convolutions, which is needed in any case. The second one is a command.
    for images, channels, growth, kernel, additional in ((1, 8, 8, 1, 0), (2, 12, 4, 1, 0), (1, 7, 5, 1, 0), (1, 8, 8, 3, 1)):
        test.check(f"{images} images, {channels} channels, two layers of {growth}, {kernel}x{kernel}", check, test,
                   dense_layers(growth, kernel), images, channels, channels + 2 * growth, additional)
    test.check("matmul", matmul, test)
    test.finish()


if __name__ == "__main__":
    main()
