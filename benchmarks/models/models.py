#!/usr/bin/env python3
"""Compiles and measures models; prints one line for each model, or JSON.

    benchmarks/models/models.py [--gantry TOOL] [--json] [--seconds S] [--device D] [--profile P]
                                [--dim NAME=N ...] [--peers] [MODEL or FOLDER ...]

Without arguments, the models are those of examples/digits, tests/data/models and, where they exist,
../shared/models and ../shared/onnx/light. The columns are: the time to compile; the median time of a run; the
median time of its dispatches (kernel launches) on the device; GFLOP/s, which is the operation count of the
model's operators divided by the device time; the number of dispatches; the size of the arena (the memory of the
tensors that exist only during a run), its lower bound (the largest total size of the tensors alive at one moment),
and their ratio.
Inputs are random (seed 1). Dynamic dimensions are set with --dim (default: batch=2 time=48, others 1). The exit
code is 1 if there is no model or one could not be compiled or run. Standard library only, except for --peers.

If model_bench (model_bench.cpp) is built (GANTRY_BUILD_BENCHMARKS=ON) and lies in the same folder as the tool, a
second table follows: the seconds of a run (CPU seconds of one core on a software device), the operations,
operations per second, the rate of a hand-written convolution, and the model's rate divided by it. --peers
adds the CPU seconds of other runtimes for image models (peers.py).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULTS = ["examples/digits", "tests/data/models", "../shared/models", "../shared/onnx/light"]


def find(places):
    models = []
    for place in places:
        if place.is_file():
            models.append(place)
        elif place.is_dir():
            models += sorted(p for p in place.rglob("*") if p.suffix in (".onnx", ".mlir"))
        else:
            print(f"{place}: no such file or folder", file=sys.stderr)
            sys.exit(2)
    return models


def label(model):
    return model.parent.name if model.stem == "model" else model.stem


def call(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip()).splitlines()[-1][:300])
    return done.stdout


def share(artifact, options, plan):
    """Returns model_bench's row for the artifact; None if model_bench is not built."""
    tool = options.gantry.parent / "model_bench"
    if not tool.exists():
        return None
    out = artifact.with_suffix(".json")
    dims = [w for symbol in plan.get("symbols", [])
            for w in ("--dim", f"{symbol['name']}={options.dims.get(symbol['name'], 1)}")]
    device = ["--device", options.device] if options.device else []
    call([tool, "--json", out, *device, *dims, artifact])
    return json.loads(out.read_text())["models"][0]


def peers_of(model, options, plan):
    """Returns the seconds of other runtimes, and why one could not run; empty unless --peers is set and the model is
    an ONNX file whose only input has four fixed dimensions."""
    shapes = [port["dims"] for port in plan["inputs"]]
    image = len(shapes) == 1 and len(shapes[0]) == 4 and all(isinstance(d, int) for d in shapes[0])
    if not options.peers or not image or model.suffix != ".onnx":
        return {}
    seconds, reasons = peers.measure(model, label(model), tuple(shapes[0]))
    return {"peers": seconds, "peers_without": reasons}


def measure(model, options, folder):
    artifact = folder / f"{label(model)}.gantry"
    start = time.monotonic()
    profile = ["--profile", options.profile] if options.profile else []
    call([options.gantry, "compile", model, "-o", artifact, *profile])
    compile_seconds = time.monotonic() - start
    plan = json.loads(call([options.gantry, "inspect", artifact, "--json"]))
    dims = [w for symbol in plan.get("symbols", [])
            for w in ("--dim", f"{symbol['name']}={options.dims.get(symbol['name'], 1)}")]
    device = ["--device", options.device] if options.device else []
    result = {"core": share(artifact, options, plan), **peers_of(model, options, plan)}
    bench = json.loads(call([options.gantry, "bench", artifact, "--random", "1", "--seconds", options.seconds,
                             "--json", *device, *dims]))
    gpu = bench.get("gpu", {}).get("median_ns")
    flops = sum(d["flops"] for d in bench["dispatches"])
    return {
        **result, "model": label(model), "device": bench["device"], "compile_s": compile_seconds,
        "load_ms": bench["load_ns"] / 1e6, "run_ms": bench["run"]["median_ns"] / 1e6,
        "run_p90_ms": bench["run"]["p90_ns"] / 1e6, "gpu_ms": gpu / 1e6 if gpu else None,
        "gflop": flops / 1e9, "gflops": flops / gpu if gpu else None, "dispatches": len(bench["dispatches"]),
        "constant_bytes": bench["constant_bytes"], "arena_bytes": bench["arena_bytes"],
        "lower_bound_bytes": bench["lower_bound_bytes"],
        "ratio": bench["arena_bytes"] / bench["lower_bound_bytes"] if bench["lower_bound_bytes"] else 1.0}


def size(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def row(r):
    return (f"{r['model'][:24]:24} {r['compile_s']:9.1f} {r['run_ms']:9.2f} {r['gpu_ms'] or 0:9.2f} "
            f"{r['gflops'] or 0:9.2f} {r['dispatches']:6} {size(r['arena_bytes']):>11} "
            f"{size(r['lower_bound_bytes']):>11} {r['ratio']:6.3f}")


def print_shares(results):
    rows = [r for r in results if r["core"]]
    if not rows:
        return
    print(f"\n{'model':24} {'seconds':>9} {'GFLOP':>8} {'GFLOP/s':>9} {'conv GFLOP/s':>12} {'share':>6}  "
          "peers, seconds")
    for r in rows:
        core = r["core"]
        others = [f"{peer} {seconds:.4f}" for peer, seconds in r.get("peers", {}).items()]
        others += [f"{peer}: {why}" for peer, why in r.get("peers_without", {}).items()]
        print(f"{r['model'][:24]:24} {core['seconds']:9.4f} {core['gflop']:8.3f} {core['gflops']:9.2f} "
              f"{core['conv_gflops']:12.2f} {core['ratio']:6.3f}  {'; '.join(others)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", type=pathlib.Path, default=ROOT / "build/release/bin/gantry")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--device", default="")
    parser.add_argument("--profile", default="", help="device profile (default: the compiler's default)")
    parser.add_argument("--peers", action="store_true", help="measure other runtimes on the CPU as well")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("places", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    options.dims = {"batch": "2", "time": "48", **dict(d.split("=", 1) for d in options.dim)}
    places = options.places or [ROOT / d for d in DEFAULTS if (ROOT / d).exists()]
    results, failed = [], 0
    if not options.json:
        print(f"{'model':24} {'compile s':>9} {'run ms':>9} {'GPU ms':>9} {'GFLOP/s':>9} {'disp.':>6} "
              f"{'arena':>11} {'bound':>11} {'ratio':>6}")
    for model in find(places):
        with tempfile.TemporaryDirectory(prefix="gantry_bench_") as folder:
            try:
                results.append(measure(model, options, pathlib.Path(folder)))
                if not options.json:
                    print(row(results[-1]), flush=True)
            except RuntimeError as error:
                failed += 1
                print(f"{label(model)}: {error}", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(results, indent=2))
    elif results:
        print(f"on {results[0]['device']}")
        print_shares(results)
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
