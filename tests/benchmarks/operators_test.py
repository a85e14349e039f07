#!/usr/bin/env python3
"""Tests that benchmarks/kernels/operators.py measures every operator of the ONNX importer.

Reads the script as text, because running it needs python3-onnx. `operators.py --missing` is the exact check.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    script = (ROOT / "benchmarks/kernels/operators.py").read_text(encoding="utf-8")
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
