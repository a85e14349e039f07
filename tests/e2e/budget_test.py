#!/usr/bin/env python3
"""A model within a memory budget: 60 % of its arena or, where that is more, the least that can be met.

    budget_test.py --gantry TOOL FOLDER

FOLDER as for model_test.py. The outputs stay what they were, in every variant; the arena and the
device memory that the session holds keep to the budget; a byte less than the least is refused, and
the message names the least.
"""
import argparse
import json
import pathlib
import re
import sys

from model_test import files
from support import PROFILES, VARIANTS, Failure, Test, skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if not options.folder.is_dir():
        skip(f"{options.folder.name} is not there (the shared models are not part of the repository)")
    model = next(options.folder / name for name in ("model.onnx", "model.mlir") if (options.folder / name).exists())
    case = (sorted(options.folder.glob("test_data_set_*")) + sorted(options.folder.glob("case_*")))[0]
    test = Test(options.gantry)
    artifact = test.artifact()

    def arena():
        return json.loads(test.call("inspect", artifact, "--json"))["arena_bytes"]

    def least():
        """From the refusal of one byte."""
        try:
            test.compile(model, "--memory-budget", 1)
        except Failure as refusal:
            found = re.search(r"the smallest that can is [^(]*\((\d+) bytes\)", str(refusal))
            if found:
                return int(found.group(1))
            raise
        raise Failure("a budget of one byte was taken")

    def fit():
        test.compile(model)
        whole, floor = arena(), least()
        budget = max(whole * 6 // 10, floor)
        test.compile(model, "--memory-budget", budget)
        if arena() > budget:
            raise Failure(f"arena {arena()} is over the budget of {budget}")
        measured = test.call("compile", model, "-p", PROFILES[0], "-o", test.folder / "measured.gantry",
                             "--memory-budget", budget, "--measure", "--json")
        cost = json.loads(measured)["budget_cost"]
        if cost["runs"] < 5 or cost["with_ns"] <= 0 or cost["without_ns"] <= 0 or cost["slowdown"] <= 0:
            raise Failure(f"no measured cost: {cost}")
        try:
            test.compile(model, "--memory-budget", floor - 1)
            raise Failure("a budget below the least was taken")
        except Failure as refusal:
            if f"({floor} bytes)" not in str(refusal):
                raise
        return f"{whole} bytes without, {arena()} within {budget}; at least {floor}; {cost['slowdown']:.2f} x the time"

    if test.check("fits", fit):
        for variant in VARIANTS:
            test.check(variant, test.compare, files(case, "input"), files(case, "output"), variant)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
