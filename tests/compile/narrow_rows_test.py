"""Rows that come from several places, or from none: of a few elements, they are read with masks; reads
of the nearest places would be gathers. Reductions read longer ones part by part."""
import platform
import re
import sys
import unittest

from dumped import dumped

if platform.machine() != "x86_64":
    sys.exit(77)
SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
PADDED = "z = f32[] constant(1)\n  ROOT r = f32[200,10] pad(x, z), padding=0_0x2_1"
JOINED = "y = f32[200,7] negate(x)\n  ROOT r = f32[200,14] concatenate(x, y), dimensions={1}"
# Rows of more elements, reduced, are read by loops between their parts.
TURNED = """b = f32[200,3] slice(x), slice={{[0:200], [{0}:{1}]}}
  f = f32[200,{0}] slice(x), slice={{[0:200], [0:{0}]}}
  t = f32[200,{1}] concatenate(b, f), dimensions={{1}}
  z = f32[] constant(0)
  ROOT r = f32[{2}] reduce(t, z), dimensions={{{3}}}, to_apply=sum"""

# A step of many states whose columns are computed of columns, joined in parts.
STATES = """a = f32[192,3] slice(x), slice={[0:192], [0:3]}
  v = f32[192,3] slice(x), slice={[0:192], [3:6]}
  p = f32[192,1] slice(x), slice={[0:192], [6:7]}
  q = f32[192,1] slice(x), slice={[0:192], [7:8]}
  r = f32[192,1] slice(x), slice={[0:192], [8:9]}
  pq = f32[192,1] multiply(p, q)
  qr = f32[192,1] multiply(q, r)
  rp = f32[192,1] multiply(r, p)
  d = f32[192,1] subtract(pq, qr)
  e = f32[192,1] subtract(qr, rp)
  g = f32[192,1] subtract(rp, pq)
  u = f32[192,3] concatenate(d, e, g), dimensions={1}
  w = f32[192,3] subtract(u, v)
  j = f32[192,9] concatenate(v, w, u), dimensions={1}
  ROOT s = f32[192,9] add(x, j)"""


class NarrowRows(unittest.TestCase):
    def code(self, body, processor, size=7, rows=200):
        text = f"HloModule m\n\n{SUM}\nENTRY e {{\n  x = f32[{rows},{size}] parameter(0)\n  {body}\n}}\n"
        return dumped(text, ".code.s", "compile", f"--target-cpu={processor}")[0]

    def test_no_gathers(self):
        for body in (PADDED, JOINED):
            for processor in ("x86-64-v3", "x86-64-v4"):
                self.assertNotIn("gather", self.code(body, processor), (body, processor))

    def test_states_are_lanes(self):
        for processor in ("x86-64-v3", "x86-64-v4"):
            code = self.code(STATES, processor, 9, 192)
            self.assertNotIn("gather", code)
            vectors, numbers = (len(re.findall(rf"\bv?(?:mul|sub|add){kind}\b", code))
                                for kind in ("ps", "ss"))
            self.assertGreaterEqual(vectors, 18, (processor, vectors, numbers))

    def test_no_gathers_in_reductions(self):
        for size in (67, 400):
            for kept, dim in ((200, 1), (size, 0)):
                body = TURNED.format(size - 3, size, kept, dim)
                for processor in ("x86-64-v3", "x86-64-v4"):
                    self.assertNotIn("gather", self.code(body, processor, size), (body, processor))


if __name__ == "__main__":
    unittest.main()
