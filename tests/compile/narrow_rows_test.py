"""Rows of a few elements that come from several places, or from none, are read with masks: reads of
the nearest places would be gathers."""
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
PADDED = "z = f32[] constant(1)\n  ROOT r = f32[200,10] pad(x, z), padding=0_0x2_1"
JOINED = "y = f32[200,7] negate(x)\n  ROOT r = f32[200,14] concatenate(x, y), dimensions={1}"


class NarrowRows(unittest.TestCase):
    def code(self, body, processor):
        with tempfile.TemporaryDirectory() as folder:
            path, dumped = os.path.join(folder, "m.hlo"), os.path.join(folder, "dump")
            with open(path, "w") as file:
                file.write(f"HloModule m\n\nENTRY e {{\n  x = f32[200,7] parameter(0)\n  {body}\n}}\n")
            subprocess.run([HILO, "compile", path, "-o", os.path.join(folder, "m.o"), f"--target-cpu={processor}",
                            f"--dump-to={dumped}"], check=True, capture_output=True)
            with open(glob.glob(os.path.join(dumped, "*.code.s"))[0]) as file:
                return file.read()

    def test_no_gathers(self):
        for body in (PADDED, JOINED):
            for processor in ("x86-64-v3", "x86-64-v4"):
                self.assertNotIn("gather", self.code(body, processor), (body, processor))


if __name__ == "__main__":
    unittest.main()
