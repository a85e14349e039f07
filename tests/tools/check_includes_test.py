#!/usr/bin/env python3
"""Tests tools/check_includes.py on small trees that keep or break each rule."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_includes.py"


def check(files):
    """Runs the checker on a tree with the files {path: text}. Returns (exit code, lines of output)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([sys.executable, str(CHECKER), folder], capture_output=True, text=True)
        return run.returncode, run.stdout.splitlines()


class CheckIncludes(unittest.TestCase):
    def allowed(self, path, line):
        code, output = check({path: line + "\n"})
        self.assertEqual((code, len(output)), (0, 1), output)

    def refused(self, path, line, words):
        code, output = check({path: "// first line\n" + line + "\n"})
        self.assertEqual((code, len(output)), (1, 1), output)
        self.assertTrue(output[0].startswith(f"{path}:2: "), output)
        self.assertIn(words, output[0])

    def test_folders(self):
        self.allowed("engine/plan/a.cpp", '#include "engine/base/status.h"')
        self.allowed("engine/plan/a.cpp", '#include "engine/plan/plan.h"')
        self.allowed("engine/heap/a.cpp", '#include "engine/device/device.h"')
        self.allowed("engine/program/a.cpp", '#include "engine/artifact/artifact.h"')
        self.allowed("engine/capi/a.cpp", '#include "backends/vulkan/vulkan.h"')
        self.allowed("codegen/emit/a.cpp", '#include "codegen/passes/passes.h"')
        self.allowed("profiler_gui/model/a.cpp", '#include "engine/trace/wire/capture.h"')
        self.allowed("tests/engine/plan/a.cpp", '#include "backends/vulkan/memory.h"')
        self.refused("engine/base/a.cpp", '#include "engine/plan/plan.h"', "engine/plan")
        self.refused("engine/plan/a.cpp", '#include "engine/artifact/artifact.h"', "it may use: engine/base")
        self.refused("engine/artifact/a.h", '#include "engine/plan/plan.h"', "may not use engine/plan")
        self.refused("engine/program/a.cpp", '#include "backends/vulkan/memory.h"', "backends/vulkan")
        self.refused("backends/vulkan/a.cpp", '#include "engine/heap/heap.h"', "engine/heap")
        self.refused("backends/vulkan/a.cpp", '#include "engine/plan/plan.h"', "engine/plan")
        self.refused("codegen/passes/a.cpp", '#include "engine/device/device.h"', "engine/device")
        self.refused("tools/gantry/a.cpp", '#include "engine/plan/plan.h"', "engine/plan")
        self.refused("profiler_gui/a.cpp", '#include "engine/heap/heap.h"', "engine/heap")
        self.refused("engine/plan/a.cpp", '#include "tests/support/x.h"', "tests")

    def test_public_headers(self):
        self.allowed("tools/gantry/a.cpp", "#include <gantry/gantry.h>")
        self.allowed("examples/embed_c/a.c", '#include "gantry/gantry.h"')
        self.allowed("engine/capi/a.cpp", '#include "engine/include/gantry/gantry.h"')
        self.allowed("engine/include/gantry/gantry.hpp", "#include <gantry/gantry.h>")
        self.allowed("codegen/capi.cpp", "#include <gantry/compiler.h>")
        self.refused("engine/plan/a.cpp", "#include <gantry/gantry.h>", "public header")
        self.refused("codegen/a.cpp", '#include "gantry/gantry.h"', "public header")
        self.refused("engine/capi/a.cpp", "#include <gantry/compiler.h>", "public header")

    def test_libraries(self):
        self.allowed("codegen/passes/a.cpp", '#include "mlir/IR/Builders.h"')
        self.allowed("backends/vulkan/a.cpp", "#include <volk.h>")
        self.allowed("engine/artifact/a.cpp", "#include <xxhash.h>")
        self.allowed("tests/a.cpp", "#include <gtest/gtest.h>")
        self.refused("engine/plan/a.cpp", '#include "llvm/ADT/StringRef.h"', "MLIR and LLVM")
        self.refused("engine/device/a.h", "#include <vulkan/vulkan.h>", "backends/vulkan, benchmarks/kernels, profiler_gui may")
        self.refused("engine/base/a.cpp", "#include <flatbuffers/flatbuffers.h>", "FlatBuffers")
        self.refused("tools/gantry/a.cpp", '#include "mlir/IR/Builders.h"', "MLIR")
        self.refused("engine/base/a.cpp", "#include <gtest/gtest.h>", "only tests may")
        self.refused("backends/vulkan/a.cpp", "#include <cuda.h>", "CUDA and HIP")

    def test_system_headers(self):
        for header in ("vector", "cstdint", "stdint.h", "sys/mman.h", "unistd.h", "pthread.h"):
            self.allowed("engine/base/a.cpp", f"#include <{header}>")
        self.refused("engine/base/a.cpp", "#include <strange/thing.h>", "add it there")

    def test_relative_includes_are_refused(self):
        files = {"engine/plan/a.cpp": '#include "plan.h"\n', "engine/plan/plan.h": ""}
        code, output = check(files)
        self.assertEqual(code, 1)
        self.assertEqual(len(output), 1)
        self.assertIn('write it from the root: "engine/plan/plan.h"', output[0])

    def test_spacing_comments_and_macros(self):
        self.allowed("engine/base/a.cpp", '// #include "engine/plan/plan.h"')
        self.allowed("engine/base/a.cpp", '/*\n#include "engine/plan/plan.h"\n*/')
        self.refused("engine/base/a.cpp", '  #  include "engine/plan/plan.h" // why', "engine/plan")
        self.refused("engine/base/a.cpp", "#include HEADER", "write the header's name")
        code, output = check({"engine/base/a.cpp": '/* a\n b */\n\n#include "engine/plan/plan.h"\n'})
        self.assertEqual(code, 1)
        self.assertTrue(output[0].startswith("engine/base/a.cpp:4: "), output)

    def test_files_outside_of_the_folders(self):
        code, output = check({"cellar/a.cpp": "#include <vector>\n"})
        self.assertEqual(code, 1)
        self.assertIn("lies in no folder", output[0])

    def test_files_that_are_not_sources_are_ignored(self):
        code, _ = check({"build/x/a.cpp": "#include <strange/thing.h>\n",
                         ".cache/a.cpp": "#include <strange/thing.h>\n",
                         "tests/data/a.cpp": "#include <strange/thing.h>\n",
                         "engine/base/notes.md": "#include <strange/thing.h>\n"})
        self.assertEqual(code, 0)

    def test_an_absent_root_is_named(self):
        run = subprocess.run([sys.executable, str(CHECKER), "/nowhere/at/all"], capture_output=True,
                             text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("/nowhere/at/all", run.stderr)


if __name__ == "__main__":
    unittest.main()
