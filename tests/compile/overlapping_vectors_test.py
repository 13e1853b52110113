"""Loops over elements that are no whole number of vectors end with a vector that overlaps the one before
it: there is no code for single elements, but where a loop reads what it writes over."""
import platform
import sys
import unittest

from dumped import dumped

if platform.machine() != "x86_64":
    sys.exit(77)
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
        return dumped(module, ".after.ll", "compile", "--target-cpu=x86-64-v3")[0].count("fmul float ")

    def test_no_single_elements(self):
        self.assertEqual(self.single_products(APART), 0)

    def test_what_is_written_over(self):
        self.assertGreater(self.single_products(OVER), 0)


if __name__ == "__main__":
    unittest.main()
