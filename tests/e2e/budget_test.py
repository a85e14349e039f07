#!/usr/bin/env python3
"""Tests a model within a memory budget: 60 % of its arena, or the smallest possible budget if that is more.

    budget_test.py --gantry TOOL [--divided] FOLDER

FOLDER is as for model_test.py. The outputs must be unchanged in every variant of support.py. The
arena must stay within the budget, and --measure must report the cost of the budget: the time of a
run with and without it. For each profile, the compiler must refuse a budget one byte below the
smallest possible one, with a message that names the smallest possible one.

--divided: the model has sums that are divided among more invocations of a GPU, which takes memory. With any budget,
they must not be divided.
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
    parser.add_argument("--divided", action="store_true")
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

    def smallest(profile, budget=1):
        """Returns the smallest possible budget of a profile, which the error for a smaller budget names."""
        try:
            test.call("compile", model, "-p", profile, "-o", test.artifact(profile), "--memory-budget", budget)
        except Failure as refusal:
            found = re.search(r"the smallest that can is [^(]*\((\d+) bytes\)", str(refusal))
            if found:
                return int(found.group(1))
            raise
        raise Failure(f"a budget of {budget} bytes was accepted")

    def fit():
        test.compile(model, profiles=PROFILES[:1])
        whole, floors = arena(), [smallest(profile) for profile in PROFILES]
        floor = max(floors)
        budget = max(whole * 6 // 10, floor)
        test.compile(model, "--memory-budget", budget)
        if arena() > budget:
            raise Failure(f"arena {arena()} is over the budget of {budget}")
        measured = test.call("compile", model, "-p", PROFILES[0], "-o", test.folder / "measured.gantry",
                             "--memory-budget", budget, "--measure", "--json")
        cost = json.loads(measured)["budget_cost"]
        if cost["runs"] < 5 or cost["with_ns"] <= 0 or cost["without_ns"] <= 0 or cost["slowdown"] <= 0:
            raise Failure(f"no measured cost: {cost}")
        within = arena()
        for profile, least in zip(PROFILES, floors):
            if (named := smallest(profile, least - 1)) != least:
                raise Failure(f"{profile}: the error for 1 byte names {least} bytes as the smallest budget, the error "
                              f"for {least - 1} bytes names {named}; they must be equal")
        return f"arena {whole} bytes without a budget, {within} with {budget}; smallest budget {floor}; " \
               f"{cost['slowdown']:.2f} x the time"

    def divided():
        sizes = []
        for budget in ([], ["--memory-budget", "1GiB"]):
            place = test.folder / "gpu.gantry"
            test.call("compile", model, "-p", "vulkan:nvidia-hopper", "-o", place, *budget)
            sizes.append(json.loads(test.call("inspect", place, "--json"))["arena_bytes"])
        if not sizes[1] < sizes[0]:
            raise Failure(f"the arena for a GPU has {sizes[0]} bytes, and {sizes[1]} with a budget of 1 GiB")
        return f"arena for a GPU {sizes[0]} bytes, {sizes[1]} with a budget"

    if options.divided:
        test.check("sums are divided only without a budget", divided)
    if test.check("fits", fit):
        for variant in VARIANTS:
            test.check(variant, test.compare, files(case, "input"), files(case, "output"), variant)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
