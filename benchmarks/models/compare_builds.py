#!/usr/bin/env python3
"""Compares two builds of Gantry on models: arena, copies, bytes moved, artifact, compile time and run time.

    compare_builds.py OLD NEW MODEL.onnx... [--rounds 5] [--threads 1] [--options "--no-strips"]

OLD and NEW are build folders (build/release) or their `gantry` tools. Both builds compile each model. Then they run it
in turns, so that other load on the machine affects both equally. The columns "arena MiB" and "ratio" compare the arena,
the memory of the tensors that exist only during a run. The column "copies" counts the commands that only copy a tensor;
"moved" is the ratio of the bytes of all commands' operands and results, "file" that of the artifacts' sizes. For the
run time, each round counts with its fastest run; "run ms" has the medians of the rounds, and the last column their
ratio. All ratios are NEW divided by OLD, so a ratio below 1 means that NEW is better. The exit code is 1 if a build
fails on a model, or if a ratio exceeds its limit (--limit-...); the end of the model's line then names the ratios that
do.

Examples:
    compare_builds.py ../old/build/release build/release ../shared/models/*/model.onnx
    compare_builds.py ../old/build/release build/release vgg11.onnx --limit-arena 1 --limit-run 1.02
    compare_builds.py ../old/build/release build/release resnet18.onnx --options "--memory-budget 2MiB" --rounds 9
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time


class Build:
    def __init__(self, path, folder):
        path = pathlib.Path(path)
        self.tool = path if path.is_file() else path / "bin" / "gantry"
        if not self.tool.is_file():
            sys.exit(f"compare_builds.py: {path} is neither a build folder nor the tool")
        self.folder = folder
        folder.mkdir()

    def call(self, *words, threads=None):
        environment = dict(os.environ, GANTRY_ATTACH="0")
        if threads:
            environment["LP_NUM_THREADS"] = str(threads)
        done = subprocess.run([self.tool, *map(str, words)], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
        return done.stdout

    def compile(self, model, options):
        """Compiles the model. Returns the compile time in seconds and the measures of the compiled program; a number of
        bytes that depends on the sizes of the inputs is None."""
        self.artifact = self.folder / "model.gantry"
        before = time.monotonic()
        self.call("compile", model, "-o", self.artifact, *options)
        seconds = time.monotonic() - before
        plan = json.loads(self.call("inspect", self.artifact, "--json"))
        moved = [command.get("bytes") for command in plan["commands"]]
        return {
            "arena": plan.get("arena_bytes"),
            "copies": sum(1 for command in plan["commands"]
                          if command.get("copy_reason") or command["kind"] == "copy"),
            "moved": sum(moved) if all(isinstance(size, int) for size in moved) else None,
            "compile": seconds,
            "file": self.artifact.stat().st_size,
        }

    def best(self, dims, seconds, threads):
        words = [word for dim in dims for word in ("--dim", dim)]
        report = json.loads(self.call("bench", self.artifact, "--seconds", seconds, "--json", *words, threads=threads))
        return report["run"]["min_ns"] / 1e6


def ratio(old, new):
    return f"{new / old:.3f}" if old and new is not None else "-" if old == new else "?"


def mebibytes(size):
    return "?" if size is None else f"{size / 2**20:.2f}"


def compare(model, builds, options):
    measures = [build.compile(model, shlex.split(options.options)) for build in builds]
    times = [[], []]
    for turn in range(options.rounds):
        for b in (0, 1) if turn % 2 == 0 else (1, 0):
            times[b].append(builds[b].best(options.dim, options.seconds, options.threads))
    medians = [statistics.median(one) for one in times]
    old, new = measures
    beyond = [name for name, values, limit in (("arena", (old["arena"], new["arena"]), options.limit_arena),
                                               ("file", (old["file"], new["file"]), options.limit_file),
                                               ("run", medians, options.limit_run),
                                               ("compile", (old["compile"], new["compile"]), options.limit_compile))
              if limit and None not in values and values[1] > limit * values[0]]
    return beyond, [f"{mebibytes(old['arena'])} {mebibytes(new['arena'])}", ratio(old["arena"], new["arena"]),
                    f"{old['copies']} {new['copies']}", ratio(old["moved"], new["moved"]), ratio(old["file"], new["file"]),
                    f"{old['compile']:.1f} {new['compile']:.1f}", f"{medians[0]:.2f} {medians[1]:.2f}",
                    ratio(*medians)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the build folder, or the tool, to compare with")
    parser.add_argument("new", help="the build folder, or the tool, that changed")
    parser.add_argument("models", nargs="+", help=".onnx or .mlir files")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each build and model (default 5)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time of one measurement (default 0.5 s)")
    parser.add_argument("--threads", type=int, default=1,
                        help="threads of the software device; more are noisier (default 1)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N",
                        help="the size of a dynamic dimension (may be repeated)")
    for name, what in (("arena", "arenas"), ("file", "artifacts' sizes"), ("run", "run times"), ("compile", "compile times")):
        parser.add_argument(f"--limit-{name}", type=float, metavar="RATIO", help=f"the largest ratio of the {what}")
    parser.add_argument("--options", default="", help="options of `gantry compile`, for example \"--no-strips\"")
    options = parser.parse_args()
    titles = ["model", "arena MiB", "ratio", "copies", "moved", "file", "compile s", "run ms", "ratio"]
    widths = [26, 15, 6, 9, 6, 6, 12, 18, 6]
    print("  ".join(f"{title:<{width}}" for title, width in zip(titles, widths)), flush=True)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        builds = [Build(path, pathlib.Path(scratch) / name)
                  for path, name in ((options.old, "old"), (options.new, "new"))]
        for model in options.models:
            path = pathlib.Path(model)
            name = path.parent.name if path.stem == "model" else path.stem
            print(f"{name:<26}  ", end="", flush=True)
            try:
                beyond, cells = compare(model, builds, options)
                print("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths[1:])) +
                      (f"  beyond the limit: {', '.join(beyond)}" if beyond else ""), flush=True)
                failed |= bool(beyond)
            except RuntimeError as error:
                failed = True
                print(error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
