"""What is seldom needed is jumped over by vectors that LLVM makes of a loop, too."""
import re
import unittest

from dumped import dumped

# Places of three numbers that lie side by side; a remainder of numbers far apart takes many divisions.
REMAINDER = """HloModule m

ENTRY e {
  x = f32[1000,3] parameter(0)
  a = f32[1000,1] slice(x), slice={[0:1000], [0:1]}
  b = f32[1000,1] slice(x), slice={[0:1000], [1:2]}
  six = f32[] constant(6)
  sixes = f32[1000,1] broadcast(six), dimensions={}
  r = f32[1000,1] remainder(a, sixes)
  ROOT c = f32[1000,3] concatenate(b, r, b), dimensions={1}
}
"""


class SelectToBranch(unittest.TestCase):
    def test_far_remainders_are_jumped_over(self):
        for processor in ("x86-64-v3", "x86-64-v4"):
            code = "".join(dumped(REMAINDER, "after.ll", "compile", "--name=m", f"--target-cpu={processor}"))
            blocks = re.split(r"\n\n", code)
            far = [block for block in blocks if re.search(r"fdiv <\d+ x double> .*0x4FD8000000000000", block)]
            self.assertTrue(far, processor)
            for block in far:  # of vectors: a block that another one jumps to
                self.assertRegex(block, r"^\d+: +; preds = %\d+\n", (processor, block[:300]))
                label = block.split(":")[0]
                self.assertRegex(code, rf"br i1 %\d+, label %{label}, label %\d+, !prof", processor)


if __name__ == "__main__":
    unittest.main()
