#!/usr/bin/env python3
"""Makes the small models below models/, with inputs and expected outputs.

    python3 make_models.py          (Debian: python3-torch python3-onnx python3-numpy)

Each folder holds model.onnx (or model.mlir) and case_<n>/input_<i>.npy, output_<i>.npy. The folder
of a dynamic model also holds dims.txt with the sizes at which the tests check the arena's size
("batch=33"). Expected values come from tests/support/reference (ONNX) or are computed here with
NumPy in double precision (MLIR). Weights and inputs are drawn with fixed seeds, so a second run
writes the same bytes.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support/reference"))
from reference import evaluate, to_numpy  # noqa: E402

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Graph:
    """Collects nodes and constants. `model` returns the finished model; the other methods return the name of their
    result (a list of names for a node with several outputs)."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"const_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape):
        scale = 1 / np.sqrt(max(1, np.prod(shape[1:])))
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def node(self, op, *inputs, outputs=1, result=None, **attributes):
        name = f"{op}_{len(self.nodes)}"
        results = [result] if result else [f"{name}_out{i}" if outputs > 1 else f"{name}_out" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def conv(self, x, channels_in, channels_out, size, group=1, **attributes):
        return self.node("Conv", x, self.weight(channels_out, channels_in // group, size, size),
                         self.weight(channels_out), kernel_shape=[size, size], group=group, **attributes)

    def batch_norm(self, x, channels):
        positive = (self.random.random((2, channels)) + 0.5).astype(np.float32)
        return self.node("BatchNormalization", x, self.constant(positive[0]), self.weight(channels),
                         self.weight(channels), self.constant(positive[1]))

    def model(self, name, inputs, outputs, opset=13, ir_version=7):
        ports = [[helper.make_tensor_value_info(*port) for port in side] for side in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, name, ports[0], ports[1], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version,
                                 producer_name="gantry tests")


def write_case(folder, index, inputs, outputs):
    case = folder / f"case_{index}"
    case.mkdir(parents=True)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(arrays):
            np.save(case / f"{kind}_{i}.npy", np.ascontiguousarray(array))


def write(name, model, cases, external=False, dims=None):
    folder = HERE / "models" / name
    shutil.rmtree(folder, ignore_errors=True)
    for index, inputs in enumerate(cases):
        values = evaluate(model, inputs)
        write_case(folder, index, inputs, [to_numpy(values[port.name]) for port in model.graph.output])
    if dims:
        (folder / "dims.txt").write_text(dims + "\n")
    if external:
        # onnx.save writes the weights into the model's folder only if the path is a str, not a pathlib.Path.
        onnx.save(model, str(folder / "model.onnx"), save_as_external_data=True, location="weights.bin",
                  size_threshold=0)
    else:
        onnx.save(model, folder / "model.onnx")


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def residual():
    """A residual convolutional network with batch normalization, batch 2."""
    g = Graph(1)
    x = g.node("Relu", g.batch_norm(g.conv("image", 3, 8, 3, pads=[1] * 4), 8))
    y = g.node("Relu", g.batch_norm(g.conv(x, 8, 8, 3, pads=[1] * 4), 8))
    y = g.batch_norm(g.conv(y, 8, 8, 3, pads=[1] * 4), 8)
    x = g.node("Relu", g.node("Add", y, x))
    y = g.batch_norm(g.conv(x, 8, 16, 3, strides=[2, 2], pads=[1] * 4), 16)
    x = g.node("Relu", g.node("Add", y, g.conv(x, 8, 16, 1, strides=[2, 2])))
    x = g.node("Flatten", g.node("GlobalAveragePool", x))
    g.node("Gemm", x, g.weight(10, 16), g.weight(10), transB=1, result="scores")
    write("residual", g.model("residual", [("image", F32, [2, 3, 16, 16])], [("scores", F32, [2, 10])]),
          [[floats(11, 2, 3, 16, 16)]])


def depthwise_se():
    """An inverted residual with squeeze and excitation, on odd sizes."""
    g = Graph(2)
    x = g.node("HardSwish", g.conv("image", 3, 12, 1))
    x = g.node("HardSwish", g.conv(x, 12, 12, 5, group=12, strides=[2, 2], pads=[2] * 4))
    s = g.node("Relu", g.conv(g.node("GlobalAveragePool", x), 12, 4, 1))
    s = g.node("HardSigmoid", g.conv(s, 4, 12, 1), alpha=1 / 6, beta=0.5)
    x = g.conv(g.node("Mul", x, s), 12, 7, 1)
    y = g.node("LeakyRelu", g.conv(x, 7, 7, 3, group=7, auto_pad="SAME_UPPER"), alpha=0.1)
    g.node("Add", x, y, result="features")
    write("depthwise_se", g.model("depthwise_se", [("image", F32, [1, 3, 17, 15])],
                                  [("features", F32, [1, 7, 9, 8])], opset=14), [[floats(21, 1, 3, 17, 15)]])


def transformer():
    """A pre-norm encoder block with a boolean mask. It uses LayerNormalization (opset 17) and Gelu (opset 20)."""
    g, width, heads, time = Graph(3), 32, 4, 12

    def norm(x):
        return g.node("LayerNormalization", x, g.constant((1 + 0.1 * floats(30, width)).astype(np.float32)),
                      g.weight(width), epsilon=1e-5)

    def split_heads(x, perm):
        parts = g.node("Reshape", x, g.constant(np.array([0, 0, heads, width // heads])))
        return g.node("Transpose", parts, perm=perm)

    x = g.node("Add", g.node("Gather", g.weight(50, width), "tokens"), g.weight(time, width))
    qkv = g.node("MatMul", norm(x), g.weight(width, 3 * width))
    q, k, v = g.node("Split", qkv, g.constant(np.array([width] * 3)), outputs=3, axis=2)
    scores = g.node("MatMul", split_heads(q, [0, 2, 1, 3]), split_heads(k, [0, 2, 3, 1]))
    scores = g.node("Div", scores, g.constant(np.float32(np.sqrt(width // heads))))
    scores = g.node("Where", "mask", scores, g.constant(np.float32(-1e9)))
    mixed = g.node("MatMul", g.node("Softmax", scores, axis=-1), split_heads(v, [0, 2, 1, 3]))
    mixed = g.node("Reshape", g.node("Transpose", mixed, perm=[0, 2, 1, 3]), g.constant(np.array([0, 0, width])))
    x = g.node("Add", x, g.node("MatMul", mixed, g.weight(width, width)))
    hidden = g.node("Add", g.node("MatMul", norm(x), g.weight(width, 2 * width)), g.weight(2 * width))
    g.node("Add", x, g.node("MatMul", g.node("Gelu", hidden), g.weight(2 * width, width)), result="encoded")
    tokens = np.random.default_rng(31).integers(0, 50, (2, time))
    mask = np.ones((2, 1, time, time), bool)
    mask[0, 0, :, 9:] = False
    write("transformer", g.model("transformer", [("tokens", I64, [2, time]), ("mask", BOOL, [2, 1, time, time])],
                                 [("encoded", F32, [2, time, width])], opset=20, ir_version=10), [[tokens, mask]])


def attention():
    """Attention whose scores are by far the largest tensor, so softmax must reuse their storage.

    The rows of one softmax have an odd length, those of the other an even length.
    """
    g = Graph(17)
    for name, keys in (("odd", 45), ("even", 64)):
        k = g.node("MatMul", g.weight(2, keys, 6), g.weight(6, 8))
        scores = g.node("MatMul", "queries", g.node("Transpose", k, perm=[0, 2, 1]))
        g.node("MatMul", g.node("Softmax", scores, axis=-1), g.weight(2, keys, 4), result=name)
    write("attention", g.model("attention", [("queries", F32, [2, 37, 8])],
                               [("odd", F32, [2, 37, 4]), ("even", F32, [2, 37, 4])]), [[floats(171, 2, 37, 8)]])


def dynamic_mlp():
    """A perceptron with a dynamic batch size."""
    g = Graph(4)
    x = g.node("Relu", g.node("Gemm", "x", g.weight(24, 20), g.weight(24), transB=1))
    x = g.node("Tanh", g.node("MatMul", x, g.weight(24, 24)))
    g.node("Softmax", g.node("Gemm", x, g.weight(24, 6), g.weight(6)), axis=1, result="chances")
    write("dynamic_mlp", g.model("dynamic_mlp", [("x", F32, ["batch", 20])], [("chances", F32, ["batch", 6])]),
          [[floats(40 + n, n, 20)] for n in (1, 5, 33)], dims="batch=33")


def joined():
    """Three dynamic sizes with n + k = whole, so they cannot reach their upper limits at once.

    The limits are those of the test bounds.joined: 8 for n and k, 10 for whole.
    """
    g = Graph(10)
    g.node("Add", g.node("Exp", g.node("Concat", "a", "b", axis=0)), "whole", result="sum")
    ports = [("a", F32, ["n"]), ("b", F32, ["k"]), ("whole", F32, ["whole"])]
    cases = [[floats(101, n), floats(102, k), floats(103, n + k)] for n, k in ((3, 4), (8, 2), (1, 1))]
    write("joined", g.model("joined", ports, [("sum", F32, None)]), cases, dims="n=3 k=4 whole=7")


def mixed_layout():
    """Padding, resizing, slicing, concatenation, transposed convolution, uneven pooling."""
    g = Graph(5)
    x = g.node("Pad", "image", g.constant(np.array([0, 0, 1, 2, 0, 0, 2, 1])), mode="reflect")
    x = g.node("Clip", g.conv(x, 4, 6, 3), g.constant(np.float32(-1)), g.constant(np.float32(2)))
    empty = g.constant(np.array([], np.float32))
    up = g.constant(np.array([1, 1, 2, 2], np.float32))
    nearest = g.node("Resize", x, empty, up, mode="nearest", coordinate_transformation_mode="asymmetric",
                     nearest_mode="floor")
    linear = g.node("Resize", x, empty, up, mode="linear", coordinate_transformation_mode="half_pixel")
    wide = g.node("ConvTranspose", x, g.weight(6, 5, 2, 2), g.weight(5), kernel_shape=[2, 2], strides=[2, 2])
    joined = g.node("Concat", nearest, linear, wide, axis=1)
    part = g.node("Slice", joined, g.constant(np.array([1, 2])), g.constant(np.array([16, -1])),
                  g.constant(np.array([1, 3])), g.constant(np.array([3, 1])))
    pooled = g.node("MaxPool", part, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 0], ceil_mode=1)
    mean = g.node("ReduceMean", part, axes=[2, 3], keepdims=1)
    g.node("Mul", pooled, g.node("Sigmoid", mean), result="pooled")
    g.node("Transpose", g.node("AveragePool", part, kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1),
           perm=[0, 2, 3, 1], result="smooth")
    image = floats(51, 1, 4, 9, 11)
    write("mixed_layout", g.model("mixed_layout", [("image", F32, [1, 4, 9, 11])],
                                  [("pooled", F32, None), ("smooth", F32, None)]), [[image]])


def external_data():
    """Weights in an external file."""
    g = Graph(6)
    x = g.node("Relu", g.conv("image", 1, 4, 3, pads=[1] * 4))
    g.node("Gemm", g.node("Flatten", x), g.weight(144, 5), g.weight(5), result="scores")
    write("external_data", g.model("external_data", [("image", F32, [1, 1, 6, 6])], [("scores", F32, [1, 5])]),
          [[floats(61, 1, 1, 6, 6)]], external=True)


def integers():
    """Integer arithmetic, comparison and gathering, on 64-bit values."""
    g = Graph(7)
    doubled = g.node("Mul", "a", g.constant(np.int64(3)))
    quotient = g.node("Div", g.node("Add", doubled, "b"), g.constant(np.int64(4)))
    chosen = g.node("Where", g.node("Greater", quotient, "b"), quotient, g.node("Sub", "a", "b"))
    g.node("Identity", chosen, result="chosen")
    row = g.node("Gather", g.weight(9, 4), g.constant(np.array([8, 0, -1, 3, 3])), axis=0)
    g.node("MatMul", g.node("Cast", "a", to=F32), row, result="mixed")
    random = np.random.default_rng(71)
    write("integers", g.model("integers", [("a", I64, [3, 5]), ("b", I64, [3, 5])],
                              [("chosen", I64, [3, 5]), ("mixed", F32, [3, 4])]),
          [[random.integers(-9, 9, (3, 5)), random.integers(-9, 9, (3, 5))]])


def integer_powers():
    """Integer powers. Exponents of 63 and above have bases of 0 and +-1; negative exponents have nonzero bases."""
    g = Graph(8)
    g.node("Pow", "base", "exponent", result="power")
    pairs = [(b, e) for b in (-7, -2, -1, 0, 1, 2, 3) for e in (0, 1, 2, 5, 19, 22)]
    pairs += [(b, e) for b in (-1, 0, 1) for e in (63, 64, 65, 1 << 40, (1 << 62) + 1)]
    pairs += [(b, e) for b in (-7, -2, -1, 1, 2, 3) for e in (-1, -2, -63, -64, -(1 << 63))]
    base, exponent = (np.array(column, np.int64) for column in zip(*pairs))
    # Computed with Python's unlimited integers. A power between -1 and 1 is truncated towards zero.
    power = [b ** e if e >= 0 and abs(b) > 1 else (b if e % 2 else 1) if abs(b) == 1 else int(e == 0 and b == 0)
             for b, e in pairs]
    folder = HERE / "models/integer_powers"
    model = g.model("integer_powers", [("base", I64, [len(pairs)]), ("exponent", I64, [len(pairs)])],
                    [("power", I64, [len(pairs)])])
    shutil.rmtree(folder, ignore_errors=True)
    write_case(folder, 0, [base, exponent], [np.array(power, np.int64)])
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")


def positions():
    """ScatterND at constant positions, and an Einsum equation with an ellipsis."""
    g = Graph(9)
    at = np.array([[[0, 1], [1, -1]], [[2, 0], [4, 3]]])
    g.node("ScatterND", "data", g.constant(at), "updates", result="scattered")
    g.node("Einsum", "data", "other", equation="...ij,...jk->k...i", result="product")
    data, updates, other = floats(91, 5, 4, 3), floats(92, 2, 2, 3), floats(93, 1, 3, 2)
    scattered = data.copy()
    for place in np.ndindex(at.shape[:-1]):
        scattered[tuple(at[place])] = updates[place]
    product = np.einsum("bij,bjk->kbi", data.astype(np.float64), np.repeat(other, 5, 0))
    folder = HERE / "models/positions"
    shutil.rmtree(folder, ignore_errors=True)
    write_case(folder, 0, [data, updates, other], [scattered, product.astype(np.float32)])
    onnx.save(g.model("positions", [("data", F32, [5, 4, 3]), ("updates", F32, [2, 2, 3]), ("other", F32, [1, 3, 2])],
                      [("scattered", F32, None), ("product", F32, None)]), folder / "model.onnx")


def row_lengths():
    """Elementwise operators that read a sum of rows whose length differs from that of their own rows."""
    g = Graph(10)
    axis = g.constant(np.array([1]))
    inputs, outputs, values = [], [], []
    for i, (reduced, width) in enumerate([(5, 4), (4, 5), (16, 8), (3, 16), (2, 300)]):
        row, other = f"row_{i}", f"other_{i}"
        total = g.node("ReduceSum", other, axis, keepdims=1)
        # The softmax has reductions over rows of the length of the result.
        g.node("Div", g.node("Softmax", row, axis=1), total, result=f"y_{i}")
        inputs += [(row, F32, [3, width]), (other, F32, [3, reduced])]
        outputs.append((f"y_{i}", F32, [3, width]))
        values += [floats(100 + i, 3, width), np.abs(floats(200 + i, 3, reduced))]
    # Without another reduction.
    g.node("Mul", "row_0", g.node("ReduceMax", "other_0", axes=[1], keepdims=1), result="largest")
    outputs.append(("largest", F32, [3, 4]))
    write("row_lengths", g.model("row_lengths", inputs, outputs), [values])


def mlir_models():
    """Cases of the linalg and TOSA models, whose model.mlir files are written by hand."""
    a, b = floats(81, 37, 19), floats(82, 19, 45)
    folder = HERE / "models/linalg_matmul"
    for case in folder.glob("case_*"):
        shutil.rmtree(case)
    product = a.astype(np.float64) @ b.astype(np.float64)
    write_case(folder, 0, [a, b], [np.maximum(product, 0).astype(np.float32)])

    x, w = floats(83, 1, 6, 6, 3).astype(np.float64), floats(84, 4, 3, 3, 3).astype(np.float64)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = sum(padded[:, i:i + 6, j:j + 6, :] @ w[:, i, j, :].T for i in range(3) for j in range(3))
    y = np.clip(y + np.array([0.5, -0.25, 0.125, 1.0]), 0, 6)
    folder = HERE / "models/tosa_conv"
    for case in folder.glob("case_*"):
        shutil.rmtree(case)
    write_case(folder, 0, [x.astype(np.float32), w.astype(np.float32)], [np.tanh(y).astype(np.float32)])

    folder = HERE / "models/tensor_ops"
    for case in folder.glob("case_*"):
        shutil.rmtree(case)
    for index, rows in enumerate((1, 7)):
        x, bias = floats(85 + index, rows, 5), floats(87 + index, rows, 5)
        y = np.where(x > bias, x.astype(np.float64), np.exp(x.astype(np.float64)) + bias)
        write_case(folder, index, [x, bias], [y.astype(np.float32)])

    folder = HERE / "models/functions"
    for case in folder.glob("case_*"):
        shutil.rmtree(case)
    # The largest float x whose e^x is finite is 88.722832.
    x = np.array([-np.inf, -100, -40, -1, -1e-3, -1e-20, 0, 1e-6, 0.5, 20, 88.722832, 88.72284, 89.3, 90, 1000, np.inf],
                 np.float32)
    with np.errstate(over="ignore"):
        write_case(folder, 0, [x], [np.expm1(x.astype(np.float64)).astype(np.float32)])


def main():
    for make in (residual, depthwise_se, transformer, attention, dynamic_mlp, joined, mixed_layout, external_data,
                 integers, integer_powers, positions, row_lengths, mlir_models):
        make()
    for folder in sorted((HERE / "models").iterdir()):
        size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        print(f"{size:7} bytes  {folder.name}")


if __name__ == "__main__":
    main()
