"""What a processor has and code is better without: SSE4A of AMD's, which has no form of AVX."""
import platform
import sys
import unittest

from dumped import dumped

if platform.machine() != "x86_64":
    sys.exit(77)
# LLVM has put the rows of seven 16-bit numbers together with `insertq`.
PLACES = """HloModule m

largest {
  a = bf16[] parameter(0)
  i = s64[] parameter(1)
  b = bf16[] parameter(2)
  k = s64[] parameter(3)
  g = pred[] compare(a, b), direction=GE
  v = bf16[] select(g, a, b)
  p = s64[] select(g, i, k)
  ROOT t = (bf16[], s64[]) tuple(v, p)
}
ENTRY e {
  x = bf16[80000,7] parameter(0)
  i = s64[80000,7] iota(), iota_dimension=1
  n = bf16[] constant(-inf)
  z = s64[] constant(0)
  r = (bf16[80000], s64[80000]) reduce(x, i, n, z), dimensions={1}, to_apply=largest
  ROOT p = s64[80000] get-tuple-element(r), index=1
}
"""


class ProcessorFeatures(unittest.TestCase):
    def test_no_sse4a(self):
        code = dumped(PLACES, ".code.s", "compile", "--target-cpu=znver3")[0]
        self.assertIn("ymm", code)
        self.assertNotRegex(code, "insertq|extrq")


if __name__ == "__main__":
    unittest.main()
