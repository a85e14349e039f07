#!/usr/bin/env python3
"""Runs clang-tidy in parallel on the C++ sources below the given folders.

    tools/house/tidy.py --build BUILD [-j JOBS] [--all-checks] FOLDER ...

--all-checks adds SLOW_CHECKS, which take twice as long as all others together.

A source that was clean is checked again only if the source, a header that it includes or .clang-tidy has
changed. For each clean source, BUILD/tidy/ has an empty file whose name is the hash of the source, the
preprocessed source and the configuration. BUILD/compile_commands.json lists the sources; of a unity build, in
which one file includes several sources, each source is checked by itself. The exit code is 1 if there are
findings or no source was found.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

PROGRAM = "clang-tidy-19" # Earlier versions do not understand structured bindings that a lambda captures.
SLOW_CHECKS = ["clang-analyzer-*", "performance-unnecessary-value-param"]


def compile_commands(build):
    """Returns the entries of BUILD/compile_commands.json, with those of unity files divided into one per source."""
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.parent.name != "Unity":
            entries.append(entry)
            continue
        for source in re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE):
            command = entry["command"].replace(str(file), source)
            entries.append({"directory": entry["directory"], "command": command, "file": source})
    return entries


def preprocess(entry):
    """Returns the preprocessed source without line markers, which contain absolute paths; None on failure."""
    words = shlex.split(entry["command"])
    if words and words[0].endswith("ccache"):
        words = words[1:]
    keep, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD"):
            keep.append(word)
    done = subprocess.run(keep + ["-E", "-P"], cwd=entry["directory"], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def check(entry, options, configuration):
    """Returns (source, findings); findings is None if the source was clean before and has not changed."""
    source = entry["file"]
    text = preprocess(entry)
    memory = None
    if text is not None:
        # The source is hashed too, because preprocessing removes comments, and comments such as NOLINT
        # affect clang-tidy.
        raw = pathlib.Path(source).read_bytes()
        memory = options.memory / hashlib.sha256(configuration + raw + text).hexdigest()
        if memory.exists():
            return source, None
    # GCC's precompiled headers are ignored, so clang-tidy reads the headers themselves. libstdc++ 12 uses
    # functions that it declares as deprecated.
    checks = [] if options.all_checks else ["--checks=" + ",".join("-" + check for check in SLOW_CHECKS)]
    done = subprocess.run(
        [PROGRAM, "-p", str(options.memory), "--quiet", *checks,
         "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-gch",
         "--extra-arg=-Wno-deprecated-declarations", source],
        capture_output=True, text=True)
    if done.returncode == 0:
        if memory:
            memory.touch()
        return source, ""
    return source, (done.stdout.strip() or done.stderr.strip()) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--all-checks", action="store_true")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    options.build = options.build.resolve()
    options.memory = options.build / "tidy"
    options.memory.mkdir(exist_ok=True)
    configuration = b"".join(path.read_bytes() for path in sorted(root.glob("*/**/.clang-tidy")) + [root / ".clang-tidy"]
                              if "build" not in path.relative_to(root).parts)
    configuration += str(options.all_checks).encode()
    folders = [root / folder for folder in options.folders]
    entries = {}
    commands = compile_commands(options.build)
    (options.memory / "compile_commands.json").write_text(json.dumps(commands)) # clang-tidy reads this file.
    for entry in commands:
        file = pathlib.Path(entry["file"])
        if file.suffix == ".cpp" and any(folder in file.parents for folder in folders):
            entries.setdefault(entry["file"], entry)
    if not entries:
        print("clang-tidy: no source found", file=sys.stderr)
        return 1
    start, known, failed = time.monotonic(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(check, e, options, configuration) for e in entries.values()]
        for number, done in enumerate(concurrent.futures.as_completed(work), 1):
            source, findings = done.result()
            known += findings is None
            if findings:
                failed += 1
                print(findings, end="")
            elif findings is not None:
                print(f"  [{number}/{len(entries)}] {pathlib.Path(source).relative_to(root)}", flush=True)
    print(f"  {len(entries)} sources, {known} unchanged, {failed} with findings, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
