#!/usr/bin/env python3
"""Tests that benchmarks/kernels/sizes.py and shapes.py measure and predict, each with a few models.

    sizes_test.py --gantry TOOL

Ends with 77 (skipped) without python3-onnx.
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/kernels"


def call(script, *arguments):
    """Runs a script. Whether sizes are beyond their limits (exit code 1) does not matter here."""
    done = subprocess.run([sys.executable, FOLDER / script, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{script} {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    options = parser.parse_args()
    if importlib.util.find_spec("onnx") is None:
        print("skipped: python3-onnx is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for way in ([], ["--predicted", "--profile", "vulkan:staging"]):
            call("sizes.py", folder, "--gantry", options.gantry, "--only", "transposed_3x3_width", "--from", "7", "--to", "9",
                 "--seconds", "0.001", "--rounds", "1", *way)
            times = json.loads((folder / "transposed_3x3_width.json").read_text())["times"]
            if sorted(map(int, times)) != [7, 8, 9, 16] or min(times.values()) <= 0:
                sys.exit(f"sizes.py {' '.join(way)} gives the times {times}")
            if not (folder / "sizes.svg").read_text().startswith("<svg"):
                sys.exit("sizes.py draws no picture")
        call("shapes.py", "--gantry", options.gantry, "--only", "conv 2x2", "--seconds", "0.001", "--rounds", "1", "--json",
             folder / "shapes.json")
        rates = json.loads((folder / "shapes.json").read_text())
        if len(rates) != 2 or min(rates.values()) <= 0:
            sys.exit(f"shapes.py gives the rates {rates}")


if __name__ == "__main__":
    main()
