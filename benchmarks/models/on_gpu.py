#!/usr/bin/env python3
"""Compares torchvision's models on this machine's GPU: Gantry and PyTorch, the same weights and the same input.

    on_gpu.py [--gantry TOOL] [--profile PROFILE] [--batch N ...] [--seconds S] [--json FILE] [MODEL ...]

Each model has random weights (seed 0), is exported to ONNX and compiled. The script compares Gantry's output with PyTorch's,
computed on the CPU in f64, and then measures both. Times of Gantry are the device's own: the median of a run by its timestamps.
PyTorch is measured in f32 without TF32, first as written (`eager`, wall time of a run: it includes the cost of launching
kernels), then as a captured CUDA graph (`graph`, by CUDA events), which has no such cost. The last column is the wall time of
`gantry run` on the compiled model, from the start of the process to its end; caches of the driver and of Gantry may shorten
this time.

Without a GPU that PyTorch knows, the script measures Gantry alone. Exit code 1: an output differs by more than 1e-4
(||out - ref|| / ||ref||), or a model failed. Needs PyTorch, torchvision and onnx (Debian: python3-torch,
python3-torchvision, python3-onnx).
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

import numpy as np
import torch
import torchvision

from torchvision_models import export

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULTS = ["squeezenet1_1", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "efficientnet_b0", "resnet18", "resnet50",
            "densenet121", "vgg16", "vit_b_16"]
TOLERANCE = 1e-4
RUNS = 30


def call(tool, *arguments):
    """Calls the tool, which may lie in an archive that tests/run_on_gpu.py packed with its libraries."""
    libraries = f"{tool.resolve().parents[1] / 'gpu_lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    done = subprocess.run([str(word) for word in (tool, *arguments)], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": libraries})
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip() or f"ended with {done.returncode}").splitlines()[-1][:300])
    return done.stdout


def pytorch(model, image):
    """Returns the milliseconds of a run on the GPU: as written, and as a captured graph."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    model, image = model.cuda(), image.cuda()
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(5):
            model(image)
        stream.synchronize()
        eager = []
        for _ in range(RUNS):
            start = time.perf_counter()
            model(image)
            stream.synchronize()
            eager.append((time.perf_counter() - start) * 1e3)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            model(image)
        replayed = []
        for _ in range(RUNS):
            events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            events[0].record(stream)
            graph.replay()
            events[1].record(stream)
            stream.synchronize()
            replayed.append(events[0].elapsed_time(events[1]))
    return statistics.median(eager), statistics.median(replayed)


def measure(name, batch, options, folder):
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)(weights=None).eval()
    for weights in model.parameters():
        if not weights.any():  # Zeros, as in the last layer of vit_b_16, would make the output zero.
            torch.nn.init.normal_(weights, std=0.02)
    image = torch.rand(batch, 3, 224, 224) - 0.5
    source, artifact = folder / f"{name}.onnx", folder / f"{name}.gantry"
    export(model, image, source)
    with torch.no_grad():
        expected = model.double()(image.double()).numpy()
    model.float()
    np.save(folder / "x.npy", image.numpy())
    start = time.monotonic()
    call(options.gantry, "compile", source, "-o", artifact, *(["-p", options.profile] if options.profile else []))
    row = {"model": name, "batch": batch, "compile_s": time.monotonic() - start}
    start = time.monotonic()
    call(options.gantry, "run", artifact, "--input", folder / "x.npy", "--output", folder / "out.npy")
    row["first_answer_s"] = time.monotonic() - start
    out = np.load(folder / "out.npy").astype(np.float64)
    row["error"] = float(np.linalg.norm(out - expected) / np.linalg.norm(expected))
    bench = json.loads(call(options.gantry, "bench", artifact, "--input", folder / "x.npy", "--seconds", options.seconds, "--json"))
    flops = sum(d["flops"] for d in bench["dispatches"])
    row.update(device=bench["device"], gpu_ms=bench["gpu"]["median_ns"] / 1e6, host_ms=bench["run"]["median_ns"] / 1e6,
               dispatches=len(bench["dispatches"]), gflop=flops / 1e9)
    row["slowest"] = [[d["name"], d["median_ns"] / 1e3, d["flops"] / max(d["median_ns"], 1)]
                      for d in sorted(bench["dispatches"], key=lambda d: -d["median_ns"])[:5]]
    if torch.cuda.is_available():
        row["eager_ms"], row["graph_ms"] = pytorch(model, image)
    return row


def line(row):
    graph = row.get("graph_ms")
    return (f"{row['model'][:20]:20} {row['batch']:5} {row['error']:8.1e} {row['gpu_ms']:9.3f} {row['host_ms']:9.3f} "
            f"{row.get('eager_ms', 0):9.3f} {graph or 0:9.3f} {row['gpu_ms'] / graph if graph else 0:7.2f} "
            f"{row['gflop'] / row['gpu_ms']:8.2f} {row['compile_s']:9.1f} {row['first_answer_s']:7.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", type=pathlib.Path, default=ROOT / "build/release/bin/gantry")
    parser.add_argument("--profile", help="device profile (default: the compiler's default)")
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=0.5, help="time for measuring a model")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("models", nargs="*", default=DEFAULTS)
    options = parser.parse_args()
    print(f"{'model':20} {'batch':>5} {'error':>8} {'GPU ms':>9} {'host ms':>9} {'eager ms':>9} {'graph ms':>9} {'ratio':>7} "
          f"{'TFLOP/s':>8} {'compile s':>9} {'first s':>7}")
    rows, failed = [], False
    for name in options.models:
        for batch in options.batch:
            with tempfile.TemporaryDirectory(prefix="gantry_bench_") as folder:
                try:
                    row = measure(name, batch, options, pathlib.Path(folder))
                except Exception as error:  # PyTorch raises anything for a model that it cannot export.
                    failed = True
                    print(f"{name}: {str(error).strip().splitlines()[0][:300]}", file=sys.stderr, flush=True)
                    continue
            failed |= not row["error"] <= TOLERANCE
            rows.append(row)
            print(line(row), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    if rows:
        print(f"on {rows[0]['device']}; ratio: GPU ms / graph ms")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
