#!/usr/bin/env python3
"""Compares `gantry bench MODEL` with `gantry compile MODEL && gantry bench ARTIFACT`, which should be equally fast.

    default_speed.py --gantry TOOL [--rounds 15] [--runs 15] [--json FILE] [--within 0.05] FOLDER...

Each FOLDER has a model.onnx and may have inputs in test_data_set_0. Each round measures the model and the artifact once.
The time of a round is that of its fastest run, because on a shared machine the time of the same artifact (the compiled
model) differs by up to a quarter from process to process. The columns are: the medians of the rounds' times for the
model and for the artifact, and their ratio; whether the kernels and commands of both are equal (`gantry inspect --json`);
the wall time of `gantry compile`; and the wall times of the first `gantry bench MODEL`, which compiles, and of the second,
which uses the compiled model in the cache. The cache folder is empty at first.

The exit code is 1 if kernels differ, or if a ratio differs from 1 by more than --within. With 15 rounds the ratio
varies by about 6 %, with 61 rounds by about 3 %. Standard library only.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--within", type=float, default=0.05)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gantry_default_") as place:
        environment = {**os.environ, "GANTRY_CACHE_DIR": str(pathlib.Path(place) / "cache")}

        def gantry(*words):
            done = subprocess.run([options.gantry, *map(str, words)], capture_output=True, text=True, env=environment)
            if done.returncode or done.stderr:
                sys.exit(f"`gantry {' '.join(map(str, words))}` ended with {done.returncode}: {done.stderr}")
            return done.stdout

        def timed(*words):
            start = time.monotonic()
            gantry(*words)
            return time.monotonic() - start

        rows = []
        print(f"{'model':24} {'bench MODEL':>12} {'ARTIFACT':>10} {'ratio':>7} {'kernels':>8} {'compile':>9} {'1st start':>10} {'2nd':>8}")
        for folder in options.folders:
            model, artifact = folder / "model.onnx", pathlib.Path(place) / f"{folder.name}.gantry"
            inputs = [w for path in sorted(folder.glob("test_data_set_0/input_*.pb")) for w in ("--input", path)]
            once = ["bench", model, "--runs", 1, "--warmup", 0, *inputs]
            first, second = timed(*once), timed(*once)
            compiled = timed("compile", model, "-o", artifact)
            plans = [json.loads(gantry("inspect", path, "--json")) for path in (model, artifact)]
            same = all(plans[0][part] == plans[1][part] for part in ("kernels", "commands"))
            times = {model: [], artifact: []}
            for _ in range(options.rounds):
                for path, fastest in times.items():
                    words = ["bench", path, "--runs", options.runs, "--no-timestamps", "--json", *inputs]
                    fastest.append(json.loads(gantry(*words))["run"]["min_ns"])
            of_model, of_artifact = (statistics.median(times[path]) for path in (model, artifact))
            row = {"model": folder.name, "model_ns": of_model, "artifact_ns": of_artifact,
                   "ratio": of_artifact / of_model, "same_kernels": same,
                   "compile_s": compiled, "first_start_s": first, "second_start_s": second}
            rows.append(row)
            print(f"{folder.name:24} {of_model / 1e6:9.2f} ms {of_artifact / 1e6:7.2f} ms {row['ratio']:7.3f} {'same' if same else 'DIFFER':>8} "
                  f"{compiled:7.2f} s {first:8.2f} s {second:6.2f} s", flush=True)
        if options.json:
            options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
        sys.exit(any(abs(row["ratio"] - 1) > options.within or not row["same_kernels"] for row in rows))


if __name__ == "__main__":
    main()
