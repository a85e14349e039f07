#!/usr/bin/env python3
"""Runs the tests on another machine that has a GPU, and needs neither a compiler nor a network there.

    run_on_gpu.py pack ARCHIVE.tar.xz [--build FOLDER] [--only REGEX] [--with PATH ...] [--without LIBRARY ...]
    run_on_gpu.py run FOLDER [--only REGEX] [--jobs N] [--limit SECONDS] [--log FILE]

`pack` collects the tests of a build tree that use a device, as ctest lists them: their programs, the shared libraries of
these programs except those of the C library, and the files of the source tree. --with adds files or folders: other programs of
the build tree, models beside the source tree, Vulkan's loader, a validation layer. --without replaces a shared library by an empty one of the same name; a
function of it that is called nevertheless ends the program.

Unpack the archive at the same absolute paths (`tar -xf ARCHIVE.tar.xz -C /`), because the test programs hold paths of the
source tree. FOLDER is then the build tree. `run` starts the tests, several at a time, and prints a line for each test that
failed or was skipped and a line with the counts. The log has the whole output of all tests. They run on the device that is
used by default, and need the validation layer. Exit code 1: a test failed, or there is none. `run` needs the standard library
only, `pack` also ctest, ldd, tar, xz and, for --without, cc.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MANIFEST, LIBRARIES = "gpu_tests.json", "gpu_lib"
ON_DEVICE = (r"^(backends|conformance|examples|e2e)$"  # Labels, and names of further tests that use a device.
             r"|^(device|vulkan_heap|program|session|capi|capi_trace|import_conformance|cli)_test$")
C_LIBRARY = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s))\.so")
SKIPPED = 77


def listed_tests(build, only):
    """Returns the tests that ctest lists and whose name or label matches: name, command, environment."""
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    tests = []
    for entry in json.loads(done.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        if "command" not in entry or not any(re.search(only, word) for word in [entry["name"], *properties.get("LABELS", [])]):
            continue
        tests.append({"name": entry["name"], "command": entry["command"], "environment": properties.get("ENVIRONMENT", []),
                      "folder": properties.get("WORKING_DIRECTORY", str(build))})
    return tests


def shared_libraries(program):
    """Maps the names of a program's shared libraries, except those of the C library, to their paths."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True)
    found = re.findall(r"^\s*(\S+) => (/\S+)", done.stdout, re.M)
    return {name: path for name, path in found if not C_LIBRARY.match(name)}


def pack(options):
    build = options.build.resolve()
    tests = listed_tests(build, options.only)
    if not tests:
        sys.exit(f"run_on_gpu: error: no test of {build} matches {options.only}")
    programs = {word for test in tests for word in test["command"] if word.startswith(f"{build}/")}
    programs |= {str(path) for path in options.paths if str(path).startswith(f"{build}/")}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / LIBRARIES).mkdir()
        needed = {}
        compiler = build / "lib/libgantry_compiler.so.0"  # The gantry tool loads it when it compiles.
        loaded = {compiler.name: compiler} if compiler.exists() else {}
        for program in [*programs, *loaded.values()]:
            needed.update(shared_libraries(program))
        needed.update(loaded)
        for name, path in needed.items():
            if any(name.startswith(word) for word in options.without):
                subprocess.run(["cc", "-shared", f"-Wl,-soname,{name}", "-x", "c", "/dev/null", "-o",
                                scratch / LIBRARIES / name], check=True)
            else:
                shutil.copyfile(path, scratch / LIBRARIES / name)
        (scratch / MANIFEST).write_text(json.dumps(tests, indent=1))
        sources = subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
        files = [*programs, *(str(ROOT / name) for name in sources), *(os.path.normpath(p.absolute()) for p in options.paths)]
        command = ["tar", "--dereference", "-cJf", options.archive, f"--transform=s,^{str(scratch)[1:]},{str(build)[1:]},",
                   "-C", "/", *sorted({name[1:] for name in files}), *(str(scratch / part)[1:] for part in (LIBRARIES, MANIFEST))]
        subprocess.run([str(word) for word in command], check=True, env={**os.environ, "XZ_OPT": "-6 -T0"})
    print(f"{options.archive}: {len(tests)} tests, {options.archive.stat().st_size / 2**20:.1f} MiB")


def run_one(test, folder, limit):
    """Runs a test. Returns its exit code (None: it did not end in time), its output and its seconds."""
    environment = dict(entry.split("=", 1) for entry in test["environment"])
    environment = {"GANTRY_VALIDATION": "1", "GANTRY_CACHE_DIR": str(folder / "test_cache"), **os.environ, **environment,
                   "LD_LIBRARY_PATH": f"{folder / LIBRARIES}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    place = test["folder"] if os.path.isdir(test["folder"]) else folder
    command = list(test["command"])
    if pathlib.Path(command[0]).name.startswith("python") and not os.path.exists(command[0]):
        command[0] = sys.executable  # The interpreter of the machine that packed the tests.
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=place,
                                  timeout=limit)
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        except OSError as error:
            output.write(str(error).encode())
            code = 127
        output.seek(0)
        return code, output.read().decode(errors="replace"), time.monotonic() - start


def run(options):
    folder = options.folder.resolve()
    tests = [t for t in json.loads((folder / MANIFEST).read_text()) if re.search(options.only, t["name"])]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(options.log, "w", encoding="utf-8") as log:
        running = {pool.submit(run_one, test, folder, options.limit): test["name"] for test in tests}
        for done in concurrent.futures.as_completed(running):
            code, output, seconds = done.result()
            kind = {0: "passed", SKIPPED: "skipped"}.get(code, "failed")
            counts[kind] += 1
            ended = "did not end in time" if code is None else f"ended with {code}"
            log.write(f"==== {running[done]}: {ended}, {seconds:.1f} s\n{output}\n")
            log.flush()
            if kind != "passed":
                print(f"{kind:8} {running[done]} ({ended}, {seconds:.1f} s)", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] or not tests else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="The head of this file is the manual.")
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="collect the tests of a build tree in an archive")
    packing.add_argument("archive", type=pathlib.Path)
    packing.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    packing.add_argument("--only", default=ON_DEVICE, help="regular expression for names or labels of tests")
    packing.add_argument("--with", dest="paths", type=pathlib.Path, nargs="+", default=[], metavar="PATH")
    packing.add_argument("--without", nargs="+", default=[], metavar="LIBRARY")
    running = commands.add_parser("run", help="run the tests of an unpacked archive")
    running.add_argument("folder", type=pathlib.Path, help="the build tree that was unpacked")
    running.add_argument("--only", default="", help="regular expression for names of tests")
    running.add_argument("--jobs", type=int, default=os.cpu_count())
    running.add_argument("--limit", type=float, default=120, help="seconds after which a test is ended")
    running.add_argument("--log", type=pathlib.Path, default=pathlib.Path("gpu_tests.log"))
    options = parser.parse_args()
    return pack(options) if options.command == "pack" else run(options)


if __name__ == "__main__":
    sys.exit(main())
