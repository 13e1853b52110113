"""Tables of 16 numbers stay in registers, also where the last lanes of a loop are masked out."""
import unittest

from dumped import dumped


class LookedUp(unittest.TestCase):
    def test_no_number_is_gathered(self):
        for op in ("exponential", "tanh", "logistic"):
            for count in (7, 100, 1024):
                row = f"  x = f32[{count}] parameter(0)\n  y = f32[{count}] parameter(1)\n  a = f32[{count}] {op}(x)\n" \
                    f"  b = f32[{count}] {op}(y)\n  ROOT s = f32[{count}] subtract(a, b)\n"
                code = dumped(f"HloModule m\n\nENTRY e {{\n{row}}}\n", "code.s", "compile", "--name=m",
                              "--target-cpu=x86-64-v4")[0]
                self.assertNotIn("vgather", code, (op, count))
                self.assertIn("vpermps", code, (op, count))


if __name__ == "__main__":
    unittest.main()
