"""Tests the exchange of tensors through DLPack: every trap that is known of the protocol, in both directions."""

import gc
import subprocess
import sys
import threading
import unittest

import gantry
import models
import numpy as np
from models import Producer

try:
    import torch
except ImportError:
    torch = None


class Import(unittest.TestCase):
    """Tensors of others as inputs."""

    @classmethod
    def setUpClass(cls):
        cls.program = gantry.compile(models.add([2, 3]))
        cls.b = models.ones(2, 3)

    def check(self, producer, expected):
        result = self.program(producer, self.b)
        self.assertIs(type(result), gantry.Array)
        np.testing.assert_array_equal(np.from_dlpack(result), expected + 1)
        self.assertEqual(producer.deleted, 1)

    def test_unversioned_and_versioned_capsules(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for versioned in (None, (1, 0), (1, 1), (1, 9)):
            with self.subTest(versioned=versioned):
                producer = Producer(x, versioned)
                self.check(producer, x)
                used = b"used_dltensor" if versioned is None else b"used_dltensor_versioned"
                self.assertEqual(producer.capsule_names(), [used])

    def test_producers_without_keywords(self):
        class Old(Producer):  # A class of its own: what it takes is remembered by class.
            pass

        x = models.ones(2, 3)
        for _ in range(3):
            self.check(Old(x, takes_keywords=False), x)

    def test_byte_offset_and_strides(self):
        whole = np.arange(40, dtype=np.float32)
        x = whole[4:10].reshape(2, 3)
        self.check(Producer(x, data=whole.ctypes.data, byte_offset=16), x)
        self.check(Producer(x, strides=None), x)
        transposed = np.arange(6, dtype=np.float32).reshape(3, 2).T
        self.check(Producer(transposed), transposed)
        self.assertIn("do not lie one after another", self.program.copies[0])
        reversed_rows = np.arange(6, dtype=np.float32).reshape(2, 3)[::-1]
        self.check(Producer(reversed_rows), reversed_rows)
        broadcast = np.broadcast_to(np.arange(3, dtype=np.float32), (2, 3))
        self.check(Producer(broadcast), broadcast)

    def test_empty_tensors(self):
        program = gantry.compile(models.add([0, 3]))
        x = np.zeros((0, 3), np.float32)
        for versioned in (None, (1, 0)):
            producer = Producer(x, versioned, data=None)
            result = program(producer, x)
            self.assertEqual(result.shape, (0, 3))
            self.assertEqual(producer.deleted, 1)

    def test_refused_tensors_are_deleted_once(self):
        x = models.ones(2, 3)
        cases = {
            "float64": Producer(x.astype(np.float64)),
            "complex64": Producer(x.astype(np.complex64)),
            "shape": Producer(models.ones(3, 2)),
            "version 2": Producer(x, (2, 0)),
            "float32x4": Producer(x, dtype=(2, 32, 4)),
        }
        for text, producer in cases.items():
            with self.subTest(text=text):
                with self.assertRaisesRegex(gantry.InvalidArgumentError, text):
                    self.program(producer, self.b)
                self.assertEqual(producer.deleted, 1)

    def test_tensors_that_are_not_possible(self):
        x = models.ones(2, 3)
        wrong_device = Producer(x)
        wrong_device._tensor.device.device_type = 2
        no_shape = Producer(x)
        no_shape._tensor.shape = None
        for text, producer in (("device type 2", wrong_device), ("no shape", no_shape), ("no memory", Producer(x, data=None))):
            with self.assertRaisesRegex(gantry.InvalidArgumentError, text):
                self.program(producer, self.b)
            self.assertEqual(producer.deleted, 1)
        program = gantry.compile(models.add(["n", "m"], 3))
        for shape in ((3, 6148914691236517206), (-1, 2)):
            producer = Producer(np.zeros((2, 2), np.int8), strides=(0, 0))
            for d in range(2):
                producer._tensor.shape[d] = shape[d]
            with self.assertRaisesRegex(gantry.InvalidArgumentError, "not possible"):
                program(producer, np.zeros((2, 2), np.int8))
            self.assertEqual(producer.deleted, 1)

    def test_a_later_refused_argument_deletes_the_earlier_ones(self):
        producer = Producer(models.ones(2, 3))
        with self.assertRaises(gantry.InvalidArgumentError):
            self.program(producer, np.zeros((2, 3), np.float64))
        self.assertEqual(producer.deleted, 1)

    def test_other_devices_are_refused_before_a_capsule_is_made(self):
        for device in (2, 7, 10):
            producer = Producer(models.ones(2, 3), device=device)
            with self.assertRaisesRegex(gantry.InvalidArgumentError, f"device type {device}.*x.cpu"):
                self.program(producer, self.b)
            self.assertEqual(producer.capsules, [])

    def test_a_capsule_that_was_taken_before(self):
        producer = Producer(models.ones(2, 3))
        capsule = producer.__dlpack__()

        class Again:
            def __dlpack__(self, **keywords):
                return capsule

        self.program(Again(), self.b)
        with self.assertRaisesRegex(gantry.InvalidArgumentError, "used_dltensor"):
            self.program(Again(), self.b)
        self.assertEqual(producer.deleted, 1)

    def test_producers_that_raise(self):
        class Raises:
            def __init__(self, error):
                self.error = error

            def __dlpack__(self, **keywords):
                raise self.error

        for error in (BufferError("no"), RuntimeError("no"), TypeError("no"), KeyboardInterrupt()):
            with self.assertRaises(type(error)):
                self.program(Raises(error), self.b)

    def test_producers_that_return_something_else(self):
        class Wrong:
            def __dlpack__(self, **keywords):
                return 7

        with self.assertRaisesRegex(gantry.InvalidArgumentError, "returned int"):
            self.program(Wrong(), self.b)

    def test_many_threads(self):
        producers = [Producer(models.ones(2, 3)) for _ in range(64)]
        failures = []

        def work(part):
            for producer in part:
                if not (np.from_dlpack(self.program(producer, self.b)) == 2).all():
                    failures.append(producer)

        threads = [threading.Thread(target=work, args=(producers[i::8],)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual([producer.deleted for producer in producers], [1] * 64)


class Export(unittest.TestCase):
    """gantry.Array as a tensor for others."""

    def live_buffers(self):
        gc.collect()
        return gantry.memory_stats()["unified"]["live_buffers"]

    def test_every_type(self):
        for name in ("float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"):
            x = (np.arange(6) % 2).reshape(2, 3).astype(name)
            array = gantry.array(x)
            self.assertEqual((array.shape, array.dtype, array.nbytes), (x.shape, x.dtype, x.nbytes))
            np.testing.assert_array_equal(array.numpy(), x)
            if name != "bool":  # NumPy 1.24 does not import bool.
                np.testing.assert_array_equal(np.from_dlpack(array), x)

    def test_memory_is_shared_and_released_with_the_last_view(self):
        before = self.live_buffers()
        array = gantry.array(models.ones(4))
        view, imported = array.numpy(), np.from_dlpack(array)
        view[0] = 7
        self.assertEqual(imported[0], 7)
        del array, view
        self.assertEqual(self.live_buffers(), before + 1)
        self.assertEqual(imported[0], 7)
        del imported
        self.assertEqual(self.live_buffers(), before)

    def test_capsules_that_nobody_takes(self):
        before = self.live_buffers()
        array = gantry.array(models.ones(4))
        capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 1)), array.__dlpack__(max_version=(1, 0), copy=True)]
        self.assertEqual(self.live_buffers(), before + 2)
        del array
        del capsules
        self.assertEqual(self.live_buffers(), before)

    def test_versions(self):
        array = gantry.array(models.ones(4))
        for version, name in ((None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned"), ((2, 0), "dltensor_versioned")):
            self.assertIn(f'"{name}"', repr(array.__dlpack__(max_version=version)))

    def test_copies(self):
        array = gantry.array(models.ones(4))

        class Copied:
            def __dlpack__(self, **keywords):
                return array.__dlpack__(copy=True)

            def __dlpack_device__(self):
                return array.__dlpack_device__()

        copy = np.from_dlpack(Copied())
        array.numpy()[0] = 5
        self.assertEqual(copy[0], 1)

    def test_refused_requests(self):
        array = gantry.array(models.ones(4))
        with self.assertRaisesRegex(BufferError, "stream must be None"):
            array.__dlpack__(stream=1)
        with self.assertRaisesRegex(BufferError, "to the device"):
            array.__dlpack__(dl_device=(2, 0))
        self.assertEqual(array.__dlpack_device__(), (1, 0))

    def test_empty_arrays_have_an_address(self):
        array = gantry.array(np.zeros((0, 3), np.float32))
        self.assertEqual(np.from_dlpack(array).shape, (0, 3))
        self.assertNotEqual(array.numpy().ctypes.data, 0)

    def test_released_on_another_thread(self):
        before = self.live_buffers()
        views = [np.from_dlpack(gantry.array(models.ones(4))) for _ in range(100)]
        thread = threading.Thread(target=views.clear)
        thread.start()
        thread.join()
        self.assertEqual(self.live_buffers(), before)

    def test_exit_with_live_tensors(self):
        script = (
            "import gantry, numpy as np, sys\n"
            "array = gantry.array(np.ones(4, np.float32))\n"
            "sys.kept = [array.__dlpack__(), array.__dlpack__(max_version=(1, 0)), np.from_dlpack(array), array.numpy(), array]\n"
        )
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    @unittest.skipIf(torch is None, "python3-torch is not installed")
    def test_torch(self):
        before = self.live_buffers()
        array = gantry.array(models.ones(2, 3))
        tensor = torch.from_dlpack(array)
        tensor[1, 2] = 9
        self.assertEqual(array.numpy()[1, 2], 9)
        del array, tensor
        self.assertEqual(self.live_buffers(), before)
        torch.from_dlpack(gantry.array(np.zeros((0, 2), np.float32)))
        self.assertEqual(self.live_buffers(), before)


class Leaks(unittest.TestCase):
    """A short form of benchmarks/python/leaks.py."""

    def test_buffers_and_deleters(self):
        program = gantry.compile(models.add([64]))
        x = models.ones(64)
        counts = []
        for _ in range(300):
            producer = Producer(x)
            program(producer, gantry.array(x))
            self.assertEqual(producer.deleted, 1)
            counts.append(gantry.memory_stats()["unified"]["live_buffers"])
        gc.collect()
        self.assertEqual(max(counts[10:]), min(counts[10:]))


if __name__ == "__main__":
    unittest.main()
