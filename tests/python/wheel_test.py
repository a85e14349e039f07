"""Builds the wheel with pip, without a network, installs it in a fresh virtual environment, and runs a model there.

GANTRY_BUILD_DIR: the build of the package."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import gantry, numpy
program = gantry.compile({model!r})
print(gantry.__file__, program(numpy.zeros((50, 1, 8, 8), numpy.float32)).shape)
"""


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    def test_build_install_run(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
            run(*pip, "wheel", "--no-index", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
            (wheel,) = folder.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                (record,) = (name for name in names if name.endswith("/RECORD"))
                rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
                self.assertEqual(sorted(rows), sorted(names))
                for name, (digest, size) in rows.items():
                    if name != record:
                        content = archive.read(name)
                        expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                        self.assertEqual((digest, size), (f"sha256={expected}", str(len(content))))
                metadata = archive.read(record.replace("RECORD", "METADATA")).decode()
            self.assertIn("gantry/py.typed", names)
            self.assertIn("Name: gantry\n", metadata)
            environment = folder / "environment"
            run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", environment)
            run(*pip, "--python", environment / "bin/python", "install", "--no-index", "--no-deps", wheel)
            script = SCRIPT.format(model=str(ROOT / "examples/digits/digits.onnx"))
            clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            printed = run(environment / "bin/python", "-c", script, cwd=folder, env=clean)
            self.assertIn(str(environment), printed)
            self.assertIn("(50, 10)", printed)
            libraries = run("ldd", *environment.glob("lib/python3*/site-packages/gantry/_runtime*.so"))
            self.assertIn(f"libgantry.so.0 => {environment}", libraries)


if __name__ == "__main__":
    unittest.main()
