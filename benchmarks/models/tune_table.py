#!/usr/bin/env python3
"""Makes or improves the table of measured tiles that ships with the compiler for the software device.

    tune_table.py [--gantry TOOL] [--table FILE] [--candidates N] [--skip N] [--seconds S] [MODEL ...]

A tile is the part of a result that one invocation or workgroup of a kernel computes; `gantry tune` measures several
tiles for each kernel of a model. A MODEL is the name of a torchvision model, which the script exports with random
weights (the best tiles do not depend on the weights); one of KERNELS, the names of models with one operator that
../kernels/make_models.py writes; or the path of an .onnx file. Without MODEL, all of NETWORKS and KERNELS are tuned.
--table is codegen/tuning/lavapipe.json by default; an entry of the table changes only if a faster tile is found.
--candidates, --skip and --seconds are passed to `gantry tune`.

Kernels run in the thread that submits them (LP_NUM_THREADS=0), so a measured time is the time of one core.
No other program should run at the same time. Debian: python3-torch, python3-torchvision, python3-onnx.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["mobilenet_v3_small", "squeezenet1_1", "resnet18", "resnet50"]
KERNELS = ["conv3x3", "matmul", "matvec"]
PROFILE = "vulkan:lavapipe"


def model_of(name, folder):
    if pathlib.Path(name).exists():
        return pathlib.Path(name)
    if name in KERNELS:
        maker = ROOT / "benchmarks/kernels/make_models.py"
        subprocess.run([sys.executable, maker, folder, "--only", name], check=True, stdout=subprocess.DEVNULL)
        return folder / f"{name}.onnx"
    from torchvision_models import export, make  # Needs PyTorch, which files and kernels do not.
    path = folder / f"{name}.onnx"
    export(*make(name), path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", type=pathlib.Path, default=ROOT / "build/release/bin/gantry")
    parser.add_argument("--table", type=pathlib.Path, default=ROOT / "codegen/tuning/lavapipe.json")
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("models", nargs="*", default=NETWORKS + KERNELS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gantry_tune_") as folder:
        for name in options.models:
            model = model_of(name, pathlib.Path(folder))
            subprocess.run([options.gantry.resolve(), "tune", model, "-o", options.table, "--profile", PROFILE,
                            "--no-built-in-tuning", "--candidates", str(options.candidates), "--skip",
                            str(options.skip), "--seconds", str(options.seconds)],
                           check=True, env={**os.environ, "LP_NUM_THREADS": "0"})


if __name__ == "__main__":
    main()
