"""Functions of a user's behind jax.ffi, compiled against jaxlib's headers: attributes, stages that
leave states, their ends and errors."""
import ctypes as C
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import jax
import numpy as np

from on_hilo import HILO, main, on, random_array

compiler = shutil.which(os.environ.get("CXX", "c++"))
if compiler is None:
    sys.exit(77)
folder = tempfile.mkdtemp()
subprocess.run([compiler, "-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-I", jax.ffi.include_dir(),
                str(Path(__file__).with_name("ffi_handlers.cpp")), "-o", f"{folder}/handlers.so"], check=True)
handlers = C.CDLL(f"{folder}/handlers.so")
shutil.rmtree(folder)
capsule = jax.ffi.pycapsule
handlers.type_of.restype = C.c_void_p


def capsule_at(address):
    new = C.PYFUNCTYPE(C.py_object, C.c_void_p, C.c_char_p, C.c_void_p)(("PyCapsule_New", C.pythonapi))
    return new(address, None, None)


jax.ffi.register_ffi_target("scale", capsule(handlers.Scale), platform="cpu")
for i, name in enumerate(("counter", "prepared")):
    jax.ffi.register_ffi_type(name, {"type_id": capsule_at(handlers.type_of(2 * i)),
                                     "type_info": capsule_at(handlers.type_of(2 * i + 1))}, platform="cpu")
stages = {"instantiate": capsule(handlers.Begin), "prepare": capsule(handlers.Prepare),
          "initialize": capsule(handlers.Initialize), "execute": capsule(handlers.Count)}
jax.ffi.register_ffi_target("count", stages, platform="cpu")
STATES, INSTANTIATED, PREPARED, INITIALIZED = range(4)


def count(first):
    return jax.ffi.ffi_call("count", jax.ShapeDtypeStruct((3,), np.int32), has_side_effect=True)(first=np.int64(first))


class Handlers(unittest.TestCase):
    def setUp(self):
        """What earlier tests compiled ends first: its states would end while another test counts them."""
        jax.clear_caches()
        gc.collect()
        end = time.monotonic() + 20
        while handlers.count_of(STATES) and time.monotonic() < end:
            time.sleep(0.001)
        self.assertEqual(handlers.count_of(STATES), 0)

    def test_attributes(self):
        x = random_array((5, 3))
        scale = lambda v: jax.ffi.ffi_call("scale", jax.ShapeDtypeStruct(v.shape, v.dtype))(v, factor=np.float32(3))
        np.testing.assert_allclose(np.asarray(on(HILO[0], lambda v: scale(v) + 1, x)), 3 * x + 1, rtol=1e-6)

    def test_states(self):
        before = [handlers.count_of(i) for i in range(4)]
        with jax.default_device(HILO[0]):
            compiled = jax.jit(lambda: (count(5), count(70))).lower().compile()
            self.assertEqual(handlers.count_of(STATES), before[STATES] + 2)
            for run in range(3):
                a, b = compiled()
                np.testing.assert_array_equal(np.asarray(a), [5 + run] * 3)
                np.testing.assert_array_equal(np.asarray(b), [70 + run] * 3)
        seen = [handlers.count_of(i) - before[i] for i in range(4)]
        self.assertEqual(seen[INSTANTIATED], 2)
        self.assertEqual((seen[PREPARED], seen[INITIALIZED]), (6, 6))
        del compiled, a, b
        gc.collect()
        jax.clear_caches()
        gc.collect()
        self.assertEqual(handlers.count_of(STATES), before[STATES])

    def test_stages_of_a_loop(self):
        before = handlers.count_of(PREPARED)
        with jax.default_device(HILO[0]):
            last = jax.jit(lambda: jax.lax.fori_loop(0, 4, lambda i, x: count(0), np.zeros(3, np.int32)))()
        np.testing.assert_array_equal(np.asarray(last), [3] * 3)
        self.assertEqual(handlers.count_of(PREPARED), before + 1)

    def test_error_of_the_first_stage(self):
        with jax.default_device(HILO[0]), self.assertRaisesRegex(Exception, "INVALID_ARGUMENT: .*counts begin at 0"):
            jax.jit(lambda: count(-1)).lower().compile()


if __name__ == "__main__":
    main()
