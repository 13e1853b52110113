"""What a processor has and code is better without: SSE4A of AMD's, which has no form of AVX."""
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
        with tempfile.TemporaryDirectory() as folder:
            path, dumped = os.path.join(folder, "m.hlo"), os.path.join(folder, "dump")
            with open(path, "w") as file:
                file.write(PLACES)
            subprocess.run([HILO, "compile", path, "-o", os.path.join(folder, "m.o"), "--target-cpu=znver3",
                            f"--dump-to={dumped}"], check=True, capture_output=True)
            with open(glob.glob(os.path.join(dumped, "*.code.s"))[0]) as file:
                code = file.read()
        self.assertIn("ymm", code)
        self.assertNotRegex(code, "insertq|extrq")


if __name__ == "__main__":
    unittest.main()
