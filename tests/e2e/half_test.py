#!/usr/bin/env python3
"""Tests a model compiled with --precision f16: the relative L2 error is at most 2e-3 in every variant.

    half_test.py --gantry TOOL FOLDER [--references FOLDER]

FOLDER is as for model_test.py, and the variants are those of support.py. Inputs and outputs keep
their types. The constants, and for a model with fixed shapes the arena, must be smaller than in
f32.
"""
import argparse
import json
import pathlib
import sys

from model_test import files
from support import PROFILES, VARIANTS, Failure, Test, skip

TOLERANCE = 2e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--references", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if not options.folder.is_dir():
        skip(f"{options.folder.name} is not there (the shared models are not part of the repository)")
    model = next(options.folder / name for name in ("model.onnx", "model.mlir") if (options.folder / name).exists())
    cases = sorted(options.folder.glob("test_data_set_*")) + sorted(options.folder.glob("case_*"))
    if options.references:
        cases += sorted(options.references.glob("case_*"))
    test = Test(options.gantry)

    def facts():
        return json.loads(test.call("inspect", test.artifact(), "--json"))

    def smaller():
        test.compile(model, profiles=PROFILES[:1])
        whole = facts()
        test.compile(model, "--precision", "f16")
        half = facts()
        for key in ("constant_bytes", "arena_bytes"):
            if whole.get(key) and not half[key] < whole[key]:
                raise Failure(f"{key} is {half[key]} in f16, which is not less than {whole[key]} in f32")
        return ", ".join(f"{key} {half[key]} of {whole[key]}" for key in ("constant_bytes", "arena_bytes")
                         if whole.get(key))

    if test.check("compile", smaller):
        for case in cases:
            inputs, outputs = files(case, "input"), files(case, "output")
            for variant in VARIANTS:
                test.check(f"{case.name}, {variant}", test.compare, inputs, outputs, variant, TOLERANCE)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
