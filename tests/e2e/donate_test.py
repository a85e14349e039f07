#!/usr/bin/env python3
"""Tests a model with donated inputs, which lie in the arena: the outputs must be unchanged.

    donate_test.py --gantry TOOL FOLDER

FOLDER is as for model_test.py. All inputs are donated at once. The arena, which then holds the inputs, must
not be larger than the arena and the inputs without donation, up to rounding. The compiler must refuse the
name of an input that does not exist.
"""
import argparse
import json
import pathlib
import sys

from model_test import files
from support import VARIANTS, Failure, Test

ROUNDING = 256  # Largest number of bytes by which the arena rounds up an input.


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    model = next(options.folder / name for name in ("model.onnx", "model.mlir") if (options.folder / name).exists())
    case = sorted(options.folder.glob("case_*"))[0]
    test = Test(options.gantry)

    def inspect():
        return json.loads(test.call("inspect", test.artifact(), "--json"))

    def donated():
        test.compile(model)
        before = inspect()
        names = [port["name"] for port in before["inputs"]]
        test.compile(model, *(word for name in names for word in ("--donate", name)))
        after = inspect()
        if not all(port["donated"] for port in after["inputs"]) or any(port["donated"] for port in before["inputs"]):
            raise Failure("all inputs must be donated with --donate, and none without it: with it the inputs are "
                          f"{after['inputs']}, without it {before['inputs']}")
        inputs = sum(before["values"][port["value"]]["size_bytes"] for port in before["inputs"])
        if after["arena_bytes"] > before["arena_bytes"] + inputs + ROUNDING * len(names):
            raise Failure(f"the arena with donated inputs has {after['arena_bytes']} bytes, which is more than the arena of "
                          f"{before['arena_bytes']} bytes without donation plus {inputs} bytes of inputs and "
                          f"{ROUNDING} bytes of rounding for each input")
        test.arena(test.artifact())
        return (f"arena and inputs {before['arena_bytes'] + inputs} bytes, "
                f"arena with donated inputs {after['arena_bytes']}")

    if test.check("donated", donated):
        for variant in VARIANTS:
            test.check(variant, test.compare, files(case, "input"), files(case, "output"), variant)
    test.check("wrong name", test.refuse, "no input is called 'nobody'", "compile", model, "-o",
               test.folder / "wrong.gantry", "--donate", "nobody")
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
