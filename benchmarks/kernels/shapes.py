#!/usr/bin/env python3
"""Measures operators of unfriendly shapes against the same operators of friendly shapes, all in one run.

    shapes.py [--gantry TOOL] [--profile PROFILE] [--type f32|f16|int8] [--only TEXT ...] [--seconds S] [--rounds N]
              [--json FILE]

The rows of the table are grouped in blocks. The first row of a block is a friendly shape, whose sizes are multiples of 8
and known when the model is compiled. The other rows are shapes that should be nearly as fast: odd sizes, other kinds of
the operator, sizes that are known only at run time (dynamic ones). The script compiles a model for each row and measures
all rows of a block in turn, in several rounds. The time of a row is the sum of its dispatches' (kernel launches')
times in the fastest round; with convolutions, this includes the Relu before. Rates are billions of operations (a
multiplication and an addition are two) or bytes per second and core. The table has the rate of each row, its ratio to
the friendly row and the min ratio that is wanted; the exit code is 1 if the ratio of a row is below the wanted one.

A row cannot be faster than a pass over its memory. The script therefore also measures a Neg that reads and writes as
many elements as the row. The column `bound` is the ratio that the row would have if it took as long as the Neg, or as
long as its operations take at the rate of the friendly row, whichever is longer. Debian: python3-onnx.
"""
import argparse
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx

from sizes import TYPES, Operators

# The min ratios that are wanted of rows with dynamic sizes, of grouped convolutions, and of all other rows.
DYNAMIC, GROUPED, ODD = 0.85, 0.5, 0.7


class Row:
    """A model, the sizes with which it runs, and its work. `wanted`: the min ratio to the friendly row; `work`: the number
    of operations, or of bytes if `unit` is "GB/s"; `dims`: the sizes of dynamic dimensions by name; `memory_pass`: the
    model of the Neg that reads and writes as many elements as all inputs and outputs have, or None."""

    def __init__(self, name, wanted, work, model, dims=(), unit="GFLOP/s", memory_pass=None):
        self.name, self.wanted, self.work, self.unit, self.dims = name, wanted, work, unit, dict(dims)
        self.model, self.memory_pass = model, memory_pass
        self.time = self.memory_pass_time = float("inf")

    def rate(self):
        return self.work / self.time

    def bound(self, friendly):
        """Returns the highest possible ratio to the rate of the friendly row; None if there is no memory pass."""
        if self.memory_pass is None:
            return None
        return min(1, self.work / self.memory_pass_time / friendly.rate())


class Rows:
    """Makes rows with operators of one type."""

    def __init__(self, type):
        self.ops = Operators(type)

    def memory_pass(self, elements):
        return self.ops.model({"x": [elements // 2]}, [("Neg", ["x"], "y", {})])

    def matmul(self, name, wanted, rows, depth, columns, computed=False, dynamic=False):
        inputs = {"x": ["rows" if dynamic else rows, depth]}
        if computed:
            inputs["w"] = [depth, columns]
        made = self.ops.model(inputs, [(self.ops.matmul_name(), ["x", "w"], "y", {})],
                              [] if computed else [("w", self.ops.constant(depth, columns))])
        moved = rows * (depth + columns) + (depth * columns if computed else 0)
        return Row(name, wanted, 2 * rows * depth * columns, made, {"rows": rows} if dynamic else {},
                   memory_pass=self.memory_pass(moved))

    def convolution(self, name, wanted, channels, filters, size, kernel=3, group=1, batch=1, dynamic=(), stride=1,
                    transposed=False, output_padding=0):
        """Returns the row of a convolution between two elementwise operators, as in a network; if the type is int8, of the
        convolution alone. dynamic: the names of dynamic dimensions."""
        sizes = {"batch": batch, "height": size, "width": size}
        pads = [(kernel - stride + 1) // 2] * 4 if transposed else [(kernel - 1) // 2] * 2 + [kernel // 2] * 2
        attributes = {"strides": [stride] * 2, "pads": pads}
        if transposed:
            attributes["output_padding"] = [output_padding] * 2
        named = [name if name in dynamic else sizes[name] for name in ("batch", "height", "width")]
        made = self.ops.convolution(channels, filters, *named[1:], kernel, group=group, batch=named[0],
                                    op="ConvTranspose" if transposed else "Conv", **attributes)
        moved = batch * size * size * (channels + filters * (stride * stride if transposed else 1))
        return Row(name, wanted, 2 * batch * size * size * channels * filters // group * kernel * kernel, made,
                   {dim: sizes[dim] for dim in dynamic}, memory_pass=self.memory_pass(moved))

    def streamed(self, name, wanted, op, rows, columns, operands=1, **attributes):
        """Returns the row of an operator whose time is that of its memory accesses, or of a few operations for each
        element."""
        names = ["x", "z"][:operands]
        made = self.ops.model({operand: [rows, columns] for operand in names}, [(op, names, "y", attributes)])
        return Row(name, wanted, self.ops.element_bytes() * rows * columns * (operands + 1), made, unit="GB/s")

    def blocks(self):
        yield [self.matmul("matmul 128x768x1024", 1, 128, 768, 1024),
               self.matmul("  ... x1023", ODD, 128, 768, 1023), self.matmul("  ... x1022", ODD, 128, 768, 1022),
               self.matmul("  K = 767", ODD, 128, 767, 1024), self.matmul("  M = 127", ODD, 127, 768, 1024),
               self.matmul("  dynamic rows, 128", DYNAMIC, 128, 768, 1024, dynamic=True)]
        for rows in (16, 4, 1):
            yield [self.matmul(f"matmul {rows}x768x1024", 1, rows, 768, 1024),
                   self.matmul(f"  dynamic rows, {rows}", DYNAMIC, rows, 768, 1024, dynamic=True)]
        yield [self.matmul("two inputs 128x256x256", 1, 128, 256, 256, computed=True),
               self.matmul("  127x255x253", ODD, 127, 255, 253, computed=True)]
        yield [self.matmul("vector x 4096x4096", 1, 1, 4096, 4096), self.matmul("  ... x4095", ODD, 1, 4096, 4095)]
        yield self.convolutions()
        yield [self.convolution("conv 3x3 64-64 at 56, batch 4", 1, 64, 64, 56, batch=4),
               self.convolution("  dynamic batch, 4", DYNAMIC, 64, 64, 56, batch=4, dynamic=["batch"])]
        if self.ops.type != "int8":  # ONNX has no transposed convolution of integers.
            yield from self.transposed_convolutions()
        yield [self.convolution("conv 1x1 256-64 at 56", 1, 256, 64, 56, kernel=1),
               self.convolution("  64-256", ODD, 64, 256, 56, kernel=1),
               self.convolution("  16-256", ODD, 16, 256, 56, kernel=1)]
        yield from self.streams()

    def convolutions(self):
        rows = [self.convolution("conv 3x3 64-64 at 56", 1, 64, 64, 56),
                self.convolution("  63-64", ODD, 63, 64, 56), self.convolution("  64-63", ODD, 64, 63, 56),
                self.convolution("  61-59 at 53", ODD, 61, 59, 53),
                self.convolution("  dynamic batch, 1", DYNAMIC, 64, 64, 56, dynamic=["batch"]),
                self.convolution("  dynamic height, width", DYNAMIC, 64, 64, 56, dynamic=["height", "width"]),
                self.convolution("  32 groups of 4 of 128", GROUPED, 128, 128, 56, group=32),
                self.convolution("  depthwise 5x5 of 128", GROUPED, 128, 128, 56, kernel=5, group=128)]
        if self.ops.type != "int8":
            rows.append(self.convolution("  transposed, stride 1", ODD, 64, 64, 56, transposed=True))
        return rows

    def transposed_convolutions(self):
        for kernel, paddings in ((2, [0]), (4, [0]), (3, [0, 1])):
            yield [self.convolution(f"conv {kernel}x{kernel} 64-64 at 28", 1, 64, 64, 28, kernel=kernel),
                   *(self.convolution(f"  transposed to {55 + padding if kernel == 3 else 56}", ODD, 64, 64, 28, kernel=kernel,
                                      stride=2, transposed=True, output_padding=padding) for padding in paddings)]

    def streams(self):
        operators = [("add", "Add", 2, {}), ("transpose", "Transpose", 1, {"perm": [1, 0]})]
        if self.ops.type != "int8":
            operators += [("softmax", "Softmax", 1, {"axis": -1}), ("sum of rows", "ReduceMean", 1, {"axes": [1]})]
        for name, op, operands, attributes in operators:
            yield [self.streamed(f"{name} 512x1024", 1, op, 512, 1024, operands, **attributes),
                   self.streamed("  511x1023", ODD, op, 511, 1023, operands, **attributes)]


def compile_model(options, made, artifact):
    source = artifact.with_suffix(".onnx")
    onnx.save(made, source)
    subprocess.run([options.gantry, "compile", source, "-p", options.profile, "-o", artifact], check=True,
                   capture_output=True)


def compile_row(options, row, folder):
    row.artifact, row.pass_artifact = folder / f"{id(row)}.gantry", folder / f"{id(row)}_pass.gantry"
    compile_model(options, row.model, row.artifact)
    if row.memory_pass:
        compile_model(options, row.memory_pass, row.pass_artifact)


def time_of(options, artifact, dims):
    command = [options.gantry, "bench", artifact, "--json", "--seconds", str(options.seconds)]
    for name, size in dims.items():
        command += ["--dim", f"{name}={size}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={"LP_NUM_THREADS": "1", **os.environ})
    return sum(entry["min_ns"] for entry in json.loads(done.stdout)["dispatches"])


def measure(options, row):
    row.time = min(row.time, time_of(options, row.artifact, row.dims))
    if row.memory_pass:
        row.memory_pass_time = min(row.memory_pass_time, time_of(options, row.pass_artifact, {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--profile", default="vulkan:lavapipe", help="the device profile (default: %(default)s)")
    parser.add_argument("--type", choices=TYPES, default="f32", help="type of the elements (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT",
                        help="only blocks whose friendly row contains one of these texts")
    parser.add_argument("--seconds", type=float, default=0.2, help="time of a measurement (default: %(default)s s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each row (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="file for the rates")
    options = parser.parse_args()
    failed, rates = False, {}
    progress = functools.partial(print, end="", file=sys.stderr) if sys.stderr.isatty() else lambda text: None
    print(f"{'':28} {'rate':>8}         {'ratio':>6} {'wanted':>6} {'bound':>6}")
    for rows in Rows(options.type).blocks():
        if not any(text in rows[0].name for text in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for row in rows:
                progress(f"\rcompiles {row.name.strip():40}")
                compile_row(options, row, pathlib.Path(folder))
            for _ in range(options.rounds):
                for row in rows:
                    progress(f"\rmeasures {row.name.strip():40}")
                    measure(options, row)
        progress("\r" + " " * 50 + "\r")
        for row in rows:
            ratio = row.rate() / rows[0].rate()
            failed |= ratio < row.wanted
            rates[f"{rows[0].name}/{row.name.strip()}"] = row.rate()
            bound = row.bound(rows[0])
            print(f"{row.name:28} {row.rate():8.1f} {row.unit:7} {ratio:6.2f} {row.wanted:6.2f} "
                  f"{'' if bound is None else f'{bound:6.2f}':6}{'  too slow' if ratio < row.wanted else ''}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rates, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
