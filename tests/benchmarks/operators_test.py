#!/usr/bin/env python3
"""Tests that benchmarks/kernels/operators.py measures every operator of the ONNX importer.

    operators_test.py               reads the script as text, because running it needs python3-onnx
    operators_test.py --gantry TOOL measures one row with the script; ends with 77 without python3-onnx

`operators.py --missing` is the exact check for missing operators.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


SCRIPT = ROOT / "benchmarks/kernels/operators.py"


def measure_row(tool):
    if importlib.util.find_spec("onnx") is None:
        print("skipped: python3-onnx is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, SCRIPT, folder, "--gantry", tool, "--only", "Sinh", "--seconds", "0.01", "--rounds",
                        "1"], check=True)
        rows = json.loads((pathlib.Path(folder) / "operators.json").read_text())
    if set(rows) != {"Add", "MatMul of a constant", "Sinh"}:
        sys.exit(f"the rows are {sorted(rows)}")
    for name, row in rows.items():
        if not (row["microseconds"] > 0 and row["rate"] > 0 and row["ratio"] > 0):
            sys.exit(f"{name}: {row}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", help="the tool; measures one row")
    options = parser.parse_args()
    if options.gantry:
        measure_row(options.gantry)
        return
    script = SCRIPT.read_text(encoding="utf-8")
    named = set(re.findall(r'"(\w+)"', script))
    operators = {operator for path in (ROOT / "codegen/import/onnx/operators").glob("*.cpp")
                 for operator in re.findall(r'table\["(\w+)"\]', path.read_text(encoding="utf-8"))}
    if len(operators) < 100:
        sys.exit(f"only {len(operators)} operators found in codegen/import/onnx/operators")
    missing = sorted(operators - named)
    if missing:
        sys.exit("operators without a row in benchmarks/kernels/operators.py: " + ", ".join(missing))
    print(f"all {len(operators)} operators are in benchmarks/kernels/operators.py")


if __name__ == "__main__":
    main()
