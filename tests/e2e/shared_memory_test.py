#!/usr/bin/env python3
"""Models compiled for limits of shared memory from 16 to 227 KiB, and for almost none.

    shared_memory_test.py --gantry TOOL FOLDER [FOLDER ...]

For each model and limit: it compiles; every kernel's shared bytes, counted here from its SPIR-V's
variables in workgroup memory, are within the limit and as the artifact says; and within what the
software device has (32 KiB) the outputs are right. Over all models, at least ten different kernels use
shared memory, and at least one has boxes that share storage.
"""
import sys

from support import LIMITS_OF_DEVICES, Failure, begin_with_folders

LIMITS = [1, *LIMITS_OF_DEVICES]  # KiB
DEVICE = 32


def main():
    test, folders = begin_with_folders(__doc__)
    kernels, overlaid = set(), 0

    def compile_for(model, limit):
        nonlocal overlaid
        most = 0
        for variant, counted, text in test.shared_memory_within(model, limit):
            if counted and variant["boxes_bytes"] > counted:
                overlaid += 1
            if counted:
                kernels.add(text)
            most = max(most, counted)
        return f"at most {most} bytes"

    for folder in folders:
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
