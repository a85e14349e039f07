#!/usr/bin/env python3
"""Measures operators over sweeps of sizes, and draws each sweep.

    sizes.py FOLDER [--gantry TOOL] [--profile PROFILE] [--only NAME ...] [--from N] [--to N] [--large]
             [--seconds S] [--rounds N]

Each sweep varies one dimension of an operator, from --from to --to, and with --large also around 256, 512, 1024 and
4096. The script compiles a model for each size and runs them in turn, in several rounds. The time of a size is its
shortest time, of all dispatches together. A size should cost at most 1.3 times the time of the next multiple of 8
(1.5 times below 32): the table lists the worst sizes, and the exit code is 1 if one exceeds the limit.

FOLDER/NAME.svg is the picture of a sweep: the time of each size, in microseconds; sizes beyond the limit are marked.
FOLDER/NAME.json has the times. Debian: python3-onnx.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LIMIT, SMALL_LIMIT, SMALL = 1.3, 1.5, 32
LARGE = (256, 512, 1024, 4096)


def weights(*shape):
    return np.random.default_rng(0).standard_normal(shape, np.float32) * np.float32(0.05)


def model(inputs, nodes, constants=()):
    """Returns a model. `inputs` maps names to shapes; a node is (operator, operands, result, attributes); the last
    node's result is the output."""
    graph = helper.make_graph(
        [helper.make_node(op, operands, [out], **attributes) for op, operands, out, attributes in nodes], "sizes",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(nodes[-1][2], TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def matmul(rows, depth, columns):
    return model({"x": [rows, depth]}, [("MatMul", ["x", "w"], "y", {})], [("w", weights(depth, columns))])


def computed_matmul(rows, depth, columns, batch=()):
    return model({"x": [*batch, rows, depth], "w": [*batch, depth, columns]}, [("MatMul", ["x", "w"], "y", {})])


def convolution(channels, filters, height, width, kernel=3, stride=1, group=1, op="Conv"):
    """A convolution between two elementwise operators, as in a network."""
    shape = [channels, filters // group] if op == "ConvTranspose" else [filters, channels // group]
    attributes = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "strides": [stride] * 2, "group": group}
    return model({"x": [1, channels, height, width]},
                 [("Relu", ["x"], "a", {}), (op, ["a", "w"], "b", attributes), ("Relu", ["b"], "y", {})],
                 [("w", weights(*shape, kernel, kernel))])


def unary(op, shape, **attributes):
    return model({"x": shape}, [(op, ["x"], "y", attributes)])


def add(rows, columns):
    return model({"x": [rows, columns], "z": [rows, columns]}, [("Add", ["x", "z"], "y", {})])


def layer_norm(rows, columns):
    return model({"x": [rows, columns]}, [("LayerNormalization", ["x", "s", "b"], "y", {"axis": -1})],
                 [("s", weights(columns)), ("b", weights(columns))])


def attention(heads, length, size):
    shape = [heads, length, size]
    return model({"q": shape, "k": shape, "v": shape},
                 [("Transpose", ["k"], "t", {"perm": [0, 2, 1]}), ("MatMul", ["q", "t"], "s", {}),
                  ("Softmax", ["s"], "p", {"axis": -1}), ("MatMul", ["p", "v"], "y", {})])


SWEEPS = {
    "matmul_rows": lambda n: matmul(n, 256, 256),
    "matmul_depth": lambda n: matmul(128, n, 256),
    "matmul_columns": lambda n: matmul(128, 256, n),
    "computed_matmul_rows": lambda n: computed_matmul(n, 256, 256),
    "computed_matmul_depth": lambda n: computed_matmul(128, n, 256),
    "computed_matmul_columns": lambda n: computed_matmul(128, 256, n),
    "batched_matmul_columns": lambda n: computed_matmul(64, 64, n, (8,)),
    "conv_channels": lambda n: convolution(n, 64, 28, 28),
    "conv_filters": lambda n: convolution(64, n, 28, 28),
    "conv_height": lambda n: convolution(32, 32, n, 28),
    "conv_width": lambda n: convolution(32, 32, 28, n),
    "conv_1x1_channels": lambda n: convolution(n, 64, 28, 28, 1),
    "conv_stride_channels": lambda n: convolution(n, 64, 28, 28, 3, 2),
    "depthwise_channels": lambda n: convolution(n, n, 28, 28, 3, 1, n),
    "grouped_channels": lambda n: convolution(4 * n, 4 * n, 28, 28, 3, 1, 4),
    "transposed_channels": lambda n: convolution(n, 32, 28, 28, 3, 2, 1, "ConvTranspose"),
    "softmax_columns": lambda n: unary("Softmax", [512, n], axis=-1),
    "layer_norm_columns": lambda n: layer_norm(512, n),
    "max_columns": lambda n: unary("ReduceMax", [512, n], axes=[1]),
    "add_columns": lambda n: add(512, n),
    "transpose_columns": lambda n: unary("Transpose", [512, n], perm=[1, 0]),
    "attention_length": lambda n: attention(4, n, 64),
    "attention_size": lambda n: attention(4, 64, n),
}


def next_multiple(size):
    return -(-size // 8) * 8


class Case:
    """One size of a sweep."""

    def __init__(self, options, folder, size, made):
        self.options, self.size, self.time = options, size, float("inf")
        source = folder / f"{size}.onnx"
        self.artifact = source.with_suffix(".gantry")
        onnx.save(made, source)
        subprocess.run([options.gantry, "compile", source, "-p", options.profile, "-o", self.artifact], check=True,
                       capture_output=True)

    def measure(self):
        command = [self.options.gantry, "bench", self.artifact, "--json", "--seconds", str(self.options.seconds)]
        done = subprocess.run(command, check=True, capture_output=True, text=True,
                              env={"LP_NUM_THREADS": "1", **os.environ})
        times = [entry["min_ns"] / 1e3 for entry in json.loads(done.stdout)["dispatches"]]
        self.time = min(self.time, sum(times))


def sweep(options, name):
    """Returns the times in microseconds by size."""
    sizes = set(range(options.first, options.last + 1))
    if options.large:
        sizes |= {around + step for around in LARGE for step in range(-3, 4)}
    sizes |= {next_multiple(size) for size in sizes}
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for done, size in enumerate(sorted(sizes), 1):
            print(f"\r{name}: compiles {done} of {len(sizes)}", end="", file=sys.stderr)
            cases.append(Case(options, pathlib.Path(folder), size, SWEEPS[name](size)))
        for round_number in range(options.rounds):
            for case in cases:
                print(f"\r{name}: round {round_number + 1} of {options.rounds}, size {case.size}   ", end="",
                      file=sys.stderr)
                case.measure()
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return {case.size: case.time for case in cases}


def excesses(times):
    """Returns (ratio to the limit, ratio, size) of each size, the worst first."""
    result = []
    for size, time in times.items():
        ratio = time / times[next_multiple(size)]
        result.append((ratio / (SMALL_LIMIT if size < SMALL else LIMIT), ratio, size))
    return sorted(result, reverse=True)


def picture(name, times):
    """Returns an SVG of the times of the sizes, in equal steps along the horizontal axis."""
    width, height, left, top = 900, 320, 70, 40
    sizes = sorted(times)
    highest = max(times.values())
    x = lambda i: left + i * (width - left - 20) / max(1, len(sizes) - 1)
    y = lambda time: top + (height - top - 40) * (1 - time / highest)
    over = {size for excess, _, size in excesses(times) if excess > 1}
    text = lambda px, py, words, anchor="middle": f'<text x="{px:.1f}" y="{py:.1f}" text-anchor="{anchor}">{words}</text>'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="12" fill="#333"><rect width="100%" height="100%" fill="white"/>',
             text(left, 22, f"{name.replace('_', ' ')}: time of each size in µs; red: beyond the limit", "start")]
    for step in range(5):
        time = highest * step / 4
        parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(time):.1f}" y2="{y(time):.1f}" stroke="#ddd"/>')
        parts.append(text(left - 8, y(time) + 4, f"{time:.0f}", "end"))
    points = " ".join(f"{x(i):.1f},{y(times[size]):.1f}" for i, size in enumerate(sizes))
    parts.append(f'<polyline points="{points}" fill="none" stroke="#9bb" stroke-width="1"/>')
    for i, size in enumerate(sizes):
        colour, radius = ("#d33", 3.5) if size in over else ("#27c", 2) if size % 8 else ("#222", 2.5)
        parts.append(f'<circle cx="{x(i):.1f}" cy="{y(times[size]):.1f}" r="{radius}" fill="{colour}">'
                     f"<title>{size}: {times[size]:.1f} µs</title></circle>")
        if size % 16 == 0 or i == 0:
            parts.append(text(x(i), height - 18, size))
    return "\n".join(parts + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="folder of the pictures and times")
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--profile", default="vulkan:lavapipe", help="the device profile (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=list(SWEEPS), choices=list(SWEEPS), metavar="NAME",
                        help="sweeps: " + ", ".join(SWEEPS))
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first size (default: %(default)s)")
    parser.add_argument("--to", dest="last", type=int, default=130, help="the last size (default: %(default)s)")
    parser.add_argument("--large", action="store_true", help="also sizes around 256, 512, 1024 and 4096")
    parser.add_argument("--seconds", type=float, default=0.05, help="time of a measurement (default: %(default)s s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each size (default: %(default)s)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = False
    print(f"{'sweep':26} {'sizes':>6} {'beyond':>7}  worst sizes (time / time of the next multiple of 8)")
    for name in options.only:
        times = sweep(options, name)
        (options.folder / f"{name}.json").write_text(json.dumps({"microseconds": times}, indent=1) + "\n")
        (options.folder / f"{name}.svg").write_text(picture(name, times))
        worst = excesses(times)
        beyond = sum(excess > 1 for excess, _, _ in worst)
        failed |= beyond > 0
        print(f"{name:26} {len(times):6} {beyond:7}  " +
              ", ".join(f"{size} ({ratio:.2f})" for _, ratio, size in worst[:5]), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
