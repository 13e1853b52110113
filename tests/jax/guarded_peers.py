"""Programs read arguments of NumPy where they lie, and nothing behind them: each ends where the next page must not be
touched, so that a read beyond it ends the process."""
import ctypes
import mmap

import jax
import jax.numpy as jnp
import numpy as np

from on_hilo import HILO, Compared, main, on, random_array

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def guarded(array):
    """A copy of an array that ends at the end of a page, before one that nobody may touch."""
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    start = libc.mmap(None, size + page, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert libc.mprotect(start + size, page, 0) == 0
    memory = (ctypes.c_char * array.nbytes).from_address(start + size - array.nbytes)
    out = np.frombuffer(memory, array.dtype).reshape(array.shape)
    out[...] = array
    return out


PROGRAMS = {
    "add": lambda x: x + x, "sum": lambda x: x.sum(), "columns": lambda x: x.sum(0), "scan": lambda x: jnp.cumsum(x, -1),
    "join": lambda x: jnp.concatenate([x, x[..., :3]], -1), "sort": lambda x: jnp.sort(x, -1), "greatest": lambda x: x.argmax(-1),
    "product": lambda x: x @ x.T, "transpose": lambda x: x.T + x.T, "reverse": lambda x: x[..., ::-1], "gather": lambda x: x[..., jnp.array([0, 2, 1])],
    "softmax": lambda x: jax.nn.softmax(x.astype("float32"), -1), "select": lambda x: jnp.where(x > 1, x, x[0]), "convolve": lambda x: jnp.convolve(x.ravel().astype("float32"), jnp.ones(3)),
}


class Guarded(Compared):
    """Of odd sizes, so that vectors do not end with them."""

    def test_programs(self):
        for dtype in ("float32", "int8", "bfloat16", "int32"):
            for shape in ((41, 129), (70, 257)):  # small ones are copied
                value = guarded(random_array(shape, dtype=dtype))
                self.assertEqual(jax.device_put(value, HILO[0]).unsafe_buffer_pointer(), value.ctypes.data)
                for name, program in PROGRAMS.items():
                    with self.subTest(name, dtype=dtype, shape=shape):
                        on(HILO[0], program, value)


if __name__ == "__main__":
    main()
