#!/usr/bin/env python3
"""Makes the pictures of README.md and docs/ again, from real runs on the software device.

    docs/images/make_images.py [--bin FOLDER] [--model SQUEEZENET.onnx]

Needs the gantry tool, gantry-profiler and make_capture (a test program) in FOLDER (build/release/bin), and
SqueezeNet 1.1 as an ONNX model (../shared/models/squeezenet1_1/model.onnx). The capture behind
profiler-difference.png is the only one that is not of a run: make_capture writes a trace that differs from its
plan, which runs do not do.
"""
import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"


class Maker:
    def __init__(self, options, folder):
        self.bin, self.model, self.folder = options.bin.resolve(), options.model.resolve(), folder

    def call(self, program, *arguments, quiet=True):
        print("  " + " ".join([program, *map(str, arguments)]), flush=True)
        subprocess.run([str(self.bin / program), *map(str, arguments)], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL if quiet else None)

    def record(self, name, *options):
        """Compiles the model and records six runs. Returns the begins of the last two runs and the end, in ns."""
        self.call("gantry", "compile", self.model, "-p", "vulkan:lavapipe", "-o", f"{name}.gantry", *options)
        self.call("gantry", "record", "-o", f"{name}.gtrace", "--", str(self.bin / "gantry"), "bench",
                  f"{name}.gantry", "--device", "llvmpipe", "--runs", "3", "--warmup", "3")
        self.call("gantry", "export", f"{name}.gtrace", "--to", "csv", "-o", f"{name}.csv")
        with open(self.folder / f"{name}.csv", newline="") as file:
            rows = [(row["type"], int(row["time_ns"])) for row in csv.DictReader(file)]
        begins = [time for kind, time in rows if kind == "run"]
        ends = [time for kind, time in rows if kind == "run end"]
        return begins[-2], begins[-1], ends[-1]

    def render(self, picture, *arguments):
        self.call("gantry-profiler", "--render", IMAGES / picture, *arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--model", type=pathlib.Path,
                        default=ROOT.parent / "shared/models/squeezenet1_1/model.onnx")
    options = parser.parse_args()
    for needed in (options.bin / "gantry", options.bin / "gantry-profiler", options.bin / "make_capture",
                   options.model):
        if not needed.is_file():
            print(f"make_images: {needed} is missing", file=sys.stderr)
            return 1
    os.environ["GANTRY_ATTACH"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(options, pathlib.Path(folder))
        begin, last, end = maker.record("squeezenet")
        maker.call("gantry", "inspect", "squeezenet.gantry", "--title", "SqueezeNet 1.1", "--plot",
                   IMAGES / "squeezenet-plan.svg")
        two, one = f"{begin}ns:{end}ns", f"{last}ns:{end}ns"
        maker.render("profiler.png", "--time", two, "squeezenet.gtrace")
        maker.render("profiler-operators.png", "--view", "operators", "--time", two, "squeezenet.gtrace")
        maker.render("profiler-light.png", "--theme", "light", "--view", "dispatches", "--time", one,
                     "squeezenet.gtrace")
        other, _, other_end = maker.record("halves", "--precision", "f16")
        maker.render("profiler-compare.png", "--compare", "halves.gtrace",
                     "--time", f"{min(begin, other)}ns:{max(end, other_end)}ns", "squeezenet.gtrace")
        maker.call("make_capture", "difference.gtrace", "8", "12", "5")
        maker.render("profiler-difference.png", "--time", "24ms:29ms", "difference.gtrace")
    return 0


if __name__ == "__main__":
    sys.exit(main())
