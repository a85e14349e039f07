#!/usr/bin/env python3
"""Prints the line coverage of engine/ and codegen/ by folder, from what the tests left in a coverage build.

    tools/house/coverage.py BUILD [--root ROOT] [--json FILE]

BUILD was configured with the preset "coverage" and its tests were run. gcovr (package gcovr) reads the
counters; lines of headers count once, however many sources include them. ROOT is the source tree, the one
of this script by default. --json writes the lines and the covered lines of each file.
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
    """{file: (covered lines, lines)} of the sources in FOLDERS."""
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
