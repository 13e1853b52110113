"""JAX runs on the plugin: values are NumPy's; donation, zero copies, several devices, stages and
errors are what JAX's users know."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLUGIN = Path(os.environ["HILO_BUILD"]) / "libhilo_pjrt.so"
os.environ.update(PJRT_NAMES_AND_LIBRARY_PATHS=f"hilo:{PLUGIN}", JAX_PLATFORMS="hilo", HILO_DEVICES="4")

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    print("skipped: jax is absent (scripts/setup --peers installs it)")
    sys.exit(77)
from jax.sharding import NamedSharding, PartitionSpec

X = np.arange(32, dtype=np.float32).reshape(8, 4)


class Jax(unittest.TestCase):
    def test_devices(self):
        self.assertEqual([d.device_kind for d in jax.devices()], ["Hilo CPU"] * 4)

    def test_values(self):
        close = np.testing.assert_allclose
        close(jax.jit(lambda x: x + 1)(X), X + 1)
        close(jnp.sort(jnp.array([3.0, 1, 2])), [1, 2, 3])
        close(jax.jit(jax.grad(lambda x: (x**3).sum()))(X), 3 * X**2)
        close(jax.lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(4.0))[1], [0, 0, 1, 3])
        close(jnp.linalg.eigvalsh(X[:4] + X[:4].T), np.linalg.eigvalsh(X[:4] + X[:4].T), rtol=1e-3, atol=1e-4)
        close(jnp.fft.fft(jnp.arange(8.0)).real, np.fft.fft(np.arange(8)).real, atol=1e-5)
        self.assertEqual(list(jnp.array([1, -2], jnp.int4) + jnp.array([1, 1], jnp.int4)), [2, -1])

    def test_long_programs(self):
        step = jax.jit(lambda a, b: a @ b / 256)
        a = b = jnp.ones((256, 256))
        for _ in range(40):
            a = step(a, b)
        np.testing.assert_array_equal(a, np.ones((256, 256)))

    def test_donation(self):
        x = jnp.ones(1000)
        view = np.asarray(x)
        y = jax.jit(lambda v: v * 2, donate_argnums=0)(x)
        self.assertTrue(x.is_deleted())
        self.assertEqual((float(y[0]), float(view[0])), (2, 1))

    def test_arrays_are_not_copied(self):
        host = np.zeros(1 << 20, np.float32)
        array = jax.device_put(host)
        self.assertEqual(array.unsafe_buffer_pointer(), host.ctypes.data)
        self.assertEqual(np.asarray(array).ctypes.data, host.ctypes.data)

    def test_shardings(self):
        mesh = jax.make_mesh((2, 2), ("x", "y"))
        cut = NamedSharding(mesh, PartitionSpec("x", "y"))
        x = jax.device_put(X, cut)
        np.testing.assert_array_equal(x, X)
        y = jax.jit(lambda v: v.T + 1, out_shardings=NamedSharding(mesh, PartitionSpec("y", "x")))(x)
        np.testing.assert_array_equal(y, X.T + 1)
        self.assertEqual(y.addressable_shards[1].data.shape, (2, 4))
        total = jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=PartitionSpec("x", "y"),
                              out_specs=PartitionSpec(None, "y"))
        np.testing.assert_array_equal(jax.jit(total)(x), X[:4] + X[4:])

    def test_stages(self):
        compiled = jax.jit(lambda x: x + 1).lower(X).compile()
        self.assertTrue(compiled.as_text().startswith("HloModule jit"))
        self.assertEqual(compiled.cost_analysis()["flops"], 32)
        self.assertEqual(compiled.memory_analysis().argument_size_in_bytes, 128)

    def test_dumps(self):
        forms = {"text": (".txt",), "proto": (".hlo.pb",), "text proto": (".hlo.pb", ".txt"), "": (".txt",)}
        for number, (named, endings) in enumerate(forms.items()):
            with self.subTest(named), tempfile.TemporaryDirectory() as folder:
                options = {f"xla_dump_hlo_as_{form}": number % 2 == 0 or "true" for form in named.split()}
                jax.jit(lambda x: x * 3, compiler_options={"xla_dump_to": folder, **options})(X)
                self.assertEqual(sorted({name[name.index("optimizations") + 13:] for name in os.listdir(folder)}),
                                 list(endings))
                self.assertEqual(len(os.listdir(folder)), 2 * len(endings))
                for path in Path(folder).iterdir():
                    subprocess.run([Path(os.environ["HILO_BUILD"]) / "hilo", "check", path], check=True)

    def test_errors(self):
        for options, message in (({"colour": "red"}, "No such compile option: 'colour'"),
                                 ({"xla_dump_hlo_as_text": "perhaps"}, "'perhaps' is not a valid bool value.")):
            with self.assertRaisesRegex(Exception, "INVALID_ARGUMENT: .*" + message):
                jax.jit(lambda x: x + 2, compiler_options=options)(X)


if __name__ == "__main__":
    unittest.main(verbosity=2)
