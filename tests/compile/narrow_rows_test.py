"""Rows that come from several places, or from none: of a few elements, they are read with masks; reads
of the nearest places would be gathers. Reductions read longer ones part by part."""
import platform
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


class NarrowRows(unittest.TestCase):
    def code(self, body, processor, size=7):
        text = f"HloModule m\n\n{SUM}\nENTRY e {{\n  x = f32[200,{size}] parameter(0)\n  {body}\n}}\n"
        return dumped(text, ".code.s", "compile", f"--target-cpu={processor}")[0]

    def test_no_gathers(self):
        for body in (PADDED, JOINED):
            for processor in ("x86-64-v3", "x86-64-v4"):
                self.assertNotIn("gather", self.code(body, processor), (body, processor))

    def test_no_gathers_in_reductions(self):
        for size in (67, 400):
            for kept, dim in ((200, 1), (size, 0)):
                body = TURNED.format(size - 3, size, kept, dim)
                for processor in ("x86-64-v3", "x86-64-v4"):
                    self.assertNotIn("gather", self.code(body, processor, size), (body, processor))


if __name__ == "__main__":
    unittest.main()
