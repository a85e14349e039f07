#!/usr/bin/env python3
"""Measures what each constant of the heap's retention policy does, by halving and doubling it.

    benchmarks/heap/constants.py [--only TEXT] [--json FILE] [TRACE or FOLDER ...]
    benchmarks/heap/constants.py --check

The policy is described in engine/heap/retention.h and engine/heap/growth.h. For each constant, the script changes its
value in a copy of the sources, builds heap_bench, and replays the traces (without arguments, those that heap_bench
generates). The table has, for half and for twice the value: "reserved", the geometric mean over all traces of peak
reserved bytes ÷ peak live bytes; "calls", the sum of the driver allocations in three replays of all traces; and the
trace whose reserved ÷ live rises most. These figures do not depend on the machine's speed. The script takes about
half an hour, most of it for building. Standard library only; needs what `./dev build` needs. --check measures nothing:
it returns 1 if a source no longer contains the text of a constant.

Examples:
    benchmarks/heap/constants.py ../shared/heap-traces
    benchmarks/heap/constants.py --only kMaxGapBytes
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RETENTION, GROWTH = "engine/heap/retention.h", "engine/heap/growth.cpp"
# Each constant: its name in the table, its value, its file, the text there, and the text with half and twice the value.
CONSTANTS = [
    ("kRetakesUntilQuick", "512 retakes", RETENTION, "kRetakesUntilQuick = 512", "kRetakesUntilQuick = 256",
     "kRetakesUntilQuick = 1024"),
    ("slab, small", "1/64 of reserved", RETENTION, "reserved / 64,", "reserved / 128,", "reserved / 32,"),
    ("... at least", "256 KiB", RETENTION, "256 << 10, 1 << 20)", "128 << 10, 1 << 20)", "512 << 10, 1 << 20)"),
    ("... at most", "1 MiB", RETENTION, "256 << 10, 1 << 20)", "256 << 10, 512 << 10)", "256 << 10, 2 << 20)"),
    ("... never below", "1/2048 of reserved", RETENTION, "reserved / 2048)", "reserved / 4096)", "reserved / 1024)"),
    ("slab, large", "2 MiB", RETENTION, "(2 << 20, reserved", "(1 << 20, reserved", "(4 << 20, reserved"),
    ("... never below", "1/256 of reserved", RETENTION, "reserved / 256)", "reserved / 512)", "reserved / 128)"),
    ("slab of a quick kind", "1/10 of reserved", RETENTION, "reserved / 10)", "reserved / 20)", "reserved / 5)"),
    ("kMaxAdoptedFactor", "4 slabs", GROWTH, "kMaxAdoptedFactor = 4", "kMaxAdoptedFactor = 2", "kMaxAdoptedFactor = 8"),
    ("kMaxGapBytes", "512 KiB", GROWTH, "kMaxGapBytes = 512 << 10", "kMaxGapBytes = 256 << 10",
     "kMaxGapBytes = 1024 << 10"),
    ("kMaxBorrowed", "512 ranges", "engine/heap/growth.h", "kMaxBorrowed = 512", "kMaxBorrowed = 256",
     "kMaxBorrowed = 1024"),
    ("kMaxLargeBytes", "16 MiB", "engine/heap/arena.h", "kMaxLargeBytes = 16 << 20", "kMaxLargeBytes = 8 << 20",
     "kMaxLargeBytes = 32 << 20"),
    ("growthSlack", "1.05", "engine/heap/types.h", "growthSlack = 1.05", "growthSlack = 1.025", "growthSlack = 1.1"),
    ("sizeClassBytes", "256 KiB", "engine/heap/types.h", "sizeClassBytes = 256 << 10", "sizeClassBytes = 128 << 10",
     "sizeClassBytes = 512 << 10"),
    ("kMaxCachedRanges", "4096 ranges", "engine/heap/arena.cpp", "kMaxCachedRanges = 4096", "kMaxCachedRanges = 2048",
     "kMaxCachedRanges = 8192"),
    ("longer size class", "1/4 longer", "engine/heap/size_classes.h", "(sizeClass + 1) / 4,", "(sizeClass + 1) / 8,",
     "(sizeClass + 1) / 2,"),
]


class Build:
    """A copy of the sources and its build of heap_bench."""

    def __init__(self, folder, traces):
        self.folder = folder
        self.traces = [str(pathlib.Path(trace).resolve()) for trace in traces]
        for name in self.call("git", "-C", ROOT, "ls-files").splitlines():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place)
        self.call("cmake", "-S", folder, "--preset", "release", "-DGANTRY_BUILD_CODEGEN=OFF",
                  "-DGANTRY_BUILD_PROFILER=OFF", "-DGANTRY_BUILD_TESTS=ON", "-DGANTRY_BUILD_BENCHMARKS=ON", cwd=folder)

    @staticmethod
    def call(*words, cwd=None):
        done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"constants.py: {words[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def measure(self, path=None, old=None, new=None):
        """Returns a dict from each trace to (reserved ÷ live, driver allocations), with one text of a source replaced."""
        if path:
            before = (self.folder / path).read_text()
            (self.folder / path).write_text(before.replace(old, new))
        self.call("ninja", "-C", self.folder / "build/release", "heap_bench")
        out = self.folder / "out.json"
        self.call(self.folder / "build/release/bin/heap_bench", "--rounds", 1, "--json", out, *self.traces)
        if path:
            (self.folder / path).write_text(before)
        return {name: (trace["reserved"], sum(trace["driverAllocations"]))
                for name, trace in json.loads(out.read_text()).items() if isinstance(trace, dict)}


def text_of(figures, base):
    """Returns the table's text: the mean, the calls, and the trace whose reserved bytes rise most, if by 0.005 or more."""
    mean = math.exp(sum(math.log(reserved) for reserved, _ in figures.values()) / len(figures))
    text = f"{mean:.3f} | {sum(calls for _, calls in figures.values())}"
    if base is None:
        return text
    name, rise = max(((name, figures[name][0] - base[name][0]) for name in figures), key=lambda pair: pair[1])
    return text + (f" | {name} +{rise:.2f}" if rise >= 0.005 else " | ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="measure only the constants whose names contain this text")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures of each trace to this file")
    parser.add_argument("--check", action="store_true", help="only check that the sources contain the constants")
    parser.add_argument("traces", nargs="*", help="traces, or folders with traces")
    options = parser.parse_args()
    wrong = [f"{path} has {count} times \"{old}\"" for _, _, path, old, *_ in CONSTANTS
             if (count := (ROOT / path).read_text().count(old)) != 1]
    if wrong or options.check:
        sys.exit("".join(f"constants.py: {text}; correct CONSTANTS\n" for text in wrong) or 0)
    with tempfile.TemporaryDirectory(prefix="gantry_constants_") as folder:
        build = Build(pathlib.Path(folder), options.traces)
        chosen = [constant for constant in CONSTANTS if not options.only or options.only in constant[0]]
        if not chosen:
            sys.exit(f"constants.py: no constant is named like \"{options.only}\"")
        print("constants.py: builds heap_bench; a row follows about every two minutes", file=sys.stderr)
        base = build.measure()
        print("| constant | value | half: reserved | calls | largest rise | twice: reserved | calls | largest rise |")
        print("| --- | --: | --: | --: | --- | --: | --: | --- |")
        print(f"| (none changed) | | {text_of(base, None)} | | | | |", flush=True)
        written = {"(none changed)": base}
        for name, value, path, old, *changed in chosen:
            both = [build.measure(path, old, new) for new in changed]
            print(f"| {name} | {value} | {text_of(both[0], base)} | {text_of(both[1], base)} |", flush=True)
            written[f"{name}, {value}"] = both
    if options.json:
        options.json.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
