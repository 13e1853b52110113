"""HILO_PROCESSOR: a process as on a lesser processor runs no other instructions and gives the same
values, up to rounding."""

import os
import platform
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if platform.machine() != "x86_64":
    sys.exit(77)
COMMAND = os.environ["HILO_COMMAND"]
LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")

MODULE = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  a = f32[150,300] parameter(0)
  b = f32[300,90] parameter(1)
  image = f32[2,20,20,16] parameter(2)
  filter = f32[3,3,16,32] parameter(3)
  zero = f32[] constant(0)
  product = f32[150,90] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  turned = f32[300,300] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  few = f32[3,300] slice(a), slice={[0:3], [0:300]}
  few_rows = f32[3,90] dot(few, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a16 = bf16[150,300] convert(a)
  b16 = bf16[300,90] convert(b)
  product16 = bf16[150,90] dot(a16, b16), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ah = f16[150,300] convert(a)
  bh = f16[300,90] convert(b)
  product_f16 = f16[150,90] dot(ah, bh), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a64 = f64[150,300] convert(a)
  b64 = f64[300,90] convert(b)
  product64 = f64[150,90] dot(a64, b64), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  convolution = f32[2,20,20,32] convolution(image, filter), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  spectrum = c64[150,151] fft(a), fft_type=RFFT, fft_length={300}
  sorted = f32[150,300] sort(a), dimensions={1}, to_apply=less
  functions = f32[150,300] tanh(a)
  sines = f32[150,300] sine(a)
  sums = f32[150] reduce(a, zero), dimensions={1}, to_apply=add
  ROOT all = (f32[150,90], f32[300,300], f32[3,90], bf16[150,90], f16[150,90], f64[150,90], f32[2,20,20,32], c64[150,151], f32[150,300], f32[150,300], f32[150,300], f32[150]) tuple(product, turned, few_rows, product16, product_f16, product64, convolution, spectrum, sorted, functions, sines, sums)
}
"""

SMALL_PRODUCTS = """HloModule m
ENTRY main {
  a = f32[64,32,32] parameter(0)
  b = f32[64,32,32] parameter(1)
  image = f32[2,20,24,16] parameter(2)
  filter = f32[3,3,16,32] parameter(3)
  convolution = f32[2,20,24,32] convolution(image, filter), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  product = f32[64,32,32] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  turned = f32[64,32,32] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  ROOT all = (f32[64,32,32], f32[2,20,24,32], f32[64,32,32]) tuple(product, convolution, turned)
}
"""

FACTORS = """HloModule m
ENTRY main {
  a = f64[4,4]{0,1} parameter(0)
  factors = (f64[4,4]{0,1}, f64[4]{0}) custom-call(a), custom_call_target="lapack_dgeqrf_ffi", operand_layout_constraints={f64[4,4]{0,1}}, api_version=API_VERSION_TYPED_FFI
  ROOT r = f64[4,4]{0,1} get-tuple-element(factors), index=0
}
"""


def run(level, *options, **variables):
    environment = dict(os.environ, HILO_PROCESSOR=level)
    for name in ("HILO_CACHE", "OPENBLAS_CORETYPE"):
        environment.pop(name, None)
    environment |= variables
    return subprocess.run([COMMAND, "run", *options], env=environment, capture_output=True, text=True)


class Processors(unittest.TestCase):
    def test_lesser_ones_give_the_same_values(self):
        with tempfile.TemporaryDirectory() as folder:
            module, values = Path(folder, "m.hlo"), Path(folder, "values.npz")
            module.write_text(MODULE)
            done = run("", module, "--seed=3", "--device=eval", "--save", values)
            self.assertEqual(done.returncode, 0, done.stderr)
            for level in LEVELS:
                for device in ("cpu", "eval"):
                    done = run(level, module, "--seed=3", "--expected", values, "--rtol=1e-2",
                               "--atol=1e-3", f"--device={device}")
                    if "which this machine lacks" in done.stderr:
                        continue
                    if device == "cpu" and "libhilo_emit" in done.stderr:
                        continue
                    self.assertEqual(done.returncode, 0, f"{level} {device} {done.stderr}")

    def assembly_of(self, module, level):
        """Of each part of the module's code; None where this machine cannot run or make it."""
        folder = Path(module.parent, level)
        done = run(level, module, "--device=cpu", f"--dump-to={folder}")
        if "which this machine lacks" in done.stderr or "libhilo_emit" in done.stderr:
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        assembly = [file.read_text() for file in folder.rglob("*.s")]
        self.assertTrue(assembly)
        return assembly

    def test_code_keeps_to_the_level(self):
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder, "m.hlo")
            module.write_text(MODULE)
            for level, forbidden in (("x86-64", "ymm"), ("x86-64-v2", "ymm"), ("x86-64-v3", "zmm")):
                for text in self.assembly_of(module, level) or ():
                    self.assertFalse(forbidden in text, f"{level} has {forbidden}")

    def test_sums_stay_in_registers(self):
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder, "m.hlo")
            module.write_text(SMALL_PRODUCTS)
            for level in LEVELS:
                assembly = self.assembly_of(module, level) or ()
                kept = sum(len(re.findall(r"mm\d+, -?\d*\(%r[sb]p", text)) for text in assembly)
                self.assertLess(kept, 10, f"{level}: vectors are kept in memory")

    def test_openblas_knows_the_processor(self):
        machine = Path("/proc/cpuinfo").read_text()
        if "GenuineIntel" not in machine:
            self.skipTest("OpenBLAS is told of Intel's")
        expected = (("x86-64-v3", "avx2", {}, "Haswell"), ("x86-64-v4", "avx512dq", {}, "SkylakeX"),
                    ("x86-64-v3", "avx2", {"OPENBLAS_CORETYPE": "Nehalem"}, "Nehalem"))
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder, "m.hlo")
            module.write_text(FACTORS)
            for level, feature, variables, core in expected:
                if feature not in machine:
                    continue
                done = run(level, module, "--device=eval", OPENBLAS_VERBOSE="2", **variables)
                found = re.search("^Core: (.*)", done.stderr, re.MULTILINE)
                if not found:
                    self.skipTest("there is no OpenBLAS")
                self.assertEqual(found[1], core)


if __name__ == "__main__":
    unittest.main()
