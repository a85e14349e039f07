#!/usr/bin/env python3
"""Compares the shared memory that the profiler shows with the SPIR-V.

    profiler_shared_test.py --gantry TOOL --profiler PROGRAM FOLDER [FOLDER ...]

Each model is compiled for the generic profile and for one that forces staging, and the profiler
opens the artifact without a run. The profiler shows a bar with the shared memory of each dispatch,
for every variant of its kernel. The bytes of each bar must equal the bytes of the Workgroup
variables in the kernel's SPIR-V, which this script counts. The line of the limit must show the
limit of the profile. Over all models, at least one dispatch must use shared memory, and at least
one kernel must have shared-memory boxes (buffers of staged operands) that share storage.
"""
import argparse
import json
import pathlib
import shutil
import sys

from support import Failure, Test, shared_bytes, skip

PROFILES = ("vulkan:generic", "vulkan:staging")
LIMIT = "16.0 KiB"  # The shared-memory limit of both profiles.
WIDTH = 8192


def semantics(path):
    items = {}
    for line in path.read_text().splitlines():
        name, role, *_, text = line.split("\t")
        items.setdefault(name, (role, text))
    return items


def variants_of(kernels):
    return max(len(kernel["variants"]) for kernel in kernels.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--profiler", required=True)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    folders = [folder for folder in options.folders if folder.is_dir()]
    if not folders:
        skip("the folders do not exist: these models are not part of the repository")
    test = Test(options.gantry)
    totals = {"dispatches": 0, "staged": 0, "overlaid": 0}

    def look(model, profile):
        dumps = test.folder / "dumps"
        shutil.rmtree(dumps, ignore_errors=True)
        artifact, words = test.folder / "model.gantry", test.folder / "seen.txt"
        test.call("compile", model, "-p", profile, "-o", artifact, "--dump-spirv", "--dump-dir", dumps)
        program = json.loads(test.call("inspect", artifact, "--json"))
        kernels = {kernel["name"]: kernel for kernel in program["kernels"]}
        variants, commands = variants_of(kernels), program["commands"]
        # Without a run, the profiler shows all commands once for each variant of the kernels: each
        # command as 10 us, with 20 us between the variants. A bar needs two pixels, so a view of
        # this many commands shows a bar for each of them.
        at_once = WIDTH // 4
        shown, limit = {}, None
        length = 10 * len(commands) + 20
        for begin in range(0, length * variants, 10 * at_once):
            test.program(options.profiler, "--render", test.folder / "seen.png", "--view", "dispatches",
                         "--size", f"{WIDTH}x600", "--time", f"{begin}us:{begin + 10 * at_once + 10}us",
                         "--semantics", words, artifact)
            items = semantics(words)
            shown.update({int(name[7:]): text for name, (role, text) in items.items()
                          if role == "bar" and name.startswith("shared/")})
            if "shared/limit" in items:
                limit = items["shared/limit"][1]
        if len(shown) != variants * len(commands):
            raise Failure(f"{len(shown)} bars for {variants} variants of {len(commands)} commands")
        if limit != LIMIT:
            raise Failure(f"the line of the limit shows {limit}, the profile has {LIMIT}")
        staged = 0
        for index, text in sorted(shown.items()):
            variant, command = index // len(commands), commands[index % len(commands)]
            expected = 0
            if command["kind"] == "dispatch":
                kernel = kernels[command["kernel"]]
                chosen = kernel["variants"][min(variant, len(kernel["variants"]) - 1)]
                suffix = ".staged" if chosen["grid"] == 1 else ""
                path = dumps / f"{kernel['name']}.{chosen['binding']}{suffix}.spvasm"
                expected = shared_bytes(path.read_text())
                totals["overlaid"] += chosen["boxes_bytes"] > expected > 0
            if text != f"{expected} bytes":
                raise Failure(f"dispatch {index} ({command['name']}, variant {variant + 1}) shows '{text}', "
                              f"the SPIR-V has {expected} bytes")
            staged += expected > 0
        totals["dispatches"] += len(shown)
        totals["staged"] += staged
        return f"{len(shown)} dispatches of {variants} variants, {staged} with shared memory; limit {limit}"

    for folder in folders:
        model = next(folder / name for name in ("model.onnx", "model.mlir") if (folder / name).exists())
        for profile in PROFILES:
            test.check(f"{folder.name}, {profile}", look, model, profile)
    test.check("shared memory is seen", lambda: seen(totals, "staged", "dispatches use shared memory"))
    test.check("boxes with the same storage are seen", lambda: seen(totals, "overlaid", "dispatches have boxes that share storage"))
    test.finish()


def seen(totals, what, words):
    if not totals[what]:
        raise Failure(f"0 of {totals['dispatches']} {words}; at least one must")
    return f"{totals[what]} of {totals['dispatches']} {words}"


if __name__ == "__main__":
    sys.exit(main())
