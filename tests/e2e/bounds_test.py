#!/usr/bin/env python3
"""A dynamic model whose sizes are told when it is compiled: bounded, or one size.

    bounds_test.py --gantry TOOL FOLDER DIM LEAST MOST
    bounds_test.py --gantry TOOL FOLDER --apart DIM=SIZES ...

FOLDER as for model_test.py, DIM the dynamic dimension that its cases differ in, with sizes from LEAST
to MOST. Bounded by MOST, one plan holds for every case, in every variant; at one size the artifact is
static; other sizes are refused by name. --apart: a model that never takes all of these bounds at once has
one plan for its cases all the same.
"""
import argparse
import json
import pathlib
import sys

from model_test import files
from support import PROFILES, VARIANTS, Failure, Test, read_npy, skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("dim", nargs="?")
    parser.add_argument("least", type=int, nargs="?")
    parser.add_argument("most", type=int, nargs="?")
    parser.add_argument("--apart", nargs="+", metavar="DIM=SIZES")
    options = parser.parse_args()
    if not options.folder.is_dir():
        skip(f"{options.folder.name} is not there")
    model, dim = options.folder / "model.onnx", options.dim
    cases = sorted(options.folder.glob("case_*"))
    test = Test(options.gantry)
    size_of = {case: read_npy(files(case, "input")[0])[0][0] for case in cases}

    def inspect(*words):
        return json.loads(test.call("inspect", test.artifact(), "--json", *words))

    def refused(words, code, *command):
        try:
            test.call(*command)
        except Failure as failure:
            if words in str(failure) and f"ended with {code}:" in str(failure):
                return
            raise
        raise Failure(f"`{' '.join(str(word) for word in command)}` was taken")

    def bounded():
        test.compile(model, "--dim", f"{dim}={options.least}..{options.most}")
        plan, small = inspect(), inspect("--dim", f"{dim}={options.least}")
        if not plan["dynamic"] or not plan["bounded"] or plan["symbols"][0]["max"] != options.most:
            raise Failure(f"not bounded: {plan['dynamic']}, {plan['bounded']}, {plan['symbols']}")
        if plan["arena_bytes"] != small["arena_bytes"]:
            raise Failure(f"an arena of {small['arena_bytes']} bytes at the least size, {plan['arena_bytes']} at the most")
        free = test.folder / "free.gantry"
        test.call("compile", model, "-p", PROFILES[0], "-o", free)
        whole = json.loads(test.call("inspect", free, "--json", "--dim", f"{dim}={options.most}"))["arena_bytes"]
        if plan["arena_bytes"] != whole:
            raise Failure(f"an arena of {plan['arena_bytes']} bytes; planned for the most alone, {whole}")
        kept = test.folder / "kept.gantry"
        test.call("compile", model, "-p", PROFILES[0], "-o", kept, "--keep-order", "--dim", f"{dim}={options.least}..{options.most}")
        given = json.loads(test.call("inspect", kept, "--json"))["lower_bound_bytes"]
        if plan["model_order_bytes"] != given:
            raise Failure(f"the model's own order is said to take {plan['model_order_bytes']} bytes; it takes {given}")
        return f"arena {plan['arena_bytes']} bytes for all sizes"

    def outside():
        for size in (options.least - 1, options.most + 1):
            if size > 0:
                refused(f"({dim}) of input", 1, "run", test.artifact(), "--random", 1, "--dim", f"{dim}={size}")

    def fixed():
        size = size_of[cases[0]]
        test.compile(model, "--dim", f"{dim}={size}")
        plan = inspect()
        if plan["dynamic"] or plan["symbols"]:
            raise Failure(f"still dynamic: {plan['symbols']}")
        return f"static, arena {plan['arena_bytes']} bytes"

    def wrong():
        for words, text in (("the model has", f"{dim}x=3"), ("is not NAME=SIZE", dim), ("is not NAME=SIZE", f"{dim}=0"),
                            ("is not NAME=SIZE", f"{dim}=9..8"), ("is not NAME=SIZE", f"{dim}=..")):
            refused(words, 1, "compile", model, "-o", test.folder / "wrong.gantry", "--dim", text)
        if (test.folder / "wrong.gantry").exists():
            raise Failure("a refused compilation left a file")

    def apart():
        test.compile(model, *(word for bound in options.apart for word in ("--dim", bound)))
        plan = inspect()
        if not plan["bounded"] or not plan["arena_bytes"] or plan["peak_command"] is not None:
            raise Failure(f"not bounded, or planned at its bounds: {plan['bounded']}, {plan['arena_bytes']}")
        if "for all sizes within the bounds" not in test.call("inspect", test.artifact()):
            raise Failure("inspect does not tell the arena")
        return f"arena {plan['arena_bytes']} bytes for all sizes"

    if options.apart:
        if test.check("bounds that are never reached together", apart):
            for case in cases:
                for variant in VARIANTS:
                    test.check(f"{case.name}, {variant}", test.compare, files(case, "input"), files(case, "output"), variant)
        test.finish()

    if test.check("bounded", bounded):
        for case in cases:
            if options.least <= size_of[case] <= options.most:
                for variant in VARIANTS:
                    test.check(f"bounded, {case.name}, {variant}", test.compare, files(case, "input"),
                               files(case, "output"), variant)
        test.check("sizes outside", outside)
    if test.check("one size", fixed):
        for variant in VARIANTS:
            test.check(f"one size, {variant}", test.compare, files(cases[0], "input"), files(cases[0], "output"), variant)
    test.check("wrong words", wrong)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
