"""Reads C, C++ and GLSL sources without a compiler: functions with their lengths, classes of methods, constants.

The scanner matches braces in the text without comments, literals and preprocessor directives. It does not
expand macros. The head of a block is the declaration in front of its opening brace. scan() raises ValueError if
the braces do not match, so that no function is missed.
"""
import dataclasses
import re

# A literal (group 1) or a comment.
LITERAL_OR_COMMENT = re.compile(r'(R"(\w*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\')'
                                r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# A head whose braces contain declarations instead of statements.
SCOPE = re.compile(r"(?:\w+ )*(namespace|class|struct|union|extern)\b[^()]*$")
ENUM = re.compile(r"(?:typedef )?enum\b[^()]*$")
# Parts of heads in which parentheses do not make a function.
ATTRIBUTE = re.compile(r"\b(?:alignas|decltype|noexcept|__attribute__|requires)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[\[.*?\]\]")
ACCESS = re.compile(r"\b(public|private|protected)\s*$")
# A head that ends with a lambda's introducer, parameters and specifiers.
LAMBDA = re.compile(r"\]\s*(?:\((?:[^()]|\([^()]*\))*\)\s*)?(?:mutable\s*|constexpr\s*)*(?:->\s*[\w:<>*&, ]+)?$")
TEMPLATE = re.compile(r"^template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*")
CLASS = r"\w+(?:<[\w:,&*.\s]*>)?"
# The name of a member function that is defined outside its class. Group 1 is the class: A of A::f, A<T> of
# A<T>::f, A::B of A::B::f. The result of the function may be a pointer to a function.
METHOD = re.compile(rf"^(?:[^()]*?[\s&*])?(?:\w+ \(\* ?)?((?:{CLASS}::)*?{CLASS})::(?:~?\w+|operator[^(]*)\(")
# A variable that is constexpr, or that is const and either static or at namespace level; group 1: its name. A
# parenthesis after the name makes the declaration a function, unless a number follows the parenthesis.
CONSTANT = re.compile(r"^(?:(?:static|inline|extern|constinit)\s+)*(?:constexpr|const)\s[^=({]*?[\s*&](\w+)"
                      r"(?:\s*\[[^\]]*\])*\s*(?:=|\{|$|\(\s*[-\d])")
LOCAL_CONSTANT = re.compile(r"[;{}]\s*((?:static const|(?:static )?constexpr)\b[^;{]*)")


@dataclasses.dataclass
class Function:
    line: int  # Number of the first line, from 1.
    lines: int
    head: str  # The declaration on one line, without comments and literals.
    scope: tuple  # The names of the enclosing namespaces and classes; "" for one without a name.

    def name(self):
        """Returns the function's name; "" for a lambda without parameters and for an operator."""
        match = re.search(r"(~?\w+)\s*\(", ATTRIBUTE.sub("", TEMPLATE.sub("", self.head)))
        return match.group(1) if match else ""

    def method_of(self):
        """Returns the class of a member function that is defined outside its class, without template arguments; else
        None."""
        match = METHOD.match(TEMPLATE.sub("", self.head))
        return re.sub("<.*?>", "", match.group(1)) if match else None


@dataclasses.dataclass
class Scan:
    functions: list
    constants: list  # (line, name) of enumerators, and of the variables that CONSTANT matches.


def without_comments(text, keeps_literals):
    """Returns the text without comments, and without literals unless `keeps_literals` is set. Line breaks are kept."""
    def replace(match):
        blank = " " + "\n" * match.group().count("\n")
        return match.group() if keeps_literals and match.group(1) else blank
    return LITERAL_OR_COMMENT.sub(replace, text)


def macros(text):
    """Yields (number of the first line, number of lines, first line) of each macro definition."""
    code = without_comments(text, keeps_literals=True)
    for match in DIRECTIVE.finditer(code):
        if re.match(r"\s*#\s*define\b", match.group()):
            yield code.count("\n", 0, match.start()) + 1, match.group().count("\n") + 1, match.group().split("\n")[0]


class Scanner:
    def __init__(self, text):
        blank = lambda match: "\n" * match.group().count("\n")
        self.code = DIRECTIVE.sub(blank, without_comments(text, keeps_literals=False))
        self.functions, self.constants = [], []

    def line_of(self, at):
        """Returns the number of the line at a position of the code, from 1."""
        return self.code.count("\n", 0, at) + 1

    def closing(self, at):
        """Returns the position of the brace or parenthesis that closes the one at `at`."""
        depth = 0
        for match in re.compile(r"[(){}]").finditer(self.code, at):
            depth += 1 if match.group() in "({" else -1
            if depth == 0:
                return match.start()
        raise ValueError(f"line {self.line_of(at)}: the bracket is not closed")

    def declarations(self, begin, end, scope, in_class=False):
        """Examines the declarations in code[begin:end], which lie directly in `scope`."""
        start = at = begin  # The start of the present declaration, and the present position.
        while at < end:
            letter = self.code[at]
            if letter == "(":
                close = self.closing(at)
                self.lambdas(at, close, scope)
                at = close + 1
            elif letter == "{":
                close = self.closing(at)
                if self.block(start, at, close, scope, in_class):
                    start = close + 1
                at = close + 1
            elif letter == "}":
                raise ValueError(f"line {self.line_of(at)}: the brace has no opening one")
            else:
                if letter == ";":
                    self.constant(start, at, in_class)
                if letter == ";" or letter == ":" and ACCESS.search(self.code[start:at]):
                    start = at + 1
                at += 1

    def block(self, start, at, close, scope, in_class):
        """Examines the block code[at:close + 1] behind the head code[start:at]. Returns whether the declaration ends
        with the block."""
        head = " ".join(self.code[start:at].split())
        plain = " ".join(ATTRIBUTE.sub("", TEMPLATE.sub("", head)).split())
        if ENUM.match(plain):
            self.enumerators(at + 1, close)
            return False
        if SCOPE.match(plain):
            words = re.sub(r"\bfinal\b|(?<!:):(?!:).*", "", plain).split()
            space = words[0] in ("namespace", "inline", "extern")
            self.declarations(at + 1, close, (*scope, words[-1] if len(words) > 1 else ""), not space)
            return space
        is_lambda = LAMBDA.search(plain) is not None
        if "(" not in plain and not is_lambda: # An initializer, or the body of a concept.
            self.lambdas(at, close, scope)
            return False
        following = self.code[close + 1:].lstrip()[:1]
        if following in {",", "{"} and not is_lambda:
            return False # An initializer of a constructor's member; the head goes on.
        self.add(start, at, close, head, scope)
        if is_lambda:
            self.constant(start, at, in_class)
        return not is_lambda

    def add(self, start, at, close, head, scope):
        """Adds a function with the body code[at:close + 1], and the constants in it."""
        first = self.line_of(self.skip_space(start))
        self.functions.append(Function(first, self.line_of(close) - first + 1, head, scope))
        for match in LOCAL_CONSTANT.finditer(self.code, at, close):
            self.constant(match.start(1), match.end(1), False)

    def lambdas(self, begin, end, scope):
        """Adds the lambdas between two brackets outside of functions."""
        at = begin + 1
        while at < end:
            if self.code[at] == "{":
                close = self.closing(at)
                start = max(self.code.rfind(mark, begin, at) for mark in "=[") # The start of the lambda, if it is one.
                if LAMBDA.search(self.code[begin + 1:at].rstrip()):
                    self.add(start, at, close, " ".join(self.code[start:at].split()), scope)
                else:
                    self.lambdas(at, close, scope)
                at = close
            at += 1

    def constant(self, start, end, in_class):
        """Adds the variable that code[start:end] declares, if it is a constant. In a class, only static ones count."""
        text = TEMPLATE.sub("", " ".join(self.code[start:end].split()))
        match = CONSTANT.match(text)
        if not match or in_class and "static" not in text:
            return
        if "constexpr" not in text and re.search(r"\*\s*$", text[:match.start(1)]):
            return # A variable `const T *name` can be changed.
        self.constants.append((self.line_of(self.skip_space(start)), match.group(1)))

    def skip_space(self, at):
        """Returns the position of the first letter from `at` on that is no space."""
        while self.code[at].isspace():
            at += 1
        return at

    def enumerators(self, begin, end):
        """Adds the enumerators in code[begin:end], the inside of an enumeration's braces."""
        at = begin
        for part in re.sub(r"\([^()]*\)", lambda m: " " * len(m.group()), self.code[begin:end]).split(","):
            if part.strip():
                self.constants.append((self.line_of(at + len(part) - len(part.lstrip())), part.split()[0]))
            at += len(part) + 1


def scan(text):
    """Returns the functions and constants of a source. A lambda inside a function is a part of that function."""
    scanner = Scanner(text)
    scanner.declarations(0, len(scanner.code), ())
    return Scan(scanner.functions, sorted(set(scanner.constants)))
