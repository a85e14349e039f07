#!/usr/bin/env python3
"""Tests models that are compiled for limits of shared memory from 16 to 227 KiB, and for 1 KiB.

    shared_memory_test.py --gantry TOOL FOLDER [FOLDER ...]

Each model must compile for each limit. The shared bytes of every kernel, which this script counts from the Workgroup
variables of its SPIR-V, must be within the limit and equal to the bytes that the artifact states. For limits up to
that of the software device (32 KiB), the outputs must be right. Over all models, at least ten different kernels must
use shared memory, and at least one must have shared-memory boxes (buffers of staged operands) that share storage. A
further model reads the result of a matmul at two places. The kernel computes the matmul at both places and may stage
the operands of one of them only.
"""
import sys

from support import LIMITS_OF_DEVICES, Failure, begin_with_folders

LIMITS = [1, *LIMITS_OF_DEVICES]  # KiB.
DEVICE = 32
TWICE = """
#here = affine_map<(i, j, k) -> (i, j, k)>
#there = affine_map<(i, j, k) -> (j, i, k)>
func.func @main(%a: tensor<SxSxKxf32>, %b: tensor<SxKxSxf32>) -> tensor<SxSxSxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<SxSxSxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<SxSxSxf32>) -> tensor<SxSxSxf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<SxSxKxf32>, tensor<SxKxSxf32>) outs(%z : tensor<SxSxSxf32>) -> tensor<SxSxSxf32>
  %y = linalg.generic {indexing_maps = [#here, #there, #here], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r, %r : tensor<SxSxSxf32>, tensor<SxSxSxf32>) outs(%e : tensor<SxSxSxf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    linalg.yield %m : f32
  } -> tensor<SxSxSxf32>
  return %y : tensor<SxSxSxf32>
}
"""


def main():
    test, folders = begin_with_folders(__doc__)
    kernels, overlaid = set(), 0

    def compile_for(model, limit):
        nonlocal overlaid
        largest = 0
        for variant, counted, text in test.shared_memory_within(model, limit):
            if counted and variant["boxes_bytes"] > counted:
                overlaid += 1
            if counted:
                kernels.add(text)
            largest = max(largest, counted)
        return f"at most {largest} bytes"

    for folder in folders:
        model = next(folder / name for name in ("model.onnx", "model.mlir") if (folder / name).exists())
        case = (sorted(folder.glob("test_data_set_*")) + sorted(folder.glob("case_*")))[0]
        inputs, outputs = (sorted(p for p in case.iterdir() if p.name.startswith(kind)) for kind in ("input", "output"))
        for limit in LIMITS:
            name = f"{folder.name}, {limit} KiB"
            if test.check(name, compile_for, model, limit) and limit <= DEVICE:
                test.check(f"{name}: outputs", test.compare, inputs, outputs, "staging: shared memory, validation")
    def read_twice(side, depth):
        model, expected = test.folder / "twice.mlir", test.folder / f"twice_{side}.npy"
        model.write_text(TWICE.replace("S", str(side)).replace("K", str(depth)))
        for profile in ("vulkan:generic", "vulkan:staging"):
            test.call("compile", model, "-p", profile, "-o", test.artifact(profile))
            test.call("run", test.artifact(profile), "--random", 3,
                      "--output" if profile == "vulkan:generic" else "--expect", expected)

    for side, depth in ((4, 8), (40, 8), (24, 64)):
        test.check(f"read twice: {side} x {side} x {depth}", read_twice, side, depth)
    test.check("kernels with shared memory",
               lambda: f"{len(kernels)} different" if len(kernels) >= 10 else raise_(
                   f"only {len(kernels)} different kernels use shared memory; at least 10 must"))
    test.check("boxes that share storage",
               lambda: f"{overlaid}" if overlaid else raise_("no kernel has boxes that share storage"))
    test.finish()


def raise_(text):
    raise Failure(text)


if __name__ == "__main__":
    sys.exit(main())
