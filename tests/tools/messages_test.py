#!/usr/bin/env python3
"""Tests help texts and the messages for common mistakes. Each message must name the mistake and the remedy on one
line, and the exit code must be the documented one.

    messages_test.py --gantry TOOL --data tests/data [--profiler gantry-profiler] [unittest arguments]

Standard library only.
"""
import argparse
import os
import re
import resource
import subprocess
import sys
import unittest

from cli_support import onnx_model, OPTIONS, read_npy, Tool, write_npy

BOOL, INT64 = 9, 7


def commands(tool):
    """Returns the commands that `gantry --help` lists."""
    listed = re.search(r"Commands:\n((?:  .+\n)+)", tool.works("--help")).group(1)
    names = re.findall(r"(?m)^  (\w+)", listed)
    tool.assertGreaterEqual(len(names), 10)
    return names


class Help(Tool):
    # Matches text in the style of the option library CLI11: ranges, sets, types, relations, headings.
    NOTATION = re.compile(r"\{[^}]*\}|Excludes:|Needs:|REQUIRED|Positionals:|\b(FLOAT|UINT|INT|TEXT|ENUM)\b|"
                          r" in \[\S+ - |\[[\d.e+-]+ - |Print this help message and exit| \.\.\.$", re.MULTILINE)

    def texts(self):
        yield "gantry", self.works("--help")
        for command in commands(self):
            yield command, self.works(command, "--help")
        if OPTIONS.profiler:
            done = subprocess.run([OPTIONS.profiler, "--help"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            yield "gantry-profiler", done.stdout

    def test_no_help_shows_the_notation_of_the_option_library(self):
        for name, text in self.texts():
            self.assertNotRegex(text, self.NOTATION, name)
            self.assertIn("Usage: gantry", text, name)
            self.assertIn("Examples:\n  gantry", text, name)
            self.assertIn("-h, --help", text, name)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, name)


class CommandLines(Tool):
    def test_unknown_options(self):
        self.fails(1, "unknown option '--foo'; `gantry --help` shows the usage", "--foo")
        self.fails(1, "unknown option '--rando'; did you mean '--random'?", "run", self.model, "--rando", "1")
        self.fails(1, "unknown option '--devcie'; did you mean '--device'?", "bench", "--devcie", "0", self.model)

    def test_invalid_values(self):
        self.fails(1, "--random: 'x' is not a whole number from 0 to", "run", self.model, "--random", "x")
        self.fails(1, "--runs: '0' is not a whole number from 1 to", "bench", self.model, "--runs", "0")
        self.fails(1, "--binding: 'x' is not one of auto, storage-buffer, address, texel", "run", self.model,
                   "--binding", "x")

    def test_every_number_is_checked(self):
        """Checks that every option with a number has the tool's own message for a value that is not a number."""
        for command in commands(self):
            for option in re.findall(r"(--[a-z-]+) (?:N|S|X|MS|SEED|FACTOR)\b", self.works(command, "--help")):
                # An unexpected argument does not matter here, because values are checked first.
                done = self.call(command, *(["a", "b"] if command == "diff" else ["a"]), option, "x", cwd=self.folder)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"{option}: 'x' is not a (whole )?number from ")

    @unittest.skipUnless(hasattr(os, "fork"), "needs a Unix")
    def test_the_profiler_uses_the_documented_exit_codes(self):
        if not OPTIONS.profiler:
            self.skipTest("the profiler is not built")
        for code, words, arguments in (
                (1, "unknown option '--foo'", ["--foo"]),
                (1, "--theme: 'blue' is not one of dark, light, colour-blind", ["--theme", "blue"]),
                (1, "--scale: '9' is not a number from 1 to 4", ["--scale", "9"]),
                (1, "'12' is not a size: write 1600x900", ["--size", "12"]),
                (1, "unexpected argument 'b'", ["a", "b"]),
                (1, "nosuch.gtrace", ["nosuch.gtrace", "--render", "a.png"])):
            done = subprocess.run([OPTIONS.profiler, *arguments], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, r"^gantry-profiler: error: [^\n]+\n$")
            self.assertIn(words, done.stderr)

    def test_diff_names_both_folders(self):
        self.fails(1, ["'one' does not exist, and 'two' does not exist", "--trace-layers"], "diff", "one", "two")
        (self.folder / "two").write_text("")
        self.fails(1, ["'one' does not exist, and 'two' is a file, not a folder"], "diff", "one", "two")
        self.fails(1, "'one' does not exist;", "diff", "one", self.temporary)


class Compiler(Tool):
    def test_unknown_chips(self):
        line = self.fails(1, ["knows no chip 'sm_1'", "sm_80"], "compile", self.model, "-o", "m.gantry",
                          "-p", "vulkan:generic", "--dump-native", "sm_1", "--dump-dir", self.folder / "dump")
        self.assertNotIn("gfx", line)
        self.fails(1, ["knows no chip 'gfx1'", "gfx1100"], "compile", self.model, "-o", "m.gantry",
                   "-p", "vulkan:generic", "--dump-native", "gfx1", "--dump-dir", self.folder / "dump")

    def test_arg_min_and_arg_max_of_booleans(self):
        """ONNX does not define ArgMin of booleans, but models use it. False is less than true."""
        model = self.folder / "bool.onnx"
        nodes = [("Arg" + kind, kind, ["x"], [kind], {"axis": 1, "keepdims": 0}) for kind in ("Min", "Max")]
        model.write_bytes(onnx_model(nodes, [("x", [4, 3], BOOL)],
                                     [("Min", [4], INT64), ("Max", [4], INT64)]))
        rows = ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1))
        write_npy(self.folder / "x.npy", "|b1", (4, 3), bytes(sum(rows, ())))
        self.works("run", model, "--input", "x.npy", "--output", "out")
        for name, pick in (("Min", min), ("Max", max)):
            self.assertEqual(list(read_npy(self.folder / f"out/{name}.npy")[1]), [r.index(pick(r)) for r in rows])

    def test_a_defect_of_the_compiler_names_the_operation_of_the_model(self):
        """SPIR-V cannot order booleans. The message must name the line of the model, not only the compiler's operation."""
        model = self.folder / "order.mlir"
        model.write_text("""#map = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4xi1>, %b: tensor<4xi1>) -> tensor<4xi1> {
  %empty = tensor.empty() : tensor<4xi1>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<4xi1>, tensor<4xi1>) outs(%empty : tensor<4xi1>) {
  ^bb0(%x: i1, %y: i1, %z: i1):
    %least = arith.minui %x, %y : i1
    linalg.yield %least : i1
  } -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
""")
        done = self.call("compile", model, "-o", "m.gantry", cwd=self.folder)
        if done.returncode != 0:  # A later version of the compiler may accept the model.
            self.assertEqual(done.returncode, 4)
            self.assertRegex(done.stderr, r"^gantry: error: [^\n]*order\.mlir:\d+: the compiler made code [^\n]*"
                                          r"defect in Gantry[^\n]*\n$")

    def test_an_arena_beyond_one_allocation(self):
        model = self.folder / "large.onnx"
        side = 40_000  # A square tensor of f32 then has 6.4 GB.
        model.write_bytes(onnx_model(
            [("MatMul", "outer", ["a", "b"], ["large"]), ("Softmax", "soft", ["large"], ["soft"]),
             ("MatMul", "back", ["soft", "a"], ["y"])],
            [("a", [side, 1]), ("b", [1, side])], [("y", [side, 1])]))
        line = self.fails(4, ["'arena'", "--memory-budget", " bytes, made by "], "run", model, "--random", "1")
        self.assertRegex(line, "'(large|soft)'")


class Machine(Tool):
    def test_a_device_that_cannot_be_created(self):
        """Limits how many threads the user may have, so that no device can be created. The message must name the remedy."""
        if os.getuid() != 0:
            self.skipTest("the limit on processes must be set for another user, which needs root")
        for allowed in range(1, 12):
            def limit():
                resource.setrlimit(resource.RLIMIT_NPROC, (allowed, allowed))
                os.setgid(65534)
                os.setuid(65534)
            os.chmod(self.fixtures, 0o755)
            # LeakSanitizer starts a thread at the end of a process, which the limit may forbid.
            sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
            done = subprocess.run([OPTIONS.gantry, "devices"], capture_output=True, text=True, preexec_fn=limit,
                                  env={**os.environ, "GANTRY_ATTACH": "0", "XDG_RUNTIME_DIR": "", "HOME": "/",
                                       "ASAN_OPTIONS": sanitizer})
            if done.returncode == 0 or "LLVM ERROR: pthread_create failed" in done.stderr:
                continue  # In the second case, LLVM inside the software driver ended the process.
            self.assertEqual(done.returncode, 4, f"{allowed} processes: {done.stderr}")
            self.assertRegex(done.stderr, r"^gantry: error: [^\n]+\n$")
            self.assertIn("ulimit -u", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--profiler", default="")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    OPTIONS.gantry = os.path.abspath(OPTIONS.gantry)
    OPTIONS.profiler = OPTIONS.profiler and os.path.abspath(OPTIONS.profiler)
    unittest.main(argv=[sys.argv[0], *rest])
