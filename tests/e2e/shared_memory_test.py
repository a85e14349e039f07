#!/usr/bin/env python3
"""Models compiled for limits of shared memory from 16 to 227 KiB, and for almost none.

    shared_memory_test.py --gantry TOOL FOLDER [FOLDER ...]

For each model and limit: it compiles; every kernel's shared bytes, counted here from its SPIR-V's
variables in workgroup memory, are within the limit and as the artifact says; and within what the
software device has (32 KiB) the outputs are right. Over all models, at least ten different kernels use
shared memory, and at least one has boxes that share storage.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys

from support import Failure, Test, skip

LIMITS = [1, 16, 32, 48, 64, 96, 160, 227]  # KiB
DEVICE = 32
STAGED = "vulkan:staging"


def shared_bytes(text):
    """Of all OpVariable in Workgroup storage, from the disassembly."""
    sizes, pointees, constants, total = {}, {}, {}, 0
    for line in text.splitlines():
        found = re.match(r"\s*(%\S+) = (Op\w+)\s*(.*)", line)
        if not found:
            continue
        name, op, words = found.group(1), found.group(2), found.group(3).split()
        if op in ("OpTypeInt", "OpTypeFloat"):
            sizes[name] = int(words[0]) // 8
        elif op == "OpTypeVector":
            sizes[name] = sizes[words[0]] * int(words[1])
        elif op == "OpTypeArray":
            sizes[name] = sizes.get(words[0], 0) * constants[words[1]]
        elif op == "OpTypeStruct":
            sizes[name] = sum(sizes.get(word, 0) for word in words)
        elif op == "OpTypePointer":
            pointees[name] = words[1]
        elif op == "OpConstant" and words[1].isdigit():
            constants[name] = int(words[1])
        elif op == "OpVariable" and words[1] == "Workgroup":
            total += sizes[pointees[words[0]]]
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    if not all(folder.is_dir() for folder in options.folders):
        skip("the shared models are not part of the repository")
    test = Test(options.gantry)
    kernels, overlaid = set(), 0

    def compile_for(model, limit):
        nonlocal overlaid
        dumps = test.folder / "dumps"
        shutil.rmtree(dumps, ignore_errors=True)
        artifact = test.artifact(STAGED)
        test.call("compile", model, "-p", STAGED, "--shared-memory", f"{limit}KiB", "-o", artifact,
                  "--dump-spirv", "--dump-dir", dumps)
        most = 0
        for kernel in json.loads(test.call("inspect", artifact, "--json"))["kernels"]:
            for variant in kernel["variants"]:
                staged = variant["grid"] == 1
                path = dumps / f"{kernel['name']}.{variant['binding']}{'.staged' if staged else ''}.spvasm"
                counted = shared_bytes(path.read_text())
                if counted != variant["shared_bytes"]:
                    raise Failure(f"{path.name} takes {counted} bytes, the artifact says {variant['shared_bytes']}")
                if counted > limit * 1024:
                    raise Failure(f"{path.name} takes {counted} bytes of {limit} KiB")
                if counted and variant["boxes_bytes"] > counted:
                    overlaid += 1
                if counted:
                    kernels.add(path.read_text())
                most = max(most, counted)
        return f"at most {most} bytes"

    for folder in options.folders:
        model = next(folder / name for name in ("model.onnx", "model.mlir") if (folder / name).exists())
        case = (sorted(folder.glob("test_data_set_*")) + sorted(folder.glob("case_*")))[0]
        inputs, outputs = (sorted(p for p in case.iterdir() if p.name.startswith(kind)) for kind in ("input", "output"))
        for limit in LIMITS:
            name = f"{folder.name}, {limit} KiB"
            if test.check(name, compile_for, model, limit) and limit <= DEVICE:
                test.check(f"{name}: outputs", test.compare, inputs, outputs, "staging: shared memory, validation")
    test.check("kernels with shared memory",
               lambda: f"{len(kernels)} different" if len(kernels) >= 10 else raise_(f"only {len(kernels)}"))
    test.check("boxes that share storage", lambda: f"{overlaid}" if overlaid else raise_("none"))
    test.finish()


def raise_(text):
    raise Failure(text)


if __name__ == "__main__":
    sys.exit(main())
