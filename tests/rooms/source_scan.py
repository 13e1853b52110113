"""A small scanner of C++ sources: includes, and functions with their lengths.

Functions are found by matching braces outside comments, strings and preprocessor lines; what
stands before a brace decides whether it opens a function body, a scope (namespace, class) or an
initialiser. Lambdas count as part of the function that holds them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".cpp", ".h", ".def")
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # characters, not digit separators
    r'|^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*',  # preprocessor lines
    re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)


@dataclass
class Function:
    path: Path
    line: int
    name: str
    lines: int


@dataclass
class Include:
    line: int
    system: bool
    name: str


class ScanError(Exception):
    pass


def sources(*folders):
    """C++ files below the folders, in a stable order."""
    found = (path for folder in folders if folder.is_dir() for path in folder.rglob("*"))
    return sorted(path for path in found if path.suffix in SUFFIXES and path.is_file())


def blank(text):
    """The text with comments, literals and preprocessor lines replaced by spaces."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return TOKEN.sub(spaces, text)


def raw_lines(text):
    """Numbers, from 1, of the lines that a raw string touches: HLO text in a test has its own width."""
    lines = set()
    for match in TOKEN.finditer(text):
        if match.group(0).startswith('R"'):
            first = text.count("\n", 0, match.start()) + 1
            lines.update(range(first, first + match.group(0).count("\n") + 1))
    return lines


def includes(path):
    text = path.read_text(encoding="utf-8")
    without_comments = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text,
                              flags=re.DOTALL)
    return [Include(without_comments.count("\n", 0, m.start()) + 1, m.group(1) == "<", m.group(2))
            for m in INCLUDE.finditer(without_comments)]


def matching(text, start, opening, closing):
    """Position after the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == opening:
            depth += 1
        elif text[at] == closing:
            depth -= 1
            if depth == 0:
                return at + 1
    raise ScanError(f"line {text.count(chr(10), 0, start) + 1}: '{opening}' is never closed")


def without_groups(head):
    """The head of a brace without template<...> prefixes and the insides of (), [] and {}."""
    out, depth = [], 0
    for char in head:
        if char in "([{":
            depth += 1
            if depth == 1:
                out.append(char)
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                out.append(char)
        elif depth == 0:
            out.append(char)
    text = "".join(out)
    while (prefix := re.match(r"\s*template\s*<", text)):
        at, depth = prefix.end(), 1
        while at < len(text) and depth > 0:
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            at += 1
        text = text[at:]
    return re.sub(r"alignas\(\)|\[\[?\]\]?(?=\s*\w)", " ", text).strip()


def kind_of_brace(head):
    """'function', 'scope', 'initialiser' or 'more' (the brace belongs to a head that goes on)."""
    if head.count("(") > head.count(")"):
        return "more"  # a default argument
    text = without_groups(head)
    plain = re.sub(r"operator\s*(\(\)|\[\]|[^\s\w(]+)", "operator_", text)
    assigned = re.search(r"(?<![=!<>])=(?!=)", plain)
    if assigned:
        return "function" if re.match(r"\s*\[", plain[assigned.end():]) else "initialiser"
    if re.match(r"(inline\s+)?namespace\b|extern\s*$", text):
        return "scope"
    if re.match(r"(typedef\s+)?(class|struct|union|enum)\b", text) and "(" not in text:
        return "scope"
    if "(" not in text:
        return "initialiser"
    members = re.search(r"\)[^:]*(?<!:):(?!:)(.*)$", text, re.DOTALL)
    if members and re.search(r"[\w>]\s*$", members.group(1)):
        return "more"  # a member initialised with braces
    return "function"


def name_of(head):
    text = without_groups(head)
    before = text[:text.index("(")] if "(" in text else text
    operator = re.search(r"operator\s*\S*\s*$", before)
    if operator or not re.search(r"[\w~:]+\s*$", before):
        return (operator.group(0) if operator else before).strip() or "?"
    return re.search(r"[\w~:]+\s*$", before).group(0).strip()


def functions(path):
    """Every function with a body in the file; its lines run from its head to its last brace, those
    of raw strings not counted."""
    source = path.read_text(encoding="utf-8")
    text, raw = blank(source), raw_lines(source)
    found, depth, start, at = [], 0, 0, 0
    while at < len(text):
        char = text[at]
        if char == ";" and text.count("(", start, at) <= text.count(")", start, at):
            start = at + 1
        elif char == "}":
            depth -= 1
            if depth < 0:
                raise ScanError(f"line {text.count(chr(10), 0, at) + 1}: '}}' without '{{'")
            start = at + 1
        elif char == "{":
            head = re.sub(r"\b(public|private|protected)\s*:(?!:)", lambda m: " " * len(m.group(0)),
                          text[start:at])
            kind = kind_of_brace(head)
            if kind == "scope":
                depth += 1
                start = at + 1
            else:
                end = matching(text, at, "{", "}")
                if kind == "function":
                    begin = start + len(head) - len(head.lstrip())
                    first = text.count("\n", 0, begin) + 1
                    lines = range(first, first + text.count("\n", begin, end) + 1)
                    found.append(Function(path, first, name_of(head),
                                          sum(line not in raw for line in lines)))
                    start = end
                at = end
                continue
        at += 1
    if depth != 0:
        raise ScanError("end of file: '{' is never closed")
    return found
