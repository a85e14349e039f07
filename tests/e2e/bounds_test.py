#!/usr/bin/env python3
"""Tests a dynamic model whose sizes are given when it is compiled: a range, or one size.

    bounds_test.py --gantry TOOL FOLDER DIM MIN MAX
    bounds_test.py --gantry TOOL FOLDER --apart DIM=SIZES ...

FOLDER is as for model_test.py. DIM is the dynamic dimension in whose size the cases of the folder differ. The test
compiles the model twice:
  - With the range MIN..MAX for DIM. One plan must hold for every case with a size in the range, in every variant of
    support.py. A run with a size outside of the range must be refused with a message that names DIM.
  - With one size for DIM. The artifact must be static.
--apart tests a model whose dimensions cannot all reach their upper limits in the same run. One plan must hold for all
its cases.
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
    parser.add_argument("min", type=int, nargs="?")
    parser.add_argument("max", type=int, nargs="?")
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
        raise Failure(f"`{' '.join(str(word) for word in command)}` was accepted")

    def bounded():
        test.compile(model, "--dim", f"{dim}={options.min}..{options.max}")
        plan, small = inspect(), inspect("--dim", f"{dim}={options.min}")
        if not plan["dynamic"] or not plan["bounded"] or plan["symbols"][0]["max"] != options.max:
            raise Failure(f"the artifact must be dynamic, and bounded by {options.max}: dynamic {plan['dynamic']}, "
                          f"bounded {plan['bounded']}, symbols {plan['symbols']}")
        if plan["arena_bytes"] != small["arena_bytes"]:
            raise Failure(f"the arena has {small['arena_bytes']} bytes at the smallest size, "
                          f"{plan['arena_bytes']} at the largest; they must be equal")
        free = test.folder / "free.gantry"
        test.call("compile", model, "-p", PROFILES[0], "-o", free)
        whole = json.loads(test.call("inspect", free, "--json", "--dim", f"{dim}={options.max}"))["arena_bytes"]
        if plan["arena_bytes"] != whole:
            raise Failure(f"the arena has {plan['arena_bytes']} bytes; it must have {whole}, the bytes of a plan for the "
                          "largest size alone")
        kept = test.folder / "kept.gantry"
        test.call("compile", model, "-p", PROFILES[0], "-o", kept, "--keep-order", "--dim", f"{dim}={options.min}..{options.max}")
        given = json.loads(test.call("inspect", kept, "--json"))["lower_bound_bytes"]
        if plan["model_order_bytes"] != given:
            raise Failure(f"model_order_bytes is {plan['model_order_bytes']}, but the model's order takes {given}")
        return f"arena {plan['arena_bytes']} bytes for all sizes"

    def outside():
        for size in (options.min - 1, options.max + 1):
            if size > 0:
                refused(f"({dim}) of input", 1, "run", test.artifact(), "--random", 1, "--dim", f"{dim}={size}")

    def fixed():
        size = size_of[cases[0]]
        test.compile(model, "--dim", f"{dim}={size}")
        plan = inspect()
        if plan["dynamic"] or plan["symbols"]:
            raise Failure(f"with one size the artifact must be static, but it has the symbols {plan['symbols']}")
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
            raise Failure("the artifact must be bounded and have an arena, but no command at which the peak lies: "
                          f"bounded {plan['bounded']}, arena_bytes {plan['arena_bytes']}, "
                          f"peak_command {plan['peak_command']}")
        if "for all sizes within the bounds" not in test.call("inspect", test.artifact()):
            raise Failure("`gantry inspect` must say that the arena is 'for all sizes within the bounds'")
        return f"arena {plan['arena_bytes']} bytes for all sizes"

    if options.apart:
        if test.check("bounds that are never reached together", apart):
            for case in cases:
                for variant in VARIANTS:
                    test.check(f"{case.name}, {variant}", test.compare, files(case, "input"), files(case, "output"), variant)
        test.finish()

    if test.check("bounded", bounded):
        for case in cases:
            if options.min <= size_of[case] <= options.max:
                for variant in VARIANTS:
                    test.check(f"bounded, {case.name}, {variant}", test.compare, files(case, "input"),
                               files(case, "output"), variant)
        test.check("sizes outside", outside)
    if test.check("one size", fixed):
        for variant in VARIANTS:
            test.check(f"one size, {variant}", test.compare, files(cases[0], "input"), files(cases[0], "output"), variant)
    test.check("invalid --dim arguments", wrong)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
