"""Vectors that loops carry, in the code that is made: of any number of columns they are powers of two
or fit in a register, for a larger one of another size goes from round to round element by element
(a product with 24 columns took 5 times as long as one with 32)."""
import re
import unittest

from dumped import dumped

DOT = """HloModule m

ENTRY e {{
  x = {0}[{1},64] parameter(0)
  w = {0}[64,{2}] parameter(1)
  ROOT p = {0}[{1},{2}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""
CONVOLUTION = """HloModule m

ENTRY e {{
  x = {0}[2,9,9,{3}] parameter(0)
  w = {0}[3,3,{4},{2}] parameter(1)
  ROOT p = {0}[2,9,9,{2}] convolution(x, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f, feature_group_count={1}
}}
"""
SCORES = """HloModule m

ENTRY e {
  q = f32[6,50,20] parameter(0)
  k = f32[6,50,20] parameter(1)
  ROOT p = f32[6,50,50] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
}
"""
LEVELS = {"x86-64-v3": 256, "x86-64": 128}


class CarriedLanes(unittest.TestCase):
    def code(self, text, level):
        return "".join(dumped(text, ".after.ll", "bench", "--runs=1", HILO_PROCESSOR=level))

    def carried(self, text, level):
        return [(int(lanes), {"float": 32, "double": 64, "i32": 32}[kind])
                for lanes, kind in re.findall(r"phi <(\d+) x (\w+)>", self.code(text, level))]

    def test_they_fit_registers(self):
        texts = [DOT.format(kind, rows, columns)
                 for kind in ("f32", "f64", "s32") for rows in (1, 3) for columns in (24, 100)]
        for features in (24, 56):
            texts += [CONVOLUTION.format("f32", 1, features, 5, 5), CONVOLUTION.format("f64", 1, features, 5, 5),
                      CONVOLUTION.format("f32", features, features, features, 1)]
        for level, register in LEVELS.items():
            for text in texts:
                vectors = self.carried(text, level)
                self.assertTrue(vectors, text)
                for lanes, bits in vectors:
                    self.assertTrue(lanes & (lanes - 1) == 0 or lanes * bits <= register, (level, lanes, bits, text))

    # Short sums, as of heads of attention, would fill few lanes along themselves.
    def test_columns_of_many_rows_are_lanes(self):
        for level in LEVELS:
            self.assertNotIn("vector.reduce.fadd", self.code(SCORES, level))


if __name__ == "__main__":
    unittest.main()
