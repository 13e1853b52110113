"""With AVX2, constants of long computations are operands in memory; divisions by one number are shared with the
multipliers."""
import re
import unittest

from dumped import dumped

EXPONENTIAL = """HloModule m

ENTRY e {
  x = f32[4096] parameter(0)
  ROOT y = f32[4096] exponential(x)
}
"""
QUOTIENTS = """HloModule m

ENTRY e {
  x = f32[64,4096] parameter(0)
  y = f32[64] parameter(1)
  z = f32[64,4096] broadcast(y), dimensions={0}
  ROOT q = f32[64,4096] divide(x, z)
}
"""


def code(text, stage, processor):
    return "".join(dumped(text, stage, "compile", "--name=m", f"--target-cpu={processor}"))


class VectorConstants(unittest.TestCase):
    def test_constants_are_operands(self):
        operand = r"vfmadd\d+ps\s+\.?\S*number_[0-9A-F]+_16\S*\(%rip\)"
        self.assertGreater(len(re.findall(operand, code(EXPONENTIAL, "code.s", "x86-64-v3"))), 4)
        for processor in ("x86-64-v2", "x86-64-v4"):
            self.assertNotIn("number_", code(EXPONENTIAL, "code.s", processor), processor)

    def test_few_constants_stay_in_registers(self):
        few = EXPONENTIAL.replace("exponential(x)", "multiply(x, x)")
        self.assertNotIn("number_", code(few, "code.s", "x86-64-v3"))

    def test_every_other_vector_is_multiplied(self):
        for processor, choice in (("x86-64-v3", "usub.sat"), ("x86-64-v4", "icmp ugt")):
            found = code(QUOTIENTS, "after.ll", processor)
            self.assertIn("@llvm.fma", found, processor)
            self.assertIn(choice, found, processor)
        self.assertNotIn("@llvm.fma", code(QUOTIENTS, "after.ll", "x86-64-v2"))


if __name__ == "__main__":
    unittest.main()
