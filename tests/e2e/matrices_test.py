#!/usr/bin/env python3
"""Tests kernels that multiply f16 matrices with cooperative matrices.

    matrices_test.py --gantry TOOL MODEL_FOLDER [MODEL_FOLDER ...]

No software device has cooperative matrices, so this script validates and interprets the SPIR-V modules. They must
be valid, require the features that they use, and use the planned shared memory. spirv_run.py interprets each module
on small integers; the module must write every element of the result exactly once, with the exact value.
"""
import functools
import itertools
import json
import pathlib
import random
import re
import shutil
import struct

from spirv_module import Invalid, Module
from spirv_run import Buffer, Kernel, Wrong
from support import Failure, begin_with_folders

# For each profile the subgroup size and the shape (m, n, k) of one cooperative multiplication, as in docs/profiles.md.
PROFILES = {"vulkan:nvidia-ada": (32, (16, 16, 16)), "vulkan:amd-rdna3": (64, (16, 16, 16)),
            "vulkan:intel-arc": (8, (8, 8, 16))}

SEED = 7  # For the numbers and for the random matmuls.
RANDOM = 16  # The number of random matmuls.

# A contraction of two tensors, with its loops and indexing maps, and an epilogue.
MODEL = """#a = affine_map<({loops}) -> ({a})>
#b = affine_map<({loops}) -> ({b})>
#c = affine_map<({loops}) -> ({c})>
#id = affine_map<({c}) -> ({c})>
#bias = affine_map<({c}) -> ({bias})>
func.func @main(%a: {ta}, %b: {tb}, %bias: {tbias}) -> {tc} {{
  %zero = arith.constant 0.0 : {sum}
  %none = arith.constant 0.0 : f16
{pad}  %e = tensor.empty({sizes}) : {tsum}
  %i = linalg.fill ins(%zero : {sum}) outs(%e : {tsum}) -> {tsum}
  %p = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = [{kinds}]}}
      ins({padded}, %b : {tpadded}, {tb}) outs(%i : {tsum}) {{
  ^bb0(%x: f16, %y: f16, %s: {sum}):
{body}    linalg.yield %t : {sum}
  }} -> {tsum}
  %f = tensor.empty({sizes}) : {tc}
  %r = linalg.generic {{indexing_maps = [#id, #bias, #id], iterator_types = [{parallel}]}}
      ins(%p, %bias : {tsum}, {tbias}) outs(%f : {tc}) {{
  ^bb0(%x: {sum}, %y: f16, %o: f16):
{end}    %v = arith.maximumf %u, %none : f16
    linalg.yield %v : f16
  }} -> {tc}
  return %r : {tc}
}}
"""
BODIES = {
    "f16": ("    %m = arith.mulf %x, %y : f16\n    %t = arith.addf %s, %m : f16\n",
            "    %u = arith.addf %x, %y : f16\n"),
    "f32": ("    %l = arith.extf %x : f16 to f32\n    %k = arith.extf %y : f16 to f32\n"
            "    %m = arith.mulf %l, %k : f32\n    %t = arith.addf %s, %m : f32\n",
            "    %w = arith.extf %y : f16 to f32\n    %q = arith.addf %x, %w : f32\n"
            "    %u = arith.truncf %q : f32 to f16\n"),
}


class Product:
    """A model that computes relu(sum of a · b + bias), and its expected result, which plain loops compute.

    The sum is over the loops that do not index c. a, b and c are lists of index expressions in MLIR's syntax, over
    loops that are named by single letters. The bias is indexed by one loop of c. sizes: the size of each loop. total:
    the element type of the sums. pad: the padding of a on both sides of its dimensions from the third on. dynamic: the
    loop whose size is dynamic, if any."""

    def __init__(self, sizes, a, b, c, bias, total="f16", pad=0, dynamic=""):
        self.sizes, self.total, self.pad, self.dynamic = sizes, total, pad, dynamic
        self.a, self.b, self.c, self.bias = ([e.strip() for e in side.split(",")] for side in (a, b, c, bias))

    def size(self, expr):
        """Returns the size of a dimension with an index like "h * 2 + y"."""
        return eval(expr, {}, {loop: size - 1 for loop, size in self.sizes.items()}) + 1

    def shape(self, side, pad=0):
        sizes = [self.size(expr) for expr in side]
        return sizes[:2] + [size - 2 * pad for size in sizes[2:]] if pad else sizes

    def tensor(self, side, element, pad=0):
        dims = ["?" if expr in self.dynamic else str(size) for expr, size in zip(side, self.shape(side, pad))]
        return f"tensor<{'x'.join(dims + [element])}>"

    def text(self):
        loops = list(self.sizes)
        pad, padded = "", "%a"
        if self.pad:
            edges = ", ".join(["0", "0"] + [str(self.pad)] * (len(self.a) - 2))
            names = ", ".join(f"%i{d}: index" for d in range(len(self.a)))
            padded = "%padded"
            pad = (f"  %padded = tensor.pad %a low[{edges}] high[{edges}] {{\n  ^bb0({names}):\n"
                   f"    tensor.yield %none : f16\n  }} : {self.tensor(self.a, 'f16', self.pad)} to "
                   f"{self.tensor(self.a, 'f16')}\n")
        sizes = ""
        if self.dynamic:
            pad += f"  %axis = arith.constant {self.a.index(self.dynamic)} : index\n" \
                   f"  %n = tensor.dim %a, %axis : {self.tensor(self.a, 'f16')}\n"
            sizes = "%n"
        body, end = BODIES[self.total]
        return MODEL.format(
            loops=", ".join(loops), a=", ".join(self.a), b=", ".join(self.b), c=", ".join(self.c),
            bias=", ".join(self.bias), ta=self.tensor(self.a, "f16", self.pad), tb=self.tensor(self.b, "f16"),
            tc=self.tensor(self.c, "f16"), tsum=self.tensor(self.c, self.total), tbias=self.tensor(self.bias, "f16"),
            tpadded=self.tensor(self.a, "f16"), sum=self.total, pad=pad, padded=padded, sizes=sizes,
            kinds=", ".join('"parallel"' if loop in self.c else '"reduction"' for loop in loops),
            parallel=", ".join(['"parallel"'] * len(self.c)), body=body, end=end)

    @functools.cached_property
    def numbers(self):
        """Returns the numbers of a, b and the bias, and the expected result."""
        source = random.Random(SEED)
        sides = (self.shape(self.a, self.pad), self.shape(self.b), self.shape(self.bias))
        tensors = [[float(source.randint(-3, 3)) for _ in range(product(shape))] for shape in sides]
        loops = list(self.sizes)

        def places(side, shape, shift=0):
            """Returns a function from the loops' values to the position of the element, or to -1 in the padding."""
            terms = []
            for d, (expr, size) in enumerate(zip(side, shape)):
                moved = f"({expr} - {shift if d >= 2 else 0})"
                terms.append((moved, size, product(shape[d + 1:])))
            inside = " and ".join(f"0 <= {t} < {size}" for t, size, _ in terms)
            text = f"lambda {', '.join(loops)}: ({' + '.join(f'{t} * {step}' for t, _, step in terms)}) if {inside} else -1"
            return eval(text)

        at = [places(self.a, sides[0], self.pad), places(self.b, sides[1]), places(self.bias, sides[2])]
        place = places(self.c, self.shape(self.c))
        expected = [None] * product(self.shape(self.c))
        for point in itertools.product(*(range(size) for size in self.sizes.values())):
            result = place(*point)
            if expected[result] is None:
                expected[result] = tensors[2][at[2](*point)]
            x = at[0](*point)
            if x >= 0:
                expected[result] += tensors[0][x] * tensors[1][at[1](*point)]
        return tensors, [max(0.0, value) for value in expected]


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


CONVOLUTION = ("n, i, h + y, w + x", "o, i, y, x", "n, o, h, w", "o")
PRODUCTS = {
    "64x64x64": Product(dict(m=64, n=64, k=64), "m, k", "k, n", "m, n", "n"),
    "130x72x100, sums in f32": Product(dict(m=130, n=72, k=100), "m, k", "k, n", "m, n", "n", "f32"),
    "large tiles: 250x252x24": Product(dict(m=250, n=252, k=24), "m, k", "k, n", "m, n", "n"),
    "odd: 37x45x19": Product(dict(m=37, n=45, k=19), "m, k", "k, n", "m, n", "n"),
    "a few rows: 9x64x48": Product(dict(m=9, n=64, k=48), "m, k", "k, n", "m, n", "n"),
    "second one transposed: 48x40x36": Product(dict(m=48, n=40, k=36), "m, k", "n, k", "m, n", "m"),
    "first one transposed: 33x48x50": Product(dict(m=33, n=48, k=50), "k, m", "k, n", "m, n", "n"),
    "exchanged: 40x36x32": Product(dict(m=40, n=36, k=32), "n, k", "m, k", "m, n", "n"),
    "batched: 3x20x28x40": Product(dict(b=3, m=20, n=28, k=40), "b, m, k", "b, k, n", "b, m, n", "n"),
    "one for all of a batch: 2x24x32x17": Product(dict(b=2, m=24, n=32, k=17), "b, m, k", "k, n", "b, m, n", "m"),
    "any number of rows, 41: 24x32": Product(dict(m=41, n=24, k=32), "m, k", "k, n", "m, n", "n", dynamic="m"),
    "1x1 convolution": Product(dict(n=2, o=20, h=7, w=8, i=24, y=1, x=1), *CONVOLUTION),
    "3x3 convolution": Product(dict(n=1, o=40, h=7, w=9, i=20, y=3, x=3), *CONVOLUTION),
    "3x3 convolution of 64 channels": Product(dict(n=1, o=32, h=6, w=8, i=64, y=3, x=3), *CONVOLUTION, pad=1),
    "3x3 convolution, padded, of 2 images": Product(dict(n=2, o=17, h=6, w=6, i=5, y=3, x=3), *CONVOLUTION, pad=1),
    "5x5 convolution, strides of 2, sums in f32": Product(
        dict(n=1, o=66, h=7, w=9, i=3, y=5, x=5), "n, i, h * 2 + y, w * 2 + x", *CONVOLUTION[1:], "f32", pad=2),
}

def random_product(source):
    """Returns a contraction of random sizes for which cooperative matrices are worthwhile."""
    any_of = lambda low, high: source.randint(low, high)
    total = source.choice(["f16", "f32"])
    kind = source.choice(["plain", "transposed", "batched", "convolution"])
    if kind == "plain":
        return Product(dict(m=any_of(17, 140), n=any_of(17, 140), k=any_of(8, 90)), "m, k", "k, n", "m, n", "n", total)
    if kind == "transposed":
        return Product(dict(m=any_of(17, 90), n=any_of(17, 90), k=any_of(8, 90)), "k, m", "n, k", "m, n", "m", total)
    if kind == "batched":
        return Product(dict(b=any_of(1, 4), m=any_of(17, 50), n=any_of(17, 50), k=any_of(8, 60)),
                       "b, m, k", "b, k, n", "b, m, n", "n", total)
    step, window = any_of(1, 2), any_of(1, 3)
    sizes = dict(n=any_of(1, 2), o=any_of(17, 40), h=any_of(4, 9), w=any_of(4, 9), i=any_of(8, 24), y=window, x=window)
    return Product(sizes, f"n, i, h * {step} + y, w * {step} + x", *CONVOLUTION[1:], total, pad=any_of(0, window // 2))


def main():
    test, folders = begin_with_folders(__doc__)
    model, artifact, dumps = (test.folder / name for name in ("product.mlir", "product.gantry", "dumps"))

    def compile_for(path, profile, *arguments):
        """Compiles the model. Returns the artifact's contents, and for each variant with cooperative matrices the
        variant, its kernel and its module. Checks the required features and the shared memory."""
        shutil.rmtree(dumps, ignore_errors=True)
        test.call("compile", path, "-p", profile, "-o", artifact, "--dump-spirv", "--dump-ir=share-kernels", "--dump-dir", dumps,
                  *arguments)
        test.verify_ir(dumps)
        whole = json.loads(test.call("inspect", artifact, "--json"))
        found = []
        for kernel in whole["kernels"]:
            for variant in kernel["variants"]:
                wanted = [c for c in variant["capabilities"] if c.startswith("cooperativeMatrix")]
                dump = dumps / f"{kernel['name']}.{variant['binding']}.matrices.spv"
                if not wanted:
                    continue
                lanes, (m, n, k) = PROFILES[profile]
                if wanted != [f"cooperativeMatrix {m}x{n}x{k} f16 f32"] or variant["subgroup_size"] != lanes:
                    raise Failure(f"{dump.name} needs {wanted} and subgroups of {variant['subgroup_size']}, expected shape "
                                  f"{m}x{n}x{k} and subgroups of {lanes}")
                module = Module(dump.read_bytes())
                if module.shared_bytes() != variant["shared_bytes"]:
                    raise Failure(f"{dump.name} takes {module.shared_bytes()} bytes, planned {variant['shared_bytes']}")
                shapes = {(a[2], b[3], a[3]) for op in module.all("CooperativeMatrixMulAddKHR")
                          for a, b in [[module.matrix(module.type_of(word)) for word in op.words[:2]]]}
                if shapes != {(m, n, k)}:
                    raise Failure(f"{dump.name} multiplies matrices of the shapes {shapes}, expected {(m, n, k)}")
                found.append((variant, kernel, module))
        return whole, found

    def workgroups(whole, variant):
        first = 3 * (variant["grid"] - 1)
        return product(whole["commands"][0]["other_workgroups"][first:first + 3])

    def run_product(case, profile):
        model.write_text(case.text())
        whole, found = compile_for(model, profile)
        if [variant["binding"] for variant, _, _ in found] != ["storage_buffer", "address"]:
            raise Failure("expected two variants with cooperative matrices, for storage buffers and for addresses; found "
                          f"the tiles {[variant['tile'] for variant, _, _ in found]} of {whole['kernels'][0]['tile']}")
        numbers, expected = case.numbers
        dims = [case.sizes[case.dynamic]] if case.dynamic else []
        if dims:
            size = f"--dim={whole['symbols'][0]['name']}={dims[0]}"
            whole = json.loads(test.call("inspect", artifact, "--json", size))
        for variant, _, module in found:
            kernel = Kernel(module)
            result = Buffer([None] * len(expected))
            kernel.run([*map(Buffer, numbers), result], variant["subgroup_size"], workgroups(whole, variant), dims)
            wrong = [i for i, value in enumerate(result.values) if value != expected[i]]
            if wrong:
                i = wrong[0]
                raise Failure(f"{len(wrong)} of {len(expected)} elements are wrong; element {i} is "
                              f"{result.values[i]} instead of {expected[i]} ({variant['tile']})")
        return f"{variant['tile']}, {kernel.counts['multiply']} multiplications"

    def run_random():
        """Runs random contractions. Most must use cooperative matrices; for some, another tile is cheaper."""
        source, ran = random.Random(SEED), 0
        for _ in range(RANDOM):
            case, profile = random_product(source), source.choice(list(PROFILES))
            model.write_text(case.text())
            if compile_for(model, profile)[1]:
                try:
                    guarded(run_product, case, profile)
                except Failure as failure:
                    raise Failure(f"{profile}, {case.sizes}: {failure}") from failure
                ran += 1
        if ran < RANDOM * 2 // 3:
            raise Failure(f"only {ran} of {RANDOM} random matmuls use cooperative matrices; two thirds must")
        return f"{ran} of {RANDOM}"

    def judged(profile):
        """Checks that the validator and the interpreter find injected faults: wrong operands, overlapping rows, a
        barrier of the subgroup instead of the workgroup, and a buffer that is one element too short."""
        case = PRODUCTS["64x64x64"]
        model.write_text(case.text())
        whole, found = compile_for(model, profile)
        variant, kernel, module = found[0]
        data = (dumps / f"{kernel['name']}.storage_buffer.matrices.spv").read_bytes()
        numbers, expected = case.numbers
        barriers = module.all("ControlBarrier")
        scopes = {module.constant(op.words[0]): op.words[0] for op in barriers}
        last = max(i for i, op in enumerate(barriers) if op.words[0] == scopes[2])

        def run(changed, missing=0):
            tensors = [Buffer(values) for values in numbers] + [Buffer([None] * (len(expected) - missing))]
            Kernel(Module(changed)).run(tensors, variant["subgroup_size"], workgroups(whole, variant))

        def change(name, index, word, value):
            words = list(struct.unpack(f"<{len(data) // 4}I", data))
            at = module.places(name)[index] + word
            words[at] = value(words) if callable(value) else value
            return struct.pack(f"<{len(words)}I", *words)

        multiplied = module.all("CooperativeMatrixMulAddKHR")[0].words
        one = next(op.result for op in module.all("Constant")
                   if op.words[0] == 1 and module.op(op.type).name == "TypeInt")
        faults = {
            "uses": lambda: run(change("CooperativeMatrixMulAddKHR", 0, 3, multiplied[1])),
            "a stride": lambda: run(change("CooperativeMatrixLoadKHR", 0, 5, one)),
            "no barrier between": lambda: run(change("ControlBarrier", last, 1, scopes[3])),
            "is written": lambda: run(data, missing=1),
        }
        for reason, fault in faults.items():
            try:
                fault()
            except (Invalid, Wrong) as seen:
                if reason in str(seen):
                    continue
                raise Failure(f"the error for the fault must contain '{reason}': {seen}") from seen
            raise Failure(f"an injected fault was not found; expected an error that contains '{reason}'")
        return f"{len(faults)} faults"

    def limited(case, profile, limit):
        model.write_text(case.text())
        whole, found = compile_for(model, profile, "--shared-memory", str(limit))
        bytes_ = [variant["shared_bytes"] for kernel in whole["kernels"] for variant in kernel["variants"]]
        if max(bytes_) > limit:
            raise Failure(f"the variants take {bytes_} bytes of shared memory; the limit is {limit}")
        comparison = next(v["comparison"] for v in whole["kernels"][0]["variants"] if v["grid"])
        if not any(f"more than the limit of {limit}" in line and "matrices" in line for line in comparison):
            raise Failure("the limit refuses no candidate tile with cooperative matrices")
        return found[0][0]["tile"] if found else "without matrices"

    def without(text, profile, reason):
        """Checks that a model does not use cooperative matrices. reason: the error if it does."""
        model.write_text(text)
        test.call("compile", model, "-p", profile, "-o", artifact)
        said = test.call("inspect", artifact, "--why", "0")
        if "matrices" in said:
            raise Failure(f"{reason}: {said[:600]}")

    def whole_model(path, profile):
        _, found = compile_for(path, profile, "--precision", "f16", "--dump-native",
                               "gfx1100" if "amd" in profile else "sm_89")
        kernels = {path.name.split(".")[0] for path in dumps.glob("*.spv")}
        native = {path.name.split(".")[0] for path in dumps.glob("*") if path.suffix in (".ptx", ".s")}
        if kernels != native:
            raise Failure(f"kernels without assembly: {sorted(kernels - native)}")
        multiplying.update({(path, kernel["name"]) for _, kernel, _ in found})
        return f"{len({kernel['name'] for _, kernel, _ in found})} of {len(kernels)} kernels"

    def guarded(check, *arguments):
        try:
            return check(*arguments)
        except (Invalid, Wrong) as wrong:
            raise Failure(str(wrong)) from wrong

    for name, case in PRODUCTS.items():
        for profile in PROFILES:
            test.check(f"{name}, {profile}", guarded, run_product, case, profile)
    test.check(f"random products, seed {SEED}", run_random)
    for profile in PROFILES:
        test.check(f"faults are seen, {profile}", guarded, judged, profile)
    for limit in (4096, 8192, 16384):
        test.check(f"64x64x64 within {limit} bytes", guarded, limited, PRODUCTS["64x64x64"], "vulkan:nvidia-ada", limit)

    square = PRODUCTS["64x64x64"].text()
    test.check("f32", without, re.sub(r"f16", "f32", square), "vulkan:nvidia-ada", "f32 is multiplied as f16")
    test.check("maxima of products", without, square.replace("arith.addf %s, %m", "arith.maximumf %s, %m"),
               "vulkan:nvidia-ada", "maxima are summed")
    test.check("a first sum", without, square.replace("%zero = arith.constant 0.0", "%zero = arith.constant 1.0"),
               "vulkan:nvidia-ada", "the first sum is lost")
    test.check("a device without", without, square, "vulkan:amd-rdna2", "the profile has no matrices")

    multiplying = set()
    for folder in folders:
        path = next(folder / name for name in ("model.onnx", "model.mlir") if (folder / name).exists())
        for profile in PROFILES:
            test.check(f"{folder.name}, {profile}", guarded, whole_model, path, profile)
    test.check("models multiply matrices", lambda: f"{len(multiplying)} kernels" if multiplying else none_do())
    test.finish()


def none_do():
    raise Failure("no kernel of any model uses cooperative matrices")


if __name__ == "__main__":
    main()
