#!/usr/bin/env python3
"""Tests the digits example, which `./dev demo` runs.

    digits_test.py --gantry TOOL --classify PROGRAM FOLDER      (FOLDER: examples/digits)
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from support import VALIDATION, Failure, Test


def classify(program, artifact, data):
    done = subprocess.run([program, artifact, data], capture_output=True, text=True, env=os.environ)
    if done.returncode != 0:
        raise Failure(f"ended with {done.returncode}: {done.stderr.strip()}")
    if VALIDATION.search(done.stderr):
        raise Failure(f"validation message: {done.stderr[:400]}")
    accuracy = re.search(r"^accuracy +([\d.]+) % \((\d+) of (\d+)", done.stdout, re.M)
    if not accuracy or int(accuracy.group(3)) != 450 or float(accuracy.group(1)) < 97:
        raise Failure(f"expected 97 % or more of 450 images, got:\n{done.stdout}")
    return accuracy.group(0)


def picture(test, artifact):
    """Checks that the SVG of the plan is well-formed and names every tensor of the arena."""
    target = test.folder / "plan.svg"
    test.call("inspect", artifact, "--plot", target)
    root = xml.parse(target).getroot()
    titles = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}title"))
    values = json.loads(test.call("inspect", artifact, "--json"))["values"]
    names = [v["name"] for v in values if v["storage"] == "transient"]
    if not names:
        raise Failure("the plan has no tensor")
    missing = [name for name in names if name not in titles]
    if missing:
        raise Failure(f"not in the picture: {', '.join(missing)}")
    return f"{len(names)} tensors"


def damaged(test, artifact):
    """Checks that the tool refuses an artifact with one changed byte, with one line on stderr."""
    data = bytearray(artifact.read_bytes())
    for place in (3, 40, len(data) // 2, len(data) - 70):
        data[place] ^= 0x20
        broken = test.folder / "broken.gantry"
        broken.write_bytes(data)
        data[place] ^= 0x20
        done = subprocess.run([test.gantry, "run", str(broken), "--random", "1"], capture_output=True, text=True)
        if done.returncode == 0 or len(done.stderr.strip().splitlines()) != 1:
            raise Failure(f"with byte {place} changed, the tool must fail with one line on stderr: exit code "
                          f"{done.returncode}, {done.stderr.strip()[:300]!r}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--classify", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    test = Test(options.gantry)
    artifact = test.artifact()
    if test.check("compile", lambda: test.compile(options.folder / "digits.onnx") and None):
        test.check("classify", classify, options.classify, artifact, options.folder / "data")
        test.check("arena", test.arena, artifact)
        test.check("picture", picture, test, artifact)
        test.check("damaged", damaged, test, artifact)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
