#!/usr/bin/env python3
"""Measures a language model with GPT-2 small's shape: 12 layers, width 768, 12 heads, 50,257 tokens.

    benchmarks/models/gpt2.py [--gantry TOOL] [--profile P] [--length N] [--layers N] [--tokens N] [--seconds S]

The weights are random. The script compiles the model (about 650 MB of constants) and measures a run with a text of
--length tokens. It compares the rate (operations per second) of the whole model with that of the matmuls inside of its
layers, because no other operator should slow the model down much. The most critical one is the output layer, whose
number of columns is odd. The exit code is 1 if the whole model reaches less than 0.7 of the matmuls' rate. Debian:
python3-onnx.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, HEADS = 768, 12
WANTED = 0.7


class Graph:
    """A list of nodes and constants. Each method adds a node and returns the name of its result."""

    def __init__(self):
        self.nodes, self.constants = [], []
        self.random = np.random.default_rng(0)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape, np.float32) * np.float32(0.02))

    def add(self, op, *operands, name=None, **attributes):
        name = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(operands), [name], name=name, **attributes))
        return name

    def linear(self, x, rows, columns, name):
        return self.add("Add", self.add("MatMul", x, self.weight(rows, columns), name=name), self.weight(columns))

    def norm(self, x):
        return self.add("LayerNormalization", x, self.weight(WIDTH), self.weight(WIDTH), axis=-1)

    def attention(self, x, length, name):
        qkv = self.linear(x, WIDTH, 3 * WIDTH, f"{name}.qkv")
        parts = [f"{name}.{part}" for part in "qkv"]
        self.nodes.append(helper.make_node("Split", [qkv], parts, axis=-1, num_outputs=3))
        shape = self.constant(np.array([1, length, HEADS, WIDTH // HEADS], np.int64))
        q, k, v = (self.add("Transpose", self.add("Reshape", part, shape), perm=[0, 2, 1, 3]) for part in parts)
        scores = self.add("MatMul", q, self.add("Transpose", k, perm=[0, 1, 3, 2]))
        scaled = self.add("Mul", scores, self.constant(np.float32((WIDTH // HEADS) ** -0.5)))
        mask = self.constant(np.triu(np.full((length, length), -1e9, np.float32), 1))
        mixed = self.add("MatMul", self.add("Softmax", self.add("Add", scaled, mask), axis=-1), v)
        joined = self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]),
                          self.constant(np.array([1, length, WIDTH], np.int64)))
        return self.linear(joined, WIDTH, WIDTH, f"{name}.projection")

    def layer(self, x, length, name):
        x = self.add("Add", x, self.attention(self.norm(x), length, name))
        hidden = self.add("Gelu", self.linear(self.norm(x), WIDTH, 4 * WIDTH, f"{name}.up"), approximate="tanh")
        return self.add("Add", x, self.linear(hidden, 4 * WIDTH, WIDTH, f"{name}.down"))


def make_model(length, layers, tokens):
    graph = Graph()
    x = graph.add("Add", graph.add("Gather", graph.weight(tokens, WIDTH), "tokens"), graph.weight(length, WIDTH))
    for number in range(layers):
        x = graph.layer(x, length, f"layer{number}")
    graph.add("MatMul", graph.norm(x), graph.weight(WIDTH, tokens), name="logits")
    made = helper.make_graph(graph.nodes, "gpt2", [helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, length])],
                             [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, length, tokens])],
                             graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def call(*command):
    """Returns the output of a command. Ends the script if the command fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={"LP_NUM_THREADS": "1", **os.environ})
    if done.returncode != 0:
        sys.exit(f"{command[1]} failed: {done.stderr.strip()}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", type=pathlib.Path, default=ROOT / "build/release/bin/gantry", metavar="TOOL")
    parser.add_argument("--profile", default="vulkan:lavapipe", metavar="P", help="device profile (default: %(default)s)")
    parser.add_argument("--length", type=int, default=128, metavar="N", help="tokens of the text (default: %(default)s)")
    parser.add_argument("--layers", type=int, default=12, metavar="N", help="layers (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=50257, metavar="N", help="known tokens (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="time of the measurement (default: %(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gantry-gpt2-") as folder:
        source, artifact = pathlib.Path(folder, "gpt2.onnx"), pathlib.Path(folder, "gpt2.gantry")
        print("makes the model", file=sys.stderr)
        onnx.save(make_model(options.length, options.layers, options.tokens), source)
        print("compiles it", file=sys.stderr)
        call(options.gantry, "compile", source, "-p", options.profile, "-o", artifact)
        source.unlink()
        print("measures it", file=sys.stderr)
        report = json.loads(call(options.gantry, "bench", artifact, "--json", "--seconds", options.seconds))
    groups = {"matmuls of the layers": [0, 0], "output layer": [0, 0], "everything else": [0, 0]}
    inner = (".qkv", ".projection", ".up", ".down")
    for dispatch in report["dispatches"]:
        name = dispatch["name"]
        group = ("output layer" if "logits" in name
                 else "matmuls of the layers" if any(part in name for part in inner) else "everything else")
        groups[group][0] += dispatch["flops"]
        groups[group][1] += dispatch["min_ns"]
    groups["whole model"] = [sum(group[0] for group in groups.values()), sum(group[1] for group in groups.values())]
    print(f"{'':24} {'ms':>9} {'GFLOP':>9} {'GFLOP/s':>9}")
    for name, (flops, time) in groups.items():
        print(f"{name:24} {time / 1e6:9.1f} {flops / 1e9:9.2f} {flops / max(time, 1):9.1f}")
    rate = lambda name: groups[name][0] / max(1, groups[name][1])
    ratio = rate("whole model") / rate("matmuls of the layers")
    print(f"whole model / matmuls of the layers: {ratio:.2f} (wanted: {WANTED})")
    sys.exit(1 if ratio < WANTED else 0)


if __name__ == "__main__":
    main()
