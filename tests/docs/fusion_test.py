"""docs/fusion.md names each file of src/pass/fuse, and each reason of no_fusion.def is given by some
function there."""

import os
import re
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
FOLDER = SOURCE / "src/pass/fuse"


class Fusion(unittest.TestCase):
    def test_page_names_each_file(self):
        named = set(re.findall(r"`(\w+\.(?:cpp|h|def))`", (SOURCE / "docs/fusion.md").read_text(encoding="utf-8")))
        self.assertEqual({path.name for path in FOLDER.iterdir()} - named, set())

    def test_each_reason_is_given(self):
        reasons = re.findall(r"^REASON\((\w+),", (FOLDER / "no_fusion.def").read_text(encoding="utf-8"), re.M)
        given = set()
        for path in FOLDER.glob("*.cpp"):
            given.update(re.findall(r"NoFusion::(\w+)", path.read_text(encoding="utf-8")))
        self.assertGreater(len(reasons), 40)
        self.assertEqual(set(reasons) - given, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
