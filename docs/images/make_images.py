#!/usr/bin/env python3
"""Makes the pictures of README.md and docs/ again, almost all from real runs on the software device.

    python3 docs/images/make_images.py [--bin FOLDER] [--model SQUEEZENET.onnx] [--check]

Needs the gantry tool, gantry-profiler and make_capture (a test program) in FOLDER (default: build/release/bin), and
SqueezeNet 1.1 as an ONNX model (../shared/models/squeezenet1_1/model.onnx). Only the capture behind
profiler-difference.png does not come from a run: a run never differs from its plan, so make_capture writes a trace
that does.

--check writes nothing: it returns 1 if squeezenet-plan.svg is not the picture of the plan that the tool makes
now, and 77 if the tool or the model is missing. The pictures of runs differ from run to run, so they are not
compared. They are made together with squeezenet-plan.svg, so they are out of date when it is.
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

    def compile(self, name, *options):
        self.call("gantry", "compile", self.model, "-p", "vulkan:lavapipe", "-o", f"{name}.gantry", *options)

    def plot(self, picture):
        self.call("gantry", "inspect", "squeezenet.gantry", "--title", "SqueezeNet 1.1", "--plot", picture)

    def check(self):
        """Returns whether the picture of the plan is current."""
        self.compile("squeezenet")
        self.plot("plan.svg")
        committed = IMAGES / "squeezenet-plan.svg"
        if (self.folder / "plan.svg").read_text() == committed.read_text():
            return True
        print(f"make_images: the plan differs from {committed}: run python3 docs/images/make_images.py "
              "to make the pictures again", file=sys.stderr)
        return False

    def record(self, name, *options):
        """Compiles the model and records six runs. Returns when the last two runs begin and when the last
        one ends, in ns."""
        self.compile(name, *options)
        bench = ["bench", f"{name}.gantry", "--device", "llvmpipe", "--runs", "3", "--warmup", "3"]
        self.call("gantry", *bench)  # Fills the driver's cache: compiling kernels is not part of the picture.
        self.call("gantry", "record", "-o", f"{name}.gtrace", "--", str(self.bin / "gantry"), *bench)
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
    parser.add_argument("--check", action="store_true", help="only compare the picture of the plan")
    options = parser.parse_args()
    programs = ("gantry",) if options.check else ("gantry", "gantry-profiler", "make_capture")
    for needed in (*(options.bin / program for program in programs), options.model):
        if not needed.is_file():
            print(f"make_images: {needed} is missing", file=sys.stderr)
            return 77 if options.check else 1  # ctest counts 77 as skipped.
    os.environ["GANTRY_ATTACH"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(options, pathlib.Path(folder))
        if options.check:
            return 0 if maker.check() else 1
        begin, last, end = maker.record("squeezenet")
        maker.plot(IMAGES / "squeezenet-plan.svg")
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
