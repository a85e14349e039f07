"""Runs ONNX's own backend tests through gantry.onnx_backend.

    onnx_backend_test.py             the cases of a few operators
    onnx_backend_test.py --all       all cases; prints the ones that are not supported

Every case that the importer supports must pass; the others must be refused as unsupported."""

import io
import re
import sys
import unittest

import gantry.onnx_backend
import models
import numpy as np
import onnx.backend.test
from onnx import helper

if "object" not in vars(np):
    np.object = object  # ONNX 1.12's runner uses this name, which NumPy 1.24 has removed.

FEW = re.compile(r"^test_(add|sub|relu|softmax_axis|matmul|conv_with|concat_1d|reshape_neg|where|pad|argmax|gather_elements|lstm_def|erf)")


def run_cases(pattern):
    """Runs the node and model cases whose names match. Returns {name: outcome}."""
    backend_test = onnx.backend.test.BackendTest(gantry.onnx_backend, __name__)
    suite = unittest.TestSuite()
    names = []
    for case in backend_test.test_cases.values():
        if "Real" in case.__name__:  # These download models.
            continue
        for name in unittest.TestLoader().getTestCaseNames(case):
            if name.endswith("_cpu") and pattern.search(name):
                suite.addTest(case(name))
                names.append(name)
    result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
    outcomes = dict.fromkeys(names, "passed")
    outcomes.update((case.id().split(".")[-1], f"skipped: {reason}") for case, reason in result.skipped)
    outcomes.update((case.id().split(".")[-1], f"failed: {text}") for case, text in result.failures + result.errors)
    return outcomes


class OnnxBackend(unittest.TestCase):
    def test_a_few_cases(self):
        outcomes = run_cases(FEW)
        failed = {name: text for name, text in outcomes.items() if text.startswith("failed")}
        self.assertEqual(failed, {})
        self.assertGreater(list(outcomes.values()).count("passed"), 40)

    def test_run_node_and_run_model(self):
        x = models.ones(2, 3)
        self.assertTrue((gantry.onnx_backend.run_model(models.add([2, 3]), [x, x])[0] == 2).all())
        node = helper.make_node("Add", ["a", "b"], ["c"])
        for infos in (None, [(np.float32, (2, 3))]):
            outputs = gantry.onnx_backend.run_node(node, [x, x], outputs_info=infos)
            self.assertTrue((outputs.c == 2).all())

    def test_unsupported_operators_are_no_failures(self):
        strange = models.add([2])
        strange.graph.node[0].op_type = "Strange"
        self.assertFalse(gantry.onnx_backend.is_compatible(strange))
        self.assertTrue(gantry.onnx_backend.is_compatible(models.add([2])))
        self.assertTrue(gantry.onnx_backend.supports_device("CPU"))
        self.assertFalse(gantry.onnx_backend.supports_device("TPU"))


def main():
    if "--all" not in sys.argv:
        unittest.main()
    outcomes = run_cases(re.compile(""))
    for name, text in sorted(outcomes.items()):
        if text != "passed":
            print(name, text.splitlines()[0], text.splitlines()[-1] if text.startswith("failed") else "")
    counts = [sum(text.startswith(kind) for text in outcomes.values()) for kind in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} not supported".format(*counts))
    sys.exit(counts[1] > 0)


if __name__ == "__main__":
    main()
