#!/usr/bin/env python3
"""Tests tensors larger than the device's largest binding. The device's preferred kernels and those for storage buffers
must read and write them in slices (parts of a tensor that fit a binding) and give the same output as the kernels that
use addresses.

    slices_test.py --gantry TOOL
"""
import argparse
import json

import support

MODEL = """#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<ROWSx1024xf32>, %b: tensor<1024xf32>) -> tensor<ROWSx1024xf32> {
  %e = tensor.empty() : tensor<ROWSx1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<ROWSx1024xf32>, tensor<1024xf32>) outs(%e : tensor<ROWSx1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = arith.mulf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<ROWSx1024xf32>
  return %r : tensor<ROWSx1024xf32>
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gantry", required=True)
    arguments = parser.parse_args()
    test = support.Test(arguments.gantry)
    devices = json.loads(test.call("devices", "--json"))
    limit = devices["devices"][0]["max_storage_buffer_bytes"]
    rows = limit // 4096 + 24  # The last slice is shorter than the others.
    model = test.folder / "large.mlir"
    model.write_text(MODEL.replace("ROWS", str(rows)))
    artifact = test.folder / "large.gantry"

    def compiled():
        test.call("compile", model, "-p", "vulkan:lavapipe", "-o", artifact)

    def run(binding):
        test.call("run", artifact, "--random", "1", "--binding", binding, "-o", test.folder / f"{binding}.npy",
                  environment={"GANTRY_VALIDATION": "1"})

    def same(binding):
        if (test.folder / "address.npy").read_bytes() != (test.folder / f"{binding}.npy").read_bytes():
            raise support.Failure(f"the outputs with --binding address and {binding} differ")
        return f"{rows} rows of 4 KiB"

    def sliced(binding):
        report = json.loads(test.call("bench", artifact, "--runs", "1", "--warmup", "0", "--binding", binding, "--json"))
        dispatch = report["dispatches"][0]
        if dispatch["parts"] < 2 or dispatch["binding"] == "address":
            raise support.Failure("the dispatch must run in 2 or more parts and not by address; it ran in "
                                  f"{dispatch['parts']} parts, bound by {dispatch['binding']}")
        return f"{dispatch['parts']} parts, bound by {dispatch['binding']}"

    if test.check("compiles", compiled):
        test.check("runs by address", run, "address")
        for binding in ("auto", "storage-buffer"):
            test.check(f"runs with --binding {binding}", run, binding)
            test.check("same output", same, binding)
            test.check("in slices", sliced, binding)
    test.finish()


main()
