#!/usr/bin/env python3
"""Tests `run` of tests/run_on_gpu.py: how it counts tests that pass, fail, are skipped, do not end, or cannot start."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "run_on_gpu.py"


def entry(name, code, environment=()):
    return {"name": name, "command": [sys.executable, "-c", code], "environment": list(environment), "folder": "/nowhere"}


class Run(unittest.TestCase):
    def run_tests(self, tests, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "gpu_tests.json").write_text(json.dumps(tests))
            done = subprocess.run([sys.executable, SCRIPT, "run", place, "--log", place / "log", *arguments],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout, (place / "log").read_text()

    def test_counts_each_outcome(self):
        code, said, log = self.run_tests([
            entry("right", "print('fine')"), entry("wrong", "raise SystemExit(3)"), entry("absent", "raise SystemExit(77)"),
            entry("endless", "import time; time.sleep(60)"),
            {"name": "missing", "command": ["/no/such/program"], "environment": [], "folder": "/"}], "--limit", "3")
        self.assertEqual(code, 1)
        self.assertIn("1 passed, 3 failed, 1 skipped", said)
        self.assertIn("failed   wrong (ended with 3", said)
        self.assertIn("skipped  absent (ended with 77", said)
        self.assertIn("failed   endless (did not end in time", said)
        self.assertIn("failed   missing (ended with 127", said)
        self.assertIn("==== right: ended with 0", log)
        self.assertIn("fine", log)

    def test_takes_the_interpreter_of_this_machine(self):
        test = entry("python", "print('here')")
        test["command"][0] = "/no/such/folder/python3"
        self.assertEqual(self.run_tests([test])[0], 0)

    def test_sets_the_environment_and_selects_by_name(self):
        wanted = "import os; assert os.environ['GANTRY_VALIDATION'] == 'sync' and os.environ['LD_LIBRARY_PATH']"
        code, said, _ = self.run_tests([entry("one", wanted, ["GANTRY_VALIDATION=sync"]), entry("two", "raise SystemExit(1)")],
                                       "--only", "^one$")
        self.assertEqual(code, 0)
        self.assertIn("1 passed, 0 failed, 0 skipped", said)
        self.assertEqual(self.run_tests([entry("one", wanted)], "--only", "three")[0], 1)  # No test is no success.


if __name__ == "__main__":
    unittest.main()
