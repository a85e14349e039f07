"""Tests benchmarks/kernels/on_gpu.py on the software device, with small matmuls and stand-ins for CUDA's libraries.

    on_gpu_test.py --gantry TOOL --kernel-bench BINARY --stand-ins FOLDER

The models are MLIR versions of those that benchmarks/kernels/make_models.py makes, because writing MLIR needs no
Python packages. Exit code 0: all checks passed; 1: a check failed, and each failure was printed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "kernels"
SIDE = "128"
ROWS = [f"matmul_f16_{SIDE}", f"matmul_f32_{SIDE}", "softmax"]
failures = []


MAPS = """#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
"""


def product(element):
    """Returns the MLIR of a matmul with sums in f32, as the importer makes it from an ONNX MatMul."""
    matrix, sums = f"tensor<{SIDE}x{SIDE}x{element}>", f"tensor<{SIDE}x{SIDE}xf32>"
    narrow = "" if element == "f32" else f"""
  %narrow = tensor.empty() : {matrix}
  %z = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%y : {sums}) outs(%narrow : {matrix}) {{
  ^bb0(%in: f32, %out: f16):
    %half = arith.truncf %in : f32 to f16
    linalg.yield %half : f16
  }} -> {matrix}"""
    return MAPS + f"""func.func @main(%a: {matrix}, %b: {matrix}) -> {matrix} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {sums}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {sums}) -> {sums}
  %y = linalg.matmul ins(%a, %b : {matrix}, {matrix}) outs(%init : {sums}) -> {sums}{narrow}
  return {"%z" if narrow else "%y"} : {matrix}
}}"""


def over_rows(result, operands, init, body, reduces):
    """Returns a linalg.generic over (row, column) as MLIR text.

    The first operand is the whole matrix; the other operands have one value per row. `body` computes %r, the new
    element of the result, from %p0, %p1, …: one element of each operand and, last, the current element of the result.
    reduces: whether the result has one value per row; otherwise it is a whole matrix.
    """
    whole, rows = "tensor<4096x1024xf32>", "tensor<4096xf32>"
    types = [whole] + [rows] * (len(operands) - 1)
    out = rows if reduces else whole
    maps = ", ".join(["#id"] + ["#row"] * (len(operands) - 1) + ["#row" if reduces else "#id"])
    arguments = ", ".join(f"%p{i}: f32" for i in range(len(operands) + 1))
    return f"""  {result} = linalg.generic {{indexing_maps = [{maps}],
      iterator_types = ["parallel", "{'reduction' if reduces else 'parallel'}"]}}
      ins({', '.join(operands)} : {', '.join(types)}) outs({init} : {out}) {{
  ^bb0({arguments}):
    {body}
    linalg.yield %r : f32
  }} -> {out}
"""


def softmax():
    whole, rows = "tensor<4096x1024xf32>", "tensor<4096xf32>"
    return MAPS + f"""func.func @main(%x: {whole}) -> {whole} {{
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %row = tensor.empty() : {rows}
  %all = tensor.empty() : {whole}
  %none = linalg.fill ins(%zero : f32) outs(%row : {rows}) -> {rows}
  %lows = linalg.fill ins(%least : f32) outs(%row : {rows}) -> {rows}
""" + over_rows("%max", ["%x"], "%lows", "%r = arith.maximumf %p0, %p1 : f32", True) \
    + over_rows("%e", ["%x", "%max"], "%all", "%d = arith.subf %p0, %p1 : f32\n    %r = math.exp %d : f32", False) \
    + over_rows("%sum", ["%e"], "%none", "%r = arith.addf %p0, %p1 : f32", True) \
    + over_rows("%y", ["%e", "%sum"], "%all", "%r = arith.divf %p0, %p1 : f32", False) \
    + f"  return %y : {whole}\n}}"


def expect(condition, what, done):
    if not condition:
        failures.append(what)
        print(f"failed: {what}\n{done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--kernel-bench", required=True)
    parser.add_argument("--stand-ins", required=True)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        def call(*arguments, **environment):
            return subprocess.run(
                [sys.executable, KERNELS / "on_gpu.py", folder, "--bench", options.kernel_bench, "--side", SIDE,
                 "--rounds", "1", *arguments], env=os.environ | environment, capture_output=True, text=True)

        done = call("--only", *ROWS)
        expect(done.returncode == 1 and f"{ROWS[0]}.gantry is missing" in done.stderr,
               "a missing artifact is reported", done)
        for name, text in zip(ROWS, (product("f16"), product("f32"), softmax())):
            model = pathlib.Path(folder, f"{name}.mlir")
            model.write_text(text)
            done = subprocess.run([options.gantry, "compile", model, "-o", model.with_suffix(".gantry"), "--profile",
                                   "vulkan:lavapipe"], capture_output=True, text=True)
            expect(done.returncode == 0, f"{name} is compiled", done)

        done = call("--only", "conv")
        expect(done.returncode == 1 and "no kernel conv; there are: matmul_f16_128" in done.stderr,
               "an unknown kernel is reported", done)
        done = call("--only", ROWS[0], "--bench", "/nowhere/kernel_bench")
        expect(done.returncode == 1 and "/nowhere/kernel_bench: No such file" in done.stderr,
               "a missing benchmark program is reported", done)
        done = call("--only", ROWS[0], LD_LIBRARY_PATH=options.stand_ins, STAND_IN_UUID="5" * 32)
        expect(done.returncode == 1 and "is none of CUDA's 1 devices" in done.stderr,
               "a device that CUDA does not list is reported", done)

        uuid = subprocess.run([options.kernel_bench, "--only", "matvec", "--check", "--json", f"{folder}/device.json"],
                              capture_output=True, text=True)
        found = re.search(r'"uuid": "([0-9a-f]{32})"', pathlib.Path(folder, "device.json").read_text())
        expect(found, "kernel_bench writes the device's UUID", uuid)
        done = call("--only", *ROWS, LD_LIBRARY_PATH=options.stand_ins, STAND_IN_UUID=found.group(1))
        expect(done.returncode in (0, 2), "all kernels are measured", done)
        for row, beside in zip(ROWS, (r"[\d.]+ cuBLAS", r"[\d.]+ cuBLAS", "copy bandwidth")):
            expect(re.search(rf"^{row} +[\d.]+ G\S+ +{beside} +[\d.]+ +0\.\d+", done.stdout, re.M), row, done)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
