#!/usr/bin/env python3
"""Tests which packages of packages.txt each command of ./dev installs, and which parts of the project (the
profiler, the tests) it builds. Also tests gantry_part of cmake/GantryParts.cmake, which decides whether a part
is built. Stand-ins replace apt-get, dpkg-query, cmake, ninja and ctest and record their arguments, so that
nothing is installed or built. Standard library only.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

STAND_INS = {
    "id": "echo 0",  # The stand-in makes ./dev believe that it runs as root.
    "dpkg-query": 'for p in "$@"; do grep -qx -- "$p" "$STATE/installed" && echo "$p installed"; done; true',
    "apt-get": """while [ $# -gt 0 ] && [ "$1" != install ]; do shift; done
                  for p in "$@"; do case $p in -* | install) ;; *) echo "$p" >>"$STATE/installed" ;; esac; done""",
    "cmake": """echo "$@" >>"$STATE/configured"
                mkdir -p build/release/bin && touch build/release/build.ninja
                for a in "$@"; do case $a in -DGANTRY_BUILD_*) echo "${a#-D}" | sed 's/=/:STRING=/' ;; esac; done \\
                  >>build/release/CMakeCache.txt""",
    "ninja": """echo "$@" >>"$STATE/built"
                for p in gantry digits_classify; do printf '#!/bin/sh\\n' >build/release/bin/$p; done
                chmod +x build/release/bin/*""",
    "ctest": "true",
}


def sections():
    """Returns a dict from each section of packages.txt to a dict from its packages to their reasons."""
    found, section = {}, None
    for line in (ROOT / "packages.txt").read_text().splitlines():
        if name := re.fullmatch(r"\[(\w+)\]", line):
            section = found.setdefault(name.group(1), {})
        elif section is not None and line.strip() and not line.startswith("#"):
            package, _, reason = line.partition("#")
            section[package.strip()] = reason.strip()
    return found


class Dev(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="gantry_dev_")
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)
        self.state, self.tools = self.folder / "state", self.folder / "tools"
        for folder in (self.state, self.tools, self.folder / "project/tools/house"):
            folder.mkdir(parents=True)
        (self.state / "installed").touch()
        for name in ("dev", "packages.txt", "tools/house/test_summary.py"):
            shutil.copy(ROOT / name, self.folder / "project" / name)
        for name, script in STAND_INS.items():
            (self.tools / name).write_text(f"#!/bin/bash\n{script}\n")
            (self.tools / name).chmod(0o755)

    def dev(self, *arguments):
        """Calls ./dev. Returns the packages that it installed and the arguments of cmake."""
        before = self.installed()
        (self.state / "configured").write_text("")
        subprocess.run(["./dev", *arguments], cwd=self.folder / "project", capture_output=True, text=True,
                       env={**os.environ, "STATE": str(self.state), "PATH": f"{self.tools}:{os.environ['PATH']}"})
        return self.installed() - before, (self.state / "configured").read_text()

    def installed(self):
        return set((self.state / "installed").read_text().split())

    def test_demo_installs_what_the_tools_and_the_profiler_need(self):
        known = sections()
        packages, configured = self.dev("demo")
        self.assertEqual(packages, {*known["demo"], *known["build"]})
        self.assertIn("-DGANTRY_BUILD_PROFILER=ON", configured)
        self.assertNotIn("TESTS", configured)
        self.assertEqual(self.dev("demo"), (set(), ""))  # The second call has nothing to do.

    def test_bench_build_and_test_add_what_they_need(self):
        packages, configured = self.dev("bench")
        self.assertEqual(packages, set(sections()["demo"]))
        self.assertNotIn("=ON", configured)
        packages, configured = self.dev("build")
        self.assertEqual(packages, set(sections()["build"]))
        self.assertIn("-DGANTRY_BUILD_PROFILER=ON", configured)
        packages, configured = self.dev("test")
        self.assertEqual(packages, set(sections()["test"]))
        self.assertIn("-DGANTRY_BUILD_TESTS=ON", configured)
        self.assertIn("-DGANTRY_BUILD_PROFILER=ON", configured)
        self.assertEqual(self.dev("test"), (set(), ""))
        self.assertEqual(self.dev("demo"), (set(), ""))  # demo keeps the parts that are configured.

    def test_tests_on_a_bare_machine(self):
        packages, _ = self.dev("test")
        known = sections()
        self.assertEqual(packages, {*known["demo"], *known["build"], *known["test"]})

    def test_each_package_is_listed_once_with_a_reason(self):
        known = sections()
        self.assertEqual(set(known), {"demo", "build", "test", "lint", "coverage", "scripts"})
        names = [name for section in known.values() for name in section]
        self.assertEqual(sorted(names), sorted(set(names)))
        for section in known.values():
            for name, reason in section.items():
                self.assertGreater(len(reason), 5, name)


class Parts(unittest.TestCase):
    def configure(self, value, header):
        with tempfile.TemporaryDirectory(prefix="gantry_part_") as place:
            folder = pathlib.Path(place)
            (folder / "CMakeLists.txt").write_text(f"""
                cmake_minimum_required(VERSION 3.25)
                project(part LANGUAGES NONE)
                set(PART {value} CACHE STRING "")
                include({ROOT / "cmake/GantryParts.cmake"})
                gantry_part(PART "the part" HEADER {header} libpart-dev PROGRAM sh dash)
                message(STATUS "PART is ${{PART}}")""")
            (folder / "part.h").touch()
            done = subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build",
                                   f"-DCMAKE_INCLUDE_PATH={folder}"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

    def test_a_part_is_built_if_its_packages_are_installed(self):
        self.assertIn("PART is ON", self.configure("AUTO", "part.h"))
        said = self.configure("AUTO", "absent.h")
        self.assertIn("PART is OFF", said)
        self.assertIn("Leaving out the part (missing packages: libpart-dev; install them and configure again)", said)

    def test_an_explicit_choice_is_kept(self):
        self.assertIn("PART is ON", self.configure("ON", "absent.h"))
        self.assertIn("PART is OFF", self.configure("OFF", "part.h"))

    def test_the_packages_of_parts_are_listed(self):
        names = {name for section in sections().values() for name in section}
        text = (ROOT / "CMakeLists.txt").read_text()
        wanted = re.findall(r"(?:HEADER|PROGRAM) \S+ ([\w.+-]+)", text)
        self.assertGreater(len(wanted), 5)
        self.assertLessEqual(set(wanted), names)


if __name__ == "__main__":
    unittest.main()
