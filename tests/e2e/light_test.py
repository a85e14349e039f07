#!/usr/bin/env python3
"""Tests one of ONNX's light models, with an input of n elements with the values arange(n)/n.

    light_test.py --gantry TOOL MODEL.onnx --references FOLDER

All weights of these models are equal, so their expected outputs (MODEL_output_0.pb) are nearly uniform, and a
wrongly compiled network could pass. The test therefore also compares every layer. FOLDER holds
before_softmax.npy, the operand of the last softmax, and layers.json, which has the number of elements, the L2
norm and some elements of each operator's result. tests/data/make_references.py writes both files.
"""
import argparse
import json
import math
import pathlib
import sys

from support import ARENAS, LAVAPIPE, PROFILES, TOLERANCE, VARIANTS, Failure, Test, read_npy, skip


def norm(values):
    return math.sqrt(math.fsum(float(v) * float(v) for v in values))


def compare_logits(trace, name, reference):
    shape, expected = read_npy(reference)
    found_shape, found = read_npy(trace[name])
    if tuple(found_shape) != tuple(shape):
        raise Failure(f"{name} is {found_shape}, expected {shape}")
    difference = norm(a - b for a, b in zip(found, expected)) / norm(expected)
    if not difference <= TOLERANCE:
        raise Failure(f"{name}: relative L2 {difference:.2e}, allowed {TOLERANCE}")
    return f"relative L2 {difference:.1e}"


def compare_layers(trace, layers):
    """Compares every traced tensor that has a reference. At least half of the references must be traced."""
    compared, worst = 0, 0.0
    for name, layer in layers.items():
        if name not in trace:
            continue
        _, found = read_npy(trace[name])
        if len(found) != layer["elements"]:
            raise Failure(f"{name} has {len(found)} elements, expected {layer['elements']}")
        off = abs(norm(found) - layer["l2"]) / (layer["l2"] or 1.0)
        size = layer["l2"] / math.sqrt(layer["elements"])  # Root mean square.
        for index, value in layer["samples"]:
            off = max(off, abs(found[index] - value) / (abs(value) + 0.1 * size + 1e-30))
        if not off <= TOLERANCE:
            raise Failure(f"{name} is the first layer that differs: by {off:.2e}, allowed {TOLERANCE}")
        worst, compared = max(worst, off), compared + 1
    if compared * 2 < len(layers):
        raise Failure(f"only {compared} of {len(layers)} layers were traced")
    return f"{compared} of {len(layers)} layers, worst {worst:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--references", type=pathlib.Path, required=True)
    parser.add_argument("model", type=pathlib.Path)
    options = parser.parse_args()
    if not options.model.exists():
        skip(f"{options.model.name} is not there (the shared models are not part of the repository)")
    expected = options.model.with_name(options.model.stem + "_output_0.pb")
    layers = json.loads((options.references / "layers.json").read_text())

    test = Test(options.gantry)
    if test.check("compile", lambda: test.compile(options.model) and None):
        for variant in VARIANTS:
            test.check(variant, lambda: test.compare([], [expected], variant, arguments=["--arange"]))
        test.check("arena", test.arena, test.artifact())
        test.check("limit of the arena", test.arena, test.artifact(LAVAPIPE), (), ARENAS[options.model.stem])
        for profile in PROFILES:
            test.artifact(profile).unlink()
    folder = test.folder / "layers"
    if test.check("trace", lambda: test.call("run", options.model, "--arange", "--trace-layers", folder) and None):
        index = json.loads((folder / "index.json").read_text())
        trace = {tensor["name"]: folder / tensor["file"] for tensor in index["tensors"]}
        test.check("before the softmax", compare_logits, trace, layers["before_softmax"],
                   options.references / "before_softmax.npy")
        test.check("every layer", compare_layers, trace, layers["layers"])
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
