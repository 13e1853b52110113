"""Pages of docs/ and the README keep their form, and name files and pages that exist."""

import os
import re
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))

COLUMNS = 100
WIDE_COLUMNS = 120  # of a row of a table, and of output as it was printed
LINES = 200
WORDS = 100  # of the glossary

FILE = re.compile(r"`((?:src|tests|docs|bench|scripts|examples|python|cmake)/[\w./-]*\w/?"
                  r"|\w+/[\w/]+\.(?:cpp|h|def|py))`")
BARE = re.compile(r"`(\w+\.(?:cpp|h|def))`")  # in some folder of src/ or tests/
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# What a reader is to write, and headers of libraries.
OWN = re.compile(r"my_op|ROOM|KIND|^fmt/")


def pages(source):
    return [source / "README.md", *sorted((source / "docs").glob("*.md"))]


def wide_lines(text):
    """(line, columns, limit) of lines that are too wide."""
    found, is_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        limit = WIDE_COLUMNS if is_code or line.lstrip().startswith("|") else COLUMNS
        if len(line) > limit:
            found.append((number, len(line), limit))
    return found


def missing_files(source, path):
    """Files and pages that a page names, below the repository, src/ or its own folder."""
    text = path.read_text(encoding="utf-8")
    named = [(name, (source, source / "src")) for name in FILE.findall(text) if not OWN.search(name)]
    named += [(name, (path.parent,)) for name in LINK.findall(text)]
    missing = [name for name, folders in named if not any((folder / name).exists() for folder in folders)]
    files = {file.name for folder in ("src", "tests", "examples") for file in (source / folder).rglob("*.*")}
    return missing + [name for name in BARE.findall(text) if name not in files and not OWN.search(name)]


class Pages(unittest.TestCase):
    def test_lines_are_short(self):
        wide = [f"{path.relative_to(SOURCE)}:{line}: {columns} columns, the limit is {limit}"
                for path in pages(SOURCE)
                for line, columns, limit in wide_lines(path.read_text(encoding="utf-8"))]
        self.assertEqual(wide, [], "\n" + "\n".join(wide))

    def test_pages_are_short(self):
        for path in pages(SOURCE)[1:]:
            with self.subTest(page=path.name):
                self.assertLessEqual(len(path.read_text(encoding="utf-8").splitlines()), LINES)

    def test_named_files_exist(self):
        missing = [f"{path.relative_to(SOURCE)}: {name}" for path in pages(SOURCE)
                   for name in missing_files(SOURCE, path)]
        self.assertEqual(missing, [], "\n" + "\n".join(missing))

    def test_readme_leads_to_each_page(self):
        named = set(LINK.findall((SOURCE / "README.md").read_text(encoding="utf-8")))
        for path in pages(SOURCE)[1:]:
            named.update(f"docs/{name}" for name in LINK.findall(path.read_text(encoding="utf-8")))
        unnamed = [path.name for path in pages(SOURCE)[1:] if f"docs/{path.name}" not in named]
        self.assertEqual(unnamed, [])

    def test_glossary_is_short(self):
        text = (SOURCE / "docs/glossary.md").read_text(encoding="utf-8")
        words = text.split("## Words that names avoid")[0]
        rows = [line for line in words.splitlines()
                if line.startswith("| ") and not line.startswith("| word")]
        self.assertLessEqual(len(rows), WORDS)
        self.assertEqual(sorted({row for row in rows if rows.count(row) > 1}), [])


class Checks(unittest.TestCase):
    def test_wide_lines_are_found(self):
        prose, row, code = "x" * 101, "| " + "x" * 119, "```\n" + "x" * 110 + "\n```"
        self.assertEqual(wide_lines("\n".join((prose, row, code, "y" * 100))),
                         [(1, 101, 100), (2, 121, 120)])

    def test_missing_files_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "src/ir").mkdir(parents=True)
            (Path(folder) / "src/ir/ops.def").touch()
            page = Path(folder, "page.md")
            page.write_text("`ir/ops.def` `src/ir/ops.def` `ir/none.h` `src/ir/my_op.cpp` [a](none.md) "
                            "[b](page.md#there) [c](https://example.org/x) `ops.def` `gone.h`")
            self.assertEqual(missing_files(Path(folder), page), ["ir/none.h", "none.md", "gone.h"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
