#!/usr/bin/env python3
"""Compares the generated kernels on this machine's GPU with the vendor's library.

    on_gpu.py ARTIFACTS [--bench KERNEL_BENCH] [--device D] [--rounds N] [--side N] [--only NAME ...]

ARTIFACTS is a folder of models that make_models.py wrote and compiled, on any machine, for the GPU's profile.
Without --bench, the script builds kernel_bench (kernel_bench.cpp), the program that measures, from this source tree in
build/on_gpu; the build needs neither MLIR nor a network.

The script prints a table. Matmuls are compared with the vendor's library, and memory-bound kernels with the
measured copy bandwidth: the ratio is Gantry's rate divided by the other rate. Each row has a lower limit for the ratio.
Exit code 0: all ratios reach their limits; 2: a ratio is below its limit; 1: something is missing or failed, with one
line on stderr for each. Standard library only.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "on_gpu"


def rows(side):
    """Maps each kernel's name to (the key of the ratio in kernel_bench's JSON, the min ratio)."""
    return {f"matmul_f16_{side}": ("generated_to_reference", 0.55),
            f"matmul_f32_{side}": ("generated_to_reference", 0.7),
            "add": ("generated_to_copy", 0.85),
            "softmax": ("generated_to_copy", 0.85)}


def fail(reasons):
    for reason in reasons:
        print(f"on_gpu: error: {reason}", file=sys.stderr)
    sys.exit(1)


def build():
    """Builds kernel_bench from this source tree and returns its path."""
    configure = ["cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DGANTRY_BUILD_CODEGEN=OFF",
                 "-DGANTRY_BUILD_PROFILER=OFF", "-DGANTRY_BUILD_BENCHMARKS=ON"]
    for command in (configure, ["cmake", "--build", BUILD, "--parallel", "--target", "kernel_bench"]):
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except FileNotFoundError:
            fail(["cmake is not installed; --bench takes a kernel_bench that was built elsewhere"])
        if done.returncode:
            fail([f"{' '.join(str(word) for word in command)} failed:\n{done.stdout[-4000:]}"])
    return BUILD / "bin" / "kernel_bench"


def measure(bench, options, wanted):
    """Runs kernel_bench, which prints its own table, and returns its JSON report."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [bench, "--artifacts", options.artifacts, "--rounds", str(options.rounds), "--side",
                   str(options.side), "--no-overhead", "--json", report, "--only", *wanted]
        if options.device:
            command += ["--device", options.device]
        try:
            code = subprocess.run(command).returncode
        except OSError as error:
            fail([f"{bench}: {error.strerror}"])
        if code:
            fail([f"{bench} ended with {code}"])
        return json.loads(report.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("artifacts", type=pathlib.Path, help="folder of compiled models")
    parser.add_argument("--bench", type=pathlib.Path, help="path of kernel_bench; by default it is built")
    parser.add_argument("--device", help="index of the device, or part of its name")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--side", type=int, default=8192, help="size of the matrices, as for make_models.py")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run only these kernels")
    options = parser.parse_args()

    known = rows(options.side)
    wanted = options.only or list(known)
    missing = [f"no kernel {name}; there are: {', '.join(known)}" for name in wanted if name not in known]
    missing += [f"{options.artifacts / name}.gantry is missing: make_models.py writes it" for name in wanted
                if name in known and not (options.artifacts / f"{name}.gantry").is_file()]
    if missing:
        fail(missing)
    report = measure(options.bench or build(), options, wanted)

    print(f"\n{report['device']}: best round / best round, {report['rounds']} rounds\n\n"
          f"{'kernel':18} {'generated':>16} {'compared with':>24} {'ratio':>6} {'limit':>6}")
    below = False
    for row in report["kernels"]:
        key, limit = known[row["name"]]
        rate = f"{row['generated']:.1f} {row['unit']}"
        if row[key] is None:
            missing.append(f"{row['name']}: no {row['reference_name']}: {row['reference_missing']}")
            print(f"{row['name']:18} {rate:>16} {'-':>24} {'-':>6} {limit:6.2f}")
            continue
        ratio = row[key]["best"]
        beside = "copy bandwidth" if key == "generated_to_copy" else \
            f"{row['reference']:.1f} {row['reference_name']}"
        below |= ratio < limit
        print(f"{row['name']:18} {rate:>16} {beside:>24} {ratio:6.2f} {limit:6.2f}"
              f"{'  below' if ratio < limit else ''}")
    sys.stdout.flush()
    if missing:
        fail(missing)
    return 2 if below else 0


if __name__ == "__main__":
    sys.exit(main())
