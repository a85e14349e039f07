#!/usr/bin/env python3
"""Measures how close the arenas of models come to their lower bound, as compiled and as planned at run time.

    benchmarks/planner/models.py [--gantry TOOL] [--json FILE] [MODEL or FOLDER ...]

Without arguments, the models are those of tests/data/models and, where they exist, ../shared/models
and ../shared/onnx/light. Each model is compiled. The arena is the memory of its transient values, the tensors that
exist only during a run; a plan gives each of them an offset in the arena. `gantry plan` plans the arena again from the
sizes and lifetimes of the values: with the compiler's limit of work, and with the 300,000 units of work (of 10 to
30 ns) that the runtime may spend on a plan when a model runs with new input sizes (engine/program/shape_plan.cpp). The
compiler may give the parts of a tensor, such as the inputs of a concatenation, lifetimes of their own
(engine/plan/slots.h); the script plans such a tensor as a whole. The columns are: the number of places in the arena
(several values may share one); the lower bound in bytes, which is the largest sum of bytes alive at one command; the
compiled arena / bound; the planning time with the compiler's limit in milliseconds; arena / bound and planning time
with the runtime's limit; and by how much the compiler's order of the operators lowers the bound compared with the
model's order. Dynamic dimensions are set with --dim (default: batch=2 time=48 whole=4, others 2). The exit code is 1
if a model could not be planned. Standard library only.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULTS = ["tests/data/models", "../shared/models", "../shared/onnx/light"]
# Limits of the planner's work: kDefaultWork of engine/plan/plan.h, and the limit in engine/program/shape_plan.cpp.
COMPILED, AT_RUN_TIME = 70_000_000, 300_000


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode not in (0, 5):
        raise RuntimeError(done.stderr.strip() or f"{words[1]} ended with {done.returncode}")
    return done.stdout


def models_in(places):
    for place in map(pathlib.Path, places):
        if place.is_dir():
            yield from sorted(path for path in place.rglob("*.onnx"))
        elif place.exists():
            yield place


def name_of(model):
    return model.parent.name if model.stem == "model" else model.stem


def ratio(height, bound):
    return height / bound if bound else 1.0


def slots_of(plan):
    """Returns (first command, last command, bytes) of each place in the arena; several values may share one."""
    slots = {}
    for value in plan["values"]:
        if value["storage"] != "transient":
            continue
        first, last, size = slots.get(value["slot"], (1 << 62, 0, 0))
        slots[value["slot"]] = (min(first, value["first_use"]), max(last, value["last_use"]),
                                max(size, value["size_bytes"]))
    return list(slots.values())


def measure(gantry, model, dims, folder):
    artifact, table = folder / "model.gantry", folder / "slots.csv"
    call(gantry, "compile", model, "-o", artifact)
    plan = json.loads(call(gantry, "inspect", artifact, "--json"))
    for symbol in plan["symbols"]:
        dims.setdefault(symbol["name"], "2")
    if plan["symbols"]:
        words = [word for symbol in plan["symbols"] for word in ("--dim", f"{symbol['name']}={dims[symbol['name']]}")]
        plan = json.loads(call(gantry, "inspect", artifact, "--json", *words))
    slots = slots_of(plan)
    rows = [f"{i},{first},{last + 1},{size},256" for i, (first, last, size) in enumerate(slots)]
    table.write_text("\n".join(["id,lower,upper,size,alignment", *rows]) + "\n")
    result = {"model": name_of(model), "values": len(slots), "arena_bytes": plan["arena_bytes"],
              "bound_bytes": plan["lower_bound_bytes"], "given_bytes": plan["model_order_bytes"]}
    for name, work in (("compiled", COMPILED), ("at_run_time", AT_RUN_TIME)):
        again = json.loads(call(gantry, "plan", table, "--json", "--work", work))
        result[name] = {"ratio": ratio(again["height_bytes"], again["lower_bound_bytes"]),
                        "ms": again["seconds"] * 1e3}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", default=ROOT / "build/release/bin/gantry")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    dims = {"batch": "2", "time": "48", "whole": "4"} | dict(dim.split("=", 1) for dim in options.dim)
    places = options.models or [ROOT / place for place in DEFAULTS]
    results, failed = [], False
    print(f"{'':24} {'values':>7} {'bound':>12} {'arena/bound':>12} {'planned ms':>11} "
          f"{'run time/bound':>15} {'ms':>6} {'order saves':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for model in models_in(places):
            try:
                one = measure(options.gantry, model, dims, pathlib.Path(folder))
            except (RuntimeError, KeyError, ValueError) as error:
                failed = True
                print(f"{name_of(model):24} {error}")
                continue
            results.append(one)
            given = one["given_bytes"]
            saved = f"{100 * (1 - one['bound_bytes'] / given):.0f} %" if given else "-"
            print(f"{one['model']:24} {one['values']:7} {one['bound_bytes']:12} "
                  f"{ratio(one['arena_bytes'], one['bound_bytes']):12.4f} "
                  f"{one['compiled']['ms']:11.2f} {one['at_run_time']['ratio']:15.4f} "
                  f"{one['at_run_time']['ms']:6.2f} {saved:>12}")
    exact = sum(one["arena_bytes"] == one["bound_bytes"] for one in results)
    print(f"{exact} of {len(results)} exactly at the bound")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
