"""Tables of 16 numbers stay in registers, also where the last lanes of a loop are masked out, and what is read at
computed places does not make single elements of a long computation."""
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

    def test_long_computations_are_vectors_where_gathers_are_slow(self):
        text = """HloModule m

ENTRY e {
  x = f32[4,21] parameter(0)
  table = f32[4,20] parameter(1)
  places = s32[4,21,1] parameter(2)
  read = f32[4,21] gather(table, places), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}
  exp = f32[4,21] exponential(x)
  log = f32[4,21] log-plus-one(exp)
  tangent = f32[4,21] tanh(log)
  power = f32[4,21] exponential(tangent)
  ROOT sum = f32[4,21] add(power, read)
}
"""
        code = dumped(text, "code.s", "compile", "--name=m", "--target-cpu=x86-64-v3")[0]
        self.assertIn("vfmadd213ps", code)
        self.assertNotIn("vfmadd213ss", code)


if __name__ == "__main__":
    unittest.main()
