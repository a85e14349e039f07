#!/usr/bin/env python3
"""Tests sums of 8-bit products whose sizes are not multiples of four, in every variant: the results are exact.

    padded_bytes_test.py --gantry TOOL

The compiler pads these sizes (the pass pad-sizes). The padding of the constants is zero; that of computed tensors may
have any value, so a zero point or a wrong constant would show in the results.
"""
import argparse

import onnx_file
from support import Failure, Test


def byte(value):
    return max(-128, min(127, value))


class Model:
    """Builds a model whose input has small whole numbers, and computes the expected values of its last tensor."""

    def __init__(self, shape):
        self.shape = shape
        self.graph = onnx_file.Graph(shape)
        count = 1
        for size in shape:
            count *= size
        self.elements = [self.graph.random.randint(-9, 9) for _ in range(count)]
        self.values = self.elements
        self.name = self.graph.node("Cast", ["x"], 0, to=onnx_file.INT8)

    def weights(self, *shape):
        count = 1
        for size in shape:
            count *= size
        values = [self.graph.random.randint(-5, 5) for _ in range(count)]
        return values, self.graph.constant(shape, values, onnx_file.INT8)

    def scalar(self, value, kind):
        return self.graph.constant([], [value], kind)

    def matmul(self, columns, zero=None):
        """Multiplies by a constant, and divides the sums by 16."""
        rows, depth = self.shape
        values, name = self.weights(depth, columns)
        zeros = [] if zero is None else [self.scalar(zero, onnx_file.INT8)]
        sums = self.graph.node("MatMulInteger", [self.name, name, *zeros], 0)
        scale, zero_point = self.scalar(16.0, onnx_file.FLOAT), self.scalar(0, onnx_file.INT8)
        self.name = self.graph.node("QuantizeLinear", [self.graph.node("Cast", [sums], 0, to=onnx_file.FLOAT), scale,
                                                       zero_point], 0)

        def result(i, j):
            return byte(round(sum((self.values[i * depth + k] - (zero or 0)) * values[k * columns + j]
                                  for k in range(depth)) / 16))

        self.values = [result(i, j) for i in range(rows) for j in range(columns)]
        self.shape = [rows, columns]

    def convolution(self, filters, zero):
        """A 3x3 convolution with padding whose result is the sum divided by 32. zero: the zero point of its input."""
        _, channels, height, width = self.shape
        weights, name = self.weights(filters, channels, 3, 3)
        one, divisor = self.scalar(1.0, onnx_file.FLOAT), self.scalar(32.0, onnx_file.FLOAT)
        zero_point, no_zero = self.scalar(zero, onnx_file.INT8), self.scalar(0, onnx_file.INT8)
        operands = [self.name, one, zero_point, name, one, no_zero, divisor, no_zero]
        self.name = self.graph.node("QLinearConv", operands, 0, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

        def result(f, y, x):
            total = 0
            for dy in range(max(0, 1 - y), min(3, height + 1 - y)):
                for dx in range(max(0, 1 - x), min(3, width + 1 - x)):
                    at = (y + dy - 1) * width + x + dx - 1
                    total += sum((self.values[c * height * width + at] - zero) *
                                 weights[((f * channels + c) * 3 + dy) * 3 + dx] for c in range(channels))
            return byte(round(total / 32))

        self.values = [result(f, y, x) for f in range(filters) for y in range(height) for x in range(width)]
        self.shape = [1, filters, height, width]

    def compared(self, test, input_shape):
        output = self.graph.node("Cast", [self.name], 0, to=onnx_file.FLOAT)
        if len(set(self.values)) < 10:
            raise Failure("the expected values are all alike")
        return test.compare_plain(self.graph.model(output, self.shape), (input_shape, self.elements),
                                  (self.shape, self.values))


def matmuls(test, rows, depth, middle, columns, zero):
    model = Model([rows, depth])
    model.matmul(middle)
    model.matmul(columns, zero)
    return model.compared(test, [rows, depth])


def convolutions(test, channels, middle, filters, size, zero):
    shape = [1, channels, size, size + 2]
    model = Model(shape)
    model.convolution(middle, zero)
    model.convolution(filters, 0)
    return model.compared(test, shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    for case in ((40, 255, 61, 30, None), (33, 127, 61, 53, 7), (1, 767, 253, 61, -3)):
        test.check("matmuls of {}x{} by {} and {} columns, zero point {}".format(*case), matmuls, test, *case)
    for case in ((13, 29, 10, 7, 0), (6, 37, 11, 9, 5)):
        test.check("convolutions {}-{}-{} at {}, zero point {}".format(*case), convolutions, test, *case)
    test.finish()


if __name__ == "__main__":
    main()
