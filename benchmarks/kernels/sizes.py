#!/usr/bin/env python3
"""Measures operators over sweeps of sizes, and draws each sweep.

    sizes.py FOLDER [--gantry TOOL] [--profile PROFILE] [--type f32|f16|int8] [--predicted] [--only NAME ...]
             [--from N] [--to N] [--large] [--seconds S] [--rounds N]

Each sweep varies one dimension of an operator, from --from to --to, and with --large also around 256, 512, 1024 and
4096. The script compiles a model for each multiple of 8, which computes the operator for this size and for the up to
seven sizes below it, and runs all models in turn, in several rounds. The time of a size is the sum of its dispatches'
(kernel launches') shortest times. The limit of a size is 1.3 times the time of the next multiple of 8 (1.5 times for
sizes below 32). Sizes near or beyond their limit get more rounds. The table lists the worst sizes, and the exit code is 1
if a size exceeds its limit.

With --predicted, nothing runs. The time is then the one that the compiler predicts for the profile, in the unit of its
cost model. The share of vector accesses among all memory accesses of the kernels is compared with that of the next
multiple of 8 in the same way. Use it for devices that this machine does not have.

FOLDER/NAME.svg is the picture of a sweep: the time of each size; sizes beyond the limit are marked. FOLDER/NAME.json has
the times. FOLDER/sizes.svg shows all sweeps together. Debian: python3-onnx.
"""
import argparse
import functools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, compose, helper, numpy_helper

LIMIT, SMALL_LIMIT, SMALL = 1.3, 1.5, 32
# Further rounds for groups of sizes (Group) of which one is beyond this share of its limit. Noise only lengthens times, so
# more rounds make them truer.
EXTRA_ROUNDS, NEAR_LIMIT = 10, 0.85
LARGE = (256, 512, 1024, 4096)
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "int8": TensorProto.INT8}


def weights(*shape):
    return np.random.default_rng(0).standard_normal(shape, np.float32) * np.float32(0.05)


def model(inputs, nodes, constants=(), type="f32"):
    """Returns a model. `inputs` maps names to shapes; a node is (operator, operands, result, attributes); a constant is
    (name, array); the last node's result is the output. `type`: the element type of the inputs, a key of TYPES."""
    graph = helper.make_graph(
        [helper.make_node(op, operands, [out], **attributes) for op, operands, out, attributes in nodes], "sizes",
        [helper.make_tensor_value_info(name, TYPES[type], shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=nodes[-1][2])],
        [numpy_helper.from_array(array, name) for name, array in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Operators:
    """Makes models of one operator (of a few for attention) whose inputs have the element type `type`."""

    def __init__(self, type):
        self.type = type

    def constant(self, *shape):
        if self.type == "int8":
            return np.random.default_rng(0).integers(-9, 9, shape, np.int8)
        return weights(*shape).astype(np.float16 if self.type == "f16" else np.float32)

    def model(self, inputs, nodes, constants=()):
        return model(inputs, nodes, constants, self.type)

    def unary(self, op, shape, **attributes):
        return self.model({"x": shape}, [(op, ["x"], "y", attributes)])

    def element_bytes(self):
        return {"f32": 4, "f16": 2, "int8": 1}[self.type]

    def matmul_name(self):
        return "MatMulInteger" if self.type == "int8" else "MatMul"

    def matmul(self, rows, depth, columns):
        return self.model({"x": [rows, depth]}, [(self.matmul_name(), ["x", "w"], "y", {})],
                          [("w", self.constant(depth, columns))])

    def computed_matmul(self, rows, depth, columns, batch=()):
        return self.model({"x": [*batch, rows, depth], "w": [*batch, depth, columns]},
                          [(self.matmul_name(), ["x", "w"], "y", {})])

    def convolution(self, channels, filters, height, width, kernel=3, stride=1, group=1, op="Conv", batch=1, **changed):
        """Returns a model of a convolution between two elementwise operators, as in a network; if the type is int8, of the
        convolution alone. changed: attributes of the convolution that replace the default ones."""
        shape = [channels, filters // group] if op == "ConvTranspose" else [filters, channels // group]
        attributes = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "strides": [stride] * 2, "group": group,
                      **changed}
        inputs, constants = {"x": [batch, channels, height, width]}, [("w", self.constant(*shape, kernel, kernel))]
        if self.type == "int8":
            return self.model(inputs, [("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"], "y", attributes)],
                              [*constants, ("s", np.float32(0.1)), ("z", np.int8(0))])
        return self.model(inputs, [("Relu", ["x"], "a", {}), (op, ["a", "w"], "b", attributes),
                                   ("Relu", ["b"], "y", {})], constants)

    def add(self, rows, columns):
        return self.model({"x": [rows, columns], "z": [rows, columns]}, [("Add", ["x", "z"], "y", {})])

    def layer_norm(self, rows, columns):
        return self.model({"x": [rows, columns]}, [("LayerNormalization", ["x", "s", "b"], "y", {"axis": -1})],
                          [("s", self.constant(columns)), ("b", self.constant(columns))])

    def instance_norm(self, *shape):
        return self.model({"x": shape}, [("InstanceNormalization", ["x", "s", "b"], "y", {})],
                          [("s", self.constant(shape[1])), ("b", self.constant(shape[1]))])

    def transposed(self, channels, filters, height, width, kernel=2, stride=2, pads=0, output_padding=0):
        return self.convolution(channels, filters, height, width, kernel, stride, op="ConvTranspose", pads=[pads] * 4,
                                output_padding=[output_padding] * 2)

    def attention(self, heads, length, size):
        shape = [heads, length, size]
        return self.model({"q": shape, "k": shape, "v": shape},
                          [("Transpose", ["k"], "t", {"perm": [0, 2, 1]}), ("MatMul", ["q", "t"], "s", {}),
                           ("Softmax", ["s"], "p", {"axis": -1}), ("MatMul", ["p", "v"], "y", {})])


# For each sweep, the function that makes the model of size n with the methods of Operators.
SWEEPS = {
    "matmul_rows": lambda ops, n: ops.matmul(n, 256, 256),
    "matmul_depth": lambda ops, n: ops.matmul(128, n, 256),
    "matmul_columns": lambda ops, n: ops.matmul(128, 256, n),
    "computed_matmul_rows": lambda ops, n: ops.computed_matmul(n, 256, 256),
    "computed_matmul_depth": lambda ops, n: ops.computed_matmul(128, n, 256),
    "computed_matmul_columns": lambda ops, n: ops.computed_matmul(128, 256, n),
    "batched_matmul_rows": lambda ops, n: ops.computed_matmul(n, 64, 64, (8,)),
    "batched_matmul_depth": lambda ops, n: ops.computed_matmul(64, n, 64, (8,)),
    "batched_matmul_columns": lambda ops, n: ops.computed_matmul(64, 64, n, (8,)),
    "batched_matmul_batch": lambda ops, n: ops.computed_matmul(64, 64, 64, (n,)),
    "conv_channels": lambda ops, n: ops.convolution(n, 64, 28, 28),
    "conv_filters": lambda ops, n: ops.convolution(64, n, 28, 28),
    "conv_height": lambda ops, n: ops.convolution(32, 32, n, 28),
    "conv_width": lambda ops, n: ops.convolution(32, 32, 28, n),
    "conv_1x1_channels": lambda ops, n: ops.convolution(n, 64, 28, 28, 1),
    "conv_1x1_filters": lambda ops, n: ops.convolution(64, n, 28, 28, 1),
    "conv_stride_channels": lambda ops, n: ops.convolution(n, 64, 28, 28, 3, 2),
    "conv_stride_filters": lambda ops, n: ops.convolution(64, n, 28, 28, 3, 2),
    "conv_stride_height": lambda ops, n: ops.convolution(32, 32, n, 28, 3, 2),
    "conv_stride_width": lambda ops, n: ops.convolution(32, 32, 28, n, 3, 2),
    "depthwise_channels": lambda ops, n: ops.convolution(n, n, 28, 28, 3, 1, n),
    "depthwise_height": lambda ops, n: ops.convolution(64, 64, n, 28, 3, 1, 64),
    "depthwise_width": lambda ops, n: ops.convolution(64, 64, 28, n, 3, 1, 64),
    "depthwise_stride_width": lambda ops, n: ops.convolution(64, 64, 28, n, 3, 2, 64),
    "depthwise_5x5_width": lambda ops, n: ops.convolution(64, 64, 28, n, 5, 1, 64),
    "grouped_channels": lambda ops, n: ops.convolution(4 * n, 64, 28, 28, 3, 1, 4),
    "grouped_filters": lambda ops, n: ops.convolution(64, 4 * n, 28, 28, 3, 1, 4),
    "grouped_height": lambda ops, n: ops.convolution(64, 64, n, 28, 3, 1, 4),
    "grouped_width": lambda ops, n: ops.convolution(64, 64, 28, n, 3, 1, 4),
    "grouped_groups": lambda ops, n: ops.convolution(4 * n, 4 * n, 28, 28, 3, 1, n),
    "transposed_channels": lambda ops, n: ops.transposed(n, 32, 28, 28),
    "transposed_filters": lambda ops, n: ops.transposed(32, n, 28, 28),
    "transposed_height": lambda ops, n: ops.transposed(32, 32, n, 28),
    "transposed_width": lambda ops, n: ops.transposed(32, 32, 28, n),
    "transposed_3x3_channels": lambda ops, n: ops.transposed(n, 32, 28, 28, 3, 2, 1),
    "transposed_3x3_filters": lambda ops, n: ops.transposed(32, n, 28, 28, 3, 2, 1),
    "transposed_3x3_width": lambda ops, n: ops.transposed(32, 32, 28, n, 3, 2, 1),
    "transposed_doubling_width": lambda ops, n: ops.transposed(32, 32, 28, n, 3, 2, 1, 1),
    "transposed_stride_1_width": lambda ops, n: ops.transposed(32, 32, 28, n, 3, 1, 1),
    "softmax_rows": lambda ops, n: ops.unary("Softmax", [n, 512], axis=-1),
    "softmax_columns": lambda ops, n: ops.unary("Softmax", [512, n], axis=-1),
    "layer_norm_rows": lambda ops, n: ops.layer_norm(n, 512),
    "layer_norm_columns": lambda ops, n: ops.layer_norm(512, n),
    "instance_norm_width": lambda ops, n: ops.instance_norm(1, 64, 28, n),
    "max_of_rows_rows": lambda ops, n: ops.unary("ReduceMax", [n, 512], axes=[1]),
    "max_of_rows_columns": lambda ops, n: ops.unary("ReduceMax", [512, n], axes=[1]),
    "max_of_columns_rows": lambda ops, n: ops.unary("ReduceMax", [n, 512], axes=[0]),
    "max_of_columns_columns": lambda ops, n: ops.unary("ReduceMax", [512, n], axes=[0]),
    "mean_of_rows_columns": lambda ops, n: ops.unary("ReduceMean", [512, n], axes=[1]),
    "mean_of_columns_columns": lambda ops, n: ops.unary("ReduceMean", [512, n], axes=[0]),
    "add_rows": lambda ops, n: ops.add(n, 512),
    "add_columns": lambda ops, n: ops.add(512, n),
    "transpose_rows": lambda ops, n: ops.unary("Transpose", [n, 512], perm=[1, 0]),
    "transpose_columns": lambda ops, n: ops.unary("Transpose", [512, n], perm=[1, 0]),
    "attention_length": lambda ops, n: ops.attention(4, n, 64),
    "attention_size": lambda ops, n: ops.attention(4, 64, n),
}
# Sweeps of operators that int8 does not have.
REAL_ONLY = ("softmax", "layer_norm", "instance_norm", "mean", "attention", "transposed")


def next_multiple(size):
    return -(-size // 8) * 8


class Case:
    """One size of a sweep."""

    def __init__(self):
        self.time, self.vectors = float("inf"), 1


def joined(models):
    """Returns one model of several independent ones, a dictionary from sizes. A node's name begins with its size."""
    graphs = []
    for size, made in models.items():
        graph = compose.add_prefix(made, f"{size}/").graph
        for node in graph.node:
            node.name = f"{size}/{node.op_type}"
        graphs.append(graph)
    parts = [[entry for graph in graphs for entry in getattr(graph, part)]
             for part in ("node", "input", "output", "initializer")]
    made = helper.make_graph(parts[0], "sizes", *parts[1:])
    return helper.make_model(made, opset_imports=next(iter(models.values())).opset_import, ir_version=8)


class Group:
    """The sizes up to a multiple of 8, which are measured in one program, so that other load on the machine affects them
    equally. `cases` has them by size."""

    def __init__(self, options, folder, models):
        self.options, self.cases = options, {size: Case() for size in models}
        source = folder / f"{max(models)}.onnx"
        self.artifact = source.with_suffix(".gantry")
        onnx.save(joined(models), source)
        self.tool("compile", source, "-p", options.profile, "--separate-kernels", "-o", self.artifact)

    def tool(self, *arguments):
        """Returns the output of a command of the tool. Ends the script if it fails."""
        done = subprocess.run([self.options.gantry, *arguments], capture_output=True, text=True,
                              env={"LP_NUM_THREADS": "1", **os.environ})
        if done.returncode != 0:
            sys.exit(f"\nsizes {', '.join(map(str, self.cases))}: {done.stderr.strip()}")
        return done.stdout

    def measure(self):
        seconds = self.options.seconds * len(self.cases)
        report = json.loads(self.tool("bench", self.artifact, "--json", "--seconds", str(seconds)))
        times = dict.fromkeys(self.cases, 0)
        for entry in report["dispatches"]:
            times[int(entry["name"].split("/")[0])] += entry["min_ns"] / 1e3
        for size, time in times.items():
            self.cases[size].time = min(self.cases[size].time, time)

    def predict(self):
        """Sets the predicted times and the shares of vector accesses, in which a kernel counts once for each workgroup. A
        kernel may have several variants, which divide its result differently; a device of the profile runs the one with
        the highest `grid`."""
        program = json.loads(self.tool("inspect", self.artifact, "--json"))
        kernels = {kernel["name"]: max(kernel["variants"], key=lambda variant: variant["grid"])
                   for kernel in program["kernels"]}
        accesses, vectors, times = (dict.fromkeys(self.cases, 0) for _ in range(3))
        for command in program["commands"]:
            if command["kind"] == "dispatch":
                size, variant = int(command["name"].split("/")[0]), kernels[command["kernel"]]
                grids = [*command["workgroups"], *command.get("other_workgroups", [])]
                workgroups = math.prod(grids[3 * variant["grid"]:][:3])
                accesses[size] += workgroups * variant["accesses"]
                vectors[size] += workgroups * variant["vector_accesses"]
                times[size] += variant["predicted_cost"]
        for size, case in self.cases.items():
            case.time, case.vectors = times[size], vectors[size] / max(1, accesses[size])


def sweep(options, name):
    """Returns a dictionary from each size to its Case, measured or predicted."""
    sizes = set(range(options.first, options.last + 1))
    if options.large:
        sizes |= {around + step for around in LARGE for step in range(-3, 4)}
    sizes |= {next_multiple(size) for size in sizes}
    ops, groups = Operators(options.type), []
    progress = functools.partial(print, end="", file=sys.stderr) if sys.stderr.isatty() else lambda text: None
    with tempfile.TemporaryDirectory() as folder:
        multiples = sorted({next_multiple(size) for size in sizes})
        for done, multiple in enumerate(multiples, 1):
            progress(f"\r{name}: compiles {done} of {len(multiples)} groups   ")
            models = {size: SWEEPS[name](ops, size) for size in sorted(sizes) if next_multiple(size) == multiple}
            groups.append(Group(options, pathlib.Path(folder), models))
            if options.predicted:
                groups[-1].predict()
        for round_number in range(0 if options.predicted else options.rounds):
            for group in groups:
                progress(f"\r{name}: round {round_number + 1} of {options.rounds}, size {max(group.cases)}   ")
                group.measure()
        for round_number in range(0 if options.predicted else EXTRA_ROUNDS):
            near = [group for group in groups if excesses(group.cases)[0][0] > NEAR_LIMIT]
            progress(f"\r{name}: round {round_number + 1} of {EXTRA_ROUNDS} of {len(near)} groups near the limit   ")
            for group in near:
                group.measure()
        progress("\r" + " " * 80 + "\r")
    return {size: case for group in groups for size, case in group.cases.items()}


def excesses(cases):
    """Returns (ratio divided by its limit, ratio, size) of each size, the worst first. The ratio is the time divided by
    that of the next multiple of 8, or that multiple's share of vector accesses divided by the size's share if this is
    larger."""
    result = []
    for size, case in cases.items():
        friendly = cases[next_multiple(size)]
        ratio = max(case.time / friendly.time, friendly.vectors / max(case.vectors, 0.01))
        result.append((ratio / (SMALL_LIMIT if size < SMALL else LIMIT), ratio, size))
    return sorted(result, reverse=True)


def panel(cases, title, left, top, width, height, unit, marks):
    """Returns the parts of an SVG of the times of the sizes, in equal steps along the horizontal axis. marks: whether each
    size has a circle with a tooltip, not only those beyond the limit."""
    sizes = sorted(cases)
    times = {size: cases[size].time for size in sizes}
    highest = max(times.values())
    x = lambda i: left + i * width / max(1, len(sizes) - 1)
    y = lambda time: top + height * (1 - time / highest)
    over = {size for excess, _, size in excesses(cases) if excess > 1}
    text = lambda px, py, words, anchor="middle": f'<text x="{px:.1f}" y="{py:.1f}" text-anchor="{anchor}">{words}</text>'
    parts = [text(left, top - 8, title, "start")]
    for step in range(5 if marks else 2):
        time = highest * step / (4 if marks else 1)
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y(time):.1f}" y2="{y(time):.1f}" stroke="#ddd"/>')
        parts.append(text(left - 6, y(time) + 4, f"{time:.3g}", "end"))
    points = " ".join(f"{x(i):.1f},{y(times[size]):.1f}" for i, size in enumerate(sizes))
    parts.append(f'<polyline points="{points}" fill="none" stroke="#27c" stroke-width="1"/>')
    labels = [i for i, size in enumerate(sizes) if i == 0 or size % 16 == 0]
    for i, size in enumerate(sizes):
        if size in over or marks:
            colour, radius = ("#d33", 3 if marks else 2) if size in over else ("#27c", 1.5) if size % 8 else ("#222", 2.5)
            parts.append(f'<circle cx="{x(i):.1f}" cy="{y(times[size]):.1f}" r="{radius}" fill="{colour}">'
                         f"<title>{size}: {times[size]:.1f} {unit}</title></circle>")
        if i in labels and (marks or size in (1, 32, 64, 96, 128, *LARGE)):
            parts.append(text(x(i), top + height + 16, size))
    return parts


def document(parts, width, height):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
                      'font-size="12" fill="#333"><rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


def overview(sweeps, unit):
    """Returns an SVG with a small picture of each sweep, three in a row."""
    columns, width, height = 3, 330, 140
    parts = [f'<text x="20" y="24">Time of each size in {unit}. Red: more than {LIMIT} times the next multiple of 8 '
             f"({SMALL_LIMIT} times below {SMALL}).</text>"]
    for number, (name, cases) in enumerate(sweeps.items()):
        left, top = 55 + number % columns * width, 60 + number // columns * height
        parts += panel(cases, name.replace("_", " "), left, top, width - 75, height - 60, unit, marks=False)
    return document(parts, columns * width, 50 + -(-len(sweeps) // columns) * height)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="folder of the pictures and times")
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--profile", default="vulkan:lavapipe", help="the device profile (default: %(default)s)")
    parser.add_argument("--type", default="f32", choices=list(TYPES), help="type of the inputs (default: %(default)s)")
    parser.add_argument("--predicted", action="store_true", help="compare predicted times, run nothing")
    parser.add_argument("--only", nargs="+", choices=list(SWEEPS), metavar="NAME",
                        help="sweeps: " + ", ".join(SWEEPS))
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first size (default: %(default)s)")
    parser.add_argument("--to", dest="last", type=int, default=130, help="the last size (default: %(default)s)")
    parser.add_argument("--large", action="store_true", help="also sizes around 256, 512, 1024 and 4096")
    parser.add_argument("--seconds", type=float, default=0.05, help="time of a measurement (default: %(default)s s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each size (default: %(default)s)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    unit = "units of the cost model" if options.predicted else "µs"
    names = options.only or [name for name in SWEEPS if options.type != "int8" or not name.startswith(REAL_ONLY)]
    failed, sweeps = False, {}
    print(f"{'sweep':26} {'sizes':>6} {'beyond':>7}  worst sizes (time / time of the next multiple of 8)")
    for name in names:
        cases = sweeps[name] = sweep(options, name)
        (options.folder / f"{name}.json").write_text(json.dumps(
            {"unit": unit, "times": {size: case.time for size, case in cases.items()},
             "vectors": {size: case.vectors for size, case in cases.items()}}, indent=1) + "\n")
        title = f"{name.replace('_', ' ')}: time of each size in {unit}; red: beyond the limit"
        (options.folder / f"{name}.svg").write_text(document(panel(cases, title, 70, 40, 810, 240, unit, True), 900, 320))
        (options.folder / "sizes.svg").write_text(overview(sweeps, unit))
        worst = excesses(cases)
        beyond = sum(excess > 1 for excess, _, _ in worst)
        failed |= beyond > 0
        print(f"{name:26} {len(cases):6} {beyond:7}  " +
              ", ".join(f"{size} ({ratio:.2f})" for _, ratio, size in worst[:5]), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
