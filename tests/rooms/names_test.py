"""Names of src/ use the words of docs/glossary.md. Those that do not are counted: none may be added."""

import os
import re
import tempfile
import unittest
from pathlib import Path

import source_scan

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))

# Names, each counted once, that hold a word which docs/glossary.md avoids. Lower it where some go.
LIMIT = 0

BEFORE = ("most", "least", "few", "many", "usual", "turned", "turns", "made", "again",
          "place", "places", "piece", "pieces", "lone", "spread", "standing", "rare")
BEHIND = ("turned", "made", "again", "place", "places", "piece", "pieces", "usual", "spread",
          "standing")
NAME = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
ODD = re.compile(rf"\b({'|'.join(BEFORE)})_|_({'|'.join(BEHIND)})\b")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"[^"\n]*"')


def odd_names(source):
    """Each name below `source` that begins or ends with an avoided word; in_place is a word of ours."""
    found = set()
    for path in source_scan.sources(source / "src"):
        text = COMMENT_OR_TEXT.sub("", path.read_text(encoding="utf-8"))
        found.update(name for name in NAME.findall(text)
                     if ODD.search(name.replace("in_place", "inplace").replace("replace", "")))
    return found


class Names(unittest.TestCase):
    def odd_names_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "src/ir/a.cpp")
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return odd_names(Path(folder))

    def test_no_odd_name_is_added(self):
        found = odd_names(SOURCE)
        print(f"\n{len(found)} names with words that docs/glossary.md avoids, the limit is {LIMIT}")
        self.assertLessEqual(len(found), LIMIT, "\n" + "\n".join(sorted(found)))

    def test_avoided_words_are_found(self):
        self.assertEqual(self.odd_names_of("int most_rows, rows_made, turned_side, row_place;\n"),
                         {"most_rows", "rows_made", "turned_side", "row_place"})

    def test_other_names_are_not(self):
        text = 'int in_place_slots, replace_all, max_rows, almost_done;  // most_rows\n"rows_made";\n'
        self.assertEqual(self.odd_names_of(text), set())

    def test_glossary_lists_the_avoided_words(self):
        page = (SOURCE / "docs/glossary.md").read_text(encoding="utf-8")
        listed = set(re.findall(r"\w+", page.split("## Words that names avoid")[1]))
        self.assertEqual({word for word in BEFORE + BEHIND
                          if not {word, word + "_", word.rstrip("s")} & listed}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
