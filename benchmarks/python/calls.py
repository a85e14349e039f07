#!/usr/bin/env python3
"""Measures what a call from Python costs beyond the same call through the C API.

    calls.py [--call-bench build/release/bin/call_bench] [--rounds N] [--runs N]

The model adds two vectors of 64 elements. In each round, call_bench and Python run the model in turn; the table shows the
median over the rounds, and the median of the differences within the rounds, in microseconds for one call."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))

import gantry
import models


def microseconds(call, runs):
    for _ in range(50):
        call()
    began = time.perf_counter()
    for _ in range(runs):
        call()
    return (time.perf_counter() - began) / runs * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--call-bench", default=str(ROOT / "build/release/bin/call_bench"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    program = gantry.compile(models.add([64]))
    x = models.ones(64)
    array = gantry.array(x)
    calls = {"NumPy": lambda: program(x, x), "gantry.Array": lambda: program(array, array)}
    try:
        import torch

        tensor = torch.ones(64)
        calls["PyTorch"] = lambda: program(tensor, tensor)
    except ImportError:
        pass
    times = {name: [] for name in calls}
    native = {name: [] for name in calls}
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "add.gantry"))
        program.save(path)
        for _ in range(options.rounds):
            command = [options.call_bench, path, str(options.runs)]
            host, buffers = map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
            for name, call in calls.items():
                times[name].append(microseconds(call, options.runs))
                native[name].append(buffers if name == "gantry.Array" else host)
    print(f"{'inputs':14} {'Python':>10} {'C API':>10} {'difference':>11}  (microseconds)")
    for name, values in times.items():
        difference = statistics.median(a - b for a, b in zip(values, native[name]))
        print(f"{name:14} {statistics.median(values):10.1f} {statistics.median(native[name]):10.1f} {difference:11.1f}")


if __name__ == "__main__":
    main()
