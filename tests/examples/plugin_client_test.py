"""The C client of the plugin compiles as its head says, and prints the values of its program."""

import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, PLUGIN = Path(os.environ["HILO_SOURCE"]), Path(os.environ["HILO_BUILD"], "libhilo_pjrt.so")
if not PLUGIN.exists() or os.environ.get("HILO_SANITIZE") or not shutil.which("cc"):
    sys.exit(77)


class Client(unittest.TestCase):
    def run_client(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            client = Path(folder, "client")
            subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror",
                            f"-I{SOURCE}/src", SOURCE / "examples/plugin_client/main.c", "-o", client, "-ldl"],
                           check=True)
            return subprocess.run([client, *arguments], capture_output=True, text=True)

    def test_values(self):
        done = self.run_client(PLUGIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = [float(value) for value in done.stdout.split()]
        expected = [math.tanh(2 * x) for x in (-1, -0.5, 0, 0.25, 0.5, 1)]
        for value, wanted in zip(values, expected, strict=True):
            self.assertAlmostEqual(value, wanted, places=5)

    def test_usage(self):
        self.assertEqual(self.run_client().returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
