#!/usr/bin/env python3
"""Runs c = a + b on two fresh tensors again and again, and compares the memory after iteration 10 with that at the end.

    leaks.py [--size N] [--iterations N] [--from numpy|torch|producer|all]

The tensors have N x N x N float32 elements (256: 64 MiB). `producer` is a class that counts the calls of its deleter. The
script prints resident memory, live bytes of the device's heap and deleter calls, one row for each kind of tensor. The exit
code is 1 if memory grew by 1 MiB or more, or if a deleter was not called exactly once."""

import argparse
import gc
import importlib.util
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/python"))

import gantry
import models
import numpy as np

MIB = 1 << 20
LIMIT = MIB
WARM_UP = 10


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def device_bytes():
    return sum(kind["live_bytes"] for kind in gantry.memory_stats().values())


def makers(kind, shape):
    """Returns two functions: one makes a fresh tensor; the other returns the number of tensors whose deleter was not called
    exactly once, among those that are gone."""
    if kind == "numpy":
        return lambda: np.ones(shape, np.float32), lambda: 0
    if kind == "torch":
        import torch

        return lambda: torch.ones(shape), lambda: 0
    wrong = []

    class Counted(models.Producer):
        def __del__(self):
            if self.deleted != len(self.capsules):
                wrong.append(self.deleted)

    return lambda: Counted(np.ones(shape, np.float32)), lambda: len(wrong)


def measure(kind, size, iterations):
    """Returns whether nothing leaked."""
    shape = (size,) * 3
    program = gantry.compile(models.add(shape))
    make, wrong = makers(kind, shape)
    began = time.monotonic()
    for i in range(iterations):
        result = program(make(), make())
        assert result.shape == shape
        if i + 1 == WARM_UP:
            gc.collect()
            first = resident_bytes(), device_bytes()
        if sys.stderr.isatty() and i % 10 == 0:
            print(f"\r{kind}: {i} of {iterations}", end="", file=sys.stderr)
    gc.collect()
    growth = resident_bytes() - first[0], device_bytes() - first[1]
    seconds = time.monotonic() - began
    print(
        f"\r{kind:9} {iterations:8} {growth[0] / MIB:+14.2f} MiB {growth[1] / MIB:+14.2f} MiB {wrong():8} wrong "
        f"{seconds / iterations * 1e3:10.3f} ms",
        flush=True,
    )
    return max(growth) < LIMIT and wrong() == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=10000)
    parser.add_argument("--from", dest="kind", choices=("numpy", "torch", "producer", "all"), default="all")
    options = parser.parse_args()
    if options.iterations <= WARM_UP:
        parser.error(f"--iterations must be above {WARM_UP}, not {options.iterations}")
    kinds = ["numpy", "producer"] if options.kind == "all" else [options.kind]
    if options.kind == "all":
        if importlib.util.find_spec("torch"):
            kinds.insert(1, "torch")
        else:
            print("left out: torch (python3-torch is not installed)", file=sys.stderr)
    print(f"{'tensors':9} {'runs':>8} {'resident':>18} {'device':>18} {'deleters':>14} {'time of a run':>13}")
    sys.exit(not all([measure(kind, options.size, options.iterations) for kind in kinds]))


if __name__ == "__main__":
    main()
