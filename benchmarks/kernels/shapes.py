#!/usr/bin/env python3
"""Measures operators of unfriendly shapes against the same operators of friendly shapes, all in one run.

    shapes.py [--gantry TOOL] [--profile PROFILE] [--only TEXT ...] [--seconds S] [--rounds N] [--json FILE]

A block is one friendly shape, whose sizes are multiples of 8 and known when the model is compiled, and shapes that
should be nearly as fast: odd sizes, other kinds of the operator, sizes that are known only at run time. The script
compiles a model for each row and measures all rows of a block in turn, in several rounds. The time of a row is the
shortest time of a run, of all its dispatches together. Rates are billions of operations (a multiplication and an
addition are two) or bytes per second and core. The table has the rate of each row, its ratio to the friendly row and
the least ratio that is wanted; the exit code is 1 if a row is below it. Debian: python3-onnx.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx

from sizes import model, weights

DYNAMIC = 0.85  # The wanted ratio of rows with dynamic sizes,
ODD = 0.7       # of other rows,
GROUPED = 0.5   # and of grouped convolutions.


class Row:
    """A model, the sizes with which it runs, and its work. `inputs`: shapes, with names for dynamic dimensions; `nodes`:
    (operator, operands, result, attributes); `work`: operations, or bytes if `unit` is "GB/s"."""

    def __init__(self, name, wanted, work, inputs, nodes, constants=(), dims=(), unit="GFLOP/s"):
        self.name, self.wanted, self.work, self.unit, self.dims = name, wanted, work, unit, dict(dims)
        self.model = model(inputs, nodes, constants)
        self.time = float("inf")

    def rate(self):
        return self.work / self.time


def matmul(name, wanted, rows, depth, columns, computed=False, dynamic=False):
    inputs = {"x": ["rows" if dynamic else rows, depth]}
    if computed:
        inputs["w"] = [depth, columns]
    return Row(name, wanted, 2 * rows * depth * columns, inputs, [("MatMul", ["x", "w"], "y", {})],
               [] if computed else [("w", weights(depth, columns))], {"rows": rows} if dynamic else {})


def convolution(name, wanted, channels, filters, size, kernel=3, group=1, batch=1, dynamic=(), stride=1,
                transposed=False, output_padding=0):
    """A convolution between two elementwise operators, as in a network. dynamic: the names of dynamic dimensions."""
    sizes = {"batch": batch, "height": size, "width": size}
    shape = [channels, filters // group] if transposed else [filters, channels // group]
    attributes = {"kernel_shape": [kernel] * 2, "pads": [(kernel - stride + 1) // 2 if transposed else kernel // 2] * 4,
                  "strides": [stride] * 2, "group": group}
    if transposed:
        attributes["output_padding"] = [output_padding] * 2
    named = [name if name in dynamic else sizes[name] for name in ("batch", "height", "width")]
    return Row(name, wanted, 2 * batch * size * size * channels * filters // group * kernel * kernel,
               {"x": [named[0], channels, *named[1:]]},
               [("Relu", ["x"], "a", {}), ("ConvTranspose" if transposed else "Conv", ["a", "w"], "b", attributes),
                ("Relu", ["b"], "y", {})],
               [("w", weights(*shape, kernel, kernel))], {dim: sizes[dim] for dim in dynamic})


def streamed(name, wanted, op, rows, columns, operands=1, **attributes):
    """An operator whose time is that of memory, or of a few operations for each element."""
    names = ["x", "z"][:operands]
    return Row(name, wanted, 4 * rows * columns * (operands + 1), {operand: [rows, columns] for operand in names},
               [(op, names, "y", attributes)], unit="GB/s")


def blocks():
    yield [matmul("matmul 128x768x1024", 1, 128, 768, 1024),
           matmul("  ... x1023", ODD, 128, 768, 1023), matmul("  ... x1022", ODD, 128, 768, 1022),
           matmul("  K = 767", ODD, 128, 767, 1024), matmul("  M = 127", ODD, 127, 768, 1024),
           matmul("  dynamic rows, 128", DYNAMIC, 128, 768, 1024, dynamic=True)]
    yield [matmul("matmul 16x768x1024", 1, 16, 768, 1024),
           matmul("  dynamic rows, 16", DYNAMIC, 16, 768, 1024, dynamic=True)]
    yield [matmul("matmul 4x768x1024", 1, 4, 768, 1024),
           matmul("  dynamic rows, 4", DYNAMIC, 4, 768, 1024, dynamic=True)]
    yield [matmul("matmul 1x768x1024", 1, 1, 768, 1024),
           matmul("  dynamic rows, 1", DYNAMIC, 1, 768, 1024, dynamic=True)]
    yield [matmul("two inputs 128x256x256", 1, 128, 256, 256, computed=True),
           matmul("  127x255x253", ODD, 127, 255, 253, computed=True)]
    yield [matmul("vector x 4096x4096", 1, 1, 4096, 4096), matmul("  ... x4095", ODD, 1, 4096, 4095)]
    yield [convolution("conv 3x3 64-64 at 56", 1, 64, 64, 56),
           convolution("  63-64", ODD, 63, 64, 56), convolution("  64-63", ODD, 64, 63, 56),
           convolution("  61-59 at 53", ODD, 61, 59, 53),
           convolution("  dynamic batch, 1", DYNAMIC, 64, 64, 56, dynamic=["batch"]),
           convolution("  dynamic batch, 4", DYNAMIC, 64, 64, 56, batch=4, dynamic=["batch"]),
           convolution("  dynamic height, width", DYNAMIC, 64, 64, 56, dynamic=["height", "width"]),
           convolution("  transposed, stride 1", ODD, 64, 64, 56, transposed=True),
           convolution("  32 groups of 4 of 128", GROUPED, 128, 128, 56, group=32),
           convolution("  depthwise 5x5 of 128", GROUPED, 128, 128, 56, kernel=5, group=128)]
    yield [convolution("conv 2x2 64-64 at 28", 1, 64, 64, 28, kernel=2),
           convolution("  transposed, stride 2", ODD, 64, 64, 28, kernel=2, stride=2, transposed=True)]
    yield [convolution("conv 4x4 64-64 at 28", 1, 64, 64, 28, kernel=4),
           convolution("  transposed, stride 2", ODD, 64, 64, 28, kernel=4, stride=2, transposed=True)]
    yield [convolution("conv 3x3 64-64 at 28", 1, 64, 64, 28, kernel=3),
           convolution("  transposed, stride 2", ODD, 64, 64, 28, kernel=3, stride=2, transposed=True,
                       output_padding=1)]
    yield [convolution("conv 1x1 256-64 at 56", 1, 256, 64, 56, kernel=1),
           convolution("  64-256", ODD, 64, 256, 56, kernel=1), convolution("  16-256", ODD, 16, 256, 56, kernel=1)]
    yield [streamed("add 512x1024", 1, "Add", 512, 1024, 2), streamed("  511x1023", ODD, "Add", 511, 1023, 2)]
    yield [streamed("softmax 512x1024", 1, "Softmax", 512, 1024, axis=-1),
           streamed("  511x1023", ODD, "Softmax", 511, 1023, axis=-1)]
    yield [streamed("transpose 512x1024", 1, "Transpose", 512, 1024, perm=[1, 0]),
           streamed("  511x1023", ODD, "Transpose", 511, 1023, perm=[1, 0])]
    yield [streamed("sum of rows 512x1024", 1, "ReduceMean", 512, 1024, axes=[1]),
           streamed("  511x1023", ODD, "ReduceMean", 511, 1023, axes=[1])]


def compile_row(options, row, folder):
    source = folder / "model.onnx"
    onnx.save(row.model, source)
    row.artifact = folder / f"{id(row)}.gantry"
    subprocess.run([options.gantry, "compile", source, "-p", options.profile, "-o", row.artifact], check=True,
                   capture_output=True)


def measure(options, row):
    command = [options.gantry, "bench", row.artifact, "--json", "--seconds", str(options.seconds)]
    for name, size in row.dims.items():
        command += ["--dim", f"{name}={size}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={"LP_NUM_THREADS": "1", **os.environ})
    row.time = min(row.time, sum(entry["min_ns"] for entry in json.loads(done.stdout)["dispatches"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--profile", default="vulkan:lavapipe", help="the device profile (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT",
                        help="only blocks whose friendly row contains one of these texts")
    parser.add_argument("--seconds", type=float, default=0.2, help="time of a measurement (default: %(default)s s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each row (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="file for the rates")
    options = parser.parse_args()
    failed, rates = False, {}
    print(f"{'':28} {'rate':>8}         {'ratio':>6} {'wanted':>6}")
    for rows in blocks():
        if not any(text in rows[0].name for text in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for row in rows:
                print(f"\rcompiles {row.name.strip():40}", end="", file=sys.stderr)
                compile_row(options, row, pathlib.Path(folder))
            for _ in range(options.rounds):
                for row in rows:
                    print(f"\rmeasures {row.name.strip():40}", end="", file=sys.stderr)
                    measure(options, row)
        print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
        for row in rows:
            ratio = row.rate() / rows[0].rate()
            failed |= ratio < row.wanted
            rates[f"{rows[0].name}/{row.name.strip()}"] = row.rate()
            print(f"{row.name:28} {row.rate():8.1f} {row.unit:7} {ratio:6.2f} "
                  f"{row.wanted:6.2f}{'  too slow' if ratio < row.wanted else ''}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rates, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
