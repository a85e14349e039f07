#!/usr/bin/env python3
"""Measures how long models take from a cold start to their first answer.

    benchmarks/models/load_times.py [--gantry TOOL] [--profile P ...] [--json FILE] [--limit S] [--dim NAME=N]
                                    MODEL ...

Each model is compiled, by default for the profiles of this machine as `gantry compile` does, and then loaded and run in
another process, with empty caches: Mesa's shader cache is off, and Gantry's cache folder is new. Columns: wall and CPU
seconds of `gantry compile`, the size of the artifact (the compiled model), the number of pipelines, the seconds of the
load (in which the driver compiles the pipelines) and of the first run, the median of later runs ("run"), and the load
plus the first run less the median of later runs ("beyond"). A row is marked, and the exit code is 1, if the compilation
takes more than 10 s or "beyond" is more than --limit seconds (8 by default). Standard library only.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILE_LIMIT_S = 10


def label(model):
    return model.parent.name if model.stem == "model" else model.stem


def call(command, environment):
    """Returns the output, the wall seconds and the CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)
    wall = time.monotonic() - start
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
        raise RuntimeError(said[-1][:300])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(model, options):
    with tempfile.TemporaryDirectory(prefix="gantry-load-") as folder:
        environment = dict(os.environ, GANTRY_CACHE_DIR=folder, MESA_SHADER_CACHE_DISABLE="true")
        artifact = pathlib.Path(folder, "model.gantry")
        profiles = [word for profile in options.profile for word in ("-p", profile)]
        _, wall, cpu = call([options.gantry, "compile", model, *profiles, "-o", artifact], environment)
        # Only symbols that the model has may be set.
        program = json.loads(call([options.gantry, "inspect", artifact, "--json"], environment)[0])
        names = {symbol["name"] for symbol in program["symbols"]}
        dims = [f"--dim={d}" for d in options.dim if d.split("=")[0] in names]
        bench = [options.gantry, "bench", artifact, "--json", "--no-timestamps", "--warmup", "1", "-n", "3"] + dims
        report = json.loads(call(bench, environment)[0])
        return {
            "model": label(model), "compile_s": wall, "compile_cpu_s": cpu, "artifact_bytes": artifact.stat().st_size,
            "pipelines": report["pipelines"], "load_s": report["load_ns"] / 1e9,
            "first_run_s": report["first_run_ns"] / 1e9, "run_s": report["run"]["median_ns"] / 1e9,
            "beyond_run_s": (report["first_answer_ns"] - report["run"]["median_ns"]) / 1e9}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--gantry", type=pathlib.Path, default=ROOT / "build/release/bin/gantry")
    parser.add_argument("--profile", action="append", default=[], metavar="P")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--limit", type=float, default=8, metavar="S")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N")
    options = parser.parse_args()
    options.dim = options.dim or ["batch=1", "time=64"]
    print(f"{'model':24} {'compile':>8} {'CPU':>7} {'artifact':>10} {'pipelines':>9} {'load':>7} {'first run':>9} "
          f"{'run':>9} {'beyond':>8}")
    rows, failed = [], False
    for model in options.models:
        try:
            row = measure(model, options)
        except RuntimeError as error:
            print(f"{label(model):24} {error}", flush=True)
            failed = True
            continue
        rows.append(row)
        isSlow = row["compile_s"] > COMPILE_LIMIT_S or row["beyond_run_s"] > options.limit
        failed |= isSlow
        print(f"{row['model']:24} {row['compile_s']:6.1f} s {row['compile_cpu_s']:5.1f} s "
              f"{row['artifact_bytes'] / 2**20:6.1f} MiB {row['pipelines']:9} {row['load_s']:5.2f} s "
              f"{row['first_run_s']:7.2f} s {1e3 * row['run_s']:6.1f} ms {row['beyond_run_s']:6.2f} s"
              f"{'  slow' if isSlow else ''}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
