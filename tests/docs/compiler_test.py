"""docs/compiler.md follows examples/layer/layer.hlo, with what the command prints of it."""

import os
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))
COMMAND = os.environ.get("HILO_COMMAND", SOURCE / "build/hilo")
EXAMPLE = "examples/layer/layer.hlo"


def printed(*arguments):
    return subprocess.run([COMMAND, *arguments], cwd=SOURCE, check=True, capture_output=True,
                          text=True).stdout


class Compiler(unittest.TestCase):
    def setUp(self):
        self.page = (SOURCE / "docs/compiler.md").read_text(encoding="utf-8")

    def expect(self, block):
        self.assertTrue(block in self.page, f"docs/compiler.md should have:\n{block}")

    def test_page_has_the_example(self):
        self.expect(f"```\n{(SOURCE / EXAMPLE).read_text(encoding='utf-8')}```\n")

    def test_page_has_what_commands_print(self):
        for command in (("check", EXAMPLE), ("opt", EXAMPLE, "--pipeline=cpu")):
            self.expect(f"```\n$ hilo {' '.join(command)}\n{printed(*command).rstrip()}\n```\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
