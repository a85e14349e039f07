"""Runs the scripts and the notebook of examples/python, and the Python lines of README.md."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import gantry

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/python"


def run(*command):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Examples(unittest.TestCase):
    def test_classify(self):
        right = re.search(r"(\d+) of 450 digits are right", run(EXAMPLES / "classify.py"))
        self.assertGreaterEqual(int(right[1]), 436)
        self.assertIn("seven.pgm: 7\n", run(EXAMPLES / "classify.py", EXAMPLES / "seven.pgm"))

    def test_several_inputs(self):
        self.assertIn("after 30 calls on the device: [2.", run(EXAMPLES / "several_inputs.py"))

    def test_notebook(self):
        """Executes the cells in order, and shows the value of each cell's last line as a notebook does."""
        notebook = json.loads((EXAMPLES / "tour.ipynb").read_text())
        names, shown = {}, []
        before = os.getcwd()
        os.chdir(EXAMPLES)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for cell in notebook["cells"]:
                    if cell["cell_type"] != "code":
                        continue
                    *lines, last = "".join(cell["source"]).splitlines()
                    exec("\n".join(lines), names)
                    try:
                        shown.append(eval(last, names))
                    except SyntaxError:
                        exec(last, names)
        finally:
            os.chdir(before)
        (plan,) = [value for value in shown if isinstance(value, gantry.Plan)]
        self.assertIn("<svg", plan._repr_svg_())
        self.assertTrue(any(isinstance(value, str) and value.endswith("% are right") for value in shown))

    def test_lines_of_readme(self):
        (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
        self.assertLessEqual(len(code.splitlines()), 10)
        self.assertIn("(50, 10)", run("-c", code))


if __name__ == "__main__":
    unittest.main()
