#!/usr/bin/env python3
"""Runs ./dev demo with the programs of this build and checks the two pictures that it leaves in out/.

    demo_test.py BIN        BIN is the folder of gantry, digits_classify and gantry-profiler

The demo runs in a copy of the files that it needs. Stand-ins replace apt-get, dpkg-query, cmake and ninja, because
the programs in BIN are built already. Standard library only.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv.pop(1)).resolve()

STAND_INS = {
    "apt-get": "exit 1",
    "dpkg-query": 'while [ "$1" != -f ] && [ "$1" != -W ]; do shift; done; for p in "$@"; do echo "$p installed"; done',
    "cmake": "touch build/release/build.ninja",
    "ninja": "true",
}


class Demo(unittest.TestCase):
    def test_demo_leaves_the_picture_of_its_plan_and_of_its_own_run(self):
        with tempfile.TemporaryDirectory(prefix="gantry_demo_") as place:
            folder = pathlib.Path(place)
            (folder / "project/build/release").mkdir(parents=True)
            (folder / "project/build/release/bin").symlink_to(BIN)
            for name in ("dev", "packages.txt"):
                shutil.copy(ROOT / name, folder / "project" / name)
            shutil.copytree(ROOT / "examples", folder / "project/examples")
            (folder / "tools").mkdir()
            for name, script in STAND_INS.items():
                (folder / "tools" / name).write_text(f"#!/bin/bash\n{script}\n")
                (folder / "tools" / name).chmod(0o755)
            done = subprocess.run(["./dev", "demo"], cwd=folder / "project", capture_output=True, text=True,
                                  env={**os.environ, "PATH": f"{folder}/tools:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
            out = folder / "project/out"
            plan = xml.etree.ElementTree.parse(out / "digits-plan.svg").getroot()
            self.assertGreater(len(list(plan.iter("{http://www.w3.org/2000/svg}rect"))), 3)
            self.assertGreater((out / "digits-run.png").stat().st_size, 20000)
            # Runs again the command that the demo printed. --semantics also lists the items of the picture in a file.
            time = re.search(r"--render out/digits-run.png --time (\S+) out/digits.gtrace", done.stdout).group(1)
            subprocess.run([BIN / "gantry-profiler", "--render", out / "again.png", "--time", time,
                            "--semantics", out / "items.txt", out / "digits.gtrace"], check=True)
            self.assertEqual((out / "again.png").read_bytes(), (out / "digits-run.png").read_bytes())
            items = (out / "items.txt").read_text()
            kinds = [line.split("\t")[1] for line in items.splitlines() if "\t" in line]
            self.assertGreaterEqual(kinds.count("dispatch"), 6, items)
            self.assertGreaterEqual(kinds.count("block"), 6, items)
            self.assertIn("gantry-profiler out/digits.gtrace", done.stdout, "the demo must print how to open the window")


if __name__ == "__main__":
    unittest.main()
