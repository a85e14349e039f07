#!/usr/bin/env python3
"""Tests assignments to rows (ScatterND) in models with dynamic dimensions, within budgets, and with wrong positions.

    scatter_test.py --gantry TOOL

The program random_graphs tests scatters in static models. This script tests the cases that random_graphs cannot make.
"""
import argparse
import itertools
import json
import struct
import sys

import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from cli_support import onnx_model, write_npy  # noqa: E402
from support import VARIANTS, Failure, Test, read_npy  # noqa: E402

INT64 = 7
ROWS, COLUMNS = 5, 4


def numbers(count, scale=1.0):
    return [scale * (i % 7 - 3) for i in range(count)]


class ScatterTest(Test):
    def model(self, nodes, inputs, outputs):
        path = self.folder / "model.onnx"
        path.write_bytes(onnx_model([(op, f"{op}_{i}", *rest) for i, (op, *rest) in enumerate(nodes)], inputs, outputs))
        return path

    def floats(self, name, shape, values):
        write_npy(self.folder / f"{name}.npy", "<f4", shape, struct.pack(f"<{len(values)}f", *values))
        return f"{name}={self.folder / name}.npy"

    def ints(self, name, shape, values):
        write_npy(self.folder / f"{name}.npy", "<i8", shape, struct.pack(f"<{len(values)}q", *values))
        return f"{name}={self.folder / name}.npy"

    def outputs(self, variant, inputs):
        profile, environment, extra = VARIANTS[variant]
        words = [word for text in inputs for word in ("--input", text)]
        report = json.loads(self.call("run", self.artifact(profile), *words, *extra, "--json", "--output",
                                      self.folder / "out", environment=environment))
        if report["validation_messages"] != 0:
            raise Failure(f"{report['validation_messages']} validation messages")
        return [list(read_npy(output["file"])[1]) for output in report["outputs"]]


def replaced(data, places, elements):
    result = list(data)
    for place, element in zip(places, elements):
        result[place] = element
    return result


def two_addressed_dimensions(test, options):
    """The indices address both dimensions, of which one is dynamic. The scatters write into a computed tensor (d), into
    the result of another scatter (a), and into an input (z)."""
    model = test.model(
        [("Relu", ["x"], ["d"]), ("ScatterND", ["d", "i", "u"], ["a"]), ("ScatterND", ["a", "j", "u"], ["y"]),
         ("ScatterND", ["z", "i", "u"], ["z_next"]), ("Neg", ["z_next"], ["n"])],
        [("x", ["n", COLUMNS]), ("z", ["n", COLUMNS]), ("i", [2, 2], INT64), ("j", [2, 2], INT64), ("u", [2])],
        [("y", ["n", COLUMNS]), ("n", ["n", COLUMNS]), ("z_next", ["n", COLUMNS])])
    test.compile(model, *options)
    x, z, u = numbers(ROWS * COLUMNS), numbers(ROWS * COLUMNS, 2.0), [10.0, 20.0]
    inputs = [test.floats("x", (ROWS, COLUMNS), x), test.floats("z", (ROWS, COLUMNS), z), test.floats("u", (2,), u),
              test.ints("i", (2, 2), [1, 2, -1, 0]), test.ints("j", (2, 2), [0, 0, 3, -2])]
    relu = [max(v, 0.0) for v in x]
    y = replaced(replaced(relu, [6, 16], u), [0, 14], u)
    state = replaced(z, [6, 16], u)
    for variant in VARIANTS:
        if (found := test.outputs(variant, inputs)) != [y, [-v for v in state], state]:
            raise Failure(f"{variant}: the outputs are {found}, expected {[y, [-v for v in state], state]}")


def joined_with_another_input(test):
    """The result of a scatter into an input is concatenated with a tensor that is computed from another input of the
    same dynamic size."""
    model = test.model([("ScatterND", ["x", "i", "u"], ["s"]), ("Relu", ["w"], ["r"]),
                        ("Concat", ["s", "r"], ["y"], {"axis": 1})],
                       [("w", ["n", 4]), ("x", ["n", 4]), ("i", [1, 1], INT64), ("u", [1, 4])], [("y", ["n", 8])])
    test.compile(model)
    x, w, u = numbers(ROWS * 4), numbers(ROWS * 4, 3.0), [9.0, 8.0, 7.0, 6.0]
    inputs = [test.floats("x", (ROWS, 4), x), test.floats("w", (ROWS, 4), w), test.floats("u", (1, 4), u),
              test.ints("i", (1, 1), [3])]
    rows = replaced(x, range(12, 16), u)
    expected = list(itertools.chain.from_iterable(
        rows[4 * r:4 * r + 4] + [max(v, 0.0) for v in w[4 * r:4 * r + 4]] for r in range(ROWS)))
    for variant in VARIANTS:
        if (found := test.outputs(variant, inputs)) != [expected]:
            raise Failure(f"{variant}: the outputs are {found}, expected {[expected]}")


def positions_beyond(test):
    """A row whose position is out of range is not written, even if the lower 32 bits of the position are in range."""
    model = test.model([("ScatterND", ["x", "i", "u"], ["y"])],
                       [("x", [5, 3]), ("i", [4, 1], INT64), ("u", [4, 3])], [("y", [5, 3])])
    test.compile(model)
    x = numbers(15)
    inputs = [test.floats("x", (5, 3), x), test.floats("u", (4, 3), numbers(12, 5.0)),
              test.ints("i", (4, 1), [(1 << 32) + 2, 5, -6, -(1 << 32)])]
    for variant in VARIANTS:
        if (found := test.outputs(variant, inputs)) != [x]:
            raise Failure(f"{variant}: the outputs are {found}, expected {[x]}")


def budgets(test):
    """The data of a scatter lie in the output, so a budget of 1 KiB suffices. A concatenation that is a state's next
    value lies in the arena, so the smallest budget is its size."""
    in_output = test.model([("Relu", ["x"], ["d"]), ("ScatterND", ["d", "i", "u"], ["y"])],
                           [("x", [256, 64]), ("i", [2, 1], INT64), ("u", [2, 64])], [("y", [256, 64])])
    test.compile(in_output, "--memory-budget", "1KiB")
    in_arena = test.model([("Sigmoid", ["x"], ["b"]), ("Relu", ["x"], ["e"]),
                           ("Concat", ["b", "e"], ["s_next"], {"axis": 0}), ("Neg", ["s"], ["y"])],
                          [("x", [256, 64]), ("s", [512, 64])], [("s_next", [512, 64]), ("y", [512, 64])])
    test.compile(in_arena, "--state", "s=s_next", "--memory-budget", "128KiB")
    test.refuse("the smallest that can is 128.00 KiB", "compile", in_arena, "-o", test.folder / "wrong.gantry", "--state",
                "s=s_next", "--memory-budget", "64KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = ScatterTest(parser.parse_args().gantry)
    test.check("two addressed dimensions", two_addressed_dimensions, test, [])
    test.check("two addressed dimensions, donated", two_addressed_dimensions, test, ["--donate", "x", "--donate", "z"])
    test.check("two addressed dimensions, a state", two_addressed_dimensions, test,
               ["--state", "z=z_next", "--dim", "n=..8"])
    test.check("joined with another input", joined_with_another_input, test)
    test.check("positions beyond the data", positions_beyond, test)
    test.check("budgets", budgets, test)
    test.finish()


if __name__ == "__main__":
    main()
