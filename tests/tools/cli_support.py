"""Helpers of the tests of the gantry tool: they write ONNX and .npy files and call the tool. Standard library only."""
import argparse
import array
import ast
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

OPTIONS = argparse.Namespace()  # The options of the test script.


# ---- ONNX files, encoded as protobuf -------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor_type(dims, element=1):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, field(1, element) + field(2, shape))


def value_info(name, dims, element=1):
    return field(1, name) + field(2, tensor_type(dims, element))


def onnx_model(nodes, inputs, outputs, initializers=()):
    """Returns the bytes of an ONNX model.

    nodes: (op, name, inputs, outputs[, {attribute: integer or list of integers}]); inputs and outputs:
    (name, dims[, type])."""
    def attribute(key, value):
        if isinstance(value, int):
            return field(1, key) + field(3, value) + field(20, 2)
        return field(1, key) + b"".join(field(8, number) for number in value) + field(20, 7)

    graph = b""
    for op, name, reads, writes, *attributes in nodes:
        graph += field(1, b"".join(field(1, r) for r in reads) + b"".join(field(2, w) for w in writes) +
                       field(3, name) + field(4, op) +
                       b"".join(field(5, attribute(key, value))
                                for key, value in (attributes[0] if attributes else {}).items()))
    graph += field(2, "graph")
    graph += b"".join(field(5, i) for i in initializers)
    graph += b"".join(field(11, value_info(*i)) for i in inputs)
    graph += b"".join(field(12, value_info(*o)) for o in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def int64_tensor(name, values, dims=None):
    """dims: by default one dimension."""
    sizes = b"".join(field(1, size) for size in dims or [len(values)])
    return sizes + field(2, 7) + field(8, name) + field(9, struct.pack(f"<{len(values)}q", *values))


def write_npy(path, descr, shape, data):
    shape = "(" + "".join(f"{d}, " for d in shape) + ")"
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def read_npy(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    values = array.array({"<f4": "f", "<i8": "q", "<i4": "i"}[header["descr"]], data[10 + length:])
    return header["shape"], values


# ---- the tool ------------------------------------------------------------------------------------

class Tool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="gantry_cli_")
        cls.fixtures = pathlib.Path(cls.place.name)
        cls.model = cls.fixtures / "relu_mul.onnx"
        cls.model.write_bytes(onnx_model(
            [("Relu", "first", ["x"], ["a/b:0"]), ("Softmax", "second", ["a/b:0"], ["c"]),
             ("ReduceMax", "most", ["c"], ["m"]), ("Sub", "third", ["x", "m"], ["y"])],
            [("x", [4, 6])], [("y", [4, 6])]))
        cls.dynamic = cls.fixtures / "dynamic.onnx"
        cls.dynamic.write_bytes(onnx_model(
            [("Softmax", "one", ["x"], ["a"]), ("Softmax", "two", ["a"], ["y"])],
            [("x", ["batch", 6])], [("y", ["batch", 6])]))
        cls.artifact = cls.fixtures / "relu_mul.gantry"
        done = cls.call("compile", cls.model, "-o", cls.artifact)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.fixtures))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    @staticmethod
    def call(*arguments, cwd=None, env=None, stdout=subprocess.PIPE, tool=None):
        return subprocess.run([str(tool or OPTIONS.gantry), *map(str, arguments)], cwd=cwd, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}, timeout=300)

    def works(self, *arguments, codes=(0,), **options):
        done = self.call(*arguments, cwd=self.folder, **options)
        self.assertIn(done.returncode, codes, done.stderr or done.stdout)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def fails(self, code, words, *arguments, env=None, **options):
        """Checks that the tool ends with `code`, prints one line on stderr that contains the words, and changes no
        file. Returns the line."""
        before = self.tree()
        done = self.call(*arguments, cwd=self.folder, env={"TMPDIR": str(self.temporary), **(env or {})}, **options)
        line = done.stderr
        self.assertEqual(done.returncode, code, f"{arguments}: {line}{done.stdout}")
        self.assertTrue(line.startswith("gantry: error: ") and line.endswith("\n"), line)
        self.assertEqual(line.count("\n"), 1, line)
        self.assertGreater(len(line), 30, line)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, line)
        self.assertEqual(self.tree(), before, "files were left or lost")
        return line

    def tree(self):
        return sorted((str(p), p.stat().st_size) for p in self.folder.rglob("*"))
