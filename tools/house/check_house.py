#!/usr/bin/env python3
"""Checks the rules of the house that need no compiler.

  - every folder that holds sources has a README.md of at most a page (80 lines), itself or in one
    of the two folders above it; top-level rooms have their own;
  - no marks of unfinished work in sources;
  - no source over 600 lines;
  - the repository does not name places outside itself (absolute paths of a developer's machine).
Prints one line per finding, exits 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys

SOURCES = {".c", ".cpp", ".h", ".hpp", ".td", ".py", ".fbs", ".comp", ".glsl", ".mlir"}
PAGE = 80
LONGEST = 600
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|not impl" r"emented|unimpl" r"emented)\b")
OUTSIDE = re.compile(r"(?<![\w./-])/(home|root|work)/\w")


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True)
    if listed.returncode != 0:
        print(f"git ls-files failed: {listed.stderr.strip()}", file=sys.stderr)
        return 1
    files = [root / name for name in listed.stdout.splitlines() if (root / name).is_file()]
    findings = []

    folders = {f.parent for f in files if f.suffix in SOURCES}
    for folder in sorted(folders):
        relative = folder.relative_to(root)
        near = [folder, folder.parent, folder.parent.parent]
        near = near[:1] if len(relative.parts) == 1 else near
        if not any((place / "README.md").is_file() for place in near if place != root):
            findings.append(f"{relative}/: no README.md: say what lives here, what not, how to add")
    for file in files:
        relative = file.relative_to(root)
        if file.name == "README.md" and len(relative.parts) > 1:
            lines = len(file.read_text().splitlines())
            if lines > PAGE:
                findings.append(f"{relative}: {lines} lines; a room card is at most {PAGE}")
        if file.suffix not in SOURCES or "data" in relative.parts:
            continue
        text = file.read_text(errors="replace")
        lines = text.splitlines()
        if len(lines) > LONGEST:
            findings.append(f"{relative}: {len(lines)} lines; past {LONGEST}, draw a wall")
        for number, line in enumerate(lines, 1):
            if MARKS.search(line):
                findings.append(f"{relative}:{number}: mark of unfinished work: {line.strip()[:80]}")
            if OUTSIDE.search(line):
                findings.append(f"{relative}:{number}: names a place on one machine: {line.strip()[:80]}")
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
