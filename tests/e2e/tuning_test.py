#!/usr/bin/env python3
"""Tests measured tiles: `gantry tune`, and `compile --tuning` with its table (docs/tuning.md).

`gantry tune` measures tiles of kernels on a device and writes the faster ones into a table.
`compile --tuning` takes the tiles of such a table instead of those that the compiler predicts to be
fastest.

    tuning_test.py --gantry TOOL FOLDER [FOLDER ...]

FOLDER is as for model_test.py. Each model is compiled with tables of random tiles, for lavapipe and
for a profile with staged kernels (kernels that hold operands in shared memory). With every table,
the outputs must be right, and every kernel must have the table's tile or a remark that gives the
reason why the tile was not taken. Further checks test hand-written and damaged tables.
"""
import json
import random
import sys

from model_test import files
from support import Failure, begin_with_folders

SEED, TABLES = 11, 3  # Tables of random tiles for each model and profile.
VARIANTS = {"vulkan:lavapipe": "lavapipe: texel, validation", "vulkan:staging": "staging: shared memory, validation"}
LAVAPIPE = "vulkan:lavapipe"

# A matmul of 24x16 and 16x32 matrices.
MODEL = """func.func @main(%a: tensor<24x16xf32>, %b: tensor<16x32xf32>) -> tensor<24x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
  %p = linalg.matmul ins(%a, %b : tensor<24x16xf32>, tensor<16x32xf32>)
      outs(%i : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %p : tensor<24x32xf32>
}
"""
# A matmul of 96x96 matrices: a good tile is more than ten times faster than the slowest one, so that
# other programs that take time of the processors do not change which of them is faster.
LARGE_MODEL = MODEL.replace("24x16", "96x96").replace("16x32", "96x96").replace("24x32", "96x96")
# Exact texts of tiles (codegen/tiling/tile_text.h) that the matmul's kernel can have.
FITS = ["baseline points=4x4 steps=4", "baseline points=1x3 steps=1", "baseline points=16 steps=4 merged=0",
        "texel points=2x4 steps=8 lanes=8 along=1",
        "texel points=6x4 steps=4 lanes=8 along=1 run=4"]
# Texts of tiles that the kernel cannot have, each with a part of the compiler's reason.
MISFITS = {
    "texel points=4x4x4 steps=4": "it has points along 3 dimensions, but the kernel's result has 2",
    "texel points=4x4 steps=5": "5 steps do not divide a reduction over 16",
    "texel points=4x4 steps=4x4": "it has steps for 2 reduction dimensions, but the kernel has 1",
    "texel points=4x4 steps=4 lanes=4 along=1": "4 lanes are not the subgroup size, 8",
    "texel points=4x4 steps=4 lanes=8 along=2": "its lanes lie along dimension 2, but the tile has 2 dimensions",
    "texel points=4x4 steps=4 lanes=8 along=1 run=3": "runs of 3 do not divide the 4 points of a lane and the extent 32",
    "texel points=4x4 steps=4 run=4": "only tiles with lanes have runs",
    "texel points=1024 steps=16 merged=0": "its points times steps are more than 8192",
    "texel points=4x4 steps=4 merged=2": "dimensions from 2 on cannot be merged",
    "baseline points=4x4 steps=4 lanes=8 along=1": "a baseline tile has no lanes",
    "texel points=4x4": "a tile needs points",
    "texel points=4x4 steps=4 points=4x4": "'points=4x4' is not a word of a tile's text",
    "texel points=4x-4 steps=4": "'points=4x-4' is not a word of a tile's text",
    "texel points=4x99999999999999999999 steps=4": "is not a word of a tile's text",
    "texel run=": "'run=' is not a word of a tile's text",
    "staged points=4x4 steps=4 threads=8x8 staged=16": "no tile of this kind that fits into shared memory has this text",
    "dots points=4x4 steps=4": "the profile has no tiles of that kind",
}
ENTRY = '{"tile": "baseline points=1 steps=1"}'
MALFORMED = {
    "": "is not JSON", "[": "is not JSON", "[" * 100000: "too deeply", "[]": "is not a table of measured tiles",
    '{"gantry_tuning": "1"}': "is not a table", '{"gantry_tuning": 1}': 'has no list of "devices"',
    '{"gantry_tuning": 2, "devices": []}': "has version 2",
    '{"gantry_tuning": 1, "devices": [{"profile": "p", "kernels": {}}]}': 'device 0 lacks "profile", "device"',
    '{"gantry_tuning": 1, "devices": [{"profile": "p", "device": "d", "kernels": {"k1": {}}}]}':
        'kernel "k1" of "d" has no "tile"',
    '{"gantry_tuning": 1, "devices": [{"profile": "p", "device": "d", "kernels": {"k1": 7}}]}':
        'kernel "k1" of "d" is not an object',
    '{"gantry_tuning": 1, "devices": [{"profile": "p", "device": "d", "kernels": {"k1": {"tile": "x", "ns": -1}}}]}':
        'kernel "k1" of "d" has a time that is negative',
    '{"gantry_tuning": 1, "devices": [{"profile": "p", "device": "d", "kernels": {"k1": {"tile": "warp points=4"}}}]}':
        'kernel "k1" of "d" has a "tile" that is not a kind, a space and a text',
}


class Tuning:
    def __init__(self, test):
        self.test = test
        self.table = test.folder / "table.json"
        self.model = test.folder / "product.mlir"
        self.model.write_text(MODEL)
        self.large_model = test.folder / "large_product.mlir"
        self.large_model.write_text(LARGE_MODEL)

    def write(self, profile, tiles):
        kernels = {key: {"tile": tile, "ns": 1000, "predicted_ns": 2000} for key, tile in tiles.items()}
        self.table.write_text(json.dumps({"gantry_tuning": 1, "devices": [
            {"profile": "vulkan:other", "device": "other", "kernels": {key: {"tile": "baseline none"} for key in tiles}},
            {"profile": profile, "device": "some device", "kernels": kernels}]}))

    def compile(self, model, profile, *words):
        """Returns the kernels of the artifact by key."""
        artifact = self.test.artifact(profile)
        self.test.call("compile", model, "-p", profile, "-o", artifact, *words)
        return {kernel["key"]: kernel for kernel in json.loads(self.test.call("inspect", artifact, "--json"))["kernels"]}

    def why(self, profile=LAVAPIPE):
        return self.test.call("inspect", self.test.artifact(profile), "--why", 0)

    def random_tables(self, folder, profile):
        model = next(folder / name for name in ("model.onnx", "model.mlir") if (folder / name).exists())
        generator = random.Random(SEED)
        kernels = self.compile(model, profile, "--no-built-in-tuning")
        case = folder / "case_0"
        taken = 0
        for number in range(TABLES):
            tiles = {key: random_tile(kernel["variants"][-1]["exact_tile"], generator)
                     for key, kernel in kernels.items()}
            self.write(profile, tiles)
            made = self.compile(model, profile, "--tuning", self.table)
            if made.keys() != kernels.keys():
                raise Failure(f"keys differ between two compilations: {sorted(made)}, {sorted(kernels)}")
            for key, kernel in made.items():
                variants = kernel["variants"]
                remarks = [line for variant in variants for line in variant["comparison"]]
                here = any(v["exact_tile"] == tiles[key] and v["comparison"][0].startswith("measured: ")
                           for v in variants if v["comparison"])
                # A kernel without vector loads has no variant for texel loads.
                none = tiles[key].startswith("texel") and all(v["binding"] != "texel" for v in variants)
                if not here and not none and not any(": not taken: " in remark for remark in remarks):
                    raise Failure(f"table {number}: {key} has neither '{tiles[key]}' nor a reason: {variants}")
                taken += here
            self.test.compare(files(case, "input"), files(case, "output"), VARIANTS[profile])
        if taken == 0:
            raise Failure("no random tile was taken: nothing was tested")
        return f"{taken} of {TABLES * len(kernels)} random tiles taken"

    def fits(self):
        key = next(iter(self.compile(self.model, LAVAPIPE)))
        self.test.call("run", self.test.artifact(LAVAPIPE), "--random", 3, "--output", self.test.folder / "y.npy")
        for tile in FITS:
            self.write(LAVAPIPE, {key: tile})
            variant = self.compile(self.model, LAVAPIPE, "--tuning", self.table)[key]["variants"][-1]
            if variant["exact_tile"] != tile:
                raise Failure(f"the kernel has the tile '{variant['exact_tile']}' instead of the table's '{tile}'")
            text = self.why()
            if f"measured: {self.table}: 1 us, the predicted tile 2 us, measured on some device" not in text:
                raise Failure(f"--why does not name the table of the tile: {text}")
            self.test.call("run", self.test.artifact(LAVAPIPE), "--random", 3, "--expect", self.test.folder / "y.npy")

    def misfits(self):
        key, predicted = next(iter(self.compile(self.model, LAVAPIPE).items()))
        for tile, reason in MISFITS.items():
            self.write(LAVAPIPE, {key: tile})
            kernel = self.compile(self.model, LAVAPIPE, "--tuning", self.table)[key]
            if [v["exact_tile"] for v in kernel["variants"]] != [v["exact_tile"] for v in predicted["variants"]]:
                raise Failure(f"'{tile}' changed the kernel: {kernel}")
            text = self.why()
            for words in (f"{self.table}: ", f"{tile}: not taken: ", reason):
                if words not in text:
                    raise Failure(f"--why of '{tile}' lacks '{words}': {text}")
        return f"{len(MISFITS)} tiles"

    def malformed(self):
        for text, reason in MALFORMED.items():
            self.table.write_text(text)
            self.test.refuse(f"table.json: {reason}" if reason.startswith("is ") else reason, "compile", self.model,
                             "--tuning", self.table, "-o", self.test.folder / "no.gantry")
        self.test.refuse("none.json", "compile", self.model, "--tuning", self.test.folder / "none.json")

    def staged(self):
        """Tests a staged tile that is among the candidates (tile_choice.h) but not the cheapest of
        them, and a baseline tile, which is not among them and replaces all staged variants."""
        profile = "vulkan:staging"
        key, kernel = next(iter(self.compile(self.model, profile).items()))
        first = kernel["variants"][-1]["exact_tile"]
        self.test.call("run", self.test.artifact(profile), "--random", 3, "--output", self.test.folder / "y.npy")
        other = first.replace("staged=16", "staged=8")
        if other == first:
            raise Failure(f"the tile '{first}' has no staged=16, which this test replaces by staged=8: adapt the test")
        for tile in (other, "baseline points=2x4 steps=4"):
            self.write(profile, {key: tile})
            variants = self.compile(self.model, profile, "--tuning", self.table)[key]["variants"]
            if variants[-1]["exact_tile"] != tile or (tile != other and any(v["grid"] for v in variants)):
                raise Failure(f"the kernel has the variants {variants} instead of the table's tile '{tile}'")
            self.test.call("run", self.test.artifact(profile), "--random", 3, "--expect", self.test.folder / "y.npy")

    def tune(self):
        """Checks that tuning replaces a bad tile by a better one and keeps the table's other entries."""
        key = next(iter(self.compile(self.large_model, LAVAPIPE)))
        self.test.call("run", self.test.artifact(LAVAPIPE), "--random", 3, "--output", self.test.folder / "y.npy")
        self.write(LAVAPIPE, {key: "baseline points=1x1 steps=1", "0123456789abcdef": "texel of another model"})
        before = json.loads(self.table.read_text())["devices"]
        text = self.test.call("tune", self.large_model, "-p", LAVAPIPE, "-o", self.table, "--candidates", 3, "--seconds", 0.1)
        after = json.loads(self.table.read_text())["devices"]
        if after[1:] != before:
            raise Failure(f"tune lost entries of the table: {after}")
        if "1 of 1 kernels are faster" not in text or f"wrote {self.table}" not in text:
            raise Failure(f"tune found no better tile than the slowest one: {text}")
        measured = after[0]["kernels"][key]
        if not 0 < measured["ns"] or after[0]["profile"] != LAVAPIPE:
            raise Failure(f"the entry has no time or another profile: {measured}")
        variant = self.compile(self.large_model, LAVAPIPE, "--tuning", self.table)[key]["variants"][-1]
        if variant["exact_tile"] != measured["tile"]:
            raise Failure(f"the kernel has the tile '{variant['exact_tile']}' instead of the measured '{measured['tile']}'")
        self.test.call("run", self.test.artifact(LAVAPIPE), "--random", 3, "--expect", self.test.folder / "y.npy")
        self.test.call("tune", self.large_model, "-p", LAVAPIPE, "-o", self.table, "--candidates", 2, "--seconds", 0.05)
        if {d["device"] for d in json.loads(self.table.read_text())["devices"]} != {d["device"] for d in after}:
            raise Failure("tuning again lost a device")
        return measured["tile"]

    def bad_tables_are_kept(self):
        self.table.write_text("{")
        self.test.refuse("is not JSON", "tune", self.model, "-p", LAVAPIPE, "-o", self.table)
        if self.table.read_text() != "{":
            raise Failure("tune overwrote a file that is not a table")
        self.test.refuse("compiled already", "tune", self.test.artifact(LAVAPIPE))


def random_tile(exact, generator):
    """Returns a random tile for the kernel with the tile `exact`; sometimes one that the kernel cannot have."""
    kind, *words = exact.split()
    now = dict(word.split("=") for word in words if "=" in word)

    def chosen(name, sizes):
        count = 0 if now[name] == "-" else len(now[name].split("x"))
        return [generator.choice(sizes) for _ in range(count)]

    points, steps = chosen("points", (1, 1, 1, 2, 3, 4, 8)), chosen("steps", (1, 1, 1, 2, 3, 4))
    kind = generator.choice((kind, "baseline"))
    ends = ""
    if "merged" in now and generator.random() < 0.9:
        ends += f" merged={now['merged']}"
    if kind == "texel" and points and generator.random() < 0.7:
        along = generator.randrange(len(points))
        run = generator.choice((1, 1, 4))
        points[along] *= run
        ends += f" lanes=8" + (f" along={along}" if along else "") + (f" run={run}" if run > 1 else "")
    return (f"{kind} points={'x'.join(map(str, points)) or '-'} steps={'x'.join(map(str, steps)) or '-'}{ends}")


def main():
    test, folders = begin_with_folders(__doc__)
    tuning = Tuning(test)
    for check in (tuning.fits, tuning.misfits, tuning.malformed, tuning.staged, tuning.tune, tuning.bad_tables_are_kept):
        test.check(check.__name__.replace("_", " "), check)
    for folder in folders:
        for profile in VARIANTS:
            test.check(f"{folder.name}, {profile}", tuning.random_tables, folder, profile)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
