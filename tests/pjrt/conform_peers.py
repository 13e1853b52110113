"""pypjrt's checks of a plugin find no fault with ours."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

PLUGIN = Path(os.environ["HILO_BUILD"]) / "libhilo_pjrt.so"
CHECKER = Path(sys.executable).with_name("pypjrt-conform")


class Conform(unittest.TestCase):
    def test_no_check_fails(self):
        result = subprocess.run([CHECKER, PLUGIN], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(" 0 FAIL", result.stdout)
        self.assertGreaterEqual(int(result.stdout.split(" pass ·")[0].split()[-1]), 54)


if not CHECKER.exists():
    print("skipped: pypjrt is absent (scripts/setup --peers installs it)")
    sys.exit(77)
if __name__ == "__main__":
    unittest.main(verbosity=2)
