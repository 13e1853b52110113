"""docs/passes.md has a row for each pass of `hilo list passes`, and no other."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("HILO_COMMAND", SOURCE / "build/hilo")
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


class Passes(unittest.TestCase):
    def test_each_pass_has_a_row(self):
        rows = ROW.findall((SOURCE / "docs/passes.md").read_text(encoding="utf-8"))
        listed = json.loads(subprocess.run([COMMAND, "list", "passes", "--json"], check=True,
                                           capture_output=True, text=True).stdout)
        names = [row["pass"] for row in listed["rows"]]
        self.assertEqual(sorted(name for name, _, _ in rows), sorted(names))


if __name__ == "__main__":
    unittest.main(verbosity=2)
