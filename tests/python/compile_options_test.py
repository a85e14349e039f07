"""Tests the arguments of gantry.compile, and the exceptions for damaged and for newer files."""

import io
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import gantry
import models
import numpy as np
from onnx import TensorProto, helper, numpy_helper

try:
    import torch
except ImportError:
    torch = None

FLOAT = TensorProto.FLOAT
IMAGE = np.random.default_rng(1).random((1, 16, 64, 64), np.float32)


def convolutions():
    """Four 3x3 convolutions of a 64x64 image with 16 channels."""
    names = ["x", "a", "b", "c", "y"]
    weights = numpy_helper.from_array(np.full((16, 16, 3, 3), 1 / 16, np.float32), "w")
    nodes = [
        helper.make_node("Conv", [before, "w"], [after], pads=[1, 1, 1, 1]) for before, after in zip(names, names[1:])
    ]
    shape = [1, 16, 64, 64]
    return models.model(nodes, {"x": (FLOAT, shape)}, {"y": (FLOAT, shape)}, [weights])


class Options(unittest.TestCase):
    def test_mlir(self):
        text = (
            "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = arith.mulf %x, %y : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "product.mlir")
            path.write_text(text, encoding="utf-8")
            program = gantry.compile(path)
            np.testing.assert_array_equal(program(np.float32([2, 3]), np.float32([5, 7])), [10, 21])
            path.write_text("no MLIR", encoding="utf-8")
            with self.assertRaisesRegex(gantry.InvalidArgumentError, "product.mlir"):
                gantry.compile(path)

    def test_profiles(self):
        own = gantry.device().info["profile"]
        program = gantry.compile(models.add([2]), profile=["vulkan:generic", own])
        self.assertEqual(program.inspect()["variants"], ["vulkan:generic", own])
        np.testing.assert_array_equal(program(models.ones(2), models.ones(2)), [2, 2])
        self.assertEqual(gantry.compile(models.add([2])).inspect()["variants"], [own])
        self.assertEqual(gantry.compile(models.add([2]), profile="vulkan:generic").inspect()["variants"], ["vulkan:generic"])

    def test_devices(self):
        known = gantry.devices()
        for device in (0, known[0]["name"], known[0]["name"][:4], gantry.device()):
            np.testing.assert_array_equal(gantry.compile(models.add([2]), device=device)(models.ones(2), models.ones(2)), [2, 2])

    def test_memory_budget(self):
        free = gantry.compile(convolutions())
        budget = 400 << 10  # The input alone takes 256 KiB.
        self.assertGreater(free.plan.arena_bytes, budget)
        tight = gantry.compile(convolutions(), memory_budget=budget)
        self.assertLessEqual(tight.plan.arena_bytes, budget)
        np.testing.assert_allclose(tight(IMAGE), free(IMAGE), rtol=1e-5)
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "cannot fit into a budget"):
            gantry.compile(convolutions(), memory_budget=1)

    def test_precision(self):
        exact = gantry.compile(convolutions())
        half = gantry.compile(convolutions(), precision="f16")
        self.assertLess(half.plan.arena_bytes, exact.plan.arena_bytes)
        result, expected = half(IMAGE), exact(IMAGE)
        self.assertEqual(result.dtype, np.float32)
        np.testing.assert_allclose(result, expected, rtol=1e-2)
        self.assertTrue((result != expected).any())

    def test_states(self):
        names = ["key", "value"]
        model = models.model(
            [helper.make_node("Add", [f"past.{name}", "x"], [f"present.{name}"]) for name in names]
            + [helper.make_node("Add", ["past.key", "scale"], ["y"])],
            {"past.key": (FLOAT, [2]), "past.value": (FLOAT, [2]), "scale": (FLOAT, [2]), "x": (FLOAT, [2])},
            {"present.key": (FLOAT, [2]), "present.value": (FLOAT, [2]), "y": (FLOAT, [2])},
        )
        program = gantry.compile(model, state=[("past.*", "present.*"), "scale"])
        self.assertEqual(sorted(program.state), ["past.key", "past.value", "scale"])
        self.assertEqual([port["name"] for port in program.inputs], ["x"])
        for name in program.state:
            program.state[name] = models.ones(2)
        results = [program(models.ones(2)) for _ in range(3)]
        np.testing.assert_array_equal(results, [[2, 2], [3, 3], [4, 4]])
        np.testing.assert_array_equal(program.state["past.value"].numpy(), [4, 4])
        np.testing.assert_array_equal(program.state["scale"].numpy(), [1, 1])
        by_name = gantry.compile(model, state={"past.*": "present.*"})
        self.assertEqual(sorted(by_name.state), ["past.key", "past.value"])
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "futur"):
            gantry.compile(model, state={"futur.*": "present.*"})

    def test_training(self):
        """y = x w, and a step that subtracts 0.125 (y - t) x from w."""
        model = models.model(
            [helper.make_node("Mul", ["x", "w"], ["y"])],
            {"x": (FLOAT, [1])},
            {"y": (FLOAT, [1])},
            [numpy_helper.from_array(np.float32([0]), "w")],
        )
        step = helper.make_graph(
            [
                helper.make_node("Sub", ["y", "t"], ["e"]),
                helper.make_node("Mul", ["e", "x"], ["g"]),
                helper.make_node("Mul", ["g", "rate"], ["d"]),
                helper.make_node("Sub", ["w", "d"], ["w_next"]),
            ],
            "step",
            [helper.make_tensor_value_info("t", FLOAT, [1])],
            [helper.make_tensor_value_info("w_next", FLOAT, [1])],
            [numpy_helper.from_array(np.float32([0.125]), "rate")],
        )
        training = model.training_info.add()
        training.algorithm.CopyFrom(step)
        binding = training.update_binding.add()
        binding.key, binding.value = "w", "w_next"
        program = gantry.compile(model, training=True)
        self.assertEqual(list(program.state), ["w"])
        x, t, w = np.float32([2]), np.float32([6]), np.float32(0)
        for _ in range(3):
            program(x=x, t=t)
            w -= np.float32(0.125) * (x[0] * w - t[0]) * x[0]
            self.assertEqual(program.state["w"].numpy()[0], w)
        self.assertEqual(list(gantry.compile(model).state), [])
        with self.assertRaisesRegex(gantry.Error, "training"):
            gantry.compile(models.add([2]), training=True)


class Progress(unittest.TestCase):
    """The bar of tqdm, a stand-in for which notes its calls."""

    class Bar:
        made = []

        def __init__(self, desc, total, **_):
            self.desc, self.total, self.n, self.closed = desc, total, 0, False
            self.made.append(self)

        def update(self, steps):
            self.n += steps

        def close(self):
            self.closed = True

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def compile(self, stream, **arguments):
        """Returns the bars that a compilation shows."""
        self.Bar.made = []
        with mock.patch.dict(sys.modules, tqdm=types.SimpleNamespace(tqdm=self.Bar)), mock.patch.object(sys, "stderr", stream):
            gantry.compile(convolutions(), **arguments)
        return self.Bar.made

    def test_a_bar_in_a_terminal(self):
        bars = self.compile(self.Terminal())
        self.assertTrue(bars)
        for bar in bars:
            self.assertTrue(bar.closed)
            self.assertLessEqual(bar.n, bar.total)

    def test_no_bar_elsewhere(self):
        self.assertEqual(self.compile(io.StringIO()), [])
        self.assertEqual(self.compile(self.Terminal(), progress=False), [])
        with mock.patch.dict(sys.modules, tqdm=None), mock.patch.object(sys, "stderr", self.Terminal()):
            gantry.compile(models.add([2]))  # tqdm is not installed.


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name, "add.gantry")
        gantry.compile(models.add([2])).save(self.path)
        self.bytes = self.path.read_bytes()

    def test_damaged(self):
        for size in (0, 3, len(self.bytes) // 2, len(self.bytes) - 1):
            with self.subTest(size=size):
                self.path.write_bytes(self.bytes[:size])
                with self.assertRaises(gantry.DataLossError):
                    gantry.load(self.path)
        self.path.write_bytes(b"something else" * 100)
        with self.assertRaises(gantry.Error):
            gantry.load(self.path)

    def test_newer(self):
        """The format's version is the 32-bit number after the eight bytes of the magic number."""
        version = int.from_bytes(self.bytes[8:12], "little") + 1
        self.path.write_bytes(self.bytes[:8] + version.to_bytes(4, "little") + self.bytes[12:])
        with self.assertRaisesRegex(gantry.VersionMismatchError, f"format version {version} is newer"):
            gantry.load(self.path)


class Inputs(unittest.TestCase):
    def test_memory_of_the_host_of_other_devices(self):
        """CUDAHost (3) and ROCMHost (11) are memory that the host reads."""
        program = gantry.compile(models.add([2, 3]))
        for kind in (1, 3, 11):
            with self.subTest(kind=kind):
                producer = models.Producer(np.full((2, 3), 2, np.float32), device=kind)
                result = program(producer, models.ones(2, 3))
                self.assertIsInstance(result, gantry.Array)
                np.testing.assert_array_equal(result.numpy(), np.full((2, 3), 3))
                self.assertEqual(producer.deleted, 1)

    @unittest.skipIf(torch is None, "python3-torch is not installed")
    def test_types_that_torch_lacks(self):
        for kind, name in ((TensorProto.UINT16, "uint16"), (TensorProto.UINT32, "uint32"), (TensorProto.UINT64, "uint64")):
            cast = models.model([helper.make_node("Cast", ["x"], ["y"], to=kind)], {"x": (FLOAT, [2])}, {"y": (kind, [2])})
            result = gantry.compile(cast)(torch.ones(2))
            self.assertIsInstance(result, gantry.Array)
            self.assertEqual((str(result.dtype), result.numpy().tolist()), (name, [1, 1]))


if __name__ == "__main__":
    unittest.main()
