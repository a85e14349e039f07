#!/usr/bin/env python3
"""Counts the tests that ran, from the JUnit file that ctest writes.

    tools/house/test_summary.py [--label LABEL] REPORT

One ctest entry may contain many tests (a GoogleTest program, a lit run, a Python unittest). The script reads
the entry's output and counts each of them. It prints each skipped test, with the reason if the output has
one. LABEL is a heading above the result. Failures are:
  - a test that failed;
  - a program that ran no test;
  - an entry that passed but whose output has a message of the Vulkan validation layers.
The last line is 'N passed, N failed, N skipped'. The exit code is 1 if there is a failure or no test ran.
"""
import argparse
import re
import sys
import xml.etree.ElementTree as xml

VALIDATION = re.compile(r"VUID-|SYNC-HAZARD|UNASSIGNED-|Validation (Error|Warning)")


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []

    def read_gtest(self, name, output):
        ran = re.findall(r"^\[==========\] (\d+) tests? from .* ran\.", output, re.M)
        if not ran or int(ran[-1]) == 0:
            self.failed.append(f"{name}: ran no test")
            return
        summary = output[output.rfind("[==========]"):]
        body = output[: output.rfind("[==========]")]
        passed = re.search(r"^\[  PASSED  \] (\d+) test", summary, re.M)
        self.passed += int(passed.group(1)) if passed else 0
        for case in re.findall(r"^\[  FAILED  \] (\S+?\.\S+)", summary, re.M):
            self.failed.append(f"{name}: {case.rstrip(',')}")
        for case in re.findall(r"^\[  SKIPPED \] (\S+\.\S+)$", summary, re.M):
            text = re.search(
                r"^\[ RUN      \] " + re.escape(case) + r"\n(.*?)^\[  SKIPPED \]", body, re.M | re.S)
            lines = [l for l in (text.group(1) if text else "").splitlines()
                     if l and not re.match(r".*: Skipped$", l)]
            self.skipped.append(f"{name}: {case}" + (f" ({lines[-1].strip()})" if lines else ""))

    def read_lit(self, name, output):
        count = 0
        for word, number in re.findall(r"^  (Passed|Expectedly Failed) *: *(\d+)", output, re.M):
            self.passed += int(number)
            count += int(number)
        for kind, tests in re.findall(r"^([A-Z][A-Za-z ]*) Tests \(\d+\):\n((?:  .*\n)+)", output, re.M):
            where = self.skipped if kind == "Unsupported" else self.failed
            for test in tests.splitlines():
                where.append(f"{name}: {test.strip()}")
                count += 1
        if count == 0:
            self.failed.append(f"{name}: ran no test")

    def read_unittest(self, name, output):
        ran = int(re.search(r"^Ran (\d+) tests? in ", output, re.M).group(1))
        skipped = re.search(r"^(?:OK|FAILED) \(.*skipped=(\d+)", output, re.M)
        count = int(skipped.group(1)) if skipped else 0
        failed = dict.fromkeys(re.findall(r"^(?:FAIL|ERROR): (\S+)", output, re.M))
        self.failed += [f"{name}: {case}" for case in failed]
        self.passed += max(0, ran - count - len(failed))
        self.skipped += [f"{name}: a test case"] * count
        if ran == 0:
            self.failed.append(f"{name}: ran no test")

    def read(self, case):
        name = case.get("name")
        output = (case.findtext("system-out") or "")
        failure = case.find("failure")
        if case.find("skipped") is not None and failure is None:
            reason = re.search(r"^skipped: (.*)$", output, re.M)
            self.skipped.append(name + (f" ({reason.group(1)})" if reason else ""))
            return
        if failure is None and VALIDATION.search(output):
            line = next(l for l in output.splitlines() if VALIDATION.search(l))
            self.failed.append(f"{name}: validation message: {line.strip()[:200]}")
            return
        failed_before = len(self.failed)
        if "[==========]" in output:
            self.read_gtest(name, output)
        elif re.search(r"^-- Testing: \d+ tests", output, re.M):
            self.read_lit(name, output)
        elif re.search(r"^Ran \d+ tests? in ", output, re.M):
            self.read_unittest(name, output)
        elif failure is None:
            self.passed += 1
        if failure is not None and len(self.failed) == failed_before:
            self.failed.append(f"{name}: {failure.get('message') or 'failed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--label", default="")
    parser.add_argument("report")
    options = parser.parse_args()
    tally = Tally()
    for case in xml.parse(options.report).getroot().iter("testcase"):
        tally.read(case)
    if options.label:
        print(f"\n{options.label}:")
    for line in tally.skipped:
        print(f"  skipped  {line}")
    for line in tally.failed:
        print(f"  FAILED   {line}")
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    if tally.passed + len(tally.failed) == 0:
        print("no test ran", file=sys.stderr)
        return 1
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
