#!/usr/bin/env python3
"""Checks those of the project's rules of layout, size and language that need no compiler.

    tools/house/check_house.py [ROOT]

The script prints one line with the rule for each finding, and exits with 1 if there is a finding, with 2 if
git failed. ROOT is a git work tree; the default is the work tree of this script. Only tracked files are read.

Layout and size:
  - every folder with sources has a README.md, or one of the two folders above it has one;
  - a README.md below the root has at most 80 lines, a folder at most 40 files;
  - a source has at most 600 lines; 800 where LONG_FILES gives the reason, 100 if SHORT_FILES names it;
  - outside tests, a function or macro (C, C++, shaders, C++ in TableGen, Python) has at most 80 lines; in shell
    scripts and in CMake, tests included;
  - the methods of a class that are defined outside of it lie in at most three sources.
Language:
  - a comment or docstring does not begin with a word that needs a preceding phrase ("of", "and", ...);
  - names of C and C++ say max and min, not most and least (no kMost, mostBytes, least_, at_most, atLeast);
  - tests are named UpperCamel;
  - enumerators and constants (constexpr; const if static or at namespace level) are named kName, macros GANTRY_NAME
    types NameOfIt (clang-tidy checks other names);
  - attributes of the IR are declared in TableGen; no string in codegen's C++ contains "gantry.*".
Others:
  - no marks of unfinished work; no paths of a developer's machine.
"""
import ast
import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

import cplusplus

CPLUSPLUS = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc"}
SHADERS = {".comp", ".glsl", ".vert", ".frag"}
SOURCES = CPLUSPLUS | SHADERS | {".td", ".py", ".fbs", ".mlir"}

MAX_README_LINES = 80
MAX_FILES = 40
MAX_LINES = 600
MAX_LONG_LINES = 800
MAX_SHORT_LINES = 100
MAX_FUNCTION_LINES = 80
MAX_CLASS_SOURCES = 3
# Limits on all lines of C++ in a folder, with its folders except those named here.
MAX_FOLDER_LINES = {"engine/plan": 6500, "engine/heap": 3500}
SEPARATE_FOLDERS = {"engine/heap/extras"}

# Sources that may have up to MAX_LONG_LINES lines, each with the reason.
LONG_FILES = {"codegen/passes/Passes.td": "it is the reference of all passes",
              "engine/artifact/verify.cpp": "one class checks all tables of a program",
              "engine/include/gantry/gantry.h": "users include one header, which is also the manual of the C API"}
# Sources that a reader must be able to check by eye: they judge every plan.
SHORT_FILES = {"engine/plan/validator.cpp", "engine/plan/slots_validator.cpp"}

MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|not impl" r"emented|unimpl" r"emented)\b")
OUTSIDE = re.compile(r"(?<![\w./-])/(home|root|work)/\w")
COMMENT = re.compile(r"(?:^|\s)(?://[/!]?|/\*\*?)<? *(\S[^\n]*)$")
DANGLING = re.compile(r"(of|and|that|what|which|where|whose|likewise)\b", re.IGNORECASE)
SUPERLATIVE = re.compile(r"\b(k(?:Most|Least)(?:[A-Z]\w*)?|(?:\w+_)?(?:most|least)(?:[A-Z_]\w*)?"
                         r"|\w*[aA]t(?:Most|Least)(?:[A-Z]\w*)?)\b")
TEST_NAME = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
UPPER_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*$")
CONSTANT_NAME = re.compile(r"(k[A-Z0-9]|GANTRY_|VK_)\w*$")
# A definition of a type. The C API names types gantry_name, Vulkan PFN_vkName; libraries look for is_transparent.
TYPE_NAME = re.compile(r"^[ \t]*(?:template <[^;{]*>\s*)?(?:typedef )?(?:(?:class|struct|union|enum(?: class)?) (\w+)"
                       r"(?: final)?\s*(?::[^:;{]*)?\{|using (\w+) =)", re.MULTILINE)
FOREIGN_TYPE = re.compile(r"gantry_|PFN_vk|is_transparent$")
# Functions of the C API, macros that define tests and modules, functions of CUDA's interface, and of containers.
FOREIGN_FUNCTION = re.compile(r"gantry_|TEST|TYPED_TEST|cu(blas)?[A-Z]|PYBIND11_MODULE$|(push|pop)_back$|aligned_alloc$|posix_")
# A macro with parameters or a value. One without is a switch for the header of a library, which chooses its name.
MACRO = re.compile(r"\s*#\s*define\s+(\w+)(?=\(|\s+\S)")
# A literal that contains "gantry.", also one that is divided, such as "gan" "try.tile", or the literal "gantry".
STRING_ATTRIBUTE = re.compile(r'"[^"\n]*?\b' + "".join(letter + r'(?:"\s*")?' for letter in "gantry") + r'\.|"gantry"')
# C++ code in TableGen.
TABLEGEN_CODE = re.compile(r"\b(?:extraClass\w+|builder\w*|code)\s*=\s*\[\{(.*?)\}\]", re.DOTALL)
CMAKE_FUNCTION = re.compile(r"^ *(function|macro)\b.*?^ *end\1\b", re.DOTALL | re.MULTILINE | re.IGNORECASE)
# The first line of a function of a shell script, whose last line is a brace with the same indentation. The opening brace
# may have a line of its own.
SHELL_FUNCTION = re.compile(r"( *)(?:function [\w-]+(?: ?\(\))?|[\w-]+ ?\(\)) ?\{?(?: *#.*)?$")
SHELL_COMMENT = re.compile(r"^\s*#(?!!)\s*(.*)")


def is_cmake(file):
    return file.suffix == ".cmake" or file.name == "CMakeLists.txt"


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
            if "data" in relative.parts or file.suffix not in SOURCES | {"", ".sh", ".cmake", ".txt"}:
                continue
            text = file.read_text(errors="replace")
            if file.suffix not in SOURCES:
                if is_cmake(file) or is_shell_script(text):
                    self.check_script(relative, text)
                continue
            self.check_text(relative, text)
            if file.suffix == ".py":
                self.check_python(relative, text)
            if file.suffix in CPLUSPLUS | SHADERS | {".td", ".fbs", ".mlir"}:
                self.check_comments(relative, text.splitlines())
            if file.suffix in CPLUSPLUS | SHADERS | {".td"}:
                self.check_functions(relative, text, methods)
            if file.suffix in CPLUSPLUS:
                self.check_cplusplus(relative, text)
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
        for name, limit in MAX_FOLDER_LINES.items():
            inside = [file for file in files if file.suffix in CPLUSPLUS
                      and (path := file.relative_to(self.root).as_posix()).startswith(name + "/")
                      and not any(path.startswith(other + "/") for other in SEPARATE_FOLDERS)]
            count = sum(len(file.read_text(errors="replace").splitlines()) for file in inside)
            if count > limit:
                self.find(f"{name}/", f"{count} lines of C++; at most {limit} are allowed")
        for folder in sorted({file.parent for file in files if file.suffix in SOURCES}):
            relative = folder.relative_to(self.root)
            near = [folder, folder.parent, folder.parent.parent]
            near = near[:1] if len(relative.parts) == 1 else near
            if not any((place / "README.md").is_file() for place in near if place != self.root):
                self.find(f"{relative}/", "no README.md: say what is here, what is not, how to add to it")

    def check_text(self, relative, text):
        lines = text.splitlines()
        name = relative.as_posix()
        allowed = MAX_LONG_LINES if name in LONG_FILES else MAX_SHORT_LINES if name in SHORT_FILES else MAX_LINES
        if len(lines) > allowed:
            self.find(relative, f"{len(lines)} lines; at most {allowed} are allowed, divide its responsibilities")
        for number, line in enumerate(lines, 1):
            if MARKS.search(line):
                self.find(f"{relative}:{number}", f"mark of unfinished work: {line.strip()[:80]}")
            if OUTSIDE.search(line):
                self.find(f"{relative}:{number}", f"names a place on one machine: {line.strip()[:80]}")

    def check_functions(self, relative, text, methods):
        """Checks functions, macros and constants, and adds the class of each method to `methods`: {(scope, class):
        sources}."""
        codes = [(0, text)]
        if relative.suffix == ".td":
            codes = [(text.count("\n", 0, match.start(1)), match.group(1)) for match in TABLEGEN_CODE.finditer(text)]
        for before, code in codes:
            try:
                scan = cplusplus.scan(code)
            except ValueError as error:
                self.find(relative, f"cannot be checked: {error}")
                continue
            for line, name in scan.constants if relative.suffix in CPLUSPLUS else []:
                if not CONSTANT_NAME.match(name):
                    self.find(f"{relative}:{line}", f"{name}: constants and enumerators are named kName")
            for number, _, line in cplusplus.macros(code) if relative.suffix in CPLUSPLUS else []:
                macro = MACRO.match(line)
                if macro and not macro.group(1).startswith(("GANTRY_", "VK_")):
                    self.find(f"{relative}:{number}", f"{macro.group(1)}: macros are named GANTRY_NAME")
            for function in scan.functions if relative.suffix in CPLUSPLUS else []:
                name = function.name()
                if "_" in name and not FOREIGN_FUNCTION.match(name) and not function.head.startswith("extern"):
                    self.find(f"{relative}:{before + function.line}", f"{name}: functions are named workOnThis")
            if relative.parts[0] == "tests":
                continue
            for number, length, line in cplusplus.macros(code):
                self.check_length(relative, before + number, length, line)
            for function in scan.functions:
                self.check_length(relative, before + function.line, function.lines, function.head)
                if name := function.method_of():
                    # A namespace without a name belongs to one source. n::A::f, and A::f in the namespace n, are
                    # methods of one class.
                    scope = str(relative) if "" in function.scope else ""
                    methods[scope, "::".join([*filter(None, function.scope), name])].add(relative)

    def check_cplusplus(self, relative, text):
        for number, line in enumerate(cplusplus.without_comments(text, keeps_literals=False).splitlines(), 1):
            for name in SUPERLATIVE.findall(line):
                self.find(f"{relative}:{number}", f"{name}: names say max and min")
        for match in TYPE_NAME.finditer(cplusplus.without_comments(text, keeps_literals=False)):
            name = match.group(1) or match.group(2)
            if not UPPER_CAMEL.match(name) and not FOREIGN_TYPE.match(name):
                number = text.count("\n", 0, match.start(match.lastindex)) + 1
                self.find(f"{relative}:{number}", f"{name}: types are named NameOfIt")
        if relative.parts[0] == "codegen":
            self.check_attributes(relative, text)
        if relative.parts[0] == "tests":
            for match in TEST_NAME.finditer(text):
                for name in match.groups():
                    if not UPPER_CAMEL.match(name):
                        number = text.count("\n", 0, match.start()) + 1
                        self.find(f"{relative}:{number}", f"test name {name} is not UpperCamel")

    def check_attributes(self, relative, text):
        code = cplusplus.without_comments(text, keeps_literals=True)
        for match in STRING_ATTRIBUTE.finditer(code):
            number = code.count("\n", 0, match.start()) + 1
            self.find(f"{relative}:{number}", "attribute named by a string; declare it in the dialect's "
                      f"TableGen: {text.splitlines()[number - 1].strip()[:80]}")

    def check_python(self, relative, text):
        before = 0 # The line of the previous comment, if that line has no code.
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                number = token.start[0]
                own = token.line.lstrip().startswith("#")
                if not (own and before == number - 1):
                    self.check_first_word(f"{relative}:{number}", token.string.lstrip("#! "))
                before = number if own and token.string.strip("# ") else 0
        for node in ast.walk(ast.parse(text)):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(node, kinds) and relative.parts[0] != "tests":
                self.check_length(relative, node.lineno, node.end_lineno - node.lineno + 1, f"def {node.name}")
            if isinstance(node, (*kinds, ast.ClassDef, ast.Module)):
                self.check_first_word(f"{relative}:{getattr(node, 'lineno', 1)}", ast.get_docstring(node) or "")

    def check_script(self, relative, text):
        """Checks the functions and comments of a shell script or of a CMake file."""
        own_before = False # Whether the line before consists of a comment.
        for number, line in enumerate(text.splitlines(), 1):
            comment = SHELL_COMMENT.match(line)
            if comment and not own_before:
                self.check_first_word(f"{relative}:{number}", comment.group(1))
            own_before = bool(comment and comment.group(1))
        if is_cmake(relative):
            for match in CMAKE_FUNCTION.finditer(text):
                self.check_length(relative, text.count("\n", 0, match.start()) + 1, match.group().count("\n") + 1,
                                  match.group().splitlines()[0].strip())
            return
        lines = text.splitlines()
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
        before = "" # The comment of the line before, if that line consists of a comment only.
        for number, line in enumerate(lines, 1):
            own = line.lstrip().startswith("//")
            match = COMMENT.search(line)
            text = match.group(1) if match else ""
            # A paragraph begins after code or after an empty comment.
            if text and not (own and before) and '"' not in line[:match.start()]:
                self.check_first_word(f"{relative}:{number}", text)
            before = text if own else ""

    def check_first_word(self, place, text):
        if DANGLING.match(text):
            self.find(place, f'a comment that begins with "{text.split()[0]}": {text.splitlines()[0][:60]}')


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
