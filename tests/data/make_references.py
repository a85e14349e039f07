#!/usr/bin/env python3
"""Makes references/: expected values for models that are not part of the repository.

    python3 make_references.py SHARED      (Debian: python3-torch python3-onnx python3-numpy)

SHARED holds models/ and onnx/light/. The values are computed with tests/support/reference:

    references/gpt_tiny_dynamic/case_<batch>x<time>/    tokens and logits at further sizes
    references/gpt_tiny_dynamic/dims.txt                the sizes at which the arena is checked
    references/light_<name>/before_softmax.npy          the last softmax's operand, for an input of n elements
                                                        with the values arange(n)/n
    references/light_<name>/layers.json                 for the first result of every operator that
                                                        depends on the model's input: number of
                                                        elements, L2 norm, and samples [index,
                                                        value]
"""
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support/reference"))
from make_models import write_case  # noqa: E402
from reference import arange_input, evaluate, to_numpy  # noqa: E402

SAMPLES = 8


def gpt(shared):
    model = onnx.load(shared / "models/gpt_tiny_dynamic/model.onnx")
    folder = HERE / "references/gpt_tiny_dynamic"
    shutil.rmtree(folder, ignore_errors=True)
    for batch, time in ((3, 7), (1, 64)):
        tokens = np.random.default_rng(100 * batch + time).integers(0, 1000, (batch, time))
        values = evaluate(model, [tokens])
        write_case(folder, f"{batch}x{time}", [tokens], [to_numpy(values[model.graph.output[0].name])])
    (folder / "dims.txt").write_text("batch=2 time=48\n")


def varying(model):
    """Yields the nodes whose results depend on the model's input, in order."""
    constants = {t.name for t in model.graph.initializer}
    reached = {i.name for i in model.graph.input} - constants
    for node in model.graph.node:
        if reached & set(node.input):
            reached.update(node.output[:1])
            yield node


def light(path):
    model = onnx.load(path)
    values = evaluate(model, [arange_input(model)])
    folder = HERE / "references" / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    softmax = model.graph.node[-1]
    assert softmax.op_type == "Softmax"
    np.save(folder / "before_softmax.npy", to_numpy(values[softmax.input[0]]))
    layers = {}
    for node in varying(model):
        value = values[node.output[0]].reshape(-1).numpy()
        random = np.random.default_rng(len(layers))
        where = sorted(int(i) for i in random.choice(value.size, min(SAMPLES, value.size), replace=False))
        layers[node.output[0]] = {
            "op": node.op_type, "elements": int(value.size), "l2": float(f"{np.linalg.norm(value):.9g}"),
            "samples": [[i, float(f"{value[i]:.9g}")] for i in where]}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(layer)}" for name, layer in layers.items())
    (folder / "layers.json").write_text(
        f'{{"before_softmax": {json.dumps(softmax.input[0])}, "layers": {{\n{lines}\n}}}}\n')


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    shared = pathlib.Path(sys.argv[1])
    gpt(shared)
    for path in sorted((shared / "onnx/light").glob("*.onnx")):
        light(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
