#!/usr/bin/env python3
"""Measures every operator of ONNX that Gantry supports, so that no kind of kernel is slow unnoticed.

    operators.py FOLDER [--gantry TOOL] [--profile PROFILE] [--only NAME ...] [--seconds S] [--rounds N]
    operators.py --missing

Each row of the table is one operator, which runs alone in a model of typical size; operators that have several kinds of
kernels have several rows. The time of a row is the sum of the shortest times of its dispatches (kernel launches). Rates
are per core: for operators that sum products, billions of operations per second (a multiplication and an addition are
two); for others, billions of bytes per second, where each byte of the inputs and of the outputs counts once. The ratio
compares the rate of a row with that of a fast operator of its kind in the same run: the matmul of 256 x 1024 with
1024 x 1024, or the addition of two tensors. A low ratio of an operator with much arithmetic for each element, such as
Tan, is no fault.

FOLDER/operators.svg shows the ratios, and FOLDER/operators.json has the times and the rates. --missing lists the
operators that the tool supports and that no row covers, and ends with 1 if there are any. Debian: python3-onnx.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from shapes import time_of

OPSET = 20
F32, I32, I64, U8, I8, BOOL = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8,
                               TensorProto.INT8, TensorProto.BOOL)
WIDE = [1024, 1024]         # A matrix; 4 MiB of floats.
IMAGE = [1, 64, 112, 112]   # An image; 3 MiB of floats.
ROWS = [512, 768]           # The activations of a transformer; 1.5 MiB of floats.


class Row:
    """An operator and its operands. `inputs`: (type, shape) of each operand, an array for a constant, or None for an
    operand that is left out; `flops`: the number of operations, for operators that sum products, else 0. `before`: an
    operator that computes the first operand, for operators that alone would not be compiled as in a network."""

    def __init__(self, name, op, inputs, flops=0, outputs=1, opset=OPSET, before=None, **attributes):
        self.name, self.op, self.flops, self.dims, self.time = name, op, flops, {}, float("inf")
        names, ports, constants = [], [], []
        for i, operand in enumerate(inputs):
            names.append("" if operand is None else f"x{i}")
            if isinstance(operand, (np.ndarray, np.generic)):
                operand = np.asarray(operand)
                constants.append(numpy_helper.from_array(operand, names[-1]))
            elif operand is not None:
                ports.append(helper.make_tensor_value_info(names[-1], *operand))
        nodes = []
        if before:
            nodes.append(helper.make_node(before, names[:1], ["before"], name="before"))
            names[0] = "before"
        results = [f"y{i}" for i in range(outputs)]
        nodes.append(helper.make_node(op, names, results, **attributes))
        graph = helper.make_graph(nodes, "operator", ports,
                                  [onnx.ValueInfoProto(name=result) for result in results], constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)

    def compile(self, options, folder, number):
        source = folder / f"{number}.onnx"
        onnx.save(self.model, source)
        self.artifact = source.with_suffix(".gantry")
        done = subprocess.run([options.gantry, "compile", source, "-p", options.profile, "-o", self.artifact],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.name}: {done.stderr.strip()}")
        shown = json.loads(subprocess.run([options.gantry, "inspect", self.artifact, "--json"], check=True,
                                          capture_output=True, text=True).stdout)
        self.bytes = sum(shown["values"][port["value"]]["size_bytes"] for port in shown["inputs"] + shown["outputs"])

    def rate(self):
        return (self.flops or self.bytes) / self.time

    def unit(self):
        return "GFLOP/s" if self.flops else "GB/s"


def real(*shape):
    return np.random.default_rng(0).standard_normal(shape, np.float32) * np.float32(0.05)


def integers(*values):
    return np.array(values, np.int64)


def elementwise():
    for op in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Dropout", "Elu",
               "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log",
               "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh",
               "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"):
        yield Row(op, op, [(F32, WIDE)])
    yield Row("Swish", "Swish", [(F32, WIDE)], opset=24)
    for op in ("Add", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mul",
               "PRelu", "Pow", "Sub", "Sum"):
        yield Row(op, op, [(F32, WIDE), (F32, WIDE)])
    yield Row("Mod", "Mod", [(F32, WIDE), (F32, WIDE)], fmod=1)
    for op in ("And", "Or", "Xor"):
        yield Row(op, op, [(BOOL, WIDE), (BOOL, WIDE)])
    yield Row("Not", "Not", [(BOOL, WIDE)])
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield Row(op, op, [(I32, WIDE), (I32, WIDE)])
    yield Row("BitwiseNot", "BitwiseNot", [(I32, WIDE)])
    yield Row("BitShift", "BitShift", [(TensorProto.UINT32, WIDE), (TensorProto.UINT32, WIDE)], direction="LEFT")
    yield Row("Clip", "Clip", [(F32, WIDE), np.float32(0), np.float32(6)])
    yield Row("Cast to i32", "Cast", [(F32, WIDE)], to=I32)
    yield Row("Cast to f16", "Cast", [(F32, WIDE)], to=TensorProto.FLOAT16)
    yield Row("CastLike", "CastLike", [(F32, WIDE), np.zeros(1, np.int32)])
    yield Row("Where", "Where", [(BOOL, WIDE), (F32, WIDE), (F32, WIDE)])
    yield Row("Add of a row", "Add", [(F32, WIDE), (F32, [1024])])
    yield Row("Add of a column", "Add", [(F32, WIDE), (F32, [1024, 1])])
    yield Row("Add to channels", "Add", [(F32, IMAGE), (F32, [64, 1, 1])])
    yield Row("BatchNormalization", "BatchNormalization", [(F32, IMAGE), real(64), real(64), real(64), real(64) ** 2])


def products():
    yield Row("MatMul of a constant", "MatMul", [(F32, [256, 1024]), real(1024, 1024)], 2 * 256 * 1024 * 1024)
    yield Row("MatMul", "MatMul", [(F32, [256, 512]), (F32, [512, 512])], 2 * 256 * 512 * 512)
    yield Row("MatMul, batched", "MatMul", [(F32, [16, 128, 64]), (F32, [16, 64, 128])], 2 * 16 * 128 * 64 * 128)
    yield Row("MatMul of one row", "MatMul", [(F32, [1, 2048]), real(2048, 2048)], 2 * 2048 * 2048)
    yield Row("Gemm, transposed", "Gemm", [(F32, [256, 1024]), real(1024, 1024), real(1024)], 2 * 256 * 1024 * 1024, transB=1)
    yield Row("Gemm of computed, transposed", "Gemm", [(F32, [256, 512]), (F32, [512, 512])], 2 * 256 * 512 * 512, transA=0,
              transB=1)
    yield Row("Einsum", "Einsum", [(F32, [8, 128, 64]), (F32, [8, 128, 64])], 2 * 8 * 128 * 128 * 64,
              equation="bid,bjd->bij")
    yield Row("MatMulInteger", "MatMulInteger", [(U8, [256, 512]), np.ones((512, 512), np.int8)], 2 * 256 * 512 * 512)
    scale, zero = np.float32(0.02), np.uint8(128)
    yield Row("QLinearMatMul", "QLinearMatMul",
              [(U8, [256, 512]), scale, zero, np.ones((512, 512), np.uint8), scale, zero, scale, zero], 2 * 256 * 512 * 512)

    def conv(name, channels, filters, size, kernel, group=1, stride=1, op="Conv", inputs=None, **attributes):
        space = len(size)
        shape = [channels, filters // group] if op == "ConvTranspose" else [filters, channels // group]
        outputs = np.prod([extent * stride if op == "ConvTranspose" else extent // stride for extent in size])
        taps = np.prod(kernel) / (stride ** space if op == "ConvTranspose" else 1)
        flops = int(2 * outputs * taps * channels * filters // group)
        pads = attributes.pop("pads", [(k - 1) // 2 for k in kernel] + [k // 2 for k in kernel])
        return Row(name, op, inputs or [(F32, [1, channels, *size]), real(*shape, *kernel)], flops, before="Relu",
                   strides=[stride] * space, group=group, pads=pads, **attributes)

    yield conv("Conv 3x3", 64, 64, [56, 56], [3, 3])
    yield conv("Conv 1x1", 128, 128, [28, 28], [1, 1])
    yield conv("Conv 7x7, 3 channels", 3, 64, [224, 224], [7, 7], stride=2)
    yield conv("Conv 3x3, stride 2", 64, 128, [56, 56], [3, 3], stride=2)
    yield conv("Conv 3x3, dilated", 64, 64, [56, 56], [3, 3], dilations=[2, 2], pads=[2] * 4)
    yield conv("Conv 3x3, 32 groups of 4", 128, 128, [56, 56], [3, 3], 32)
    yield conv("Conv 3x3, 4 groups of 32", 128, 128, [56, 56], [3, 3], 4)
    yield conv("Conv 3x3, depthwise", 128, 128, [56, 56], [3, 3], 128)
    yield conv("Conv 5x5, depthwise", 128, 128, [56, 56], [5, 5], 128)
    yield conv("Conv 7x7, depthwise", 96, 96, [56, 56], [7, 7], 96)
    yield conv("Conv 3, one dimension", 128, 128, [1024], [3])
    yield conv("Conv 3x3x3", 32, 32, [16, 28, 28], [3, 3, 3])
    yield conv("ConvTranspose 3x3", 64, 64, [56, 56], [3, 3], op="ConvTranspose")
    yield conv("ConvTranspose 2x2, stride 2", 64, 64, [28, 28], [2, 2], stride=2, op="ConvTranspose", pads=[0] * 4)
    yield conv("ConvTranspose 4x4, stride 2", 64, 64, [28, 28], [4, 4], stride=2, op="ConvTranspose", pads=[1] * 4)
    yield conv("ConvTranspose 3x3, stride 2", 64, 64, [28, 28], [3, 3], stride=2, op="ConvTranspose", pads=[1] * 4,
               output_padding=[1, 1])
    bytes_in, weights = (U8, [1, 64, 56, 56]), np.ones((64, 64, 3, 3), np.int8)
    flops = 2 * 56 * 56 * 64 * 64 * 9
    yield Row("ConvInteger", "ConvInteger", [bytes_in, weights], flops, pads=[1] * 4)
    yield Row("QLinearConv", "QLinearConv", [bytes_in, scale, zero, weights, scale, np.int8(0), scale, zero], flops,
              pads=[1] * 4)


def reductions():
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
               "ReduceSum", "ReduceSumSquare"):
        yield Row(f"{op} of rows", op, [(F32, WIDE), integers(1)])
    yield Row("ReduceSum of columns", "ReduceSum", [(F32, WIDE), integers(0)])
    yield Row("ReduceSum of all", "ReduceSum", [(F32, WIDE)])
    yield Row("ReduceMean of channels", "ReduceMean", [(F32, IMAGE), integers(1)])
    yield Row("ArgMax", "ArgMax", [(F32, WIDE)], axis=1)
    yield Row("ArgMin", "ArgMin", [(F32, WIDE)], axis=1)
    yield Row("CumSum", "CumSum", [(F32, WIDE), np.int64(1)])
    yield Row("Softmax", "Softmax", [(F32, ROWS)])
    yield Row("Softmax of channels", "Softmax", [(F32, IMAGE)], axis=1)
    yield Row("LogSoftmax", "LogSoftmax", [(F32, ROWS)])
    yield Row("LayerNormalization", "LayerNormalization", [(F32, ROWS), real(768), real(768)])
    yield Row("RMSNormalization", "RMSNormalization", [(F32, ROWS), real(768)], opset=23)
    yield Row("LpNormalization", "LpNormalization", [(F32, ROWS)])
    yield Row("MeanVarianceNormalization", "MeanVarianceNormalization", [(F32, IMAGE)])
    yield Row("InstanceNormalization", "InstanceNormalization", [(F32, IMAGE), real(64), real(64)])
    yield Row("GroupNormalization", "GroupNormalization", [(F32, IMAGE), real(8), real(8)], num_groups=8)
    yield Row("LRN", "LRN", [(F32, IMAGE)], size=5)
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield Row(op, op, [(F32, IMAGE)], **window)
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Row(op, op, [(F32, IMAGE)])


def movements():
    yield Row("Transpose", "Transpose", [(F32, WIDE)], perm=[1, 0])
    yield Row("Transpose of heads", "Transpose", [(F32, [128, 12, 64])], perm=[1, 0, 2])
    yield Row("Transpose to channels last", "Transpose", [(F32, IMAGE)], perm=[0, 2, 3, 1])
    yield Row("Concat", "Concat", [(F32, WIDE), (F32, WIDE)], axis=1)
    yield Row("Split", "Split", [(F32, WIDE)], outputs=2, axis=1, num_outputs=2)
    yield Row("Slice", "Slice", [(F32, WIDE), integers(8), integers(1000), integers(1)])
    yield Row("Slice with a step", "Slice", [(F32, WIDE), integers(0), integers(1024), integers(1), integers(2)])
    yield Row("Pad", "Pad", [(F32, IMAGE), integers(0, 0, 1, 1, 0, 0, 1, 1)])
    yield Row("Pad, reflected", "Pad", [(F32, IMAGE), integers(0, 0, 1, 1, 0, 0, 1, 1)], mode="reflect")
    yield Row("Tile", "Tile", [(F32, [512, 512]), integers(2, 2)])
    yield Row("Expand", "Expand", [(F32, [1024, 1]), integers(1024, 1024)])
    yield Row("Gather of rows", "Gather", [(F32, WIDE), (I64, [512])])
    yield Row("Gather of columns", "Gather", [(F32, WIDE), (I64, [512])], axis=1)
    yield Row("GatherElements", "GatherElements", [(F32, WIDE), (I64, WIDE)], axis=1)
    yield Row("GatherND", "GatherND", [(F32, WIDE), (I64, [512, 1])])
    yield Row("ScatterND", "ScatterND", [(F32, WIDE), (I64, [512, 1]), (F32, [512, 1024])])
    yield Row("OneHot", "OneHot", [(I64, [1024]), np.int64(1024), np.array([0, 1], np.float32)])
    yield Row("Trilu", "Trilu", [(F32, WIDE)])
    yield Row("DepthToSpace", "DepthToSpace", [(F32, IMAGE)], blocksize=2)
    yield Row("SpaceToDepth", "SpaceToDepth", [(F32, IMAGE)], blocksize=2)
    larger = np.array([1, 1, 2, 2], np.float32)
    for mode in ("nearest", "linear", "cubic"):
        yield Row(f"Resize, {mode}", "Resize", [(F32, [1, 32, 56, 56]), None, larger], mode=mode)
    yield Row("Upsample", "Upsample", [(F32, [1, 32, 56, 56]), larger], opset=9)
    for op, operands in (("Flatten", []), ("Reshape", [integers(512, 2048)]), ("Squeeze", []),
                         ("Unsqueeze", [integers(0)])):
        shape = [1, *WIDE] if op == "Squeeze" else WIDE
        yield Row(op, op, [(F32, shape), *operands], before="Neg")
    quantised = [np.float32(0.02), np.uint8(128)]
    yield Row("QuantizeLinear", "QuantizeLinear", [(F32, WIDE), *quantised])
    yield Row("DequantizeLinear", "DequantizeLinear", [(U8, WIDE), *quantised])
    yield Row("DynamicQuantizeLinear", "DynamicQuantizeLinear", [(F32, WIDE)], outputs=3)
    yield Row("EyeLike", "EyeLike", [(F32, WIDE)])


# These operators have no kernels of their own: their results are constants, or shapes.
WITHOUT_KERNELS = {"Constant", "ConstantOfShape", "Range", "Shape", "Size"}


def rows():
    for family in (elementwise, products, reductions, movements):
        yield from family()


def missing():
    """Returns the operators that the compiler's importer of ONNX supports and that no row measures."""
    folder = pathlib.Path(__file__).parents[2] / "codegen/import/onnx/operators"
    known = {op for path in folder.glob("*.cpp") for op in re.findall(r'table\["(\w+)"\]', path.read_text())}
    return sorted(known - {row.op for row in rows()} - WITHOUT_KERNELS)


def bars(measured):
    """Returns an SVG with one bar per row, whose length is the row's ratio; the lowest ratios first."""
    height, left, width = 16, 260, 900
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height * len(measured) + 50}" '
             'font-family="sans-serif" font-size="11" fill="#333"><rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="22" font-size="13">rate of each operator, relative to the reference of its kind '
             '(blue: products, against a matmul; grey: bytes, against an addition)</text>']
    scale = (width - left - 110) / max(1, max(ratio for _, ratio in measured))
    for i, (row, ratio) in enumerate(measured):
        y = 36 + i * height
        colour = "#27c" if row.flops else "#999"
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{row.name}</text>'
                     f'<rect x="{left}" y="{y + 2}" width="{max(1, ratio * scale):.1f}" height="{height - 4}" fill="{colour}"/>'
                     f'<text x="{left + ratio * scale + 5:.1f}" y="{y + 11}">{ratio:.2f} ({row.rate():.1f} {row.unit()})</text>')
    return "\n".join(parts + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="folder of the picture and the times")
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--profile", default="vulkan:lavapipe", help="the device profile (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="only rows whose name contains one of these texts")
    parser.add_argument("--seconds", type=float, default=0.1, help="time of a measurement (default: %(default)s s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each row (default: %(default)s)")
    parser.add_argument("--missing", action="store_true", help="list the supported operators that have no row")
    options = parser.parse_args()
    if options.missing:
        names = missing()
        print("\n".join(names) or "every operator has a row")
        sys.exit(1 if names else 0)
    if not options.folder:
        parser.error("FOLDER is required")
    references = ("Add", "MatMul of a constant")
    chosen = [row for row in rows() if row.name in references or any(text in row.name for text in options.only)]
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(chosen):
            print(f"\rcompiles {number + 1} of {len(chosen)}: {row.name:40}", end="", file=sys.stderr)
            row.compile(options, pathlib.Path(folder), number)
        for round_number in range(options.rounds):
            for row in chosen:
                print(f"\rround {round_number + 1} of {options.rounds}: {row.name:40}", end="", file=sys.stderr)
                row.time = min(row.time, time_of(options, row.artifact, row.dims))
        print("\r" + " " * 70 + "\r", end="", file=sys.stderr)
    reference = {bool(row.flops): row.rate() for row in chosen if row.name in references}
    measured = sorted(((row, row.rate() / reference[bool(row.flops)]) for row in chosen), key=lambda entry: entry[1])
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "operators.svg").write_text(bars(measured))
    (options.folder / "operators.json").write_text(json.dumps(
        {row.name: {"microseconds": row.time / 1e3, "rate": row.rate(), "unit": row.unit(), "ratio": ratio}
         for row, ratio in measured}, indent=1) + "\n")
    print(f"{'operator':32} {'time':>11} {'rate':>8} {'':7} {'ratio':>6}")
    for row, ratio in measured:
        print(f"{row.name:32} {row.time / 1e3:8.1f} us {row.rate():8.1f} {row.unit():7} {ratio:6.2f}")


if __name__ == "__main__":
    main()
