#!/usr/bin/env python3
"""Tests how much memory known networks need, and that their concatenations and normalisations are no dispatches.

    storage_test.py --gantry TOOL [--squeezenet MODEL.onnx] [--googlenet MODEL.onnx]

ResNet-18 and DenseNet-121 are made here, with random weights (onnx_file.py); SqueezeNet 1.1 and GoogLeNet are files.
For each network, the test limits the arena, the copies and the commands of the program for the software device.
"""
import argparse
import json
import pathlib

import onnx_file
from support import Failure, Test

PROFILE = "vulkan:lavapipe"
MIB = 1 << 20
# DenseNet-121 has 120 convolutions, 4 pools, the means of the last block, and a matmul. The 62 batch normalisations and
# ReLUs belong to the commands that read or write their tensors.
DENSENET_COMMANDS = 126


def inspect(test, model, options):
    test.call("compile", model, "-p", PROFILE, "-o", test.artifact(), *options)
    return json.loads(test.call("inspect", test.artifact(), "--json"))


def limit(test, model, options, arena, copies=0, commands=None):
    """Compiles the model and checks its memory; `arena` is in MiB, None means any."""
    program = inspect(test, model, options)
    copied = [command["name"] for command in program["commands"] if command["copy_reason"] or command["kind"] == "copy"]
    if len(copied) > copies:
        raise Failure(f"{len(copied)} copies, at most {copies} are allowed: {', '.join(copied[:5])}")
    if arena is not None and program["arena_bytes"] > arena * MIB:
        raise Failure(f"the arena has {program['arena_bytes'] / MIB:.3f} MiB, at most {arena} are allowed")
    if commands is not None and len(program["commands"]) != commands:
        raise Failure(f"{len(program['commands'])} commands, expected {commands}")
    return f"{program['arena_bytes'] / MIB:.2f} MiB, {len(copied)} copies, {len(program['commands'])} commands"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--squeezenet", type=pathlib.Path, help="the file of SqueezeNet 1.1")
    parser.add_argument("--googlenet", type=pathlib.Path, help="the file of GoogLeNet (Inception v1)")
    options = parser.parse_args()
    test = Test(options.gantry)
    resnet, densenet = test.folder / "resnet18.onnx", test.folder / "densenet121.onnx"
    resnet.write_bytes(onnx_file.resnet())
    densenet.write_bytes(onnx_file.densenet())
    test.check("ResNet-18 in strips", limit, test, resnet, [], 2.3)
    test.check("DenseNet-121 without strips", limit, test, densenet, ["--no-strips"], 4.7, 0, DENSENET_COMMANDS)
    for name, path, arena in (("SqueezeNet 1.1 in strips", options.squeezenet, 1.9), ("GoogLeNet", options.googlenet, None)):
        if path and path.is_file():
            test.check(name, limit, test, path, [], arena)
        else:
            print(f"skipped: {name}: its file is not part of the repository")
    test.finish()


if __name__ == "__main__":
    main()
