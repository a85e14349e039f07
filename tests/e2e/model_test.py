#!/usr/bin/env python3
"""Tests one model against its expected outputs in every variant of support.py, its arena, and memory faults.

    model_test.py --gantry TOOL --memory-faults PROGRAM FOLDER [--references FOLDER]

FOLDER holds model.onnx or model.mlir, and cases: test_data_set_<n>/ (.pb) or case_<n>/ (.npy), each
with input_<i> and output_<i>. --references names a folder with further cases for the same model.
The test checks the size of a dynamic model's arena for the sizes of dimensions in dims.txt
("batch=2 time=48") of either folder.
"""
import argparse
import pathlib
import re
import sys

from support import ARENAS, LAVAPIPE, PROFILES, VARIANTS, Test, skip


def files(case, kind):
    def number(path):
        return int(re.search(r"(\d+)$", path.stem).group(1))
    return sorted([p for p in case.glob(f"{kind}_*") if p.suffix in (".pb", ".npy")], key=number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--memory-faults", required=True, help="the program of memory_faults.cpp")
    parser.add_argument("--references", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if not options.folder.is_dir():
        skip(f"{options.folder.name} is not there (the shared models are not part of the repository)")
    model = next((options.folder / name for name in ("model.onnx", "model.mlir")
                  if (options.folder / name).exists()), None)
    cases = sorted(options.folder.glob("test_data_set_*")) + sorted(options.folder.glob("case_*"))
    if options.references:
        cases += sorted(options.references.glob("case_*"))
    if not model or not cases:
        print(f"{options.folder} holds no model or no cases")
        return 1

    test = Test(options.gantry)
    if test.check("compile", lambda: test.compile(model) and None):
        for case in cases:
            inputs, outputs = files(case, "input"), files(case, "output")
            for variant in VARIANTS:
                test.check(f"{case.name}, {variant}", test.compare, inputs, outputs, variant)
        places = [f / "dims.txt" for f in (options.folder, options.references) if f and (f / "dims.txt").exists()]
        dims = places[0].read_text().split() if places else []
        test.check("arena", test.arena, test.artifact(), dims)
        if limit := ARENAS.get(options.folder.name):
            test.check("limit of the arena", test.arena, test.artifact(LAVAPIPE), dims, limit)
        test.check("memory faults", test.program, options.memory_faults, test.artifact(PROFILES[-1]), *dims, "--max", 8)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
