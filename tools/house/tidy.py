#!/usr/bin/env python3
"""Runs clang-tidy in parallel on the C++ sources below the given folders.

    tools/house/tidy.py --build BUILD [-j JOBS] [--all-checks] FOLDER ...

BUILD/compile_commands.json lists the files that the compiler reads. In a unity build, one file includes several
sources. Such a file is checked as a whole, which is several times faster than its sources one by one, because
their headers are read once. --all-checks adds SLOW_CHECKS, which take twice as long as all others together, and
checks each source by itself, because a few checks ignore sources that another file includes.

A file that was clean is checked again only if a source, a header that they include or .clang-tidy has changed.
For each clean file, BUILD/tidy/ has an empty file whose name is the hash of the sources, the preprocessed
sources and the configuration. The exit code is 1 if there are findings or no source was found.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

PROGRAM = "clang-tidy-19" # Earlier versions do not understand structured bindings that a lambda captures.
SLOW_CHECKS = ["clang-analyzer-*", "performance-unnecessary-value-param"]
UNITY_CHECKS = ["bugprone-suspicious-include"] # They find that unity files include sources.


def compile_commands(build, divide):
    """Returns the entries of BUILD/compile_commands.json, each with the list of its sources. divide: the entries of
    unity files are divided into one per source."""
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.parent.name != "Unity":
            entries.append({**entry, "sources": [entry["file"]]})
            continue
        sources = re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE)
        if not divide:
            entries.append({**entry, "sources": sources})
            continue
        for source in sources:
            command = entry["command"].replace(str(file), source)
            entries.append({"directory": entry["directory"], "command": command, "file": source, "sources": [source]})
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
    """Returns (entry, findings); findings is None if the sources were clean before and have not changed."""
    text = preprocess(entry)
    memory = None
    if text is not None:
        # The sources are hashed too, because preprocessing removes comments, and comments such as NOLINT
        # affect clang-tidy.
        raw = b"".join(pathlib.Path(source).read_bytes() for source in entry["sources"])
        memory = options.memory / hashlib.sha256(configuration + raw + text).hexdigest()
        if memory.exists():
            return entry, None
    # GCC's precompiled headers are ignored, so clang-tidy reads the headers themselves. libstdc++ 12 uses
    # functions that it declares as deprecated.
    left_out = [] if options.all_checks else SLOW_CHECKS + UNITY_CHECKS
    checks = ["--checks=" + ",".join("-" + check for check in left_out)] if left_out else []
    done = subprocess.run(
        [PROGRAM, "-p", str(options.memory), "--quiet", *checks,
         "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-gch",
         "--extra-arg=-Wno-deprecated-declarations", entry["file"]],
        capture_output=True, text=True)
    if done.returncode == 0:
        if memory:
            memory.touch()
        return entry, ""
    return entry, (done.stdout.strip() or done.stderr.strip()) + "\n"


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
    commands = compile_commands(options.build, options.all_checks)
    known_keys = ("directory", "command", "file")
    (options.memory / "compile_commands.json").write_text( # clang-tidy reads this file and refuses other keys.
        json.dumps([{key: entry[key] for key in known_keys} for entry in commands]))
    for entry in commands:
        if any(source.endswith(".cpp") and folder in pathlib.Path(source).parents
               for source in entry["sources"] for folder in folders):
            entries.setdefault(entry["file"], entry)
    if not entries:
        print("clang-tidy: no source found", file=sys.stderr)
        return 1
    start, known, failed = time.monotonic(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(check, e, options, configuration) for e in entries.values()]
        for number, done in enumerate(concurrent.futures.as_completed(work), 1):
            entry, findings = done.result()
            known += findings is None
            if findings:
                failed += 1
                print(findings, end="")
            elif findings is not None:
                print(f"  [{number}/{len(entries)}] {os.path.relpath(entry['file'], root)}", flush=True)
    print(f"  {sum(len(entry['sources']) for entry in entries.values())} sources in {len(entries)} files, of which "
          f"{known} unchanged, {failed} with findings, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
