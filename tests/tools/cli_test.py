#!/usr/bin/env python3
"""Tests the whole gantry tool through its command line: valid calls, and many kinds of bad input.

    cli_test.py --gantry TOOL --data tests/data --examples examples --profiler-stand-in PROGRAM [unittest arguments]

A failure must be exactly one line on standard error and leave no file behind. Standard library only.
"""
import argparse
import array
import errno
import functools
import json
import math
import os
import pathlib
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml

from cli_support import int64_tensor, onnx_model, OPTIONS, read_npy, Tool, write_npy


class Usage(Tool):
    def test_help_has_examples_for_each_command(self):
        text = self.works("--help")
        for code in range(6):
            self.assertRegex(text, rf"(?m)^ +{code}  \w")
        for command in ("compile", "run", "inspect", "bench", "tune", "devices", "diff"):
            self.assertIn(command, text)
            text_of_command = self.works(command, "--help")
            self.assertIn("Examples:", text_of_command)
            self.assertIn(f"gantry {command}", text_of_command)
        self.assertRegex(self.works("--version"), r"^gantry \d+\.\d+\.\d+\n$")

    def test_only_compilations_load_the_compiler(self):
        """Commands that do not compile start without the compiler's library and MLIR."""
        def loads_compiler(*words):
            done = self.call(*words, cwd=self.folder, env={"LD_DEBUG": "libs"})
            self.assertEqual(done.returncode, 0)
            self.assertIn("libgantry.so", done.stderr)  # LD_DEBUG has an effect.
            return "libgantry_compiler.so" in done.stderr
        for words in (("--version",), ("help", "compile"), ("devices",), ("inspect", self.artifact),
                      ("run", self.artifact, "--random", "1"), ("bench", self.artifact, "--runs", "1"), ("cache",)):
            with self.subTest(words[0]):
                self.assertFalse(loads_compiler(*words))
        self.assertTrue(loads_compiler("compile", self.model))

    def test_wrong_usage(self):
        self.fails(1, "--help")
        self.fails(1, "no command 'nonsense'; the commands are compile, ", "nonsense")
        self.fails(1, "--device", "run", self.model, "--device", "")
        self.fails(1, "'-1' is not a number from 0", "run", self.model, "--rtol", "-1")
        self.fails(1, "gantry run --help", "run")
        self.fails(1, "--nonsense", "run", self.model, "--nonsense")
        self.fails(1, "--random", "run", self.model, "--random", "x")
        self.fails(1, "--binding", "run", self.model, "--binding", "x")
        self.fails(1, "--runs", "bench", self.model, "--runs", "0")
        self.fails(1, "'--why' and '--json' cannot be used together", "inspect", self.model, "--why", "a", "--json")
        self.fails(1, "'--why' and '--compare' cannot be used together", "inspect", self.model, "--why", "a", "--compare",
                   self.model)

    def test_colour_only_on_a_terminal(self):
        def on_terminal(env):
            parent, child = pty.openpty()
            process = subprocess.Popen([OPTIONS.gantry, "devices"], stdout=child, stderr=child,
                                       env={**os.environ, "TERM": "xterm", **env})
            os.close(child)
            data = b""
            while True:
                try:
                    piece = os.read(parent, 4096)
                except OSError as error:
                    self.assertEqual(error.errno, errno.EIO)  # The child has closed the terminal.
                    break
                if not piece:
                    break
                data += piece
            os.close(parent)
            self.assertEqual(process.wait(), 0)
            return data
        self.assertIn(b"\x1b[", on_terminal({"NO_COLOR": ""}))
        self.assertNotIn(b"\x1b[", on_terminal({"NO_COLOR": "1"}))
        self.assertNotIn("\x1b[", self.works("devices"))

    def test_full_standard_output(self):
        with open("/dev/full", "w") as full:
            self.fails(3, "standard output", "inspect", self.artifact, stdout=full)


class Compile(Tool):
    def test_summary_and_default_name(self):
        text = self.works("compile", self.model)
        self.assertTrue((self.folder / "relu_mul.gantry").exists())
        for word in ("kernels", "constants", "arena", "ratio"):
            self.assertIn(word, text)
        summary = json.loads(self.works("compile", self.model, "-o", "other.gantry", "--json"))
        self.assertGreater(summary["kernels"], 0)
        self.assertGreaterEqual(summary["ratio"], 1)
        self.assertEqual(summary["file_bytes"], (self.folder / "other.gantry").stat().st_size)

    def test_dumps(self):
        self.works("compile", self.model, "--dump-ir", "--dump-spirv", "--dump-dir", "dump")
        suffixes = {p.suffix for p in (self.folder / "dump").rglob("*")}
        self.assertIn(".mlir", suffixes)
        self.assertIn(".spv", suffixes)

    def test_bad_models(self):
        good = (pathlib.Path(OPTIONS.examples) / "digits/digits.onnx").read_bytes()
        bad = self.folder / "bad.onnx"
        self.fails(1, "none.onnx", "compile", "none.onnx")
        self.fails(1, "tmp", "compile", self.temporary)
        for length in (0, 1, 100, len(good) // 2, len(good) - 1):
            bad.write_bytes(good[:length])
            self.fails(1, "bad.onnx", "compile", bad)
            self.fails(1, "bad.onnx", "run", bad, "--random", "1")
        seed = 7
        for _ in range(8):
            bad.write_bytes(random.Random(seed).randbytes(3000))
            seed += 1
            self.fails(1, "bad.onnx", "compile", bad)
        broken = self.folder / "bad.mlir"
        broken.write_text("func.func @main(")
        self.fails(1, "bad.mlir", "compile", broken)
        (self.folder / "bad.txt").write_text("hello")
        self.fails(1, "bad.txt", "compile", "bad.txt")
        self.fails(1, "bad.txt", "run", "bad.txt")

    def test_unsupported_operators_are_all_listed(self):
        bad = self.folder / "bad.onnx"
        bad.write_bytes(onnx_model([("NoSuchThing", "one", ["x"], ["a"]), ("Relu", "fine", ["a"], ["b"]),
                                    ("NorThis", "two", ["b"], ["y"])], [("x", [2])], [("y", [2])]))
        self.fails(2, ["NoSuchThing", "one", "NorThis", "two"], "compile", bad)
        self.fails(2, ["NoSuchThing", "NorThis"], "run", bad, "--random", "1")

    def test_shape_arithmetic_that_overflows(self):
        bad = self.folder / "bad.onnx"
        huge = 1 << 62
        bad.write_bytes(onnx_model([("Relu", "r", ["x"], ["y"])], [("x", [huge, 16])], [("y", [huge, 16])]))
        self.fails(1, ["x", "overflow"], "compile", bad)
        bad.write_bytes(onnx_model([("Expand", "grow", ["x", "s"], ["y"])], [("x", [1, 1, 1])],
                                   [("y", [1 << 31, 1 << 31, 1 << 31])],
                                   [int64_tensor("s", [1 << 31, 1 << 31, 1 << 31])]))
        self.fails(1, [], "compile", bad)
        for op, by, words in (("Mul", 16, f"overflows: {huge} * 16"), ("Div", 0, "divides by zero")):
            bad.write_bytes(onnx_model(
                [(op, "suspect", ["a", "b"], ["c"]), ("Add", "back", ["c", "d"], ["s"]),
                 ("Expand", "grow", ["x", "s"], ["y"])], [("x", [1])], [("y", [3])],
                [int64_tensor("a", [huge]), int64_tensor("b", [by]), int64_tensor("d", [3])]))
            self.fails(1, ["shape arithmetic", '(node "suspect")', words], "compile", bad)

    def test_types_that_devices_cannot_compute(self):
        double, bfloat = 11, 16
        bad = self.folder / "bad.onnx"
        bad.write_bytes(onnx_model(
            [("Exp", "one", ["x"], ["a"]), ("Sqrt", "fine", ["a"], ["b"]), ("Tanh", "two", ["b"], ["c"]),
             ("Sigmoid", "three", ["c"], ["y"])], [("x", [4], double)], [("y", [4], double)]))
        self.fails(2, ["exp of f64 (one, three)", "tanh of f64 (two)"], "compile", bad)
        bad.write_bytes(onnx_model([("Relu", "r", ["x"], ["y"])], [("x", [4], bfloat)], [("y", [4], bfloat)]))
        self.fails(2, ["bf16", "input x", "output y"], "compile", bad)

    def test_tensors_with_more_than_2_31_elements(self):
        bad = self.folder / "bad.onnx"
        size = int64_tensor("s", [1 << 40])
        for op, reads in (("Expand", ["x", "s"]), ("ConstantOfShape", ["s"])):
            bad.write_bytes(onnx_model([(op, "grow", reads, ["y"])], [("x", [1])], [("y", [1 << 40])], [size]))
            self.fails(2, ["'y' has 4398046511104 bytes", "2^31 - 1 elements"], "compile", bad)

    def test_output_that_cannot_be_written(self):
        self.fails(3, "nosuch", "compile", self.model, "-o", "nosuch/m.gantry")
        self.fails(1, "tmp", "compile", self.model, "-o", self.temporary)
        copy = self.folder / "copy.onnx"
        shutil.copy(self.model, copy)
        self.fails(1, "copy.onnx", "compile", copy, "-o", copy)
        self.fails(3, "/dev/full", "compile", self.model, "-o", "/dev/full")
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())
        self.fails(1, "nosuch", "compile", self.model, "-o", "m.gantry", "--profile", "nosuch")

    def test_full_disk(self):
        mount = self.folder / "small"
        mount.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(mount)], capture_output=True)
        if made.returncode != 0:
            self.skipTest("a small file system cannot be mounted here (it needs root)")
        try:
            digits = pathlib.Path(OPTIONS.examples) / "digits/digits.onnx"
            self.fails(3, "small", "compile", digits, "-o", mount / "m.gantry")
            self.fails(3, [], "run", digits, "--no-cache", "--random", "1", "--dim", "batch=1", env={"TMPDIR": str(mount)})
            self.fails(3, "small", "inspect", self.artifact, "--plot", mount / "nosuch/plan.svg")
            (mount / "old.gantry").write_text("old")
            self.fails(3, "small", "compile", digits, "-o", mount / "old.gantry")
            self.assertEqual((mount / "old.gantry").read_text(), "old")
            for kind in ("--dump-ir", "--dump-spirv"):
                done = self.call("compile", digits, "-o", self.folder / "m.gantry", kind, "--dump-dir", mount / kind)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, rf"^gantry: error: [^\n]*{mount / kind}[^\n]*No space left on device\n$")
                self.assertFalse((self.folder / "m.gantry").exists())
                # No file may be left empty or under a temporary name.
                for file in filter(pathlib.Path.is_file, (mount / kind).rglob("*")):
                    self.assertIn(file.suffix, (".mlir", ".spv", ".spvasm"))
                    self.assertGreater(file.stat().st_size, 0)
                shutil.rmtree(mount / kind)
        finally:
            subprocess.run(["umount", str(mount)], check=True)


class Run(Tool):
    def test_model_and_artifact_agree(self):
        self.works("run", self.model, "--random", "3", "-o", "a.npy")
        self.works("run", self.artifact, "--random", "3", "-o", "out")
        self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "out/y.npy").read_bytes())
        shape, values = read_npy(self.folder / "a.npy")
        self.assertEqual(shape, (4, 6))
        self.assertEqual(len(set(values)), 24)

    def test_expect(self):
        self.works("run", self.artifact, "--arange", "-o", "y.npy")
        text = self.works("run", self.artifact, "--arange", "--expect", "y.npy", "--rtol", "0", "--atol", "0")
        self.assertIn("matches", text)
        shape, values = read_npy(self.folder / "y.npy")
        values[8] += 0.5
        write_npy(self.folder / "z.npy", "<f4", shape, values.tobytes())
        text = self.works("run", self.artifact, "--arange", "--expect", "y=z.npy", codes=(5,))
        self.assertIn("worst at [1, 2]", text)
        self.assertIn("1 of 24 elements differ", text)
        report = json.loads(self.works("run", self.artifact, "--arange", "--expect", "z.npy", "--json", codes=(5,)))
        found = report["outputs"][0]["expected"]
        self.assertEqual(found["worst_index"], [1, 2])
        self.assertAlmostEqual(found["max_abs"], 0.5, 5)
        self.works("run", self.artifact, "--arange", "--expect", "z.npy", "--l2", "0.9")

    def test_small_models_of_the_repository(self):
        ran = 0
        for folder in sorted((pathlib.Path(OPTIONS.data) / "models").iterdir()):
            case = folder / "case_0"
            if folder.name not in ("residual", "integers", "linalg_matmul"):
                continue
            model = next(p for p in folder.iterdir() if p.stem == "model")
            arguments = [w for p in sorted(case.glob("input_*")) for w in ("-i", p)]
            arguments += [w for p in sorted(case.glob("output_*")) for w in ("--expect", p)]
            self.works("run", model, *arguments)
            ran += 1
        self.assertEqual(ran, 3)

    def test_remainders_of_floats_are_exact(self):
        pick = random.Random(5)
        def single(bits):
            return struct.unpack("<f", struct.pack("<I", bits))[0]
        specials = [0.0, -0.0, 1.0, -1.0, single(0x3dcccccd), 5.0, math.inf, -math.inf, math.nan, single(1), single(0x7fffff),
                    single(0x800000), single(0x7f7fffff), 16777216.0]
        pairs = [(a, b) for a in specials for b in specials]
        pairs += [(single(pick.getrandbits(32)), single(pick.getrandbits(32))) for _ in range(4000)]
        for name, column in (("a", 0), ("b", 1)):
            values = array.array("f", [pair[column] for pair in pairs])
            write_npy(self.folder / f"{name}.npy", "<f4", (len(pairs),), values.tobytes())
        model = self.folder / "mod.onnx"
        model.write_bytes(onnx_model([("Mod", "mod", ["a", "b"], ["y"], {"fmod": 1})],
                                     [("a", ["n"]), ("b", ["n"])], [("y", ["n"])]))
        self.works("run", model, "-i", "a=a.npy", "-i", "b=b.npy", "-o", "y.npy")
        for (a, b), found in zip(pairs, read_npy(self.folder / "y.npy")[1]):
            impossible = math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0
            expected = math.nan if impossible else math.fmod(a, b)
            if math.isnan(expected):
                self.assertTrue(math.isnan(found), (a, b, found))
            else:
                self.assertEqual(struct.pack("<f", found), struct.pack("<f", expected), (a, b, found, expected))

    def test_dynamic_sizes(self):
        for batch in (1, 5):
            self.works("run", self.dynamic, "--random", "1", "--dim", f"batch={batch}", "-o", "y.npy")
            self.assertEqual(read_npy(self.folder / "y.npy")[0], (batch, 6))
        self.works("run", self.dynamic, "--random", "1", "--shape", "x=2x6")
        self.fails(1, ["--dim batch=N", "'x'"], "run", self.dynamic, "--random", "1")
        self.fails(1, "nosuch", "run", self.dynamic, "--random", "1", "--dim", "nosuch=1")
        self.fails(1, "x=2x7", "run", self.dynamic, "--random", "1", "--shape", "x=2x7")

    def test_wrong_inputs(self):
        def npy(name, descr, shape, data):
            write_npy(self.folder / name, descr, shape, data)
            return name
        run = ("run", self.artifact, "--input")
        self.fails(1, ["'x'", "4x6", "--random"], "run", self.artifact)
        self.fails(1, "none.npy", *run, "none.npy")
        self.fails(1, "nosuch", *run, "nosuch=x.npy")
        self.fails(1, ["6x4", "4x6"], *run, npy("shape.npy", "<f4", (6, 4), bytes(96)))
        self.fails(1, ["1x4x6", "4x6"], *run, npy("rank.npy", "<f4", (1, 4, 6), bytes(96)))
        self.fails(1, ["f64", "f32"], *run, npy("type.npy", "<f8", (4, 6), bytes(192)))
        self.fails(1, "short.npy", *run, npy("short.npy", "<f4", (4, 6), bytes(95)))
        good = npy("good.npy", "<f4", (4, 6), bytes(96))
        self.fails(1, "2 files", *run, good, "--input", good)
        self.fails(1, "twice", *run, f"x={good}", "--input", f"x={good}")
        self.fails(1, "none.npy", *run, good, "--expect", "none.npy")
        self.fails(1, "2 files", *run, good, "--expect", good, "--expect", good)
        (self.folder / "junk.npy").write_bytes(b"junk")
        self.fails(1, "junk.npy", *run, "junk.npy")
        (self.folder / "junk.pb").write_bytes(bytes(range(200, 256)))
        self.fails(1, "junk.pb", *run, "junk.pb")
        self.fails(1, "tmp", *run, self.temporary)

    def test_outputs_that_cannot_be_written(self):
        self.fails(3, "/dev/full", "run", self.artifact, "--random", "1", "-o", "/dev/full")
        self.fails(3, "nosuch", "run", self.artifact, "--random", "1", "-o", "nosuch/y.npy")
        (self.folder / "file").write_text("x")
        self.fails(1, "file", "run", self.artifact, "--random", "1", "-o", "file")

    def test_devices_that_do_not_exist(self):
        self.fails(1, "nosuch", "run", self.artifact, "--random", "1", "--device", "nosuch")
        self.fails(1, "99", "run", self.artifact, "--random", "1", "--device", "99")
        self.fails(1, "nosuch", "bench", self.artifact, env={"GANTRY_DEVICE": "nosuch"})
        none = {"VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}
        self.fails(4, "mesa-vulkan-drivers", "run", self.artifact, "--random", "1", env=none)
        self.fails(4, "mesa-vulkan-drivers", "devices", env=none)

    def test_damaged_artifacts(self):
        good = self.artifact.read_bytes()
        bad = self.folder / "bad.gantry"
        seed = 11
        places = sorted({0, 7, 8, 12, 20, 40, 63, 64, 4095, 4096, len(good) - 1} |
                        {random.Random(seed).randrange(len(good)) for seed in range(seed, seed + 25)})
        for place in places:
            data = bytearray(good)
            data[place] ^= 0x10
            bad.write_bytes(data)
            self.fails(1, "bad.gantry", "run", bad, "--random", "1")
        for length in (0, 5, 63, 64, 4096, len(good) - 1):
            bad.write_bytes(good[:length])
            self.fails(1, "bad.gantry", "run", bad, "--random", "1")
            self.fails(1, "bad.gantry", "inspect", bad)
        bad.write_bytes(good + b"x")
        self.fails(1, "bad.gantry", "run", bad, "--random", "1")
        newer = bytearray(good)
        newer[8:12] = struct.pack("<I", struct.unpack("<I", newer[8:12])[0] + 1)
        bad.write_bytes(newer)
        self.assertRegex(self.fails(1, "bad.gantry", "run", bad, "--random", "1"), "newer|version")

    def test_check_memory_and_bindings(self):
        self.works("run", self.artifact, "--random", "1", "-o", "a.npy")
        for arguments in (["--check-memory"], ["--binding", "storage-buffer"], ["--timestamps"]):
            self.works("run", self.artifact, "--random", "1", "--expect", "a.npy", *arguments)


class Trace(Tool):
    def test_trace_and_diff(self):
        self.works("run", self.model, "--random", "1", "--trace-layers", "a")
        index = json.loads((self.folder / "a/index.json").read_text())
        names = [t["name"] for t in index["tensors"]]
        self.assertEqual(names, ["a/b:0", "c", "m", "y"])
        for tensor in index["tensors"]:
            shape, _ = read_npy(self.folder / "a" / tensor["file"])
            self.assertEqual(list(shape), tensor["shape"])
        traced = self.folder / "traced.gantry"
        self.works("compile", self.model, "--trace-layers", "-o", traced)
        self.works("run", traced, "--random", "1", "--trace-layers", "b")
        self.assertIn("agree", self.works("diff", "a", "b"))
        file = self.folder / "b" / index["tensors"][1]["file"]
        shape, values = read_npy(file)
        values[7] += 1
        write_npy(file, "<f4", shape, values.tobytes())
        text = self.works("diff", "a", "b", codes=(5,))
        self.assertIn("the first that diverges is c", text)
        report = json.loads(self.works("diff", "a", "b", "--json", codes=(5,)))
        self.assertEqual((report["differing"], report["first"]["name"]), (1, "c"))

    def test_diff_takes_plain_files(self):
        self.works("run", self.model, "--random", "1", "--trace-layers", "a")
        plain = self.folder / "plain"
        plain.mkdir()
        index = json.loads((self.folder / "a/index.json").read_text())
        shutil.copy(self.folder / "a" / index["tensors"][-1]["file"], plain / "y.npy")
        self.assertIn("all 1 tensors agree", self.works("diff", "a", "plain"))
        shutil.copy(self.folder / "a" / index["tensors"][0]["file"], plain / "y.npy")
        self.works("diff", "a", "plain", codes=(5,))

    def test_what_cannot_be_traced_or_compared(self):
        self.fails(1, "compile --trace-layers", "run", self.artifact, "--random", "1", "--trace-layers", "a")
        self.fails(1, "nosuch", "diff", "nosuch", "nosuch")
        self.fails(1, "index.json", "diff", self.temporary, self.temporary)
        self.works("run", self.model, "--random", "1", "--trace-layers", "a")
        for text in ("{", "[]", "{}"):
            (self.folder / "a/index.json").write_text(text)
            line = self.fails(1, "is damaged", "diff", "a", "a")
            self.assertNotIn("json.exception", line or "")


class Profile(Tool):
    """Tests `run --profile` with a stand-in for the profiler, which attaches and counts the events."""

    def setUp(self):
        super().setUp()
        self.seen = self.folder / "seen"
        runtime = self.folder / "runtime"
        runtime.mkdir(mode=0o700)
        # The tool would create this folder for its sockets and not delete it, but fails() allows no new files.
        (runtime / "gantry").mkdir(mode=0o700)
        self.env = {"PATH": f"{OPTIONS.profiler_stand_in.parent}:{os.environ['PATH']}", "DISPLAY": ":99",
                    "XDG_RUNTIME_DIR": str(runtime), "STAND_IN_OUTPUT": str(self.seen), "GANTRY_ATTACH": ""}
        # The real profiler may be in the folder of the tool, so the test uses a copy of the tool in another folder.
        (self.folder / "bin").mkdir()
        self.tool = self.folder / "bin/gantry"
        shutil.copy2(OPTIONS.gantry, self.tool)

    def counts(self):
        """Returns the number of events that the stand-in received, by type."""
        deadline = time.monotonic() + 30
        while not self.seen.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        lines = self.seen.read_text().splitlines()
        self.seen.unlink()
        return {name: int(count) for name, count in (line.rsplit(" ", 1) for line in lines)}

    def test_the_profiler_receives_the_events_of_the_run(self):
        text = self.works("run", self.model, "--random", "3", "--json", "--profile", env=self.env, tool=self.tool)
        self.assertEqual(json.loads(text)["outputs"][0]["name"], "y")
        counts = self.counts()
        self.assertEqual(counts["run"], 1)
        self.assertEqual(counts["run end"], 1)
        self.assertEqual(counts["dispatch"] + counts.get("copy", 0), counts["command"])

    def test_a_profiler_in_the_folder_of_the_tool_is_preferred(self):
        shutil.copy2(OPTIONS.profiler_stand_in, self.folder / "bin/gantry-profiler")
        self.works("run", self.model, "--random", "3", "--profile", env={**self.env, "PATH": os.environ["PATH"]},
                   tool=self.tool)
        self.assertEqual(self.counts()["run"], 1)

    def test_profile_with_a_name_selects_a_device_profile(self):
        self.works("run", self.model, "--random", "3", "--profile", "vulkan:generic")
        self.works("run", "--profile=vulkan:generic", self.model, "--random", "3")
        self.assertFalse(self.seen.exists())

    def test_what_is_missing_is_named(self):
        run = ["run", self.model, "--random", "3", "--profile"]
        fails = functools.partial(self.fails, tool=self.tool)
        fails(1, ["gantry-profiler", "PATH", "gantry record"], *run, env={**self.env, "PATH": "/nowhere"})
        fails(1, ["display", "DISPLAY", "gantry record"], *run,
              env={**self.env, "DISPLAY": "", "WAYLAND_DISPLAY": ""})
        fails(1, "GANTRY_ATTACH=0", *run, env={**self.env, "GANTRY_ATTACH": "0"})
        fails(3, ["gantry-profiler", "exit code 7"], *run, env={**self.env, "STAND_IN_EXIT": "7"})


class Show(Tool):
    def test_inspect(self):
        text = self.works("inspect", self.artifact, "--dispatches")
        for word in ("constants", "arena height", "lower bound", "ratio", "peak at command", "shared"):
            self.assertIn(word, text)
        names = {v["name"] for v in json.loads(self.works("inspect", self.artifact, "--json"))["values"]}
        self.assertLessEqual({"x", "y"}, names)

    def test_inspect_lists_copies(self):
        model = self.folder / "copies.onnx"
        nodes = [("Slice", "half", ["x", "first", "last"], ["y"]), ("Relu", "above", ["x"], ["z"])]
        model.write_bytes(onnx_model(nodes, [("x", [64, 4])], [("y", [32, 4]), ("z", [64, 4])],
                                     [int64_tensor("first", [0]), int64_tensor("last", [32])]))
        text = self.works("inspect", model, "--copies")
        self.assertIn("1 of 2 commands only copies a tensor, 512 B in each run", text)
        self.assertRegex(text, r"(?m)^ +\d +y +32x4 +512 B +the program returns the tensor$")
        model.write_bytes(onnx_model(nodes[1:], [("x", [64, 4])], [("z", [64, 4])]))
        self.assertIn("no tensor is copied", self.works("inspect", model, "--copies"))
        self.works("compile", model, "--donate", "x", "-o", "donated.gantry")
        self.assertIn("the donated input x lies in the arena", self.works("inspect", "donated.gantry", "--copies"))

    def test_inspect_counts_the_bytes_of_replaced_rows(self):
        model = self.folder / "rows.onnx"
        nodes = [("ScatterND", "put", ["x", "rows", "u"], ["y"])]
        model.write_bytes(onnx_model(nodes, [("x", [64, 4]), ("u", [2, 4])], [("y", [64, 4])],
                                     [int64_tensor("rows", [3, 9], [2, 1])]))
        self.works("compile", model, "--state", "x=y", "-o", "rows.gantry")
        text = self.works("inspect", "rows.gantry", "--copies")
        self.assertIn("1 of 1 commands only copies a tensor, 32 B in each run", text)

    def test_plan(self):
        rows = ["id,lower,upper,size", "a,0,3,4096", "b,2,5,8192", "c,3,6,4096"]
        (self.folder / "b.csv").write_text("\n".join(rows) + "\n")
        text = self.works("plan", "b.csv", "--plot", "b.svg")
        self.assertIn("12.0 KiB", text)
        self.assertTrue(xml.parse(self.folder / "b.svg").getroot().tag.endswith("svg"))
        self.works("plan", "b.csv", "--capacity", "12288")
        self.works("plan", "b.csv", "--capacity", "12KiB")
        self.assertEqual(self.call("plan", "b.csv", "--capacity", "8192", cwd=self.folder).returncode, 5)
        plan = json.loads(self.works("plan", "b.csv", "--json"))
        self.assertEqual((plan["height_bytes"], plan["proven_bound_bytes"]), (12288, 12288))
        self.assertEqual([b["id"] for b in plan["buffers"]], ["a", "b", "c"])
        (self.folder / "marked.csv").write_bytes(b"\xef\xbb\xbf" + "\n".join(rows).encode())
        self.works("plan", "marked.csv")
        self.fails(1, "both name", "plan", "b.csv", "--plot", "x", "--output", "x")
        self.fails(1, "'0' is no size", "plan", "b.csv", "--capacity", "0")
        self.fails(1, "--deadline", "plan", "b.csv", "--deadline", "inf")
        self.assertIn("12.0 KiB", self.works("plan", "b.csv", "--work", "1"))
        self.fails(1, "--work", "plan", "b.csv", "--work", "0")
        for row, word in (("d,5,5,1", "line 5"), ("d,1,2", "line 5"), ("d,1,2,-3", "line 5"), ("d,x,2,3", "line 5")):
            (self.folder / "bad.csv").write_text("\n".join([*rows, row]) + "\n")
            self.fails(1, word, "plan", "bad.csv")
        self.fails(1, "nosuch.csv", "plan", "nosuch.csv")

    def test_compare(self):
        model = pathlib.Path(OPTIONS.data) / "models" / "residual" / "model.onnx"
        self.works("compile", model, "-o", "whole.gantry")
        refusal = self.fails(1, "the smallest that can is", "compile", model, "-o", "x.gantry", "--memory-budget", "1")
        smallest = re.search(r"the smallest that can is [^(]*\((\d+) bytes\)", refusal).group(1)
        self.assertFalse((self.folder / "x.gantry").exists())
        self.assertIn("budget", self.works("compile", model, "-o", "fit.gantry", "--memory-budget", smallest))
        self.assertIn("the same tensors and commands", self.works("inspect", "whole.gantry", "--compare", "whole.gantry"))
        smaller = self.works("inspect", "fit.gantry", "--compare", "whole.gantry")
        self.assertRegex(smaller, r"arena +\S+ \S+ +\S+ \S+ +-")
        grown = self.call("inspect", "whole.gantry", "--compare", "fit.gantry", "--json", cwd=self.folder)
        self.assertEqual(grown.returncode, 5)
        self.assertTrue(json.loads(grown.stdout)["grew"])
        for size in ("0", "1.5", "-3MiB", "lots", "5 parsecs"):
            self.fails(1, "is no size", "compile", model, "-o", "x.gantry", f"--memory-budget={size}")
        self.fails(1, "nosuch.gantry", "inspect", "whole.gantry", "--compare", "nosuch.gantry")

    def test_plot(self):
        self.works("inspect", self.model, "--plot", "plan.svg")
        root = xml.parse(self.folder / "plan.svg").getroot()
        self.assertTrue(root.tag.endswith("svg"))
        self.fails(3, "/dev/full", "inspect", self.artifact, "--plot", "/dev/full")
        self.fails(3, "nosuch", "inspect", self.artifact, "--plot", "nosuch/plan.svg")

    def test_dynamic_plan_needs_sizes(self):
        self.assertIn("--dim batch=N", self.works("inspect", self.dynamic))
        self.assertIn("ratio", self.works("inspect", self.dynamic, "--dim", "batch=2"))
        self.fails(1, "--dim batch=N", "inspect", self.dynamic, "--plot", "plan.svg")
        self.works("inspect", self.dynamic, "--dim", "batch=2", "--plot", "plan.svg")
        self.fails(1, "nosuch", "inspect", self.dynamic, "--dim", "nosuch=2")

    def test_bench(self):
        text = self.works("bench", self.artifact, "--runs", "7")
        self.assertIn("7 runs", text)
        self.assertIn("GFLOP/s", text)
        self.assertRegex(text, r"start .*s to the first answer: load .*s \(\d+ pipelines\), first run .*s\n")
        report = json.loads(self.works("bench", self.artifact, "--seconds", "0.05", "--json"))
        self.assertGreater(report["first_run_ns"], 0)
        self.assertGreater(report["load_ns"], 0)
        self.assertEqual(report["first_answer_ns"], report["load_ns"] + report["first_run_ns"])
        self.assertGreater(report["pipelines"], 0)
        self.assertGreaterEqual(report["run"]["count"], 5)
        self.assertGreater(len(report["dispatches"]), 0)
        for dispatch in report["dispatches"]:
            self.assertGreater(dispatch["bytes"], 0)
        times = [d["median_ns"] for d in report["dispatches"]]
        self.assertEqual(times, sorted(times, reverse=True))
        report = json.loads(self.works("bench", self.artifact, "--runs", "5", "--top", "1", "--json"))
        self.assertEqual(len(report["dispatches"]), 1)

    def test_devices(self):
        devices = json.loads(self.works("devices", "--json"))["devices"]
        self.assertEqual(sum(d["default"] for d in devices), 1)
        self.assertEqual([d["index"] for d in devices], list(range(len(devices))))
        order = ["discrete", "integrated", "virtual", "software"]
        kinds = [order.index(d["kind"]) for d in devices if d["usable"]]
        self.assertEqual(kinds, sorted(kinds))
        text = self.works("devices")
        self.assertIn(devices[0]["name"][:12], text)
        for device in devices:
            if not device["usable"]:
                self.assertEqual(device["memory_heaps"], [])
                continue
            served = [kind for heap in device["memory_heaps"] for kind in heap["kinds"]]
            self.assertEqual(sorted(served), ["device", "readback", "unified", "upload"])
            for heap in device["memory_heaps"]:
                self.assertLess(0, heap["budget_bytes"])
                self.assertLessEqual(heap["budget_bytes"], heap["size_bytes"])
                self.assertEqual(set(heap["kinds"]) & set(heap["fallback_kinds"]), set())
            self.assertIn("serves", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--profiler-stand-in", type=pathlib.Path, required=True)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    OPTIONS.profiler_stand_in = OPTIONS.profiler_stand_in.absolute()
    OPTIONS.gantry, OPTIONS.data, OPTIONS.examples = map(
        os.path.abspath, (OPTIONS.gantry, OPTIONS.data, OPTIONS.examples))
    unittest.main(argv=[sys.argv[0], *rest])
