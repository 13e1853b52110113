"""docs/passes.md has a row for each pass of `hilo list passes`, and no other; each step of the
compiler is a pass or a pipeline, and says why it stands where it does."""

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


def listed(what):
    return json.loads(subprocess.run([COMMAND, "list", what, "--json"], check=True,
                                     capture_output=True, text=True).stdout)["rows"]


class Passes(unittest.TestCase):
    def test_each_step_has_a_reason(self):
        names = {row["pass"] for row in listed("passes")}
        names |= {row["pipeline"] for row in listed("pipelines")}
        steps = listed("steps")
        self.assertGreater(len(steps), 30)
        for step in steps:
            self.assertIn(step["pass"], names)
            self.assertGreaterEqual(len(step["why there"].split()), 4, step["pass"])

    def test_each_pass_has_a_row(self):
        rows = ROW.findall((SOURCE / "docs/passes.md").read_text(encoding="utf-8"))
        names = [row["pass"] for row in listed("passes")]
        self.assertEqual(sorted(name for name, _, _ in rows), sorted(names))


if __name__ == "__main__":
    unittest.main(verbosity=2)
