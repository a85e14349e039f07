#!/usr/bin/env python3
"""Prints the line coverage of engine/ and codegen/ by folder.

    tools/house/coverage.py BUILD [--root ROOT] [--json FILE]

BUILD is a build folder of the CMake preset "coverage" in which the tests have run and written their
counters. gcovr (package gcovr) reads the counters. A line of a header counts once, however many sources
include it. ROOT is the source tree (default: the tree of this script). --json writes the covered lines and
all lines of each file. The exit code is 1 if there are no counters or gcovr failed.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

FOLDERS = ("engine", "codegen")


def counted(build, root):
    """Returns {file: (number of covered lines, number of lines)} for the sources in FOLDERS."""
    command = ["gcovr", "--root", str(root), "--object-directory", str(build), "-j", str(os.cpu_count() or 1),
               "--gcov-ignore-parse-errors", "--exclude-unreachable-branches", "--json-summary"]
    for folder in FOLDERS:
        command += ["--filter", f"{root}/{folder}/"]
    done = subprocess.run(command + [str(build)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"coverage: gcovr failed: {done.stderr.strip()[-500:]}")
    return {file["filename"]: (file["line_covered"], file["line_total"])
            for file in json.loads(done.stdout)["files"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    files = counted(options.build.resolve(), options.root.resolve())
    if not files:
        print(f"coverage: {options.build} has no counters; run ./dev coverage", file=sys.stderr)
        return 1
    sums = collections.defaultdict(lambda: [0, 0])
    for name, (covered, lines) in files.items():
        parts = name.split("/")
        for folder in {parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0]}:
            sums[folder][0] += covered
            sums[folder][1] += lines
    print(f"{'folder':<24}{'lines':>8}{'covered':>10}")
    for folder, (covered, lines) in sorted(sums.items()):
        print(f"{folder:<24}{lines:>8}{100 * covered / max(1, lines):>9.2f} %")
    if options.json:
        options.json.write_text(json.dumps(files, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
