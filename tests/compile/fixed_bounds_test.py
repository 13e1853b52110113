"""A kernel that no threads share goes round as often as is known when its code is made; one of a few
rounds stores no vector under a mask, for the next one would wait for it."""
import os
import platform
import re
import subprocess
import tempfile
import unittest

from dumped import HILO, dumped

SUMS = """HloModule m

ENTRY e {{
  x = f32[{0}] parameter(0)
  y = f32[{0}] parameter(1)
  z = f32[{0}] multiply(x, y)
  r = f32[{0}] reverse(z), dimensions={{0}}
  ROOT s = f32[{0}] add(r, x)
}}
"""
RUNNING = """HloModule m

sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}

ENTRY e {
  x = s32[10] parameter(0)
  zero = s32[] constant(0)
  ROOT s = s32[10] reduce-window(x, zero), window={size=10 pad=9_0}, to_apply=sum
}
"""
POOL = """HloModule m

largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

ENTRY e {
  x = f32[4,27,27,COUNT] parameter(0)
  low = f32[] constant(-inf)
  ROOT r = f32[4,14,14,COUNT] reduce-window(x, low), window={size=1x13x13x1 stride=1x2x2x1 pad=0_0x6_6x6_6x0_0}, to_apply=largest
}
"""
PLACES = """HloModule m

later {
  a = f32[] parameter(0)
  i = s64[] parameter(1)
  b = f32[] parameter(2)
  j = s64[] parameter(3)
  ge = pred[] compare(a, b), direction=GE
  v = f32[] select(ge, a, b)
  k = s64[] select(ge, i, j)
  ROOT t = (f32[], s64[]) tuple(v, k)
}

ENTRY e {
  x = f32[6,9,8] parameter(0)
  i = s64[6,9,8] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s64[] constant(0)
  ROOT r = (f32[6,8], s64[6,8]) reduce(x, i, low, zero), dimensions={1}, to_apply=later
}
"""


# Masks differ: none, of 32 and 64 bits, of all types. Objects may be made for processors that are not here.
PROCESSORS = ("x86-64", "x86-64-v3", "x86-64-v4") if platform.machine() == "x86_64" else ("native",)


class FixedBounds(unittest.TestCase):
    def code(self, text, *command, stage="after.ll"):
        code = "".join(dumped(text, f".{stage}", *command))
        self.assertIn("define" if stage == "after.ll" else "ret", code)
        return code

    def for_each_processor(self, text):
        for processor in PROCESSORS:
            yield processor, self.code(text, "compile", f"--target-cpu={processor}")

    def kernel(self, size):
        """Its code, and the names of its bounds."""
        code = self.code(SUMS.format(size), "bench", "--runs=1")
        found = re.search(r'define [^\n]*"1\.[^\n]*i64 (%\d+), i64 (%\d+)\)[^\n]*\{\n(.*?)\n\}', code, re.DOTALL)
        self.assertTrue(found, code)
        return found.group(3), found.group(1, 2)

    # Sums of a window stand in the frame and are added to at once.
    def test_sums_of_few_elements_have_no_masks(self):
        for processor, code in self.for_each_processor(POOL.replace("COUNT", "10")):
            self.assertNotIn("masked.store", code, processor)

    # The greatest so far and its place stand in the frame: a part of a vector would be waited for.
    @unittest.skipIf(platform.machine() != "x86_64", "code of x86")
    def test_choices_are_stored_whole(self):
        code = self.code(PLACES, "compile", "--target-cpu=x86-64-v3", stage="s")
        self.assertIn("vblendv", code)
        self.assertNotIn("vmaskmov", code)
        self.assertNotIn("vpmaskmov", code)

    def test_nothing_is_said_of_loops_without_vectors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.hlo")
            with open(path, "w") as file:
                file.write(RUNNING)
            done = subprocess.run([HILO, "bench", path, "--runs=1"], check=True, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")

    def is_used(self, code, name):
        return re.search(re.escape(name) + r"\b", code) is not None

    def test_small_ones_know_their_bounds(self):
        for size in (3, 7, 24, 1000):
            code, bounds = self.kernel(size)
            self.assertFalse(any(self.is_used(code, name) for name in bounds), code)

    def test_large_ones_are_shared(self):
        code, bounds = self.kernel(1 << 20)
        self.assertTrue(all(self.is_used(code, name) for name in bounds), code)

    def test_few_elements_have_no_masks(self):
        for size in (2, 3, 5, 7, 11, 15):
            self.assertNotIn("masked.store", self.kernel(size)[0])
            for processor, code in self.for_each_processor(SUMS.format(size)):
                self.assertNotIn("masked.store", code, (processor, size))


if __name__ == "__main__":
    unittest.main()
