#!/usr/bin/env python3
"""Checks those of the project's rules of layout, size and language that need no compiler.

    tools/house/check_house.py [ROOT]

The script prints one line with the rule for each finding, and exits with 1 if there is a finding, with 2 if
git failed. ROOT is a git work tree; the default is the work tree of this script. Only tracked files are read.

Layout and size:
  - every folder with sources has a README.md, or one of the two folders above it has one;
  - a README.md below the root has at most 80 lines, a folder at most 40 files;
  - a source has at most 600 lines; 800 where LONG_FILES gives the reason;
  - a function of C, C++ or Python outside tests, or of a shell script, has at most 80 lines;
  - the methods of a class that are defined outside of it lie in at most three sources.
Language:
  - a comment of C, C++ or TableGen does not begin with a word that needs a preceding phrase ("of", "and", ...);
  - names of C and C++ say max and min, not most and least (no kMost, mostBytes, least_, at_most, atLeast);
  - tests are named UpperCamel;
  - enumerators and constexpr constants are named kName (clang-tidy checks other names);
  - attributes of the IR are declared in TableGen; no string in codegen's C++ contains "gantry.*".
Others:
  - no marks of unfinished work; no paths of a developer's machine.
"""
import ast
import collections
import pathlib
import re
import subprocess
import sys

SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".td", ".py", ".fbs", ".comp", ".glsl", ".mlir"}
CPLUSPLUS = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc"}

MAX_README_LINES = 80
MAX_FILES = 40
MAX_LINES = 600
MAX_LONG_LINES = 800
MAX_FUNCTION_LINES = 80
MAX_CLASS_SOURCES = 3

# Sources that may have up to MAX_LONG_LINES lines, each with the reason.
LONG_FILES = {"codegen/passes/Passes.td": "it is the reference of all passes",
              "engine/artifact/verify.cpp": "one class checks all tables of a program",
              "engine/include/gantry/gantry.h": "users include one header, which is also the manual of the C API"}

MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|not impl" r"emented|unimpl" r"emented)\b")
OUTSIDE = re.compile(r"(?<![\w./-])/(home|root|work)/\w")
COMMENT = re.compile(r"(?:^|\s)(?://[/!]?|/\*\*?)<? *(\S[^\n]*)$")
DANGLING = re.compile(r"(of|and|that|what|which|where|whose|likewise)\b", re.IGNORECASE)
SUPERLATIVE = re.compile(r"\b(k(?:Most|Least)(?:[A-Z]\w*)?|(?:\w+_)?(?:most|least)(?:[A-Z_]\w*)?"
                         r"|\w*[aA]t(?:Most|Least)(?:[A-Z]\w*)?)\b")
TEST_NAME = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
UPPER_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*$")
ENUM = re.compile(r"^\s*enum\b(?! VkC| VkS)[^;{]*\{([^}]*)\}", re.MULTILINE)
CONSTANT = re.compile(r"^ *(?:inline |static )*constexpr (?!.*\()[\w:<>,* ]*?[ *](\w+)(?:\[\w*\])* *[={]")
CONSTANT_NAME = re.compile(r"(k[A-Z0-9]|GANTRY_|VK_)\w*$")
# A literal (group 1) or a comment of C or C++.
LITERAL_OR_COMMENT = re.compile(r'(R"(\w*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\')'
                                r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
# A literal that contains "gantry.", also one that is divided, such as "gan" "try.tile".
STRING_ATTRIBUTE = re.compile(r'"[^"\n]*?\b' + "".join(letter + r'(?:"\s*")?' for letter in "gantry") + r"\.")
CONTROL = re.compile(r"(namespace|class|struct|enum|union|extern|if|for|while|switch|else|do|try|catch"
                     r"|case|default|return)\b")
NAMED_LAMBDA = re.compile(r"=\s*\[[^\]]*\]\s*[({]")
LAMBDA = re.compile(r"(=|\]\s*(\(.*\))?\s*(mutable\s*)?(->\s*[\w:<>*& ]+)?)\s*\{$")
# A class in the name of a function, with its template arguments.
CLASS = r"\w+(?:<[\w:,&*.\s]*>)?"
# The name of a member function that is defined outside its class, at the start of a declaration. Group 1 is the
# class: A of A::f, A<T> of A<T>::f, A::B of A::B::f.
METHOD = re.compile(rf"^(?:[\w:<>,&*=.\s\[\]]*?[\s&*])?((?:{CLASS}::)*?{CLASS})::(?:~?\w+|operator[^(]*)\(")
# The first line of a function of a shell script, whose last line is a brace with the same indentation.
SHELL_FUNCTION = re.compile(r"( *)(?:function )?[\w-]+ ?\(\) ?\{$")


def functions(lines):
    """Yields (number of the first line, counted from 1; number of lines; declaration) of each function.

    Relies on clang-format: a body opens at the end of a line and closes at the declaration's indentation.
    """
    for number, line in enumerate(lines):
        if not line.endswith("{") or line.lstrip().startswith(("//", "#")):
            continue
        first = number
        while first > 0 and continues(lines[first - 1], lines[first]):
            first -= 1
        declaration = " ".join(part.strip() for part in lines[first:number + 1])
        if "(" not in declaration or CONTROL.match(declaration):
            continue
        # The lines of a lambda inside a function are lines of that function; only a lambda at namespace
        # level counts as a function.
        if LAMBDA.search(declaration) and (lines[first][0] == " " or not NAMED_LAMBDA.search(declaration)):
            continue
        if declaration.count("(") != declaration.count(")"):
            continue  # This is a part of a statement, such as the head of a long for.
        indent = len(lines[first]) - len(lines[first].lstrip())
        end = number + 1
        while end < len(lines) and not lines[end].startswith(" " * indent + "}"):
            end += 1
        yield first + 1, end - first + 1, declaration


def continues(before, line):
    """Returns whether the declaration that contains `line` already began on the line before, `before`."""
    before = before.strip()
    return bool(before) and not before.endswith((";", "}", "{")) and not before.endswith(":") and \
        not before.startswith(("//", "#", "template"))


def without_comments(text, keeps_literals):
    """Returns the text of a C or C++ source without comments, and without literals unless `keeps_literals` is set.
    Line breaks are kept."""
    def replace(match):
        blank = " " + "\n" * match.group().count("\n")
        return match.group() if keeps_literals and match.group(1) else blank
    return LITERAL_OR_COMMENT.sub(replace, text)


def is_shell_script(text):
    return re.match(r"#!.*\b(ba)?sh$", text, re.MULTILINE) is not None


class House:
    def __init__(self, root):
        self.root = root
        self.findings = []

    def find(self, place, words):
        self.findings.append(f"{place}: {words}")

    def check(self, files):
        self.check_folders(files)
        methods = collections.defaultdict(set)
        for file in files:
            relative = file.relative_to(self.root)
            if file.name == "README.md" and len(relative.parts) > 1:
                lines = len(file.read_text().splitlines())
                if lines > MAX_README_LINES:
                    self.find(relative, f"{lines} lines; a README is at most {MAX_README_LINES}")
            if "data" in relative.parts or file.suffix not in SOURCES | {"", ".sh"}:
                continue
            text = file.read_text(errors="replace")
            if file.suffix not in SOURCES:
                if is_shell_script(text):
                    self.check_shell(relative, text.splitlines())
                continue
            self.check_text(relative, text)
            if file.suffix == ".py":
                self.check_python(relative, text)
            if file.suffix in CPLUSPLUS | {".td"}:
                self.check_comments(relative, text.splitlines())
            if file.suffix in CPLUSPLUS:
                self.check_cplusplus(relative, text, methods)
        for (_, name), sources in sorted(methods.items()):
            if len(sources) > MAX_CLASS_SOURCES:
                names = ", ".join(sorted(source.name for source in sources))
                self.find(sorted(sources)[0].parent, f"the methods of {name} lie in {len(sources)} sources "
                          f"({names}); divide the class, at most {MAX_CLASS_SOURCES} are allowed")

    def check_folders(self, files):
        folders = collections.Counter(file.parent for file in files)
        for folder, count in sorted(folders.items()):
            relative = folder.relative_to(self.root)
            if count > MAX_FILES and "data" not in relative.parts:
                self.find(f"{relative}/", f"{count} files; divide it, at most {MAX_FILES} are allowed")
        for folder in sorted({file.parent for file in files if file.suffix in SOURCES}):
            relative = folder.relative_to(self.root)
            near = [folder, folder.parent, folder.parent.parent]
            near = near[:1] if len(relative.parts) == 1 else near
            if not any((place / "README.md").is_file() for place in near if place != self.root):
                self.find(f"{relative}/", "no README.md: say what is here, what is not, how to add to it")

    def check_text(self, relative, text):
        lines = text.splitlines()
        allowed = MAX_LONG_LINES if relative.as_posix() in LONG_FILES else MAX_LINES
        if len(lines) > allowed:
            self.find(relative, f"{len(lines)} lines; at most {allowed} are allowed, divide its responsibilities")
        for number, line in enumerate(lines, 1):
            if MARKS.search(line):
                self.find(f"{relative}:{number}", f"mark of unfinished work: {line.strip()[:80]}")
            if OUTSIDE.search(line):
                self.find(f"{relative}:{number}", f"names a place on one machine: {line.strip()[:80]}")

    def check_cplusplus(self, relative, text, methods):
        lines = text.splitlines()
        for number, line in enumerate(without_comments(text, keeps_literals=False).splitlines(), 1):
            for name in SUPERLATIVE.findall(line):
                self.find(f"{relative}:{number}", f"{name}: names say max and min")
        if relative.parts[0] == "codegen":
            self.check_attributes(relative, text)
        self.check_constants(relative, text, lines)
        if relative.parts[0] == "tests":
            for match in TEST_NAME.finditer(text):
                for name in match.groups():
                    if not UPPER_CAMEL.match(name):
                        number = text.count("\n", 0, match.start()) + 1
                        self.find(f"{relative}:{number}", f"test name {name} is not UpperCamel")
            return
        for number, length, declaration in functions(lines):
            self.check_length(relative, number, length, declaration)
            method = METHOD.match(declaration)
            if method:
                name = re.sub("<.*?>", "", method.group(1))
                methods[relative.parent.parts[:2], name].add(relative)

    def check_attributes(self, relative, text):
        code = without_comments(text, keeps_literals=True)
        for match in STRING_ATTRIBUTE.finditer(code):
            number = code.count("\n", 0, match.start()) + 1
            self.find(f"{relative}:{number}", "attribute named by a string; declare it in the dialect's "
                      f"TableGen: {text.splitlines()[number - 1].strip()[:80]}")

    def check_constants(self, relative, text, lines):
        names = [(number, match.group(1)) for number, line in enumerate(lines, 1)
                 if (match := CONSTANT.match(line))]
        for match in ENUM.finditer(text):
            body = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), match.group(1))
            at = match.start(1)
            for part in body.split(","):
                if part.strip():
                    start = at + len(part) - len(part.lstrip())
                    names.append((text.count("\n", 0, start) + 1, part.split()[0]))
                at += len(part) + 1
        for number, name in names:
            if not CONSTANT_NAME.match(name):
                self.find(f"{relative}:{number}", f"{name}: constants and enumerators are named kName")

    def check_python(self, relative, text):
        if relative.parts[0] == "tests":
            return
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.check_length(relative, node.lineno, node.end_lineno - node.lineno + 1, f"def {node.name}")

    def check_shell(self, relative, lines):
        for number, line in enumerate(lines):
            if match := SHELL_FUNCTION.match(line):
                end = number + 1
                while end < len(lines) and lines[end] != match.group(1) + "}":
                    end += 1
                self.check_length(relative, number + 1, end - number + 1, line.strip())

    def check_length(self, relative, number, length, declaration):
        if length > MAX_FUNCTION_LINES:
            self.find(f"{relative}:{number}", f"a function of {length} lines; at most {MAX_FUNCTION_LINES} "
                      f"are allowed: {declaration[:70]}")

    def check_comments(self, relative, lines):
        block = False  # Whether the line before consists of a comment only.
        for number, line in enumerate(lines, 1):
            own = line.lstrip().startswith("//")
            match = COMMENT.search(line)
            if match and not (own and block) and '"' not in line[:match.start()]:
                if DANGLING.match(match.group(1)):
                    self.find(f"{relative}:{number}", "a comment that begins with "
                              f'"{match.group(1).split()[0]}": {match.group(1)[:60]}')
            block = own


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True)
    if listed.returncode != 0:
        print(f"git ls-files failed: {listed.stderr.strip()}", file=sys.stderr)
        return 2
    files = [root / name for name in listed.stdout.splitlines() if (root / name).is_file()]
    house = House(root)
    house.check(files)
    for finding in house.findings:
        print(finding)
    return 1 if house.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
