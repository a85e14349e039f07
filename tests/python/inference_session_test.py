"""Tests gantry.InferenceSession with the calls of ONNX Runtime's tutorials."""

import os
import tempfile
import unittest

import gantry as ort
import models
import numpy as np


class InferenceSession(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.content = models.double_and_negate(["batch", 4]).SerializeToString()
        cls.session = ort.InferenceSession(cls.content, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])

    def test_load_names_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(self.content)
            session = ort.InferenceSession(path, ort.SessionOptions(), providers=ort_providers())
        name = session.get_inputs()[0].name
        self.assertEqual((name, session.get_inputs()[0].type, session.get_inputs()[0].shape), ("x", "tensor(float)", ["batch", 4]))
        x = models.ones(2, 4)
        double, negative = session.run(None, {name: x})
        np.testing.assert_array_equal(double, 2 * x)
        np.testing.assert_array_equal(negative, -x)
        (negative,) = session.run(["negative"], {name: x})
        np.testing.assert_array_equal(negative, -x)
        self.assertEqual([port.name for port in session.get_outputs()], ["double", "negative"])
        self.assertEqual(session.get_providers(), ["GantryExecutionProvider"])

    def test_artifacts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.gantry")
            self.session.program.save(path)
            session = ort.InferenceSession(path)
        np.testing.assert_array_equal(session.run(["double"], {"x": models.ones(1, 4)})[0], 2 * models.ones(1, 4))

    def test_errors(self):
        with self.assertRaisesRegex(ort.InvalidArgumentError, 'no output "y"; its outputs are "double", "negative"'):
            self.session.run(["y"], {"x": models.ones(1, 4)})
        with self.assertRaisesRegex(ort.InvalidArgumentError, 'no input "y"; its inputs are "x"'):
            self.session.run(None, {"y": models.ones(1, 4)})
        with self.assertRaisesRegex(ort.InvalidArgumentError, "float64"):
            self.session.run(None, {"x": np.ones((1, 4))})

    def test_io_binding_with_numpy(self):
        x, out = models.ones(3, 4), np.zeros((3, 4), np.float32)
        binding = self.session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_output("double")
        binding.bind_output("negative", device_type="cpu", element_type=np.float32, shape=out.shape, buffer_ptr=out.ctypes.data)
        self.session.run_with_iobinding(binding)
        double, negative = binding.copy_outputs_to_cpu()
        np.testing.assert_array_equal(double, 2 * x)
        np.testing.assert_array_equal(negative, -x)
        np.testing.assert_array_equal(out, -x)

    def test_io_binding_with_addresses_and_values(self):
        x = models.ones(3, 4)
        binding = self.session.io_binding()
        binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
        target = ort.OrtValue.ortvalue_from_shape_and_type([3, 4], np.float32)
        binding.bind_ortvalue_output("double", target)
        binding.bind_output("negative", "cuda")
        binding.synchronize_inputs()
        self.session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        np.testing.assert_array_equal(target.numpy(), 2 * x)
        negative = binding.get_outputs()[1]
        self.assertEqual((negative.device_name(), negative.shape(), negative.data_type()), ("gpu", [3, 4], "tensor(float)"))
        np.testing.assert_array_equal(np.from_dlpack(negative), -x)
        again = self.session.io_binding()
        again.bind_ortvalue_input("x", negative)
        again.bind_output("negative")
        self.session.run_with_iobinding(again)
        np.testing.assert_array_equal(again.copy_outputs_to_cpu()[0], x)
        with self.assertRaisesRegex(ort.InvalidArgumentError, 'no input "y"'):
            again.bind_cpu_input("y", x)
        with self.assertRaisesRegex(ort.InvalidArgumentError, "bind_ortvalue_input"):
            again.bind_input("x", "cuda", 0, np.float32, x.shape, 0)

    def test_values(self):
        x = models.ones(2, 2)
        for device in ("cpu", "cuda"):
            value = ort.OrtValue.ortvalue_from_numpy(x.copy(), device)
            value.update_inplace(3 * x)
            np.testing.assert_array_equal(value.numpy(), 3 * x)
            with self.assertRaisesRegex(ort.InvalidArgumentError, "shape"):
                value.update_inplace(models.ones(3))
        np.testing.assert_array_equal(ort.OrtValue.from_dlpack(x).numpy(), x)
        (double, _) = self.session.run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(models.ones(1, 4))})
        self.assertEqual(double.shape(), [1, 4])


def ort_providers():
    return [("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"]


if __name__ == "__main__":
    unittest.main()
