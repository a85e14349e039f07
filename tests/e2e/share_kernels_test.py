#!/usr/bin/env python3
"""Tests kernels that several dispatches share although their sizes differ (the pass share-kernels).

    share_kernels_test.py --gantry TOOL

A model is compiled with --separate-kernels and without. The outputs must be equal in every variant, and the shared kernels
must be fewer by at least as many as expected.
"""
import argparse
import array
import json

import onnx_file
from support import PROFILES, VARIANTS, Failure, Test, write_npy


def block(shape, layers, narrow, growth, outputs):
    """Each layer reads the results of all layers before it, so the layers differ in the number of channels only."""
    graph = onnx_file.Graph(shape)
    tensors = ["x"]
    for _ in range(layers):
        joined = graph.concat(*tensors) if len(tensors) > 1 else "x"
        tensors.append(graph.conv(graph.conv(joined, narrow, 1), growth, 3))
    y = graph.conv(graph.concat(*tensors), outputs, 1)
    return graph.model(y, [shape[0], outputs] + shape[2:]), shape


def dense_block():
    return block([1, 64, 14, 14], 6, 64, 32, 8)


def odd_block():
    """Returns a block with sizes that are not multiples of a vector or a tile."""
    return block([2, 5, 9, 11], 4, 13, 3, 7)


def dilated():
    """Layers that differ in their dilations. Their kernels are not shared today; the outputs must be right in any case."""
    graph = onnx_file.Graph([1, 8, 20, 20])
    x = "x"
    for dilation in (2, 4, 6, 8):
        weight = graph.weight([8, 8, 3, 3], 0.2)
        x = graph.node("Conv", [x, weight], 8, kernel_shape=[3, 3], dilations=[dilation] * 2, pads=[dilation] * 4)
    return graph.model(x, [1, 8, 20, 20]), [1, 8, 20, 20]


def layers():
    """Matmuls of growing width, and of equal width with more rows of weights."""
    graph = onnx_file.Graph([64, 64])
    x, width = "x", 64
    for outputs in (96, 128, 160, 128, 96, 64):
        x = graph.node("MatMul", [x, graph.weight([width, outputs], width ** -0.5)], outputs)
        x = graph.node("Relu", [x], outputs)
        width = outputs
    return graph.model(x, [64, 64]), [64, 64]


def kernels(test, artifact):
    return len(json.loads(test.call("inspect", artifact, "--json"))["kernels"])


def compared(test, make, fewer):
    """fewer: by profile, the least number of kernels that sharing saves."""
    model, shape = make()
    path = test.folder / "model.onnx"
    path.write_bytes(model)
    count = 1
    for extent in shape:
        count *= extent
    random = onnx_file.Graph(shape, seed=7).random
    write_npy(test.folder / "x.npy", "f", tuple(shape), array.array("f", [random.uniform(-1, 1) for _ in range(count)]))
    said = []
    for profile, least in zip(PROFILES, fewer):
        artifact = test.folder / "separate.gantry"
        test.call("compile", path, "-p", profile, "-o", artifact, "--separate-kernels")
        separate = kernels(test, artifact)
        test.call("run", artifact, "--input", test.folder / "x.npy", "-o", test.folder / f"{profile.split(':')[1]}.npy")
        test.call("compile", path, "-p", profile, "-o", artifact)
        shared = kernels(test, artifact)
        said.append(f"{separate} -> {shared}")
        if separate - shared < least:
            raise Failure(f"{profile}: {shared} kernels instead of {separate}; expected {least} fewer")
    test.compile(path)
    for variant, (profile, _, _) in VARIANTS.items():
        test.compare([test.folder / "x.npy"], [test.folder / f"{profile.split(':')[1]}.npy"], variant, 1e-6)
    return "kernels " + ", ".join(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = Test(parser.parse_args().gantry)
    test.check("dense block", compared, test, dense_block, (4, 3, 4))
    test.check("odd sizes", compared, test, odd_block, (3, 3, 2))
    test.check("dilations", compared, test, dilated, (0, 0, 0))
    test.check("matmuls", compared, test, layers, (1, 0, 1))
    test.finish()


if __name__ == "__main__":
    main()
