#!/usr/bin/env python3
"""Tests the variants that the tool compiles by default, and the cache of compiled models.

    cache_test.py --gantry TOOL [unittest arguments]

Standard library only.
"""
import argparse
import json
import os
import pathlib
import random
import shlex
import signal
import struct
import subprocess
import sys
import time
import unittest

from cli_support import field, onnx_model, OPTIONS, Tool

OWN = "vulkan:lavapipe"  # The profile of the software device, on which the tests run.
# Seconds to wait after a model file changed: the cache keeps no artifact if the model may have changed while it was
# compiled.
SETTLE = 0.05


def external_tensor(name, count, location):
    """Returns an f32 initializer whose bytes are in another file."""
    entry = field(1, "location") + field(2, location)
    return field(1, count) + field(2, 1) + field(8, name) + field(13, entry) + field(14, 1)


def long_model(layers):
    """Returns a model with one kernel per layer, so that its compilation takes some time."""
    nodes, previous = [], "x"
    for i in range(layers):
        result = "y" if i + 1 == layers else f"t{i}"
        nodes.append(("Softmax", f"n{i}", [previous], [result], {"axis": i % 2}))
        previous = result
    return onnx_model(nodes, [("x", [40, 60])], [("y", [40, 60])])


class CacheTest(Tool):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.env = {"GANTRY_CACHE_DIR": str(self.cache), "TMPDIR": str(self.temporary)}
        time.sleep(SETTLE)

    def files(self):
        models = self.cache / "models"
        return sorted(p.name for p in models.iterdir()) if models.is_dir() else []

    def report(self, *arguments, command="run", env=None):
        words = ["--random", "1"] if command != "inspect" else []
        done = self.call(command, *arguments, *words, "--json", cwd=self.folder, env={**self.env, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return json.loads(done.stdout)

    def is_cached(self, *arguments, **options):
        return self.report(*arguments, **options)["cached"]


class Cache(CacheTest):
    def test_the_second_command_uses_the_artifact_of_the_first(self):
        self.assertFalse(self.is_cached(self.model))
        self.assertEqual(self.said, "")
        self.assertEqual(len(self.files()), 2, self.files())
        self.assertTrue(self.is_cached(self.model))
        self.assertTrue(self.is_cached(self.model, "--runs", "1", command="bench"))
        words = ("compiled by an earlier command", "--no-cache")
        for command in (["run", self.model, "--random", "1"], ["bench", self.model, "-n", "1"], ["inspect", self.model]):
            text = self.works(*command, env=self.env)
            for word in words:
                self.assertIn(word, text)
            self.assertNotIn(words[0], self.works(*command, "--no-cache", env=self.env))
        self.assertEqual(len(self.files()), 2, self.files())

    def test_other_options_and_other_models_have_other_entries(self):
        self.assertFalse(self.is_cached(self.model))
        self.assertFalse(self.is_cached(self.model, "-p", "vulkan:generic"))
        self.assertFalse(self.is_cached(self.model, "--trace-layers", self.folder / "trace"))
        copy = self.folder / "copy.onnx"
        copy.write_bytes(self.model.read_bytes().replace(b"first", b"First"))
        time.sleep(SETTLE)
        self.assertFalse(self.is_cached(copy))
        copy.write_bytes(self.model.read_bytes())
        time.sleep(SETTLE)
        self.assertFalse(self.is_cached(copy), "artifacts hold the model's name")
        self.assertTrue(self.is_cached(copy))
        self.assertTrue(self.is_cached(self.model))

    def test_a_change_of_external_data_changes_the_entry(self):
        model, data = self.folder / "outside.onnx", self.folder / "weights.bin"
        model.write_bytes(onnx_model([("Add", "sum", ["x", "w"], ["y"])], [("x", [4])], [("y", [4])],
                                     [external_tensor("w", 4, "weights.bin")]))

        def outcome(value):
            data.write_bytes(struct.pack("<4f", *[value] * 4))
            time.sleep(SETTLE)
            report = self.report(model)
            return report["cached"], report["outputs"][0]["preview"]
        self.assertFalse(outcome(1)[0])
        one = outcome(1)
        self.assertTrue(one[0])
        two = outcome(200)
        self.assertFalse(two[0], "the data differ")
        self.assertNotEqual(one[1], two[1])
        self.assertEqual(outcome(1), one)
        self.assertEqual(outcome(200), (True, two[1]))
        data.unlink()
        self.fails(1, "weights.bin", "run", model, "--random", "1", env=self.env)

    def test_damaged_entries_are_found_and_compiled_again(self):
        self.report(self.model)
        rng = random.Random(5)
        artifact, description = sorted(self.files(), key=lambda name: name.endswith(".json"))
        path = self.cache / "models" / artifact
        whole = path.read_bytes()
        for place in (0, 20, 5000, rng.randrange(4096, len(whole)), len(whole) - 1):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
            self.assertFalse(self.is_cached(self.model), place)
            self.assertIn("damaged artifact, which is compiled again", self.said)
            self.assertEqual(self.said.count("\n"), 1)
            self.assertTrue(self.is_cached(self.model), place)
        path.write_bytes(whole[:4097])
        self.assertFalse(self.is_cached(self.model))
        path.write_bytes(b"")
        self.assertFalse(self.is_cached(self.model))
        words = '"warnings": [], "model": "m", "options": ""'
        for text in ("", "{", "[]", '{"files": [1], "warnings": []}', '{"files": [], "warnings": []}',
                     '{"files": [], "warnings": [], "model": 5, "options": ""}'):
            (self.cache / "models" / description).write_text(text)
            self.works("cache", env=self.env)
            self.assertFalse(self.is_cached(self.model), text)
            self.assertIn("damaged entry of this model, which is compiled again", self.said)
            self.assertTrue(self.is_cached(self.model), text)
        (self.cache / "models" / description).write_text('{"files": ["absent"], %s}' % words)
        self.assertFalse(self.is_cached(self.model), "the entry's data file is absent")
        (self.cache / "models" / description).unlink(missing_ok=True)
        self.assertFalse(self.is_cached(self.model))
        self.assertTrue(self.is_cached(self.model))
        self.assertEqual(self.files(), sorted([artifact, description]))

    def test_a_folder_in_place_of_an_artifact_is_reported(self):
        self.report(self.model)
        artifact = next(name for name in self.files() if name.endswith(".gantry"))
        path = self.cache / "models" / artifact
        path.unlink()
        path.mkdir()
        self.assertFalse(self.is_cached(self.model))
        self.assertIn("the artifact is not kept in the cache: cannot create", self.said)
        path.rmdir()

    def test_its_size_is_bounded(self):
        self.report(self.model)
        size = sum(p.stat().st_size for p in (self.cache / "models").iterdir())
        limit = {"GANTRY_CACHE_SIZE": str(size * 5 // 2)}
        models = []
        for i in range(3):
            models.append(self.folder / f"m{i}.onnx")
            models[-1].write_bytes(self.model.read_bytes())
        time.sleep(SETTLE)
        for model in models:
            self.assertFalse(self.is_cached(model, env=limit))
        self.assertTrue(self.is_cached(models[1], env=limit))
        self.assertTrue(self.is_cached(models[2], env=limit))
        self.assertFalse(self.is_cached(models[0], env=limit), "the least recently used entry is evicted")
        self.assertTrue(self.is_cached(models[2], env=limit))
        self.assertFalse(self.is_cached(models[1], env=limit), "the new entry of models[0] evicts this one")
        for off in ("0", "1"):
            self.assertFalse(self.is_cached(self.folder / "m0.onnx", "-p", "vulkan:generic",
                                            env={"GANTRY_CACHE_SIZE": off}))
        self.fails(1, "GANTRY_CACHE_SIZE: 'much' is no size", "run", self.model, "--random", "1",
                   env={**self.env, "GANTRY_CACHE_SIZE": "much"})

    def test_without_a_cache_folder_the_tool_prints_a_note_and_works(self):
        blocked = self.folder / "a file"
        blocked.write_text("")
        for place in (blocked, "/proc/no/folder"):
            self.assertFalse(self.is_cached(self.model, env={"GANTRY_CACHE_DIR": str(place)}))
            self.assertRegex(self.said, r"^gantry: note: .*; the model is compiled, and the result not kept\n$")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_an_interrupted_command_leaves_nothing(self):
        model = self.folder / "long.onnx"
        model.write_bytes(long_model(40))
        time.sleep(SETTLE)
        start = time.monotonic()
        self.report(model, "--no-cache")
        whole = time.monotonic() - start
        killed = 0
        for i in range(10):
            command = [OPTIONS.gantry, "run", model, "--random", "1", *(["--no-cache"] if i % 2 else [])]
            process = subprocess.Popen(command, env={**os.environ, **self.env}, cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            start = time.monotonic()
            try:
                process.wait(whole * (i + 1) / 11)
                whole = time.monotonic() - start  # The first command met a busy machine and took longer.
            except subprocess.TimeoutExpired:
                process.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 3])
            process.communicate()
            killed += process.returncode < 0
            self.assertEqual(list(self.temporary.iterdir()), [])
            for name in self.files():
                self.assertRegex(name, r"^[0-9a-f]{32}(-0\.gantry|\.json)$")
        self.assertGreater(killed, 3, "too few signals came before the command ended")
        self.report(model)
        self.assertTrue(self.is_cached(model))

    def test_several_processes_share_the_cache(self):
        command = [OPTIONS.gantry, "run", self.model, "--random", "1", "--json"]
        running = [subprocess.Popen(command, env={**os.environ, **self.env}, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for _ in range(6)]
        for process in running:
            out, said = process.communicate()
            self.assertEqual((process.returncode, said), (0, ""), out)
        self.assertEqual(len(self.files()), 2, self.files())
        self.assertTrue(self.is_cached(self.model))

    def test_the_cache_can_be_listed_and_cleared(self):
        self.report(self.model)
        text = self.works("cache", env=self.env)
        for word in (str(self.cache), "relu_mul.onnx", f"-p {OWN}", "just now"):
            self.assertIn(word, text)
        listed = json.loads(self.works("cache", "--json", env=self.env))
        self.assertEqual([m["model"] for m in listed["models"]], ["relu_mul.onnx"])
        self.assertRegex(self.works("cache", "--clear", env=self.env), r"^removed [0-9.]+ KiB from ")
        self.assertEqual(self.files(), [])
        self.assertFalse(self.is_cached(self.model))


class Defaults(CacheTest):
    def inspected(self, *arguments):
        return json.loads(self.works("inspect", *arguments, "--json", env=self.env))

    def test_compile_makes_variants_for_this_machine(self):
        artifact = self.folder / "m.gantry"
        summary = json.loads(self.works("compile", self.model, "-o", artifact, "--json"))
        self.assertEqual(summary["variants"], ["vulkan:generic", OWN])
        self.assertIn(f"vulkan:generic, {OWN}", self.works("compile", self.model, "-o", artifact))
        direct, stored = self.inspected(self.model), self.inspected(artifact)
        self.assertEqual(stored["profile"], OWN, "inspect must show the variant for this device")
        for part in ("kernels", "commands", "arena_bytes", "constant_bytes"):
            self.assertEqual(stored[part], direct[part], f"{part}: `inspect MODEL` and `inspect ARTIFACT` differ")
        baseline = self.inspected(artifact, "--variant", "vulkan:generic")
        self.assertEqual(baseline["profile"], "vulkan:generic")
        self.assertNotEqual(baseline["kernels"], direct["kernels"])
        self.works("run", artifact, "--random", "1")
        bench = json.loads(self.works("bench", artifact, "-n", "1", "--json"))
        self.assertEqual(bench["profile"], OWN)

    def test_profiles_can_be_listed(self):
        artifact = self.folder / "m.gantry"
        words = [w for p in ("vulkan:staging", "vulkan:generic", "vulkan:staging") for w in ("-p", p)]
        summary = json.loads(self.works("compile", self.model, *words, "-o", artifact, "--json"))
        self.assertEqual(summary["variants"], ["vulkan:staging", "vulkan:generic"])
        self.works("compile", self.model, *words, "-o", artifact, "--dump-spirv", "--dump-dir", self.folder / "d")
        self.assertEqual(sorted(p.name for p in (self.folder / "d").iterdir()), ["generic", "staging"])

    def test_an_artifact_that_is_not_for_the_device_says_so_with_the_command(self):
        model = self.folder / "a model.onnx"
        model.write_bytes(self.model.read_bytes())
        for profile in ("vulkan:generic", "vulkan:nvidia-ampere"):
            artifact = self.folder / "m.gantry"
            self.works("compile", model, "-p", profile, "--keep-order", "-o", artifact)
            done = self.call("run", "m.gantry", "--random", "1", cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(f"no variant made for llvmpipe", done.stderr)
            self.assertEqual("made for other devices" in done.stderr, profile != "vulkan:generic")
            command = shlex.split(done.stderr.split("To make one: ")[1])
            self.assertEqual(command, ["gantry", "compile", "a model.onnx", "--keep-order", "-p", profile, "-p", OWN,
                                       "-o", "m.gantry"])
            self.works(*command[1:])
            self.works("run", artifact, "--random", "1")  # works() checks that there is no message.
            self.works("run", artifact, "--random", "1", "--variant", profile)

    def test_invalid_combinations_of_options(self):
        for command in ("run", "bench", "inspect"):
            self.fails(1, ["--profile vulkan:lavapipe", "is compiled already", "--variant", "-p vulkan:lavapipe"],
                       command, self.artifact, "-p", "vulkan:lavapipe")
            self.fails(1, ["is a model, not an artifact", "-p vulkan:generic"], command, self.model, "--variant",
                       "vulkan:generic")
            self.fails(1, ["--variant x", f"has the variants vulkan:generic, {OWN}"], command, self.artifact,
                       "--variant", "x")

    def test_devices_show_their_profile(self):
        self.assertIn(OWN, self.works("devices"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gantry", required=True)
    OPTIONS_GIVEN, rest = parser.parse_known_args()
    OPTIONS.gantry = pathlib.Path(OPTIONS_GIVEN.gantry).resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)
