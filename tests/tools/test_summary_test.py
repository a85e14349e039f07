#!/usr/bin/env python3
"""Tests tools/house/test_summary.py on small reports: which tests it counts, and for which reports it exits with 1."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "house" / "test_summary.py"

GTEST = """[==========] Running 3 tests from 1 test suite.
[ RUN      ] Plan.fits
[       OK ] Plan.fits (0 ms)
[ RUN      ] Plan.gpu
plan_test.cpp:7: Skipped
no GPU here
[  SKIPPED ] Plan.gpu (0 ms)
[ RUN      ] Plan.bound
{bound}
[==========] 3 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] {passed} tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Plan.gpu
{failed}"""
GOOD_GTEST = GTEST.format(bound="[       OK ] Plan.bound (0 ms)", passed=2, failed="")
BAD_GTEST = GTEST.format(bound="[  FAILED  ] Plan.bound (0 ms)", passed=1,
                         failed="[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Plan.bound\n\n 1 FAILED TEST\n")
LIT = """-- Testing: 4 tests, 2 workers --
********************
Unsupported Tests (1):
  gantry :: a.mlir

********************
Failed Tests (1):
  gantry :: b.mlir


Testing Time: 0.07s

Total Discovered Tests: 4
  Unsupported: 1 (25.00%)
  Passed     : 2 (50.00%)
  Failed     : 1 (25.00%)
"""


def case(name, output="", kind=""):
    inside = {"fail": '<failure message=""/>', "skip": '<skipped message="SKIP_RETURN_CODE=77"/>'}.get(kind, "")
    return f'<testcase name="{name}">{inside}<system-out>{escape(output)}</system-out></testcase>'


def summarise(*cases):
    """Runs the script on a report with these cases. Returns (exit code, last line, all lines)."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "tests.xml")
        report.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
        run = subprocess.run([sys.executable, str(SUMMARY), str(report)], capture_output=True, text=True)
        lines = run.stdout.splitlines()
        return run.returncode, lines[-1], lines


class Summary(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(summarise(case("a"), case("b"))[:2], (0, "2 passed, 0 failed, 0 skipped"))
        self.assertEqual(summarise(case("a"), case("b", kind="fail"))[:2], (1, "1 passed, 1 failed, 0 skipped"))

    def test_nothing_ran(self):
        self.assertEqual(summarise()[:2], (1, "0 passed, 0 failed, 0 skipped"))
        self.assertEqual(summarise(case("a", kind="skip"))[:2], (1, "0 passed, 0 failed, 1 skipped"))

    def test_skips_are_named_with_their_reason(self):
        code, last, lines = summarise(case("a"), case("model.x", "skipped: x is not there\n", "skip"))
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("  skipped  model.x (x is not there)", lines)

    def test_gtest_counts_its_cases(self):
        code, last, lines = summarise(case("plan_test", GOOD_GTEST))
        self.assertEqual((code, last), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("  skipped  plan_test: Plan.gpu (no GPU here)", lines)
        code, last, lines = summarise(case("plan_test", BAD_GTEST, "fail"))
        self.assertEqual((code, last), (1, "1 passed, 1 failed, 1 skipped"))
        self.assertIn("  FAILED   plan_test: Plan.bound", lines)

    def test_gtest_that_stopped_or_ran_nothing_fails(self):
        for output in (GOOD_GTEST[:120], "[==========] Running 0 tests from 0 test suites.\n"
                       "[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n"):
            code, last, lines = summarise(case("plan_test", output))
            self.assertEqual((code, last), (1, "0 passed, 1 failed, 0 skipped"), lines)

    def test_lit_counts_its_files(self):
        code, last, lines = summarise(case("lit", LIT, "fail"))
        self.assertEqual((code, last), (1, "2 passed, 1 failed, 1 skipped"))
        self.assertIn("  skipped  lit: gantry :: a.mlir", lines)
        self.assertIn("  FAILED   lit: gantry :: b.mlir", lines)

    def test_unittest_counts_its_cases(self):
        self.assertEqual(summarise(case("u", "..s\nRan 3 tests in 0.1s\n\nOK (skipped=1)\n"))[:2],
                         (0, "2 passed, 0 failed, 1 skipped"))

    def test_failing_unittest_counts_its_cases(self):
        output = ("F.sE\n=====\nERROR: test_a (cli.Cli.test_a)\n-----\nTraceback\n"
                  "FAIL: test_b (cli.Cli.test_b) (i=1)\nFAIL: test_b (cli.Cli.test_b) (i=2)\n"
                  "Ran 4 tests in 0.1s\n\nFAILED (failures=2, errors=1, skipped=1)\n")
        code, last, lines = summarise(case("u", output, "fail"))
        self.assertEqual((code, last), (1, "1 passed, 2 failed, 1 skipped"))
        self.assertIn("  FAILED   u: test_a", lines)

    def test_validation_messages_fail_a_passed_test(self):
        for message in ("Validation Error: [ VUID-vkCmdDispatch-None-02699 ]", "SYNC-HAZARD-WRITE-AFTER-READ"):
            code, last, lines = summarise(case("a", message), case("b"))
            self.assertEqual((code, last), (1, "1 passed, 1 failed, 0 skipped"), lines)


if __name__ == "__main__":
    unittest.main()
