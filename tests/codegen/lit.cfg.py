# Configures lit for the compiler's FileCheck tests. The ctest entry "lit" runs them.
import os

import lit.formats

config.name = "gantry"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = config.tests
config.test_exec_root = config.gantry_lit_work
config.environment["PATH"] = os.pathsep.join(
    [config.gantry_bin, config.llvm_tools, os.environ.get("PATH", "")])
