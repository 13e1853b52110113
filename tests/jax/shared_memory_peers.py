"""Arrays that share memory: results in place of operands, dlpack's views, types of fewer than 8 bits."""
import unittest

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax._src.lib import _jax
from jax.experimental import buffer_callback

from on_hilo import HILO, main, on

X = np.arange(12, dtype=np.float32).reshape(3, 4)
BYTES = ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
NARROW = ("int2", "uint2", "int4", "uint4", "float4_e2m1fn")


class InPlace(unittest.TestCase):
    """Calls whose results stand in place of operands."""

    def called(self, function, *arguments, aliases):
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arguments]
        call = buffer_callback.buffer_callback(function, shapes, input_output_aliases=aliases)
        return [np.asarray(y) for y in on(HILO[0], call, *arguments)]

    def test_of_an_argument(self):
        seen = []

        def add(context, results, x):
            seen.append(np.asarray(x).ctypes.data == np.asarray(results[0]).ctypes.data)
            np.asarray(results[0])[...] += 10

        x = X.copy()
        y, = self.called(add, x, aliases={0: 0})
        np.testing.assert_array_equal(y, X + 10)
        np.testing.assert_array_equal(x, X)  # the caller's own
        self.assertEqual(seen, [True])

    def test_crosswise(self):
        seen = []

        def add(context, results, a, b):
            first, second = map(np.asarray, results)
            seen.extend([np.asarray(a).ctypes.data == second.ctypes.data, np.asarray(b).ctypes.data == first.ctypes.data])
            first[...] += 1
            second[...] += 2

        first, second = self.called(add, X, X * 10, aliases={0: 1, 1: 0})
        np.testing.assert_array_equal(first, X * 10 + 1)
        np.testing.assert_array_equal(second, X + 2)
        self.assertEqual(seen, [True, True])

    def test_operands_that_are_read_later(self):
        def negate(context, result, x):
            np.negative(np.asarray(x), out=np.asarray(result))

        call = buffer_callback.buffer_callback(negate, jax.ShapeDtypeStruct(X.shape, X.dtype), input_output_aliases={0: 0})

        def function(x):
            z = x * 2
            return call(z) + z * 3

        np.testing.assert_array_equal(np.asarray(on(HILO[0], function, X)), X * 4)


class Dlpack(unittest.TestCase):
    def view_of(self, array, copy=None):
        return _jax.dlpack_managed_tensor_to_buffer(array.__dlpack__(), HILO[0], None, copy)

    def test_any_address_of_an_element(self):
        for dtype in ("int8", "bool", "float16", "int32", "float64", "complex64"):
            with self.subTest(dtype), jax.enable_x64(True):
                size = np.dtype(dtype).itemsize
                memory = np.zeros(64 + 5 * size, np.int8)
                at = -memory.ctypes.data % 64 + min(size, 8)
                array = memory[at:at + 5 * size].view(dtype)
                array[...] = [1, 0, 1, 1, 0]
                view = self.view_of(array)
                self.assertEqual(view.unsafe_buffer_pointer(), array.ctypes.data)
                np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x * x)(view)), array * array)

    def test_between_elements(self):
        memory = np.zeros(64, np.int8)
        at = -memory.ctypes.data % 4 + 1
        array = memory[at:at + 20].view(np.float32)
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "is not aligned to 4 bytes"):
            self.view_of(array, copy=False)
        array[...] = 3
        np.testing.assert_array_equal(np.asarray(jnp.from_dlpack(array, device=HILO[0])), array)

    def test_floats_of_a_byte(self):
        for name in BYTES:
            with self.subTest(name):
                array = np.array([1, -2, 0.5, 3], getattr(ml_dtypes, name))
                x = jax.device_put(array, HILO[0])
                there = jax.dlpack.from_dlpack(x)
                self.assertEqual(there.dtype, array.dtype)
                np.testing.assert_array_equal(np.asarray(there), array)
                back = self.view_of(there)
                np.testing.assert_array_equal(np.asarray(back), array)

    def test_booleans(self):
        array = np.array([True, False, True])
        np.testing.assert_array_equal(np.from_dlpack(jax.device_put(array, HILO[0])), array)

    def test_fewer_bits_than_a_byte(self):
        for name in NARROW:
            with self.subTest(name):
                array = np.array([1, 0, 1, 1], getattr(ml_dtypes, name))
                x = jax.device_put(array, HILO[0])
                np.testing.assert_array_equal(np.asarray(x), array)
                with self.assertRaisesRegex(Exception, "UNIMPLEMENTED"):
                    jax.dlpack.from_dlpack(x)  # others would read two to a byte


if __name__ == "__main__":
    main()
