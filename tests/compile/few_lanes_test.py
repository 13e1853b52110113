"""Loops that read elements one by one, and windows of f16."""
import re
import unittest

from dumped import dumped


def vectors(body, processor="x86-64-v4"):
    """Types of all vectors in the code of an entry computation."""
    text = "HloModule m\n\nmost {\n  a = f16[] parameter(0)\n  b = f16[] parameter(1)\n" \
        f"  ROOT m = f16[] maximum(a, b)\n}}\n\nENTRY e {{\n{body}}}\n"
    code = dumped(text, "after.ll", "compile", "--name=m", f"--target-cpu={processor}")[0]
    return set(re.findall(r"<\d+ x \w+>", code))


def turned(element, op):
    return f"  x = {element}[48,7,23] parameter(0)\n  r = {element}[48,7,23] reverse(x), dimensions={{0}}\n" \
        f"  s = {element}[48,7,23] {op}(x, r)\n  ROOT t = {element}[23,48,7] transpose(s), dimensions={{2,0,1}}\n"


class FewLanes(unittest.TestCase):
    def test_what_is_read_one_by_one_has_four_lanes(self):
        for processor in ("x86-64-v3", "x86-64-v4"):
            found = vectors(turned("bf16", "subtract"), processor)
            self.assertIn("<4 x float>", found)
            self.assertFalse(found & {"<8 x float>", "<16 x float>"}, found)

    def test_what_stands_side_by_side_has_all(self):
        row = "  x = bf16[4096] parameter(0)\n  y = bf16[4096] parameter(1)\n  ROOT s = bf16[4096] subtract(x, y)\n"
        self.assertTrue(vectors(row) & {"<16 x float>", "<32 x float>"})

    def test_windows_of_f16_are_vectors(self):
        pool = "  x = f16[8,64,64] parameter(0)\n  z = f16[] constant(-inf)\n  ROOT r = f16[8,32,32] " \
            "reduce-window(x, z), window={size=1x3x3 stride=1x2x2 pad=0_0x0_1x0_1}, to_apply=most\n"
        found = vectors(pool)
        self.assertTrue(any(kind.endswith("x float>") for kind in found), found)

    def test_rows_of_few_complex_numbers_are_a_vector(self):
        product = "  a = c64[256,8,8] parameter(0)\n  b = c64[256,8,8] parameter(1)\n  ROOT r = c64[256,8,8] dot(a, b), " \
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}\n"
        for processor in ("x86-64-v3", "x86-64-v4"):
            self.assertIn("<8 x float>", vectors(product, processor), processor)


if __name__ == "__main__":
    unittest.main()
