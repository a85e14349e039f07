#!/usr/bin/env python3
"""Tests random kernels and one large convolution within every limit of shared memory.

    limits_test.py --gantry TOOL --random-kernels PROGRAM [--seed N] [--count 60] [--large 48]

Each model must compile for each limit from 16 to 227 KiB, and no kernel's SPIR-V may use more shared memory than
the limit. The ctest entries of random_kernels test the outputs, for the limits that the software device can run.
"""
import argparse
import pathlib
import sys

from support import LIMITS_OF_DEVICES, Test


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--random-kernels", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--large", type=int, default=48)
    options = parser.parse_args()
    test = Test(options.gantry)
    places = {"random": test.folder / "random", "large": test.folder / "large"}
    test.program(options.random_kernels, "--seed", options.seed, "--count", options.count, "--models", places["random"])
    test.program(options.random_kernels, "--large", options.large, "--models", places["large"])

    def within(models, limit):
        staged, largest = 0, 0
        for model in models:
            words = ["--precision", "f16"] if model.stem.endswith(".f16") else []
            counted = [bytes_ for _, bytes_, _ in test.shared_memory_within(model, limit, *words)]
            staged += any(counted)
            largest = max([largest, *counted])
        return f"{len(models)} models, {staged} with shared memory, at most {largest} bytes"

    for kind, place in places.items():
        models = sorted(place.glob("*.onnx"))
        for limit in LIMITS_OF_DEVICES:
            test.check(f"{kind}, {limit} KiB", within, models, limit)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
