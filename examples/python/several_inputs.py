#!/usr/bin/env python3
"""Runs a program with several inputs: a * x + y on vectors of different lengths, on the device and on the host.

    several_inputs.py

One program serves all lengths: memory is planned once for each, and kept."""

import pathlib

import gantry
import numpy as np

program = gantry.compile(pathlib.Path(__file__).with_name("saxpy.mlir"))
print(program)

for n in (3, 1000, 1 << 20):
    a, x, y = np.float32(2), np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    result = program(a, x, y)
    assert np.array_equal(result, 2 * x + 1)
    print(f"{n:8} elements: {program.plan_for(arg1_dim0=n, arg2_dim0=n)}")

# Arrays on the device: a chain of calls that copies nothing.
a, x, y = (gantry.array(value) for value in (np.float32(0.5), np.ones(4, np.float32), np.ones(4, np.float32)))
for _ in range(30):
    x = program(a, x, y)  # x = x / 2 + 1 converges to 2.
print("after 30 calls on the device:", x.numpy())
assert np.allclose(x.numpy(), 2) and not program.copies
