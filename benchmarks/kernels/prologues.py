#!/usr/bin/env python3
"""Measures when a matmul should evaluate the elementwise operators before it (a prologue).

    prologues.py [--gantry TOOL] [--seconds S]

Each row is one matmul [256, 128] x [128, columns] after a chain of elementwise operators. The script compiles it
twice: as it is, where the compiler may evaluate the chain inside of the matmul's kernel while it reads the operand (it
fuses the chain), and with the chain's result as a second output, which forces a kernel that stores the result. It
prints the times of all dispatches (kernel launches) in microseconds, the ratio of the first time to the second, and
whether the compiler fused the chain. The constants kUsesPerEvaluation and kOperationsPerStoredElement
(codegen/passes/fusion_groups.cpp), by which the compiler chooses, are right if fused rows have ratios below 1. To
measure fused kernels in rows that the compiler does not fuse, build the compiler with a larger
kOperationsPerStoredElement. Debian: python3-onnx.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, DEPTH = 256, 128
CHAINS = (["Relu"], ["Mul", "Add", "Relu"], ["Mul", "Relu", "Mul", "Add", "Relu", "Mul", "Add"])
COLUMNS = (32, 128, 512, 2048)


def model(chain, columns, stored):
    random = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for i, operator in enumerate(chain):
        operands = [value]
        if operator != "Relu":
            weights.append((f"c{i}", random.random(DEPTH, np.float32) + np.float32(0.5)))
            operands.append(f"c{i}")
        value = f"t{i}"
        nodes.append(helper.make_node(operator, operands, [value]))
    weights.append(("w", random.standard_normal((DEPTH, columns), np.float32) * np.float32(0.05)))
    nodes.append(helper.make_node("MatMul", [value, "w"], ["y"]))
    tensor = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    outputs = [tensor("y", [ROWS, columns])] + ([tensor(value, [ROWS, DEPTH])] if stored else [])
    graph = helper.make_graph(nodes, "prologue", [tensor("x", [ROWS, DEPTH])], outputs,
                              [numpy_helper.from_array(array, name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def dispatch_times(gantry, artifact, seconds):
    """Returns the median times of the artifact's dispatches, in microseconds."""
    command = [gantry, "bench", artifact, "--json", "--seconds", str(seconds)]
    output = subprocess.run(command, check=True, capture_output=True, text=True,
                            env={"LP_NUM_THREADS": "1", **os.environ}).stdout
    return [entry["median_ns"] / 1e3 for entry in json.loads(output)["dispatches"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", default="build/release/bin/gantry", help="the tool (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time per measurement (default: %(default)s s)")
    options = parser.parse_args()
    print(f"{'columns':>8} {'operators':>9} {'as it is us':>12} {'stored us':>10} {'ratio':>6}  fused")
    with tempfile.TemporaryDirectory() as folder:
        for columns in COLUMNS:
            for chain in CHAINS:
                artifacts = []
                for stored in (False, True):
                    path = pathlib.Path(folder) / f"{int(stored)}.onnx"
                    onnx.save(model(chain, columns, stored), path)
                    artifacts.append(path.with_suffix(".gantry"))
                    subprocess.run([options.gantry, "compile", path, "-p", "vulkan:lavapipe", "-o", artifacts[-1]],
                                   check=True, capture_output=True)
                rounds = [[dispatch_times(options.gantry, a, options.seconds) for a in artifacts] for _ in range(3)]
                free, stored = (min(sum(r[k]) for r in rounds) for k in (0, 1))
                fused = "yes" if len(rounds[0][0]) == 1 else "no"
                print(f"{columns:8} {len(chain):9} {free:12.0f} {stored:10.0f} {free / stored:6.2f}  {fused}",
                      flush=True)


if __name__ == "__main__":
    main()
