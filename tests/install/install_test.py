#!/usr/bin/env python3
"""Tests an installation: installs it, uses it like a new user, and removes it with its manifest.

The manifest is install_manifest*.txt in the build folder, CMake's list of the installed files. The
build is installed to a fresh prefix, which is then moved, and all checks run in the new place. At
the end the test restores the manifests of the build folder, so that a developer's own installation
can still be removed. It uses the standard library only.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import shells  # noqa: E402  (needs the path above)
from support import Failure, Test, read_npy, skip  # noqa: E402

PREFIX_OF_PC = ("prefix", "libdir", "includedir")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--build-type", required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--make-model", required=True, help="the program of make_example_model.cpp")
    parser.add_argument("--c-flags", default="")
    parser.add_argument("--cxx-flags", default="")
    parser.add_argument("--compiler", action="store_true", help="the compiler and the tool are built")
    parser.add_argument("--profiler", action="store_true", help="the profiler is built")
    return parser.parse_args()


def tree(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Installation(Test):
    def __init__(self, options):
        super().__init__("gantry")
        self.options = options
        self.model = options.source / "tests/data/models/residual/model.onnx"
        self.case = options.source / "tests/data/models/residual/case_0"
        self.prefix = self.folder / "fresh/prefix"

    def install(self, prefix, *arguments, destdir=None):
        environment = {**os.environ, **({"DESTDIR": str(destdir)} if destdir else {})}
        done = subprocess.run([self.options.cmake, "--install", self.options.build, "--prefix", prefix, *arguments],
                              capture_output=True, text=True, env=environment)
        if done.returncode != 0 or "Warning" in done.stderr:
            raise Failure(done.stderr.strip() or done.stdout.strip())

    def uninstall(self, component=""):
        """Runs the removal command of docs/install.md on the manifest. Returns the command's stderr."""
        manifest = self.options.build / f"install_manifest{component}.txt"
        line = "xargs -d '\\n' rm -d < " + manifest.name
        document = (self.options.source / "docs/install.md").read_text()
        if "xargs -d '\\n' rm -d < build/release/install_manifest.txt" not in document:
            raise Failure("docs/install.md does not give the removal command that this test runs")
        done = subprocess.run(["sh", "-c", line], cwd=manifest.parent, capture_output=True, text=True)
        return done.stderr

    # ---- the prefix ---------------------------------------------------------------------------------

    def install_and_move(self):
        self.install(self.prefix)
        self.install(self.prefix)  # The second manifest must keep the folders that the first installation made.
        if self.options.compiler:
            self.program(self.prefix / "bin/gantry", "--version")
        moved = self.folder / "moved"
        self.prefix.rename(moved)
        self.prefix = moved
        self.gantry = str(moved / "bin/gantry")

    def files(self):
        """Checks that no file in the prefix refers to the build, the source, or the original prefix."""
        places = [str(self.options.build), str(self.options.source / "engine"), str(self.folder)]
        checked = 0
        for path in self.prefix.rglob("*"):
            if path.is_symlink() or not path.is_file():
                continue
            data = path.read_bytes()
            if data[:4] == b"\x7fELF":
                dynamic = self.program("readelf", "-d", path)
                run_path = re.search(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
                for folder in run_path.group(1).split(":") if run_path else []:
                    if not folder.startswith("$ORIGIN/") and not folder.startswith("/usr/lib/"):
                        raise Failure(f"{path.name} looks for its libraries in '{folder}', which is not below $ORIGIN/ "
                                      "or /usr/lib/")
                if self.options.build_type != "Release":
                    continue  # Debug information names the sources.
            for place in places:
                if place.encode() in data:
                    raise Failure(f"{path.relative_to(self.prefix)} contains the path {place}, which a user does not have")
            checked += 1
        for wanted in ("share/doc/gantry/LICENSE", "lib/pkgconfig/gantry.pc"):
            if not (self.prefix / wanted).is_file():
                raise Failure(f"{wanted} is not installed")
        return f"{checked} files"

    def staged(self):
        """Checks that an installation with DESTDIR works."""
        stage = self.folder / "stage"
        self.install("/usr/local", destdir=stage)
        if self.options.compiler:
            self.program(stage / "usr/local/bin/gantry", "--version")

    # ---- the tools ----------------------------------------------------------------------------------

    def tools(self):
        version = self.program(self.gantry, "--version")
        if version != f"gantry {self.options.version}":
            raise Failure(f"gantry --version says '{version}', expected version {self.options.version}")
        self.artifact = self.folder / "model.gantry"
        self.call("compile", self.model, "-o", self.artifact)
        self.call("run", self.artifact, "--input", self.case / "input_0.npy", "--expect", self.case / "output_0.npy")
        return version

    def profiler(self):
        profiler, picture = self.prefix / "bin/gantry-profiler", self.folder / "picture.png"
        version = self.program(profiler, "--version")
        if version != f"gantry-profiler {self.options.version}":
            raise Failure(f"gantry-profiler --version says '{version}', expected version {self.options.version}")
        for font in ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf"):
            if not (self.prefix / "share/gantry/fonts" / font).is_file():
                raise Failure(f"{font} is not installed")
        if not self.options.compiler:
            return version
        capture = self.folder / "run.gtrace"
        self.call("record", "-o", capture, "--", self.gantry, "run", self.artifact, "--random", "1")
        self.program(profiler, "--render", picture, capture)
        if picture.read_bytes()[:8] != b"\x89PNG\r\n\x1a\n":
            raise Failure("--render wrote no PNG")
        return f"{version}, picture of {picture.stat().st_size} bytes"

    # ---- applications -------------------------------------------------------------------------------

    def every_function(self, folder, prefix):
        """Writes programs that include each installed header first and name every function of the headers."""
        headers = sorted(path.name for path in (prefix / "include/gantry").iterdir())
        functions = []
        for header in headers:
            text = re.sub(r"/\*.*?\*/", "", (prefix / "include/gantry" / header).read_text(), flags=re.S)
            functions += re.findall(r"^GANTRY_(?:COMPILER_)?API\b[^;()]*?\b(gantry_\w+)\s*\(", text, re.M)
        if len(functions) < (40 if self.options.compiler else 37):
            raise Failure(f"only {len(functions)} functions were found in {', '.join(headers)}")
        for language, suffixes in (("c", (".h",)), ("cpp", (".h", ".hpp"))):
            names = [header for header in headers if header.endswith(suffixes)]
            text = "".join(f"#include <gantry/{name}>\n" for name in names) + "#include <stdio.h>\n"
            text += "typedef void (*function_t)(void);\nstatic function_t functions[] = {\n"
            text += "".join(f"  (function_t){name},\n" for name in functions)
            text += "};\nint main(void) {\n  size_t count = 0;\n"
            text += "  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)\n"
            text += "    count += functions[i] != NULL;\n"
            text += '  printf("%zu functions\\n", count);\n  return 0;\n}\n'
            (folder / f"every_function.{language}").write_text(text)
            for name in names:  # Each header must compile without another one before it.
                (folder / f"alone.{language}").write_text(f"#include <gantry/{name}>\nint main(void) {{ return 0; }}\n")
                self.program("cc" if language == "c" else "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                             *(["-std=c11"] if language == "c" else ["-std=c++17"]), f"-I{prefix / 'include'}",
                             folder / f"alone.{language}")
        return f"{len(functions)} functions"

    def expected(self):
        _, scores = read_npy(self.case / "output_0.npy")
        best = max(range(len(scores)), key=lambda i: scores[i])
        return f"class {best} of {len(scores)}", scores[best]

    def run_applications(self, folder, environment=None):
        raw = self.folder / "input.raw"
        raw.write_bytes(read_npy(self.case / "input_0.npy")[1].tobytes())
        text, score = self.expected()
        for language in ("c", "cpp"):
            done = subprocess.run([folder / f"every_function_{language}"], capture_output=True, text=True,
                                  env={**os.environ, **(environment or {})})
            if done.returncode != 0 or not done.stdout.endswith(" functions\n"):
                raise Failure(f"every_function_{language}: {done.stderr}{done.stdout}")
            said = subprocess.run([folder / f"classify_{language}", self.model, folder / "model.gantry", raw],
                                  capture_output=True, text=True, env={**os.environ, **(environment or {})})
            self.expect_silent(said)
            found = re.fullmatch(r"(class \d+ of \d+), score (\S+)\n", said.stdout)
            if not found or found.group(1) != text or abs(float(found.group(2)) - score) > 1e-3:
                raise Failure(f"classify_{language} says '{said.stdout}{said.stderr}', expected {text}, score {score}")
        return text

    def by_cmake(self):
        generated = self.folder / "generated"
        generated.mkdir()
        count = self.every_function(generated, self.prefix)
        build = self.folder / "cmake"
        flags = [f"-DCMAKE_C_FLAGS={self.options.c_flags}", f"-DCMAKE_CXX_FLAGS={self.options.cxx_flags}"]
        version = ".".join(self.options.version.split(".")[:2])
        self.program(self.options.cmake, "-G", "Ninja", "-S", pathlib.Path(__file__).parent / "consumer", "-B", build,
                     f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DGENERATED={generated}", f"-DGANTRY_VERSION={version}", *flags)
        self.program(self.options.cmake, "--build", build)
        return f"{self.run_applications(build)}; {count}"

    def by_pkg_config(self):
        folder = self.folder / "pkg-config"
        folder.mkdir()
        self.every_function(folder, self.prefix)
        environment = {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}

        def ask(*arguments):
            done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True,
                                  env={**os.environ, **environment})
            if done.returncode != 0:
                raise Failure(f"pkg-config {' '.join(arguments)}: {done.stderr.strip()}")
            return done.stdout.split()

        for package in ("gantry", "gantry-compiler"):
            if ask("--modversion", package) != [self.options.version]:
                raise Failure(f"{package}.pc has another version than {self.options.version}")
            for variable in PREFIX_OF_PC:
                value = ask(f"--variable={variable}", package)[0]
                if not pathlib.Path(value).resolve().is_relative_to(self.prefix.resolve()):
                    raise Failure(f"{package}.pc: {variable} is {value}, which is not below {self.prefix}")
        # A program that links the compiler alone must have no undefined symbols.
        (folder / "one.c").write_text("#include <gantry/compiler.h>\n"
                                      "int main(void) { return gantry_compile_profiles() == 0; }\n")
        for packages, program, flags in [(["gantry-compiler"], "one.c", self.options.c_flags)] + [
                (["gantry", "gantry-compiler"], f"{name}.{language}", given)
                for name in ("classify", "every_function")
                for language, given in (("c", self.options.c_flags), ("cpp", self.options.cxx_flags))]:
            place = pathlib.Path(__file__).parent / "consumer" / program
            source = place if place.exists() else folder / program
            compiler = ["cc", "-std=c11"] if program.endswith(".c") else ["c++", "-std=c++17"]
            self.program(*compiler, *flags.split(), "-Wall", "-Wextra", "-Werror", *ask("--cflags", *packages), source,
                         "-o", folder / program.replace(".", "_"), *ask("--libs", *packages))
        environment["LD_LIBRARY_PATH"] = str(self.prefix / "lib")
        return self.run_applications(folder, environment)

    # ---- the runtime alone --------------------------------------------------------------------------

    def runtime_alone(self):
        """Installs the runtime alone, beside a foreign file, and checks that an application runs.

        Removal must delete the runtime's files only.
        """
        prefix = self.folder / "runtime"
        (prefix / "include").mkdir(parents=True)
        (prefix / "lib").mkdir()
        (prefix / "lib/other.txt").write_text("of another program\n")
        before = tree(prefix)
        self.install(prefix, "--component", "runtime")
        names = tree(prefix)
        surplus = [name for name in names if re.search(r"compiler|profiler|^bin|share/man", name)]
        if surplus:
            raise Failure(f"the runtime alone installs {', '.join(surplus)}")
        build = self.folder / "embed_c"
        configure = [self.options.cmake, "-G", "Ninja", "-S", self.options.source / "examples/embed_c", "-B", build,
                     f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={self.options.c_flags}"]
        self.program(*configure)
        self.program(self.options.cmake, "--build", build)
        self.program(self.options.make_model, build / "model.gantry", build / "input.raw")
        said = self.program(build / "embed_c", build / "model.gantry", build / "input.raw")
        if said != "class 7 of 10, score 20":
            raise Failure(f"embed_c says '{said}', expected 'class 7 of 10, score 20'")
        # An application that requires the compiler gets a message that names the missing component.
        asks = self.folder / "asks"
        asks.mkdir()
        (asks / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(asks LANGUAGES C)\n"
                                             "find_package(gantry REQUIRED COMPONENTS compiler)\n")
        done = subprocess.run([self.options.cmake, "-G", "Ninja", "-S", asks, "-B", asks / "build",
                               f"-DCMAKE_PREFIX_PATH={prefix}"],
                              capture_output=True, text=True)
        if done.returncode == 0 or "is installed without its compiler" not in re.sub(r"\s+", " ", done.stderr):
            raise Failure("find_package(COMPONENTS compiler) must fail and say that the compiler is not installed; "
                          f"exit code {done.returncode}, {done.stderr}")
        said = self.uninstall("_runtime")
        if tree(prefix) != before:
            wrong = ", ".join(sorted(tree(prefix) ^ before))
            raise Failure(f"after removal these files are left or missing: {wrong}; {said}")
        return f"{len(names - before)} files and folders, removed again"

    # ---- removal ------------------------------------------------------------------------------------

    def removal(self):
        self.prefix.rename(self.folder / "fresh/prefix")
        said = self.uninstall()
        if (self.folder / "fresh").exists() or said:  # The installation created `fresh` too, so it must be removed.
            left = ", ".join(sorted(tree(self.folder / "fresh")))
            raise Failure(f"removal left the folder fresh with {left}; {said}")


def main():
    options = parse()
    if "--coverage" in options.cxx_flags:
        skip("a coverage build is not installed: gcov writes the paths of the build folder into its libraries")
    test = Installation(options)
    manifests = {path: path.read_bytes() for path in options.build.glob("install_manifest*.txt")}
    for path in manifests:
        path.unlink()
    try:
        if test.check("install, move", test.install_and_move):
            test.check("files", test.files)
            if options.compiler:
                test.check("tools", test.tools)
            if options.profiler:
                test.check("profiler", test.profiler)
            if options.compiler:
                test.check("C and C++ by CMake", test.by_cmake)
                test.check("C and C++ by pkg-config", test.by_pkg_config)
            programs = ["gantry"] * options.compiler + ["gantry-profiler"] * options.profiler
            for program in programs:
                manual = shells.Manual(test, program)
                test.check(f"{program}: man pages", manual.pages)
                for shell in ("bash", "zsh", "fish"):
                    test.check(f"{program}: {shell}", getattr(manual, shell))
            test.check("removal", test.removal)
        test.check("runtime alone", test.runtime_alone)
        test.check("staged", test.staged)
    finally:
        for path in options.build.glob("install_manifest*.txt"):
            path.unlink()
        for path, data in manifests.items():
            path.write_bytes(data)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
