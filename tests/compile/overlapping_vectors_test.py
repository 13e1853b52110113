"""Loops over elements that are no whole number of vectors end with a vector that overlaps the one before
it: there is no code for single elements, but where a loop reads what it writes over."""
import glob
import os
import platform
import subprocess
import sys
import tempfile
import unittest

if platform.machine() != "x86_64":
    sys.exit(77)
HILO = os.environ.get("HILO_COMMAND", "build/hilo")
APART = """HloModule m

ENTRY e {
  x = f32[40,101] parameter(0)
  y = f32[101] parameter(1)
  b = f32[40,101] broadcast(y), dimensions={1}
  ROOT r = f32[40,101] multiply(x, b)
}
"""
OVER = APART.replace("HloModule m", "HloModule m, input_output_alias={ {}: (0, {}, must-alias) }")


class OverlappingVectors(unittest.TestCase):
    def single_products(self, module):
        with tempfile.TemporaryDirectory() as folder:
            path, dumped = os.path.join(folder, "m.hlo"), os.path.join(folder, "dump")
            with open(path, "w") as file:
                file.write(module)
            subprocess.run([HILO, "compile", path, "-o", os.path.join(folder, "m.o"), "--target-cpu=x86-64-v3",
                            f"--dump-to={dumped}"], check=True, capture_output=True)
            with open(glob.glob(os.path.join(dumped, "*.after.ll"))[0]) as file:
                return file.read().count("fmul float ")

    def test_no_single_elements(self):
        self.assertEqual(self.single_products(APART), 0)

    def test_what_is_written_over(self):
        self.assertGreater(self.single_products(OVER), 0)


if __name__ == "__main__":
    unittest.main()
