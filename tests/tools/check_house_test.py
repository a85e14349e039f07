#!/usr/bin/env python3
"""Tests tools/house/check_house.py on small trees: for each rule, a tree that keeps it and a tree that breaks it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "house" / "check_house.py"


def check(files):
    """Runs the checker on a git tree with the files {path: text}. Returns the lines of its output."""
    files = {"engine/README.md": "# engine\n", "tests/README.md": "# tests\n", "tools/README.md": "# tools\n",
             "codegen/README.md": "# codegen\n", **files}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(["git", "-C", folder, "add", "-A"], check=True)
        run = subprocess.run([sys.executable, str(CHECKER), folder], capture_output=True, text=True)
        lines = run.stdout.splitlines()
        assert run.returncode == (1 if lines else 0), run
        return lines


def function(lines, head="void work(int count) {"):
    return "\n".join([head] + ["  step();"] * (lines - 2) + ["}"]) + "\n"


class CheckHouse(unittest.TestCase):
    def kept(self, files):
        self.assertEqual(check(files), [])

    def broken(self, files, words):
        findings = check(files)
        self.assertEqual(len(findings), 1, findings)
        self.assertIn(words, findings[0])

    def test_readme(self):
        self.kept({"engine/plan/search/a.cpp": ""})
        self.broken({"shaders/a.comp": ""}, "no README.md")
        self.broken({"engine/plan/README.md": "line\n" * 81}, "at most 80")

    def test_files_in_a_folder(self):
        self.kept({f"engine/plan/a{i}.h": "" for i in range(40)})
        self.broken({f"engine/plan/a{i}.h": "" for i in range(41)}, "41 files")

    def test_lines_of_a_folder(self):
        readme = {"engine/heap/README.md": "# heap\n"}
        half = "int a;\n" * 500
        self.kept({**readme, **{f"engine/heap/a{i}.h": half for i in range(7)}, "engine/heap/extras/b.h": half})
        self.broken({**readme, **{f"engine/heap/a{i}.h": half for i in range(7)}, "engine/heap/sub/b.h": "int a;\n"},
                    "engine/heap/: 3501 lines of C++")

    def test_lines_of_a_file(self):
        self.kept({"engine/a.cpp": "int a;\n" * 600})
        self.broken({"engine/a.cpp": "int a;\n" * 601}, "601 lines")
        self.kept({"engine/plan/validator.cpp": "int a;\n" * 100})
        self.broken({"engine/plan/validator.cpp": "int a;\n" * 101}, "101 lines; at most 100")

    def test_lines_of_a_function(self):
        self.kept({"engine/a.cpp": function(80) + function(80)})
        self.kept({"tests/a_test.cpp": function(100)})
        self.broken({"engine/a.cpp": function(81)}, "a function of 81 lines")
        self.broken({"engine/a.cpp": function(81, "Result<std::vector<int>> make(std::span<const int> values,\n"
                                                  "                              int limit) {")}, "82 lines")
        self.broken({"engine/a.h": "class A {\n" + function(81, "  void work() const {").replace("\n}\n", "\n  }\n")
                     + "};\n"}, "81 lines")
        self.broken({"engine/a.cpp": function(81, "const auto kWork = [](int count) {").replace("\n}\n", "\n};\n")},
                    "81 lines")
        self.broken({"tools/a.py": "def work():\n" + "    step()\n" * 80}, "81 lines")
        script = "#!/usr/bin/env bash\n"
        self.kept({"tools/a.sh": script + function(80, "work() {") + function(80, "work() {")})
        self.kept({"tools/text": function(81, "work() {")})
        self.broken({"tools/a.sh": script + function(81, "work() {")}, "a.sh:2: a function of 81 lines")
        self.broken({"dev": script + function(81, "work() {")}, "dev:2: a function of 81 lines")

    def test_lines_of_functions_of_all_forms(self):
        for head in ("struct Size sizeOf(int count) {", "enum Kind kindOf(int count) {", "class Heap *heapOf(int count) {",
                     'extern "C" int sizeOf(int count) {', "void work(int count) { // Many steps.",
                     "void work(char c = '(') {", 'void work(const char *text = ")") {', "void work(Options options = {}) {",
                     "Heap::Heap(int count) : size_{1}, count_(count) {", "bool operator()(int count) const {",
                     "template <typename T> requires std::is_integral_v<T> void work(T count) {"):
            self.broken({"engine/a.cpp": "int before;\n\n// A comment.\n" + function(81, head)},
                        "a.cpp:4: a function of 81 lines")
        for head, end in (("const auto kWork = make([](int count) {", "});"), ("const Work kWork{[](int count) {", "}};"),
                          ("const Work kTable[] = {{1, [](int count) -> int {", "}}};"), ("const auto kWork = [] {", "}();")):
            self.broken({"engine/a.cpp": function(81, head).replace("\n}\n", f"\n{end}\n")}, "81 lines")
            self.kept({"engine/a.cpp": function(80, head).replace("\n}\n", f"\n{end}\n")})
        member = "struct A {\n  std::function<void()> work = [this] {\n" + "  step();\n" * 79 + "  };\n};\n"
        self.broken({"engine/a.h": member}, "a.h:2: a function of 81 lines")
        macro = "#define GANTRY_WORK(x) \\\n" + "  step(x); \\\n" * 79 + "  step(x)\n"
        self.broken({"engine/a.h": "// A comment that is longer than one space.\n\n" + macro}, "a.h:3: a function of 81 lines")
        self.broken({"engine/a.comp": function(81, "void main() {")}, "81 lines")
        code = "def A {\n  let extraClassDeclaration = [{\n" + function(81) + "  }];\n}\n"
        self.broken({"codegen/a.td": code}, "a.td:3: a function of 81 lines")
        self.broken({"tools/CMakeLists.txt": "function(work)\n" + "  step()\n" * 79 + "endfunction()\n"}, "81 lines")
        self.broken({"tools/a.sh": "#!/bin/sh\n" + function(81, "function work {")}, "81 lines")
        self.broken({"tools/a.sh": "#!/bin/sh\n" + function(80, "work()\n{")}, "81 lines")
        self.kept({"engine/a.cpp": "const int kTable[] = {\n" + "  1,\n" * 100 + "};\n"})
        self.broken({"engine/a.cpp": "void work() {\n"}, "cannot be checked: line 1: the bracket is not closed")

    def test_sources_of_a_class(self):
        def sources(count):
            return {f"engine/a{i}.cpp": "Status Heap::work%d(int count) {\n}\n" % i for i in range(count)}
        self.kept(sources(3))
        self.broken(sources(4), "methods of Heap lie in 4 sources")
        templates = ["void Heap<T>::work(int count) {\n}\n",
                     "template <typename T, typename... Rest>\nResult<std::vector<T>> Heap<T, Rest...>::work() {\n}\n",
                     "const Heap<T>::Step &Heap<T>::operator()(int count) {\n}\n", "Heap<T>::~Heap() {\n}\n"]
        self.broken({f"engine/a{i}.h": text for i, text in enumerate(templates)}, "methods of Heap lie in 4 sources")
        self.broken({f"engine/a{i}.cpp": "Status Heap::Impl::work() {\n}\n" for i in range(4)},
                    "methods of Heap::Impl lie in 4 sources")
        short = ["int Heap::size() { return 1; }\n", "Heap::Heap() : size_(1) {}\n", "int (*Heap::work())(int) {\n}\n",
                 "auto Heap::end() -> int { return 0; }\n"]
        self.broken({f"engine/a{i}.cpp": text for i, text in enumerate(short)}, "methods of Heap lie in 4 sources")
        places = ["engine/a.cpp", "tools/a.cpp", "codegen/a.cpp", "codegen/passes/a.cpp"]
        self.broken({place: "namespace gantry {\nint Heap::size() { return 1; }\n}\n" for place in places},
                    "methods of gantry::Heap lie in 4 sources")
        mixed = ["namespace gantry {\nint Heap::size() { return 1; }\n}\n", "int gantry::Heap::end() { return 1; }\n"]
        self.broken({place: mixed[i % 2] for i, place in enumerate(places)}, "methods of gantry::Heap lie in 4 sources")
        self.kept({place: "namespace {\nint Heap::size() { return 1; }\n}\n" for place in places})
        self.kept({f"engine/a{i}.cpp": "Status Heap%d::Impl::work() {\n}\n" % i for i in range(4)})

    def test_comments(self):
        self.kept({"engine/a.h": "int a; // Size in bytes.\n// The size, which\n// of course is a number.\nint b;\n"
                                 'const char *text = "// of these";\n'})
        self.broken({"engine/a.h": "int a; // of the buffer\n"}, 'begins with "of"')
        self.broken({"engine/a.h": "/// That it may have.\nint a;\n"}, 'begins with "That"')
        self.broken({"engine/a.h": "int a; /* Of the buffer. */\n"}, 'begins with "Of"')
        self.kept({"codegen/a.td": "// The pass, and\n// of these the first.\ndef A { let name = \"// of a\"; }\n"})
        self.broken({"codegen/a.td": "// Of these the first.\n"}, 'begins with "Of"')
        self.broken({"codegen/a.td": "def A; // and B\n"}, 'begins with "and"')
        self.broken({"engine/a.fbs": "// Of these the first.\n"}, 'begins with "Of"')
        self.broken({"tests/a.mlir": "// Of these the first.\n"}, 'begins with "Of"')
        self.broken({"engine/a.h": "// The size.\n//\n// Of these the first.\nint a;\n"}, 'begins with "Of"')
        self.kept({"tools/a.py": '"""The size."""\n# The size, which\n# of course is a number.\nA = "# of"\n'})
        self.kept({"tools/a.sh": "#!/bin/bash\n# The size, which\n# of course is a number.\nA=1\n"})
        self.broken({"tools/a.sh": "#!/bin/bash\n# What this does.\nA=1\n"}, 'a.sh:2: a comment that begins with "What"')
        self.broken({"tools/CMakeLists.txt": "# Of these.\nset(A 1)\n"}, 'begins with "Of"')
        self.broken({"tools/a.py": "A = 1 # of these\n"}, 'a.py:1: a comment that begins with "of"')
        self.broken({"tools/a.py": '"""Of these."""\n'}, 'begins with "Of"')
        self.broken({"tools/a.py": 'def work():\n    """Of these."""\n'}, 'begins with "Of"')

    def test_names(self):
        self.kept({"engine/a.h": "inline constexpr int kMaxBytes = 1;\nint mostly, almost, atMostly, Mosts;\n"
                                 "uint_least32_t a; // The least.\n/* At most\n * most_bytes. */\n"
                                 "const char *text = \"at least \\\"most\", *more = R\"(\n\"most\")\";\n"})
        for name in ("kMostBytes", "leastBytes", "most", "least", "least_", "most_bytes", "size_at_least", "atLeast",
                     "sizeAtMost", "isAtLeastOne"):
            self.broken({"engine/a.h": f"/* A size */ int {name};\n"}, f"{name}: names say max and min")
        self.kept({"tests/a_test.cpp": "TEST(Heap, GrowsBySlabs) {\n}\n"})
        self.broken({"tests/a_test.cpp": "TEST(Heap, growsBySlabs) {\n}\n"}, "not UpperCamel")
        self.broken({"tests/a_test.cpp": "TEST_F(HeapTest, Grows_by) {\n}\n"}, "not UpperCamel")

    def test_names_of_functions(self):
        self.kept({"engine/a.cpp": "int gantry_size() {\n}\nint sizeOf(int big_one) {\n}\nTEST_F(A, B) {\n}\n"
                                   'extern "C" int cuInit_v2() {\n}\n__attribute__((noinline)) void work() {\n}\n'})
        self.broken({"codegen/a.cpp": "int size_of(int count) {\n}\n"}, "size_of: functions are named workOnThis")
        self.broken({"tests/a_test.cpp": "int A::size_of() {\n}\n"}, "size_of: functions are named workOnThis")

    def test_names_of_types(self):
        self.kept({"engine/a.h": "struct gantry_heap {\n};\nclass A final : public B {\n};\nenum class Kind : int { kOne };\n"
                                 "template <typename T> struct Of {};\nstruct stat now() {\n}\nstd::is_same<struct tag *>;\n"
                                 "using is_transparent = void;\nusing std::max;\nusing namespace std;\n"})
        for text in ("struct one_range {", "class range final : public A {", "enum kind : int {", "using size_list = A",
                     "template <typename T>\nstruct of_it {", "union both\n{"):
            end = ";\n" if text.startswith("using") else "};\n"
            self.broken({"codegen/a.h": f"namespace a {{\n  {text}{end}}}\n"}, "types are named NameOfIt")

    def test_macros(self):
        self.kept({"codegen/a.cpp": "#define GANTRY_TWICE(x) (2 * (x))\n#define XXH_INLINE_ALL\n#define VK_OLD 1\n"})
        for text in ("#define TWICE(x) (2 * (x))", "  # define LIMIT 3", "#define CASE(x) \\\n  case x:"):
            self.broken({"tests/a.cpp": text + "\n"}, "macros are named GANTRY_NAME")

    def test_constants(self):
        self.kept({"engine/a.h": "enum class Kind : uint8_t {\n  kOne, // First.\n  kTwo = 2\n};\n"
                                 "inline constexpr uint64_t kSizes[] = {1};\nconstexpr int half(int a) { return a / 2; }\n"})
        self.broken({"codegen/a.h": "enum class Kind { kOne, two };\n"}, "two: constants and enumerators")
        for text in ("static constexpr int limit = 1;", "const int limit = 1;", "static const int limit = 1;",
                     "constexpr int limit(5);", "constexpr int limit{5};", "template <int n> constexpr int limit = n;",
                     "inline constinit const int limit = 1;", "typedef enum { limit } Kind;", "extern const int limit;",
                     "void f() {\n  static const int limit[] = {1};\n}", "struct A {\n  static constexpr int limit = 1;\n};"):
            self.broken({"codegen/a.h": text + "\n"}, "limit: constants and enumerators")
        self.kept({"codegen/a.h": "const char *text;\nconst A &one(int a);\nstruct A {\n  const int size_ = 1;\n};\n"
                                  "void f() {\n  const int size = 1;\n}\n"})

    def test_string_attributes(self):
        self.kept({"codegen/dialect/GantryAttrs.td": 'def A { let name = "gantry.tile"; }\n'})
        self.broken({"codegen/passes/a.cpp": 'op->getAttr("gantry.tile");\n'}, "TableGen")
        self.broken({"codegen/passes/a.cpp": 'op->getAttr("gantry." + name);\n'}, "TableGen")
        self.broken({"codegen/passes/a.cpp": 'op->getAttr(Twine("gantry") + ".tile");\n'}, "TableGen")
        self.broken({"codegen/passes/a.cpp": 'op->getAttr("gan"\n            "try.tile");\n'}, "a.cpp:1: attribute")
        self.broken({"codegen/passes/a.cpp": '\nparse("{gantry.tile = 1}");\n'}, "a.cpp:2: attribute")
        self.broken({"codegen/passes/a.cpp": 'parse("module { gan" "try.tile = 1}");\n'}, "TableGen")
        self.kept({"codegen/passes/a.cpp": '#include "a.h" // "{gantry.tile}"\nint agantry = size("agantry.");\n'})

    def test_unfinished_work_and_foreign_places(self):
        self.broken({"engine/a.cpp": "// TO" "DO: the rest\n"}, "unfinished")
        self.broken({"engine/a.cpp": 'const char *file = "/ho' 'me/me/x";\n'}, "place on one machine")


if __name__ == "__main__":
    unittest.main()
