"""Tests gantry.compile, programs, states, donation, memory and traces.

GANTRY_BUILD_DIR: the build of the package, whose gantry tool reads a trace."""

import asyncio
import csv
import gc
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import gantry
import models
import numpy as np

try:
    import torch
except ImportError:
    torch = None


class Compile(unittest.TestCase):
    def test_path_bytes_and_model_proto(self):
        proto = models.add([2])
        x = models.ones(2)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "add.onnx")
            path.write_bytes(proto.SerializeToString())
            for model in (path, str(path), proto.SerializeToString(), proto):
                with self.subTest(model=type(model).__name__):
                    np.testing.assert_array_equal(gantry.compile(model)(x, x), [2, 2])

    def test_no_file_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                program = gantry.compile(models.add([2]))
                self.assertEqual(len(os.listdir(folder)), 1)
                del program
                gc.collect()
                self.assertEqual(os.listdir(folder), [])
            finally:
                tempfile.tempdir = before

    def test_errors(self):
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "not builtins.int"):
            gantry.compile(7)
        with self.assertRaisesRegex(gantry.NotFoundError, "^no such model: no-such-file.onnx$"):
            gantry.compile("no-such-file.onnx")
        for wrong in ({"memory_budget": -1}, {"memory_budget": 1.5}, {"dims": {"n": "x"}}, {"dims": {"n": (0, 4)}}):
            with self.assertRaisesRegex(gantry.InvalidArgumentError, "is a positive integer, not"):
                gantry.compile(models.add(["n"]), **wrong)
        with self.assertRaises(gantry.InvalidArgumentError):
            gantry.compile(b"no model")
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "precision"):
            gantry.compile(models.add([2]), precision="f8")
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "profile"):
            gantry.compile(models.add([2]), profile="vulkan:nothing")
        with self.assertRaisesRegex(gantry.NotFoundError, "no-such-device"):
            gantry.compile(models.add([2]), device="no-such-device")
        strange = models.add([2])
        strange.graph.node[0].op_type = "Strange"
        with self.assertRaisesRegex(gantry.UnsupportedError, "Strange"):
            gantry.compile(strange)
        self.assertTrue(issubclass(gantry.UnsupportedError, NotImplementedError))

    def test_progress(self):
        calls = []
        gantry.compile(models.add([2]), progress=lambda *call: calls.append(call))
        self.assertTrue(calls)
        for stage, done, total in calls:
            self.assertIsInstance(stage, str)
            self.assertLessEqual(done, total)

    def test_an_exception_in_the_progress_function_ends_the_call(self):
        def fails(*call):
            raise RuntimeError("no")

        with self.assertRaisesRegex(RuntimeError, "^no$"):
            gantry.compile(models.add([2]), progress=fails)
        np.testing.assert_array_equal(gantry.compile(models.add([2]))(models.ones(2), models.ones(2)), [2, 2])

    def test_interrupt(self):
        script = (
            "import gantry, models, threading, signal, os\n"
            "def interrupt(*call):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "try:\n"
            "    gantry.compile(models.add([2]), progress=interrupt)\n"
            "    print('no interrupt')\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
            "print(gantry.compile(models.add([2]))(models.ones(2), models.ones(2)))\n"
            "try:\n"
            "    gantry.compile(models.add([2]), progress=interrupt)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted before the end of the process')\n"
        )
        ended = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=os.path.dirname(os.path.abspath(__file__))
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("interrupted\n[2. 2.]\ninterrupted before the end of the process\n", "", 0))

    def test_dims_and_budget(self):
        program = gantry.compile(models.add(["n", 3]), dims={"n": (1, 4)})
        for n in (1, 4, 2):
            np.testing.assert_array_equal(program(models.ones(n, 3), models.ones(n, 3)), np.full((n, 3), 2))
        self.assertEqual(program.inputs[0]["shape"], ("n", 3))
        fixed = gantry.compile(models.add(["n", 3]), dims={"n": 4})
        self.assertEqual(fixed.inputs[0]["shape"], (4, 3))


class Call(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.add = gantry.compile(models.add([2, 3]))
        cls.two = gantry.compile(models.double_and_negate([4]))

    def test_by_order_and_by_name(self):
        a, b = models.ones(2, 3), np.full((2, 3), 4, np.float32)
        for result in (self.add(a, b), self.add(a, b=b), self.add(b=b, a=a)):
            np.testing.assert_array_equal(result, np.full((2, 3), 5))

    def test_several_outputs(self):
        double, negative = self.two(models.ones(4))
        np.testing.assert_array_equal(double, [2] * 4)
        np.testing.assert_array_equal(negative, [-1] * 4)
        self.assertEqual([port["name"] for port in self.two.outputs], ["double", "negative"])

    def test_outputs_are_of_the_callers_library(self):
        x = models.ones(2, 3)
        self.assertIs(type(self.add(x, x)), np.ndarray)
        array = gantry.array(x)
        self.assertIs(type(self.add(array, x)), np.ndarray)
        self.assertIs(type(self.add(array, array)), gantry.Array)
        chained = self.add(self.add(array, array), array)
        np.testing.assert_array_equal(chained.numpy(), np.full((2, 3), 3))
        self.assertEqual(self.add.copies, [])
        if torch is not None:
            result = self.add(torch.ones(2, 3), array)
            self.assertIs(type(result), torch.Tensor)
            self.assertTrue((result == 2).all())

    def test_copies_are_named(self):
        self.add(models.ones(2, 3), models.ones(3, 2).T)
        a, b, c = self.add.copies
        self.assertRegex(a, "^a: 24 bytes, from or to memory of the host")
        self.assertRegex(b, "^b: 24 bytes, because its elements do not lie one after another")
        self.assertRegex(c, "^c: 24 bytes, from or to memory of the host")

    def test_wrong_arguments(self):
        x = models.ones(2, 3)
        for arguments, named, error, text in (
            ((), {}, TypeError, 'input "a" is missing; the inputs are "a", "b"'),
            ((x, x, x), {}, TypeError, "takes 2 inputs"),
            ((x,), {"c": x}, TypeError, 'no input "c"; its inputs are "a", "b"'),
            ((x,), {"a": x}, TypeError, 'input "a" is given twice'),
            ((x, x.astype(np.float64)), {}, ValueError, r'input "b": .*float32, not float64.*x.astype\("float32"\)'),
            ((x, x.astype(">f4")), {}, ValueError, "not >f4"),
            ((x, x.T), {}, ValueError, r"takes shape \(2, 3\), not \(3, 2\)"),
            ((x, np.float32(1)), {}, ValueError, r"not \(\)"),
            ((x, 1.0), {}, ValueError, "not float"),
            ((x, [[1.0]]), {}, ValueError, "NumPy array.*not list"),
            ((x, None), {}, ValueError, "not NoneType"),
        ):
            with self.subTest(text=text):
                with self.assertRaisesRegex(error, text):
                    self.add(*arguments, **named)

    def test_every_type(self):
        for kind, name in ((1, "float32"), (10, "float16"), (11, "float64"), (6, "int32"), (7, "int64"), (3, "int8"), (2, "uint8")):
            program = gantry.compile(models.add([3], kind))
            x = np.arange(3).astype(name)
            result = program(x, x)
            self.assertEqual(result.dtype, x.dtype)
            np.testing.assert_array_equal(result, x + x)

    def test_scalars_of_numpy(self):
        program = gantry.compile(models.add([]))
        result = program(np.float32(2), np.array(3, np.float32))
        self.assertEqual((result.shape, float(result)), ((), 5))

    @unittest.skipIf(torch is None, "python3-torch is not installed")
    def test_types_that_torch_lacks_or_does_not_export(self):
        program = gantry.compile(models.model([models.helper.make_node("Not", ["x"], ["y"])],
                                              {"x": (9, [2])}, {"y": (9, [2])}))
        result = program(torch.tensor([True, False]))
        self.assertEqual(result.tolist(), [False, True])

    def test_a_daemon_thread_in_a_call_does_not_disturb_the_end(self):
        script = (
            "import gantry, models, threading, time\n"
            "program = gantry.compile(models.add([1 << 16]))\n"
            "x = models.ones(1 << 16)\n"
            "def loop():\n"
            "    while True:\n"
            "        program(x, x)\n"
            "for _ in range(4):\n"
            "    threading.Thread(target=loop, daemon=True).start()\n"
            "time.sleep(0.3)\n"
        )
        for _ in range(3):
            ended = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60, cwd=os.path.dirname(os.path.abspath(__file__))
            )
            self.assertEqual((ended.stderr, ended.returncode), ("", 0))

    def test_threads(self):
        failures = []

        def work(number):
            x = np.full((2, 3), number, np.float32)
            for _ in range(50):
                if not (self.add(x, x) == 2 * number).all():
                    failures.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_run_async(self):
        async def many():
            tasks = [asyncio.ensure_future(self.add.run_async(np.full((2, 3), i, np.float32), models.ones(2, 3))) for i in range(100)]
            for task in tasks[::10]:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

        for i, result in enumerate(asyncio.run(many())):
            if i % 10 == 0:
                self.assertIsInstance(result, asyncio.CancelledError)
            else:
                self.assertTrue((result == i + 1).all())

    def test_save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "add.gantry")
            self.add.save(path)
            self.assertEqual(os.listdir(folder), ["add.gantry"])
            np.testing.assert_array_equal(gantry.load(path)(models.ones(2, 3), models.ones(2, 3)), np.full((2, 3), 2))
            with self.assertRaises(OSError):
                self.add.save(os.path.join(folder, "none", "add.gantry"))
            damaged = os.path.join(folder, "damaged.gantry")
            pathlib.Path(damaged).write_bytes(b"GANTRY" * 100)
            with self.assertRaises(gantry.Error):
                gantry.load(damaged)
        with self.assertRaisesRegex(gantry.NotFoundError, "none.gantry"):
            gantry.load("none.gantry")

    def test_plan_and_inspect(self):
        self.assertGreaterEqual(self.add.plan.arena_bytes, self.add.plan.lower_bound_bytes)
        self.assertRegex(repr(self.add.plan), "arena [0-9,]+ bytes")
        self.assertIn("commands", self.add.inspect())
        self.assertTrue(self.add.plan._repr_svg_().startswith("<svg"))
        self.assertIn("(a: float32 (2, 3), b: float32 (2, 3)) -> (c: float32 (2, 3))", repr(self.add))

    def test_plans_of_dynamic_programs(self):
        program = gantry.compile(models.add(["n", "m"]))
        self.assertIsNone(program.plan.arena_bytes)
        self.assertIsNone(program.plan._repr_svg_())
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "plan_for"):
            program.plan.svg()
        plan = program.plan_for(n=2, m=3)
        self.assertGreaterEqual(plan.arena_bytes, plan.lower_bound_bytes)
        self.assertIn("<svg", plan.svg())
        self.assertEqual(program.inspect(n=2, m=3)["inputs"][0]["dims"], [2, 3])
        self.assertEqual(program.inspect()["inputs"][0]["dims"], ["n", "m"])
        with self.assertRaisesRegex(TypeError, r"dynamic dimensions are \['n', 'm'\]"):
            program.plan_for(n=2)

    def test_a_program_outlives_its_results_and_its_device(self):
        program = gantry.compile(models.add([2]))
        array = program(gantry.array(models.ones(2)), gantry.array(models.ones(2)))
        del program
        gc.collect()
        np.testing.assert_array_equal(array.numpy(), [2, 2])


class States(unittest.TestCase):
    def setUp(self):
        self.program = gantry.compile(models.counter([3]), state={"total": "total_out"})

    def test_values_stay_from_call_to_call(self):
        self.assertEqual([port["name"] for port in self.program.inputs], ["step"])
        self.program.state["total"] = np.zeros(3, np.float32)
        for step in (1, 2, 3):
            self.program(np.full(3, step, np.float32))
        np.testing.assert_array_equal(self.program.state["total"].numpy(), [6] * 3)
        self.assertEqual(list(self.program.state), ["total"])
        self.assertEqual(len(self.program.state), 1)

    def test_save_and_restore(self):
        self.program.state["total"] = gantry.array(np.full(3, 5, np.float32))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state")
            self.program.state.save(path)
            self.program(models.ones(3))
            self.program.state.restore(path)
        np.testing.assert_array_equal(self.program.state["total"].numpy(), [5] * 3)

    def test_errors(self):
        with self.assertRaisesRegex(gantry.FailedPreconditionError, "total"):
            self.program(models.ones(3))
        with self.assertRaisesRegex(gantry.FailedPreconditionError, "total"):
            self.program.state["total"]
        with self.assertRaisesRegex(gantry.NotFoundError, "total"):
            self.program.state["none"] = models.ones(3)
        with self.assertRaisesRegex(gantry.NotFoundError, "total"):
            self.program.state["none"]
        self.assertNotIn("none", self.program.state)
        self.assertIn("total", self.program.state)
        self.assertIsNone(self.program.state.get("none"))
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "total"):
            self.program.state["total"] = models.ones(4)


class Donation(unittest.TestCase):
    def setUp(self):
        self.program = gantry.compile(models.add([2, 3]), donate="a")

    def test_an_array_is_taken(self):
        a, b = gantry.array(models.ones(2, 3)), gantry.array(models.ones(2, 3))
        live = gantry.memory_stats()["unified"]["live_buffers"]
        np.testing.assert_array_equal(self.program(a, b).numpy(), np.full((2, 3), 2))
        self.assertTrue(a.is_donated)
        self.assertLess(gantry.memory_stats()["unified"]["live_buffers"], live)
        for use in (a.numpy, a.copy, a.__dlpack__, lambda: np.asarray(a), lambda: self.program(a, b)):
            with self.assertRaisesRegex(gantry.InvalidArgumentError, "donated"):
                use()
        self.assertIn("donated", repr(a))
        self.assertFalse(b.is_donated)

    def test_an_array_with_views_is_not_taken(self):
        a, b = gantry.array(models.ones(2, 3)), gantry.array(models.ones(2, 3))
        view = a.numpy()
        with self.assertRaisesRegex(gantry.FailedPreconditionError, r'input "a": .*x.copy\(\)'):
            self.program(a, b)
        np.testing.assert_array_equal(view, models.ones(2, 3))
        del view
        self.program(a, b)
        self.assertTrue(a.is_donated)

    def test_a_view_that_is_made_during_the_call(self):
        a = gantry.array(models.ones(2, 3))
        views = []

        class Late:
            def __dlpack__(self, **keywords):
                views.append(a.numpy())
                return models.Producer(models.ones(2, 3)).__dlpack__()

        with self.assertRaisesRegex(gantry.FailedPreconditionError, "cannot be donated"):
            self.program(a, Late())
        self.assertFalse(a.is_donated)

    def test_one_array_for_two_inputs(self):
        both = gantry.compile(models.add([2, 3]), donate=("a", "b"))
        a = gantry.array(models.ones(2, 3))
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "twice in one call"):
            both(a, a)
        with self.assertRaisesRegex(gantry.FailedPreconditionError, "another argument"):
            self.program(a, a)
        self.assertFalse(a.is_donated)
        np.testing.assert_array_equal(a.numpy(), models.ones(2, 3))

    def test_a_refused_call_gives_the_array_back(self):
        a = gantry.array(models.ones(2, 3))
        with self.assertRaises(gantry.InvalidArgumentError):
            self.program(a, models.ones(3, 2))
        self.program(a, models.ones(2, 3))
        self.assertTrue(a.is_donated)

    def test_arrays_of_others_are_not_taken(self):
        a = models.ones(2, 3)
        a.flags.writeable = False
        for _ in range(2):
            np.testing.assert_array_equal(self.program(a, a), np.full((2, 3), 2))


class Memory(unittest.TestCase):
    def tearDown(self):
        gantry.set_memory_limit(None)

    def test_statistics_and_report(self):
        before = gantry.memory_stats()["unified"]["live_bytes"]
        kept = gantry.array(np.zeros(1 << 20, np.uint8))
        self.assertEqual(gantry.memory_stats()["unified"]["live_bytes"] - before, kept.nbytes)
        self.assertIn("gantry.array", gantry.memory_report())
        self.assertEqual(gantry.devices()[0]["index"], 0)
        self.assertIs(gantry.device(), gantry.device(0))
        self.assertIs(gantry.device(gantry.device().name), gantry.device("0"))
        with self.assertRaisesRegex(ValueError, "dimensions|inhomogeneous"):
            gantry.array([[1.0], [1.0, 2.0]])

    def test_limit(self):
        with self.assertRaises(gantry.InvalidArgumentError):
            gantry.set_memory_limit(-1)
        gantry.set_memory_limit(1 << 20)
        with self.assertRaises(MemoryError):
            gantry.array(np.zeros(1 << 26, np.uint8))
        gantry.set_memory_limit(None)
        gantry.array(np.zeros(1 << 26, np.uint8))

    def test_fork_after_use(self):
        """The child gets errors, and ends like any process; the parent goes on."""
        script = (
            "import gantry, models, numpy as np, os, sys\n"
            "program = gantry.compile(models.add([2]))\n"
            "array = program(gantry.array(models.ones(2)), gantry.array(models.ones(2)))\n"
            "sys.stdout.flush()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    for use in (lambda: program(array, array), lambda: gantry.array(models.ones(2)), gantry.memory_report,\n"
            "                lambda: gantry.compile(models.add([2])), gantry.device, lambda: gantry.device(0)):\n"
            "        try:\n"
            "            use()\n"
            "            print('no error')\n"
            "        except gantry.FailedPreconditionError as error:\n"
            "            assert 'spawn' in str(error)\n"
            "    print('child ends')\n"
            "else:\n"
            "    status = os.waitpid(child, 0)[1]\n"
            "    print('parent', status, program(array, array).numpy())\n"
        )
        ended = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60, cwd=os.path.dirname(os.path.abspath(__file__))
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("child ends\nparent 0 [4. 4.]\n", "", 0))


class Traces(unittest.TestCase):
    def test_profile_marks_and_spans(self):
        program = gantry.compile(models.add([2]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.gtrace")
            with gantry.profile(path):
                with gantry.span("my span"):
                    gantry.mark("my mark", 7)
                    gantry.counter("my counter", 3)
                    program(models.ones(2), models.ones(2))
            table = os.path.join(folder, "run.csv")
            tool = os.path.join(os.environ["GANTRY_BUILD_DIR"], "bin/gantry")
            subprocess.run([tool, "export", path, "--to", "csv", "-o", table], check=True, capture_output=True)
            with open(table, encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if "my " in "".join(filter(None, row.values()))]
            self.assertEqual([row["type"] for row in rows], ["span begin", "mark", "counter", "span end"])
            self.assertEqual([row["value"] for row in rows[1:3]], ["7", "3"])

    def test_a_file_that_cannot_be_written(self):
        with self.assertRaises(gantry.Error):
            with gantry.profile("/none/run.gtrace"):
                self.fail("the block ran")


if __name__ == "__main__":
    unittest.main()
