#!/usr/bin/env python3
"""Tests models that are computed in strips of rows, with and without a memory budget.

    strips_test.py --gantry TOOL MODEL

MODEL is resnet, unet or squeezenet: a small model like these networks, which the script generates. The whole model is
the model without strips. A budget of 40 % of its arena must be refused without strips, because the largest operator
needs more, and be met with strips. The error for a budget of one byte names the smallest budget; a budget of one byte
less must be refused too. The outputs in strips differ from those of the whole model by at most 1e-5 (relative L2). The
resnet has so much arithmetic that it is computed in strips even without a budget; its arena must then be smaller, too.
"""
import argparse
import json
import re
import sys

import onnx_file
from support import PROFILES, VARIANTS, Failure, Test

MODELS = {
    "resnet": lambda: onnx_file.resnet(size=256, width=32, blocks=(2, 2)),
    "unet": lambda: onnx_file.unet(size=64, width=16),
    "squeezenet": lambda: onnx_file.squeezenet(size=128, width=32),
}
FREE = ("resnet",)  # The models that are computed in strips even without a budget.
TOLERANCE = 1e-5
# One variant of each profile.
COMPARED = [next(name for name, variant in VARIANTS.items() if variant[0] == profile) for profile in PROFILES]
NEED = re.compile(r"the smallest that can is [^(]*\((\d+) bytes\)")


class StripsTest(Test):
    def __init__(self, gantry, name):
        super().__init__(gantry)
        self.model = self.folder / f"{name}.onnx"
        self.model.write_bytes(MODELS[name]())

    def described(self, *arguments):
        """Compiles for all profiles, and returns the description of the first profile's artifact."""
        self.compile(self.model, *arguments)
        return self.description()

    def description(self):
        return json.loads(self.call("inspect", self.artifact(), "--json"))

    def smallest(self, *arguments):
        """Returns the smallest possible budget, which the error for a budget of one byte names."""
        try:
            self.compile_first("--memory-budget", 1, *arguments)
        except Failure as refusal:
            if found := NEED.search(str(refusal)):
                return int(found.group(1))
            raise
        raise Failure("a budget of one byte was accepted")

    def make_whole(self):
        """Compiles without strips, and stores an input and the outputs."""
        self.whole = self.described("--no-strips")
        if self.whole["strips"]:
            raise Failure("strips in spite of --no-strips")
        self.call("run", self.artifact(), "--random", "1", "--output", self.folder / "whole")
        self.outputs = sorted((self.folder / "whole").glob("*.npy"))
        return f"arena {self.whole['arena_bytes']} bytes"

    def compile_first(self, *arguments):
        """Compiles for the first profile only."""
        self.call("compile", self.model, "-p", PROFILES[0], "-o", self.artifact(), *arguments)

    def compare_all(self, variants=COMPARED):
        """Compares the outputs of the artifacts with those of the whole model."""
        worst = []
        for variant in variants:
            said = self.compare([], self.outputs, variant, TOLERANCE, ["--random", "1"])
            worst.append(said.split()[-1])
        return f"relative L2 {max(worst, key=float)}"

    def free(self):
        plan = self.described()
        if not plan["strips"]:
            raise Failure("the model must be computed in strips without a budget")
        if plan["arena_bytes"] >= self.whole["arena_bytes"]:
            raise Failure(f"the arena in strips has {plan['arena_bytes']} bytes, not less than {self.whole['arena_bytes']} "
                          "without strips")
        added = sum(chain["operations"] for chain in plan["strips"])
        if added > 0.02 * plan["model_operations"]:
            raise Failure(f"{added} operations are added to {plan['model_operations']}, more than 2 %")
        return f"arena {plan['arena_bytes']} bytes, {100 * added / plan['model_operations']:.1f} % arithmetic; " \
            + self.compare_all()

    def within_budget(self):
        budget = self.whole["arena_bytes"] * 4 // 10
        need = self.smallest("--no-strips")
        if need <= budget:
            raise Failure(f"without strips the smallest budget is {need} bytes; it must be more than the budget of {budget}")
        plan = self.described("--memory-budget", budget)
        if plan["arena_bytes"] > budget:
            raise Failure(f"arena {plan['arena_bytes']} is over the budget of {budget}")
        said = self.compare_all()
        cost = json.loads(self.call("compile", self.model, "-p", PROFILES[0], "-o", self.folder / "measured.gantry",
                                    "--memory-budget", budget, "--measure", "--json"))["budget_cost"]
        return f"arena {plan['arena_bytes']} within {budget}; the largest operator needs {need}; {said}; " \
            f"{cost['slowdown']:.2f} x the time"

    def at_limit(self):
        floor = self.smallest()
        self.compile_first("--memory-budget", floor)
        plan = self.description()
        if plan["arena_bytes"] > floor:
            raise Failure(f"arena {plan['arena_bytes']} is over the smallest budget of {floor}")
        said = self.compare_all(COMPARED[:1])
        self.refuse("the smallest that can is", "compile", self.model, "-p", PROFILES[0], "-o", self.artifact(),
                    "--memory-budget", floor - 1)
        return f"smallest budget {floor} bytes; {said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("model", choices=list(MODELS))
    options = parser.parse_args()
    test = StripsTest(options.gantry, options.model)
    if test.check("whole", test.make_whole):
        if options.model in FREE:
            test.check("in strips", test.free)
        test.check("40 %", test.within_budget)
        test.check("smallest budget", test.at_limit)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
