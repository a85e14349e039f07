"""Writes small ONNX models of convolutions with random weights, for tests that need a model of a certain shape.

Standard library only: it encodes the protocol buffers of onnx.proto itself.
"""
import array
import math
import random
import struct

FLOAT, INT8, INT64 = 1, 3, 7  # TensorProto.DataType
OPSET = 13
BLOCK = 16381  # A prime, so that the channels of a filter differ.


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, value):
    """Encodes one field: an integer, a text, or bytes (a nested message)."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value & (1 << 64) - 1)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _attribute(name, value):
    if isinstance(value, list):
        body = b"".join(_field(8, v) for v in value) + _field(20, 7)  # ints
    elif isinstance(value, str):
        body = _field(4, value) + _field(20, 3)
    else:
        body = _field(3, value) + _field(20, 2)  # i
    return _field(1, name) + body


def _port(name, dims):
    shape = b"".join(_field(1, _field(2 if isinstance(dim, str) else 1, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, FLOAT) + _field(2, shape)))


class Graph:
    """Collects nodes and weights.

    Each method except `model` adds nodes or weights and returns the name of the result."""

    def __init__(self, dims, seed=1):
        self.random = random.Random(seed)
        self.nodes, self.weights, self.channels = [], [], {"x": dims[1] if len(dims) > 1 else 1}
        self.inputs = _field(11, _port("x", dims))

    def node(self, op, inputs, channels, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(_field(1, b"".join(_field(1, i) for i in inputs) + _field(2, name) + _field(3, name) +
                                 _field(4, op) +
                                 b"".join(_field(5, _attribute(k, v)) for k, v in attributes.items())))
        self.channels[name] = channels
        return name

    def weight(self, dims, scale):
        """Adds a weight of random elements in [-scale, scale]. A long weight repeats a block of them."""
        count = math.prod(dims)
        block = array.array("f", [self.random.uniform(-scale, scale) for _ in range(min(count, BLOCK))])
        return self.constant(dims, (block * -(-count // BLOCK))[:count])

    def constant(self, dims, elements, kind=FLOAT):
        """Adds a constant of floats, or of integers (kind INT8 or INT64)."""
        values = array.array({FLOAT: "f", INT8: "b", INT64: "q"}[kind], elements)
        name = f"w{len(self.weights)}"
        data = values.tobytes() if struct.pack("=I", 1) == struct.pack("<I", 1) else bytes(values.byteswap())
        self.weights.append(_field(5, b"".join(_field(1, dim) for dim in dims) + _field(2, kind) + _field(8, name) +
                                   _field(9, data)))
        return name

    def conv(self, x, channels, kernel, stride=1, group=1, relu=True, pad=None):
        inputs = self.channels[x] // group
        pad = kernel // 2 if pad is None else pad
        scale = (3 / (inputs * kernel * kernel)) ** 0.5
        weights = [self.weight([channels, inputs, kernel, kernel], scale), self.weight([channels], 0.1)]
        y = self.node("Conv", [x] + weights, channels, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                      pads=[pad] * 4, group=group)
        return self.node("Relu", [y], channels) if relu else y

    def pool(self, x, kernel=2, stride=2, pad=0, op="MaxPool"):
        return self.node(op, [x], self.channels[x], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def upsample(self, x, channels):
        """Adds a transposed convolution that doubles the height and the width."""
        weight = self.weight([self.channels[x], channels, 2, 2], self.channels[x] ** -0.5)
        return self.node("ConvTranspose", [x, weight], channels, kernel_shape=[2, 2], strides=[2, 2])

    def add(self, a, b):
        return self.node("Relu", [self.node("Add", [a, b], self.channels[a])], self.channels[a])

    def concat(self, *tensors):
        return self.node("Concat", list(tensors), sum(self.channels[t] for t in tensors), axis=1)

    def norm(self, x):
        """Adds a batch normalisation and a ReLU."""
        channels = self.channels[x]
        parameters = [self.constant([channels], [self.random.uniform(low, high) for _ in range(channels)])
                      for low, high in ((0.5, 1.5), (-0.1, 0.1), (-0.1, 0.1), (0.5, 1.5))]
        return self.node("Relu", [self.node("BatchNormalization", [x] + parameters, channels)], channels)

    def linear(self, x, outputs):
        """Adds the means over all pixels and a matmul."""
        mean = self.node("GlobalAveragePool", [x], self.channels[x])
        flat = self.node("Flatten", [mean], self.channels[x], axis=1)
        return self.node("MatMul", [flat, self.weight([self.channels[x], outputs], 0.1)], outputs)

    def model(self, result, dims):
        """Returns the bytes of a model whose output is `result`."""
        graph = b"".join(self.nodes) + _field(2, "graph") + b"".join(self.weights) + self.inputs
        graph += _field(12, _port(result, dims))
        return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, OPSET))


def resnet(size=224, width=64, blocks=(2, 2, 2, 2)):
    """ResNet-18 by default: a convolution, a pool, and stages of residual blocks."""
    g = Graph([1, 3, size, size])
    x = g.pool(g.conv("x", width, 7, 2), 3, 2, 1)
    for stage, count in enumerate(blocks):
        channels = width << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            y = g.conv(g.conv(x, channels, 3, stride), channels, 3, relu=False)
            x = g.add(y, x if stride == 1 else g.conv(x, channels, 1, stride, relu=False))
    return g.model(g.linear(x, 10), [1, 10])


def unet(size=64, width=8):
    """Two levels of convolutions down and up again, joined by concatenations."""
    g = Graph([1, 3, size, size])
    a = g.conv(g.conv("x", width, 3), width, 3)
    b = g.conv(g.conv(g.pool(a), 2 * width, 3), 2 * width, 3)
    c = g.conv(g.conv(g.pool(b), 4 * width, 3), 4 * width, 3)
    b = g.conv(g.conv(g.concat(g.upsample(c, 2 * width), b), 2 * width, 3), 2 * width, 3)
    a = g.conv(g.conv(g.concat(g.upsample(b, width), a), width, 3), width, 3)
    return g.model(g.conv(a, 1, 1, relu=False), [1, 1, size, size])


def squeezenet(size=128, width=32):
    """A convolution and a pool, and two pairs of fire modules with a pool between them. A fire module is a narrow
    convolution, then two wide ones side by side."""
    g = Graph([1, 3, size, size])
    x = g.pool(g.conv("x", width, 3, 2), 3, 2)
    for squeeze in (width // 4, width // 2):
        for _ in range(2):
            s = g.conv(x, squeeze, 1)
            x = g.concat(g.conv(s, 4 * squeeze, 1), g.conv(s, 4 * squeeze, 3))
        x = g.pool(x, 3, 2)
    return g.model(g.linear(x, 10), [1, 10])


def densenet(size=224, growth=32, blocks=(6, 12, 24, 16)):
    """DenseNet-121 by default: in a block, each layer reads the concatenation of all tensors before it."""
    g = Graph([1, 3, size, size])
    x = g.pool(g.conv("x", 2 * growth, 7, 2), 3, 2, 1)
    for number, layers in enumerate(blocks):
        tensors = [x]
        for _ in range(layers):
            y = g.concat(*tensors) if len(tensors) > 1 else x
            tensors.append(g.conv(g.conv(g.norm(y), 4 * growth, 1), growth, 3, relu=False))
        x = g.norm(g.concat(*tensors))
        if number + 1 < len(blocks):
            x = g.pool(g.conv(x, g.channels[x] // 2, 1, relu=False), op="AveragePool")
    return g.model(g.linear(x, 1000), [1, 1000])
