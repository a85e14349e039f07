#!/usr/bin/env python3
"""Checks every #include of the sources against the table FOLDERS.

    tools/check_includes.py [ROOT]

A folder may include its own headers, the headers of the folders in its row of FOLDERS, the standard
library, the operating system's headers, and the libraries whose row in LIBRARIES names the folder or one
above it. Includes of the project are written from the repository's root ("engine/plan/plan.h"); includes of
the public headers are written as users write them (<gantry/gantry.h>). Folders named "data" and those in
SKIPPED_FOLDERS are not checked. The script prints one line per violation. The exit code is 1 if there is a
violation, 2 if ROOT is not a folder.

To add a folder or a library, add its row here and run tools/house/design.py, which also reports permissions
that no source uses.
"""

import os
import pathlib
import re
import sys

SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc"}
SKIPPED_FOLDERS = {"build", "out", "__pycache__"}

RUNTIME_API = "gantry/gantry.h"  # Also allows gantry/gantry.hpp, its C++ wrapper.
COMPILER_API = "gantry/compiler.h"
VERSION_API = "gantry/version.h"  # gantry.h and compiler.h include it.
ANYTHING = "*"

# Maps a folder to (its content, the folders and public headers that it may include besides itself). A file
# belongs to the row with the longest path that contains the file. tools/house/design.py writes this table
# and a picture of it to docs/design.md.
FOLDERS = {
    "engine/include": ("the public C API of the runtime, gantry.h, and its C++ wrapper",
                       [RUNTIME_API, VERSION_API]),
    "engine/base": ("status codes, files, threads, sockets, logging", []),
    "engine/op_kind": ("kinds of operators and their colours", []),
    "engine/hazards": ("barriers, and the checks of compiled programs for hazards", ["engine/base"]),
    "engine/plan": ("static memory planner, order search", ["engine/base"]),
    "engine/trace": ("events, rings, captures, live attach, exports", ["engine/base"]),
    "engine/artifact": ("reads and writes .gantry files", ["engine/base"]),
    "engine/device": ("the interface that a backend implements", ["engine/base"]),
    "engine/heap": ("the memory manager of a device",
                    ["engine/base", "engine/device", "engine/trace"]),
    "engine/heap/extras": ("compaction, spilling, frame rings, step plans, reports",
                           ["engine/base", "engine/plan", "engine/device", "engine/heap"]),
    "engine/program": ("programs, sessions, command recording",
                       ["engine/base", "engine/hazards", "engine/plan", "engine/trace", "engine/artifact", "engine/device",
                        "engine/heap", "engine/heap/extras"]),
    "engine/capi": ("libgantry.so: the C API over engine and backends",
                    ["engine/base", "engine/trace", "engine/heap", "engine/heap/extras", "engine/program", "backends/vulkan",
                     RUNTIME_API]),
    "backends/vulkan": ("the Vulkan 1.2 backend", ["engine/base", "engine/device", "engine/trace"]),
    "codegen": ("the compiler; MLIR is used here only",
                ["engine/base", "engine/hazards", "engine/plan", "engine/artifact",
                 COMPILER_API]),
    "codegen/include": ("the public C API of the compiler, compiler.h", [VERSION_API]),
    "profiler_gui": ("the desktop profiler, gantry-profiler",
                     ["engine/base", "engine/op_kind", "engine/plan", "engine/artifact",
                      "engine/trace", "tools/options", "tools/manual"]),
    "python": ("the Python package; draws plans with code of the tool",
               [RUNTIME_API, COMPILER_API, "tools"]),
    "examples": ("programs that use the public headers", [RUNTIME_API]),
    "benchmarks": ("measurements through the public headers", [RUNTIME_API]),
    "benchmarks/kernels": ("generated kernels compared with hand-written ones", [RUNTIME_API, "tests"]),
    "benchmarks/models": ("whole models", ["benchmarks/kernels"]),
    "benchmarks/profiler": ("the profiler on large captures",
                            ["profiler_gui", "tests"]),
    "benchmarks/planner": ("the planner on hard and on large instances",
                           ["engine/plan", "tests"]),
    "benchmarks/heap": ("the heap on allocation traces",
                        [RUNTIME_API, "backends/vulkan", "engine/base", "engine/heap", "tests"]),
    "benchmarks/trace": ("the cost of recording",
                         ["engine/heap", "engine/trace", "benchmarks/heap", "benchmarks/kernels",
                          "benchmarks/models", "tests"]),
    "tools": ("the gantry command line",
              [RUNTIME_API, COMPILER_API, "tools/options", "tools/manual", "tools/gantry/cache",
               "engine/op_kind"]),
    "tools/options": ("command-line options of gantry and gantry-profiler", []),
    "tools/manual": ("man pages and shell completions", ["tools/options", VERSION_API]),
    "tools/gantry/cache": ("the cache of compiled models", ["engine/base"]),
    "tools/gantry/planning": ("gantry plan", ["engine/plan", "tools"]),
    "tools/gantry/trace": ("gantry record and gantry export", ["engine/trace", "tools"]),
    "tests": ("tests, in the same folders as what they test", [ANYTHING]),
}

# (Library, regular expression for the whole names of its headers, folders that may include them). The
# folders below an allowed folder are allowed too. Tests may use any library.
LIBRARIES = [
    ("MLIR and LLVM", r"(mlir|mlir-c|llvm|llvm-c|lld)/.*", ["codegen"]),
    ("SPIRV-Tools", r"spirv-tools/.*", ["codegen"]),
    ("SPIRV-Headers", r"spirv/.*", ["codegen", "backends/vulkan"]),
    ("ONNX and protobuf", r"(onnx|google/protobuf)/.*", ["codegen"]),
    ("Vulkan and volk", r"(vulkan|vk_video)/.*|volk\.[hc]",
     ["backends/vulkan", "benchmarks/kernels", "profiler_gui"]),
    ("CUDA and HIP", r"cuda.*\.h|nvrtc\.h|hip/.*|hsa/.*", []),
    ("pybind11", r"pybind11/.*", ["python"]),
    ("FlatBuffers", r"flatbuffers/.*", ["engine/artifact"]),
    ("xxHash", r"xxh(ash|3)\.h", ["engine/artifact", "engine/trace", "tools/gantry/cache"]),
    ("LZ4 and Zstandard", r"lz4.*\.h|zstd.*\.h", ["engine/trace", "engine/artifact", "benchmarks"]),
    ("mimalloc", r"mimalloc\.h", ["benchmarks"]),
    ("ImGui and GLFW", r"imgui.*|backends/imgui_impl_.*|GLFW/.*|GL/.*", ["profiler_gui", "benchmarks/profiler"]),
    ("zlib", r"zlib\.h", ["profiler_gui"]),
    ("protozero", r"protozero/.*", ["profiler_gui", "engine/trace", "tools"]),
    ("fmt", r"fmt/.*", ["codegen", "tools", "profiler_gui", "benchmarks"]),
    ("CLI11", r"CLI/.*", ["tools", "benchmarks", "profiler_gui"]),
    ("nlohmann-json", r"nlohmann/.*", ["tools", "benchmarks", "profiler_gui"]),
    ("GoogleTest", r"g(test|mock)/.*", []),
    ("libquadmath", r"quadmath\.h", []),
    ("Google Benchmark", r"benchmark/.*", ["benchmarks"]),
]

# Headers of the C library and of the operating system, which all folders may use. The names of the C++
# library's headers have no suffix (CPLUSPLUS).
SYSTEM = re.compile(
    r"(assert|complex|ctype|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal|stdalign"
    r"|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|threads|time"
    r"|uchar|wchar|wctype|cpuid|immintrin|x86intrin|arm_neon|dirent|dlfcn|execinfo|fcntl|fnmatch|ftw|getopt"
    r"|glob|grp|libgen|link|malloc|netdb|poll|pthread|pwd|sched|semaphore|spawn|strings|termios|ucontext"
    r"|unistd|wordexp"
    r"|((sys|linux|netinet|arpa|mach|mach-o)/\w+))\.h")
CPLUSPLUS = re.compile(r"[a-z_0-9]+")

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*(.*)$", re.MULTILINE)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def folder_of(path):
    """Returns the key in FOLDERS of the row that a path belongs to, or None."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        prefix = "/".join(parts[:length])
        if prefix in FOLDERS:
            return prefix
    return None


def lies_in(folder, above):
    return any(folder == other or folder.startswith(other + "/") for other in above)


def public_api(target):
    """Returns the public header that an include names, or None. The include may give the header's folder."""
    for prefix in ("engine/include/", "codegen/include/"):
        if target.startswith(prefix):
            target = target[len(prefix):]
    return {"gantry/gantry.h": RUNTIME_API, "gantry/gantry.hpp": RUNTIME_API,
            "gantry/compiler.h": COMPILER_API, "gantry/version.h": VERSION_API}.get(target)


def judge(folder, path, target, exists):
    """Returns why the file `path` of `folder` may not include `target`, or None if it may."""
    allowed = FOLDERS[folder][1]
    everything = ANYTHING in allowed
    api = public_api(target)
    if api is not None:
        if everything or api in allowed:
            return None
        return f"{folder} may not use the public header {target}"
    other = folder_of(target)
    if other is not None and ("/" in target):
        if everything or other == folder or other in allowed:
            return None
        uses = ", ".join(allowed) or "the standard library alone"
        return f'{folder} may not use {other} ("{target}"); it may use: {uses}'
    for library, pattern, folders in LIBRARIES:
        if re.fullmatch(pattern, target):
            if everything or lies_in(folder, folders):
                return None
            return f"{folder} may not use {library} (<{target}>); {', '.join(folders) or 'only tests'} may"
    if CPLUSPLUS.fullmatch(target) or SYSTEM.fullmatch(target):
        return None
    sibling = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if exists(sibling):
        return f'"{target}" is relative; write it from the root: "{sibling}"'
    return f"{target} matches no folder, library or system header of tools/check_includes.py; add it there"


def includes(text):
    """Yields (line number, the text after #include) for each include outside block comments."""
    text = BLOCK_COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1).strip()


def check_file(root, path):
    folder = folder_of(path)
    if folder is None:
        return [f"{path}: lies in no folder of tools/check_includes.py; add its row"]
    findings = []
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    for line, operand in includes(text):
        match = re.match(r'"([^"]+)"|<([^>]+)>', operand)
        if match is None:
            findings.append(f"{path}:{line}: #include {operand}: not a file name; write the header's name")
            continue
        problem = judge(folder, path, match.group(1) or match.group(2),
                        lambda name: (root / name).is_file())
        if problem is not None:
            findings.append(f"{path}:{line}: {problem}")
    return findings


def uses_of(root, path):
    """Yields the folders (keys of FOLDERS) and public headers that a file includes, except its own folder."""
    folder = folder_of(path)
    for _, operand in includes((root / path).read_text(encoding="utf-8", errors="replace")):
        match = re.match(r'"([^"]+)"|<([^>]+)>', operand)
        target = match and (match.group(1) or match.group(2))
        used = target and (public_api(target) or ("/" in target and folder_of(target)))
        if used and used != folder:
            yield used


def unused_permissions(root, paths):
    """Returns a finding for each folder or public header that a row of FOLDERS permits and no source includes."""
    used = {}
    for path in paths:
        if folder_of(path) is not None:
            used.setdefault(folder_of(path), set()).update(uses_of(root, path))
    return [f"{folder}: no source includes {allowed}; remove it from its row in tools/check_includes.py"
            for folder, (_, permitted) in FOLDERS.items() if folder in used
            for allowed in permitted if allowed != ANYTHING and allowed not in used[folder]]


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and not f.startswith("."))
        for name in sorted(files):
            path = pathlib.Path(folder, name).relative_to(root)
            if path.suffix in SOURCES and "data" not in path.parts[:-1]:
                yield path.as_posix()


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).parents[1])
    if not root.is_dir():
        print(f"check_includes: {root} is not a folder", file=sys.stderr)
        return 2
    root = root.resolve()
    paths = list(sources(root))
    findings = [finding for path in paths for finding in check_file(root, path)]
    for finding in findings:
        print(finding)
    if not findings:
        print(f"includes: {len(paths)} files keep the rules")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
