"""Helpers of the end-to-end tests: they call the gantry tool, check runs, and read .npy files.

A test is a script that ends with 0 (passed), 1 (failed, with each reason printed) or 77 (skipped, with
the reason printed as "skipped: ..."). It uses the standard library only.
"""
import argparse
import array
import ast
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

TOLERANCE = 1e-4  # Upper limit of ||out - ref|| / ||ref||.
ARENA_RATIO = 1.10
VALIDATION = re.compile(r"VUID-|SYNC-HAZARD|UNASSIGNED-|Validation (Error|Warning)", re.I)

PROFILES = ("vulkan:generic", "vulkan:staging", "vulkan:lavapipe")  # Each model is compiled for all of them.

# The variants in which a model must give the same outputs: profile, environment and arguments. An
# artifact for lavapipe holds kernels with texel reads and subgroup shuffles, and the baseline kernels.
VARIANTS = {
    "storage-buffer, synchronization validation": (
        "vulkan:generic", {"GANTRY_VALIDATION": "sync"}, ["--binding", "storage-buffer"]),
    "address, validation": ("vulkan:generic", {"GANTRY_VALIDATION": "1"}, ["--binding", "address"]),
    "staging: shared memory, validation": (
        "vulkan:staging", {"GANTRY_VALIDATION": "1"}, ["--binding", "storage-buffer"]),
    "lavapipe: texel, validation": ("vulkan:lavapipe", {"GANTRY_VALIDATION": "1"}, ["--binding", "texel"]),
    "lavapipe: storage-buffer, dispatches in parts": (
        "vulkan:lavapipe", {}, ["--binding", "storage-buffer", "--dispatch-limit", "0.001"]),
    "lavapipe: memory checked": ("vulkan:lavapipe", {"GANTRY_VALIDATION": "1"}, ["--check-memory"]),
}


LIMITS_OF_DEVICES = [16, 32, 48, 64, 96, 160, 227]  # KiB of shared memory per workgroup.
STAGED = "vulkan:staging"
LAVAPIPE = "vulkan:lavapipe"
# Upper limits, in bytes, of the arenas of the shared models: what the compiler reached for LAVAPIPE with the default
# options, and for dynamic models with the sizes of dims.txt. A change that makes an arena smaller lowers its limit.
ARENAS = json.loads((pathlib.Path(__file__).parents[1] / "data/references/arenas.json").read_text())


def shared_bytes(text):
    """Returns the bytes of all Workgroup variables in the disassembly of a SPIR-V module."""
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


class Failure(Exception):
    pass


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def begin_with_folders(text):
    """Returns the Test and the folders of a script that takes --gantry TOOL FOLDER...

    `text` is the script's docstring. Skips the script if a folder is absent."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    if not all(folder.is_dir() for folder in options.folders):
        skip("the shared models are not part of the repository")
    return Test(options.gantry), options.folders


class Test:
    """Collects the failures of one script, and owns its temporary folder."""

    def __init__(self, gantry):
        self.gantry = str(gantry)
        self.failures = 0
        self.checks = 0
        self.place = tempfile.TemporaryDirectory(prefix="gantry_e2e_")
        self.folder = pathlib.Path(self.place.name)

    def check(self, name, function, *arguments):
        start = time.monotonic()
        self.checks += 1
        try:
            said = function(*arguments)
        except Exception as failure:  # Any exception fails this check only.
            self.failures += 1
            kind = "" if isinstance(failure, Failure) else type(failure).__name__ + " "
            print(f"FAIL  {name}: {kind}{failure}", flush=True)
            return False
        print(f"ok    {name}{': ' + said if said else ''}  ({time.monotonic() - start:.1f} s)", flush=True)
        return True

    def finish(self):
        self.place.cleanup()
        if not self.checks:
            print("no check ran")
        sys.exit(1 if self.failures or not self.checks else 0)

    def call(self, *arguments, environment=None, codes=(0,)):
        """Runs the tool and returns its standard output. Raises Failure if the exit code is not in codes."""
        command = [self.gantry] + [str(a) for a in arguments]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        self.expect_silent(done)
        if done.returncode not in codes:
            raise Failure(f"`{' '.join(command)}` ended with {done.returncode}: "
                          f"{(done.stderr.strip() or done.stdout.strip())[-1500:]}")
        return done.stdout

    def refuse(self, reason, *arguments):
        """Checks that the tool ends with 1 and that its message contains the reason."""
        try:
            self.call(*arguments)
        except Failure as failure:
            if reason in str(failure) and "ended with 1:" in str(failure):
                return
            raise
        raise Failure(f"not refused: {' '.join(str(a) for a in arguments)}")

    @staticmethod
    def expect_silent(done):
        """Checks that a program printed no message of the validation layers."""
        said = done.stderr + done.stdout
        message = VALIDATION.search(said)
        if message:
            raise Failure(f"validation message: {said[max(0, message.start() - 100):][:600]}")

    def program(self, *command):
        """Runs another program and returns its output. Raises Failure if it does not end with 0."""
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        self.expect_silent(done)
        if done.returncode != 0:
            raise Failure((done.stderr + done.stdout).strip()[-1500:])
        return done.stdout.strip()

    def compile(self, model, *arguments, profiles=PROFILES):
        """Compiles for each of the profiles. Returns the path of the first profile's artifact."""
        for profile in profiles:
            self.call("compile", model, "-p", profile, "-o", self.artifact(profile), *arguments,
                      "--dump-ir=share-kernels", "--dump-dir", self.folder / "ir")
            self.verify_ir(self.folder / "ir")
        return self.artifact()

    def verify_ir(self, folder):
        """Reads the IR that --dump-ir has written to a folder, and removes it. Without assertions, the compiler does
        not verify the attributes that it makes; the parser of gantry-opt verifies them."""
        dumps = sorted(folder.glob("*.mlir"))
        if not dumps:
            raise Failure("--dump-ir wrote no file")
        for dump in dumps:
            self.program(pathlib.Path(self.gantry).with_name("gantry-opt"), dump, "-o", os.devnull)
            dump.unlink()

    def shared_memory_within(self, model, limit, *arguments):
        """Compiles the model with a limit of `limit` KiB of shared memory. Returns for each variant
        of each kernel: the variant, its shared bytes counted from the SPIR-V, and the SPIR-V.
        Raises Failure if the bytes exceed the limit or differ from those in the artifact."""
        dumps = self.folder / "dumps"
        shutil.rmtree(dumps, ignore_errors=True)
        artifact = self.artifact(STAGED)
        self.call("compile", model, "-p", STAGED, "--shared-memory", f"{limit}KiB", "-o", artifact,
                  "--dump-spirv", "--dump-dir", dumps, *arguments)
        variants = []
        for kernel in json.loads(self.call("inspect", artifact, "--json"))["kernels"]:
            for variant in kernel["variants"]:
                staged = variant["grid"] == 1
                path = dumps / f"{kernel['name']}.{variant['binding']}{'.staged' if staged else ''}.spvasm"
                text = path.read_text()
                counted = shared_bytes(text)
                if counted != variant["shared_bytes"]:
                    raise Failure(f"{path.name} takes {counted} bytes of shared memory, but the artifact states "
                                  f"{variant['shared_bytes']}")
                if counted > limit * 1024:
                    raise Failure(f"{path.name} takes {counted} bytes of shared memory, more than the limit of {limit} KiB")
                variants.append((variant, counted, text))
        return variants

    def artifact(self, profile=PROFILES[0]):
        return self.folder / f"model.{profile.split(':')[1]}.gantry"

    def compare(self, inputs, outputs, variant, tolerance=TOLERANCE, arguments=()):
        """Runs with the input files. The tool compares every output with its file; this checks the tool's report."""
        profile, environment, extra = VARIANTS[variant]
        words = [w for path in inputs for w in ("--input", path)]
        words += [w for path in outputs for w in ("--expect", path)]
        report = json.loads(self.call("run", self.artifact(profile), *words, "--l2", tolerance, "--json", *extra, *arguments,
                                      environment=environment, codes=(0, 5)))
        if report["validation_messages"] != 0:
            raise Failure(f"{report['validation_messages']} validation messages")
        if len(report["outputs"]) != len(outputs):
            raise Failure(f"{len(report['outputs'])} outputs, expected {len(outputs)}")
        worst = 0.0
        for output in report["outputs"]:
            found = output["expected"]
            # "not <=" also catches NaN, which JSON represents as null.
            if found["problem"] or found["l2"] is None or not found["l2"] <= tolerance or not found["within"]:
                raise Failure(f"output {output['name']}: relative L2 {found['l2']}, allowed {tolerance} "
                              f"{found['problem']}; worst at {found['worst_index']}: {found['worst_actual']}, "
                              f"expected {found['worst_expected']}")
            worst = max(worst, found["l2"])
        return f"relative L2 {worst:.1e}"

    def compare_plain(self, model, x, y, tolerance=1e-5):
        """Compiles a model, given as bytes, and runs it in every variant. x and y are its input and the expected output, each
        a pair of a shape and a list of f32."""
        for name, (shape, values) in {"x": x, "y": y}.items():
            write_npy(self.folder / f"{name}.npy", "f", tuple(shape), values)
        path = self.folder / "model.onnx"
        path.write_bytes(model)
        self.compile(path)
        return max(self.compare([self.folder / "x.npy"], [self.folder / "y.npy"], variant, tolerance)
                   for variant in VARIANTS)

    def arena(self, artifact, dims=(), limit=None):
        """Checks that the arena of the artifact's plan is between its lower bound and ARENA_RATIO times the bound, and
        has at most `limit` bytes."""
        words = [w for dim in dims for w in ("--dim", dim)]
        plan = json.loads(self.call("inspect", artifact, "--json", *words))
        height, bound = plan["arena_bytes"], plan["lower_bound_bytes"]
        if height is None or bound is None:
            raise Failure("the model has dynamic dimensions, and dims.txt does not give their sizes")
        if height < bound:
            raise Failure(f"the arena of {height} bytes is below its lower bound of {bound} bytes")
        if height > ARENA_RATIO * bound:
            raise Failure(f"arena {height} ÷ lower bound {bound} = {height / bound:.3f}, allowed {ARENA_RATIO}")
        if limit and height > limit:
            raise Failure(f"the arena has {height} bytes, at most {limit} are allowed")
        return f"arena {height} bytes, ÷ lower bound {height / bound if bound else 1:.3f}"


def read_npy(path):
    """Returns (shape, values) of a row-major little-endian .npy file of f32, f64 or i64."""
    data = pathlib.Path(path).read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise Failure(f"{path} is not an .npy file")
    wide = 2 if data[6] == 1 else 4
    begin = 8 + wide + int.from_bytes(data[8:8 + wide], "little")
    header = ast.literal_eval(data[8 + wide:begin].decode("latin1"))
    values = array.array({"<f4": "f", "<f8": "d", "<i8": "q"}[header["descr"]])
    values.frombytes(data[begin:])
    return header["shape"], values


def write_npy(path, kind, shape, values):
    """Writes a row-major .npy file. kind: "b" (i8), "i" (i32) or "f" (f32); shape: a tuple."""
    text = repr({"descr": {"b": "|i1", "i": "<i4", "f": "<f4"}[kind], "fortran_order": False, "shape": shape})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() +
                     struct.pack(f"<{len(values)}{kind}", *values))
