#!/usr/bin/env python3
"""Tests matmuls of 8-bit integers by integer dot products: the results must be exact.

    dot_products_test.py --gantry TOOL [--seed N]

Each model is a matmul of signed or unsigned 8-bit integers with zero points, in MLIR. The test compiles it for a
profile with dot products, runs it on the software device, and compares the output with plain sums. The artifact
must also have a baseline without dot products.
"""
import argparse
import json
import random

import support

MODEL = """#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#s = affine_map<(m, n, k) -> ()>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @main({input}%b: tensor<{k}x{n}xi8>, %z: tensor<i8>) -> tensor<{m}x{n}xi32> {{
  {constant}
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<{m}x{n}xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<{m}x{n}xi32>) -> tensor<{m}x{n}xi32>
  %r = linalg.generic {{indexing_maps = [#a, #b, #s, #c], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b, %z : tensor<{m}x{k}xi8>, tensor<{k}x{n}xi8>, tensor<i8>) outs(%init : tensor<{m}x{n}xi32>) {{
  ^bb0(%x: i8, %y: i8, %q: i8, %acc: i32):
    %c = arith.constant {az} : i32
    %0 = arith.{ax} %x : i8 to i32
    %1 = arith.subi %0, %c : i32
    %2 = arith.{bx} %y : i8 to i32
    %3 = arith.{bx} %q : i8 to i32
    %4 = arith.subi %2, %3 : i32
    %5 = arith.muli %1, %4 : i32
    %6 = arith.addi %acc, %5 : i32
    linalg.yield %6 : i32
  }} -> tensor<{m}x{n}xi32>
  return %r : tensor<{m}x{n}xi32>
}}
"""
EXTENSION = {True: "extsi", False: "extui"}
EXTREMES = {True: (-128, 127, -1, 0), False: (0, 255, 128, 127)}

# (m, k, n): single rows and columns, full and partial tiles, and values of k that are no multiple of 4, for
# which there is only the baseline.
SIZES = ((1, 4, 1), (5, 8, 7), (8, 64, 16), (3, 100, 12), (33, 12, 34), (4, 7, 4), (6, 33, 5))
NEEDS = "integerDotProduct"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    test = support.Test(arguments.gantry)
    pick = random.Random(arguments.seed)
    print(f"seed {arguments.seed}")
    artifact = test.folder / "product.gantry"

    def byte(signed):
        return pick.choice(EXTREMES[signed]) if pick.random() < 0.5 else pick.randrange(256) - 128 * signed

    def wrapped(values):
        return [(value + 128) % 256 - 128 for value in values]

    def needs(profile):
        """Compiles the model and returns the capabilities of each variant of its only kernel, the baseline's first."""
        test.call("compile", test.folder / "product.mlir", "-p", profile, "-o", artifact)
        kernel = json.loads(test.call("inspect", artifact, "--json"))["kernels"][0]
        return [variant["capabilities"] for variant in sorted(kernel["variants"], key=lambda v: v["grid"])]

    def product(m, k, n, a_signed, b_signed, a_zero, constant):
        a = [byte(a_signed) for _ in range(m * k)]
        dense = [wrapped(a[i * k:(i + 1) * k]) for i in range(m)]
        (test.folder / "product.mlir").write_text(MODEL.format(
            m=m, k=k, n=n, az=a_zero, ax=EXTENSION[a_signed], bx=EXTENSION[b_signed],
            input="" if constant else f"%a: tensor<{m}x{k}xi8>, ",
            constant=f"%a = arith.constant dense<{dense}> : tensor<{m}x{k}xi8>" if constant else ""))
        if any(NEEDS in variant for variant in needs("vulkan:generic")):
            raise support.Failure("the generic profile has kernels with dot products")
        variants = needs("vulkan:dot-products")
        if NEEDS in variants[0] or any(NEEDS in v for v in variants) != (k % 4 == 0):
            raise support.Failure(f"the baseline must not need {NEEDS}, and another variant must need it exactly if k = {k} "
                                  f"is a multiple of 4; the variants need {variants}")
        b = [byte(b_signed) for _ in range(k * n)]
        zero = byte(b_signed)
        expected = [sum((a[i * k + l] - a_zero) * (b[l * n + j] - zero) for l in range(k))
                    for i in range(m) for j in range(n)]
        folder = test.folder
        support.write_npy(folder / "a.npy", "b", (m, k), wrapped(a))
        support.write_npy(folder / "b.npy", "b", (k, n), wrapped(b))
        support.write_npy(folder / "z.npy", "b", (), wrapped([zero]))
        support.write_npy(folder / "r.npy", "i", (m, n), expected)
        for binding in ("storage-buffer", "address"):
            inputs = [word for name in ("b", "z") for word in ("-i", folder / f"{name}.npy")]
            if not constant:
                inputs = ["-i", folder / "a.npy"] + inputs
            test.call("run", artifact, *inputs, "--expect", folder / "r.npy", "--binding", binding,
                      environment={"GANTRY_VALIDATION": "1"})
        return f"{len(variants)} variants"

    for m, k, n in SIZES:
        for a_signed in (True, False):
            b_signed = pick.random() < 0.5
            a_zero = pick.choice(EXTREMES[a_signed])
            constant = pick.random() < 0.5
            test.check(f"{m}x{k}x{n}, {'constant ' if constant else ''}{EXTENSION[a_signed]} - {a_zero} by "
                       f"{EXTENSION[b_signed]}", product, m, k, n, a_signed, b_signed, a_zero, constant)
    test.finish()


main()
