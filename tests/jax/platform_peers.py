"""What a platform does besides computing: arrays, donation, callbacks, devices, export, errors, threads."""
import gc
import io
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import buffer_callback, io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from on_hilo import CPU, HILO, SOURCE, Compared, main, on, random_array
from hilo import jax_plugin

X = random_array((8, 6))


class Starting(unittest.TestCase):
    def test_twice_is_once(self):
        before = jax.devices("hilo")
        jax_plugin.initialize()
        self.assertEqual(jax.devices("hilo"), before)
        self.assertEqual(float(jax.jit(lambda x: x + 1)(jax.device_put(1.0, HILO[0]))), 2)


class Cache(unittest.TestCase):
    """The folder of machine code that HILO_CACHE names, and its bound."""

    def run_cached(self, folder, size):
        code = ("import jax; from hilo import jax_plugin; jax_plugin.initialize(); import jax.numpy as jnp\n"
                "for n in range(3, 9): jax.jit(lambda x: jnp.sin(x @ x).sum(0))(jnp.ones((n, n))).block_until_ready()\n"
                "print(jax.devices()[0].client.platform_version)")
        environment = dict(os.environ, JAX_PLATFORMS="hilo", HILO_CACHE=folder, HILO_CACHE_SIZE=size,
                           PYTHONPATH=str(SOURCE / "python"))
        return subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)

    def test_size_of_the_cache(self):
        sizes = {}
        for size in ("1GiB", "24KiB"):
            with tempfile.TemporaryDirectory() as folder:
                done = self.run_cached(folder, size)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("hilo", done.stdout)
                sizes[size] = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        self.assertLessEqual(sizes["24KiB"], 24 << 10)
        self.assertGreater(sizes["1GiB"], 24 << 10)

    def test_size_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_cached(folder, "much")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("HILO_CACHE_SIZE", done.stderr)


class Arrays(unittest.TestCase):
    """Buffers as users see them."""

    def put(self, value, device=0):
        return jax.device_put(value, HILO[device])

    def test_there_and_back(self):
        for dtype in ("float32", "float64", "int8", "uint16", "bool", "complex64", "bfloat16", "float16"):
            with self.subTest(dtype), jax.enable_x64(True):
                value = random_array((3, 5), dtype)
                np.testing.assert_array_equal(np.asarray(self.put(value)), value)

    def test_strided_arguments(self):
        base = np.arange(48, dtype=np.float32).reshape(6, 8)
        for view in (base.T, base[::2, ::3], base[::-1], np.asfortranarray(base), base[:0], np.broadcast_to(base[0], (4, 8))):
            np.testing.assert_array_equal(np.asarray(self.put(view)), view)

    def test_scalars_and_empty(self):
        self.assertEqual(float(self.put(np.float32(2.5))), 2.5)
        self.assertEqual(self.put(np.zeros((3, 0, 2), np.int32)).shape, (3, 0, 2))

    def test_result_to_numpy_is_a_view(self):
        y = on(HILO[0], lambda x: x + 1, X)
        self.assertEqual(np.asarray(y).ctypes.data, y.unsafe_buffer_pointer())

    def test_argument_is_a_view(self):
        memory = np.zeros(1 << 20, np.float32)
        self.assertEqual(self.put(memory).unsafe_buffer_pointer(), memory.ctypes.data)

    def test_argument_outlives_its_array(self):
        y = self.put(np.full(1 << 20, 3, np.float32))
        gc.collect()
        self.assertEqual(float(jnp.sum(y)), 3 * (1 << 20))

    def test_delete(self):
        x = self.put(X)
        x.delete()
        self.assertTrue(x.is_deleted())
        with self.assertRaisesRegex(RuntimeError, "deleted"):
            np.asarray(x)

    def test_delete_while_in_use(self):
        x = self.put(X)
        y = jax.jit(lambda a: a @ a.T)(x)
        x.delete()
        np.testing.assert_allclose(np.asarray(y), X @ X.T, rtol=1e-5)

    def test_donation(self):
        step = jax.jit(lambda x: x * 2, donate_argnums=0)
        x = self.put(X)
        before = x.unsafe_buffer_pointer()
        y = step(x)
        self.assertTrue(x.is_deleted())
        np.testing.assert_array_equal(np.asarray(y), X * 2)
        for _ in range(3):
            y = step(y)
        np.testing.assert_array_equal(np.asarray(y), X * 16)
        self.assertIsInstance(before, int)

    def test_donated_view_keeps_the_callers_array(self):
        memory = np.ones(1 << 16, np.float32)
        y = jax.jit(lambda x: x * 2, donate_argnums=0)(self.put(memory))
        self.assertEqual((float(memory[0]), float(y[0])), (1, 2))

    def test_between_devices(self):
        x = self.put(X)
        y = jax.device_put(x, HILO[2])
        self.assertEqual(y.devices(), {HILO[2]})
        np.testing.assert_array_equal(np.asarray(y), X)

    def test_to_the_other_platform(self):
        y = jax.device_put(self.put(X) + 1, CPU[0])
        np.testing.assert_array_equal(np.asarray(y), X + 1)

    def test_dlpack(self):
        y = np.from_dlpack(self.put(X) + 1)
        np.testing.assert_array_equal(y, X + 1)

    def test_memory_kinds(self):
        self.assertIn("device", {memory.kind for memory in HILO[0].addressable_memories()})
        host = jax.device_put(X, jax.sharding.SingleDeviceSharding(HILO[0], memory_kind="pinned_host"))
        self.assertEqual(host.sharding.memory_kind, "pinned_host")
        np.testing.assert_array_equal(np.asarray(host), X)

    def test_memory_stats(self):
        before = HILO[0].memory_stats()
        x = jax.block_until_ready(jax.jit(lambda a: a + 1)(jax.device_put(np.zeros((512, 512), np.float32), HILO[0])))
        held = HILO[0].memory_stats()
        self.assertGreaterEqual(held["bytes_in_use"], x.nbytes)
        self.assertGreaterEqual(held["peak_bytes_in_use"], held["bytes_in_use"])
        self.assertGreater(held["num_allocs"], before["num_allocs"])
        self.assertGreater(held["bytes_limit"], held["bytes_in_use"])
        del x
        gc.collect()
        self.assertLess(HILO[0].memory_stats()["bytes_in_use"], held["bytes_in_use"])

    def test_many_arguments(self):
        values = [self.put(np.float32(i)) for i in range(300)]
        out = jax.jit(lambda *a: [v + 1 for v in a])(*values)
        self.assertEqual([float(v) for v in out], [i + 1 for i in range(300)])

    def test_devices(self):
        self.assertEqual(len(HILO), 4)
        self.assertEqual({device.platform for device in HILO}, {"cpu"})
        self.assertIn("ilo", HILO[0].device_kind + HILO[0].client.platform_version)


class Callbacks(Compared):
    """Python called from compiled programs."""

    def test_pure_callback(self):
        shape = jax.ShapeDtypeStruct((8, 6), np.float32)
        self.compare(lambda x: jax.pure_callback(lambda v: np.sin(v), shape, x) + 1, X)

    def test_io_callback_ordered(self):
        seen = []

        def body(i, s):
            io_callback(lambda v: seen.append(int(v)), None, i, ordered=True)
            return s + i

        on(HILO[0], lambda x: lax.fori_loop(0, 5, body, x), np.int32(0))
        jax.effects_barrier()
        self.assertEqual(seen, [0, 1, 2, 3, 4])

    def test_debug_print(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            on(HILO[0], lambda x: (jax.debug.print("sum {}", x.sum()), x)[1], np.ones(4, np.float32))
            jax.effects_barrier()
        self.assertIn("sum 4.0", text.getvalue())

    def test_debug_callback(self):
        seen = []
        on(HILO[0], lambda x: (jax.debug.callback(lambda v: seen.append(v.shape), x), x)[1], X)
        jax.effects_barrier()
        self.assertEqual(seen, [(8, 6)])

    def test_several_results(self):
        shapes = [jax.ShapeDtypeStruct((3,), np.int32), jax.ShapeDtypeStruct((), np.float32)]
        self.compare(lambda x: jax.pure_callback(lambda v: (np.arange(3, dtype=np.int32), np.float32(v.sum())), shapes, x), X)

    def test_error_has_its_traceback(self):
        def fail_here(_):
            raise ValueError("no such luck")

        shape = jax.ShapeDtypeStruct((), np.float32)
        with self.assertRaisesRegex(Exception, "no such luck"):
            on(HILO[0], lambda x: jax.pure_callback(fail_here, shape, x), X)
        np.testing.assert_array_equal(np.asarray(on(HILO[0], lambda x: x + 1, X)), X + 1)

    def test_buffers_are_seen_where_they_lie(self):
        def add(context, out, x, y):
            self.assertEqual(context.stage, buffer_callback.ExecutionStage.EXECUTE)
            with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "GPU"):
                context.stream
            self.assertEqual((x.shape, x.dtype, x.writeable, out.writeable), (X.shape, X.dtype, False, True))
            np.asarray(out)[...] = np.from_dlpack(x) + np.asarray(y)

        called = buffer_callback.buffer_callback(add, jax.ShapeDtypeStruct.like(X))
        self.compare(lambda x: called(x, 2 * x) + 1, X)

    def test_narrow_types(self):
        values = np.array([1, -2, -3, 4, -8, 7], "int4")
        shape = jax.ShapeDtypeStruct.like(values)
        self.compare(lambda x: jax.pure_callback(lambda v: np.asarray(v), shape, x).astype("int8"), values)

    def test_vmapped(self):
        shape = jax.ShapeDtypeStruct((6,), np.float32)
        self.compare(jax.vmap(lambda x: jax.pure_callback(lambda v: v * 2, shape, x, vmap_method="sequential")), X)


class SeveralDevices(unittest.TestCase):
    """Sharded arrays on four devices."""

    def setUp(self):
        self.mesh = Mesh(np.array(HILO).reshape(2, 2), ("x", "y"))

    def sharded(self, value, *spec):
        return jax.device_put(value, NamedSharding(self.mesh, P(*spec)))

    def test_put_and_gather(self):
        for spec in (("x", "y"), ("x",), (None, "y"), (("x", "y"),), ()):
            with self.subTest(spec=spec):
                value = self.sharded(np.arange(32.0, dtype=np.float32).reshape(8, 4), *spec)
                np.testing.assert_array_equal(np.asarray(value), np.arange(32).reshape(8, 4))

    def test_elementwise(self):
        y = jax.jit(lambda x: jnp.sin(x) + 1)(self.sharded(X, "x", "y"))
        np.testing.assert_allclose(np.asarray(y), np.sin(X) + 1, rtol=1e-5)

    def test_product(self):
        a, b = random_array((8, 16)), random_array((16, 4), seed=1)
        y = jax.jit(jnp.dot)(self.sharded(a, "x", "y"), self.sharded(b, "y", None))
        np.testing.assert_allclose(np.asarray(y), a @ b, rtol=1e-4, atol=1e-5)

    def test_result_sharding(self):
        out = NamedSharding(self.mesh, P("y", None))
        y = jax.jit(lambda x: x * 2, out_shardings=out)(self.sharded(X, "x", "y"))
        self.assertEqual(y.sharding, out)
        np.testing.assert_allclose(np.asarray(y), X * 2)

    def test_constraint(self):
        f = lambda x: lax.with_sharding_constraint(x + 1, NamedSharding(self.mesh, P(None, "x"))).sum(0)
        np.testing.assert_allclose(np.asarray(jax.jit(f)(self.sharded(X, "x"))), (X + 1).sum(0), rtol=1e-5)

    def test_constraint_that_cuts_unevenly(self):
        uneven = NamedSharding(self.mesh, P("x"))
        y = jax.jit(lambda x: lax.with_sharding_constraint(x[:7] + 1, uneven))(self.sharded(X, "x"))
        np.testing.assert_allclose(np.asarray(y), X[:7] + 1)

    def test_donor_is_kept_where_no_result_has_its_size(self):
        for size, is_taken in ((8, False), (6, True)):
            x = self.sharded(np.ones((8, size), np.float32))
            jax.jit(lambda x: x[:, :6] * 2, donate_argnums=0)(x)
            self.assertEqual(x.is_deleted(), is_taken)

    def test_gradient(self):
        f = jax.jit(jax.grad(lambda w, x: jnp.mean((x @ w) ** 2)))
        w, x = random_array((6, 3)), random_array((8, 6))
        got = f(self.sharded(w), self.sharded(x, ("x", "y")))
        np.testing.assert_allclose(np.asarray(got), np.asarray(on(CPU[0], jax.grad(lambda w, x: jnp.mean((x @ w) ** 2)), w, x)), rtol=1e-4)

    def test_shard_map_sum(self):
        f = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=self.mesh, in_specs=P("x", "y"), out_specs=P(None, "y"))
        np.testing.assert_allclose(np.asarray(jax.jit(f)(self.sharded(X, "x", "y"))), X[:4] + X[4:], rtol=1e-6)

    def test_shard_map_collectives(self):
        def body(x):
            gathered = lax.all_gather(x, "x", tiled=True)
            moved = lax.ppermute(x, "x", [(0, 1), (1, 0)])
            exchanged = lax.all_to_all(x, "y", 0, 1, tiled=True)
            return gathered.sum(0) + moved.sum(0) + lax.pmax(x.max(), ("x", "y")) + exchanged.sum() + lax.axis_index("x")

        f = lambda mesh: jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P(("x", "y"))))
        x = random_array((8, 6))
        expected = np.asarray(f(Mesh(np.array(CPU).reshape(2, 2), ("x", "y")))(x))
        np.testing.assert_allclose(np.asarray(f(self.mesh)(x)), expected, rtol=1e-5)

    def test_shard_map_with_ordered_callbacks(self):
        seen = {number: [] for number in range(4)}

        def body(number, x):
            for step in range(2):
                io_callback(lambda n, v: seen[int(n[0])].append(int(v[0])), None, number, x + step, ordered=True)

        parts = P(("x", "y"))
        f = jax.jit(jax.shard_map(body, mesh=self.mesh, in_specs=parts, out_specs=None))
        f(np.arange(4), np.arange(0, 80, 10))
        jax.effects_barrier()
        self.assertEqual(seen, {number: [20 * number, 20 * number + 1] for number in range(4)})

    def test_pmap(self):
        x = random_array((4, 3))
        y = jax.pmap(lambda v: v - lax.pmean(v, "i"), "i", devices=HILO)(x)
        np.testing.assert_allclose(np.asarray(y), x - x.mean(0), rtol=1e-5, atol=1e-6)

    def test_second_device_alone(self):
        y = on(HILO[3], lambda x: x * 3, X)
        self.assertEqual(y.devices(), {HILO[3]})
        np.testing.assert_allclose(np.asarray(y), X * 3)


class Compiling(unittest.TestCase):
    """What can be asked of a compiled program."""

    def compiled(self, function=lambda x: jnp.sin(x) @ x.T, **options):
        with jax.default_device(HILO[0]):
            return jax.jit(function, **options).lower(jax.device_put(X, HILO[0])).compile()

    def test_text(self):
        self.assertIn("HloModule", self.compiled().as_text())

    def test_memory_analysis(self):
        analysis = self.compiled().memory_analysis()
        self.assertEqual((analysis.argument_size_in_bytes, analysis.output_size_in_bytes), (192, 256))

    def test_cost_analysis(self):
        self.assertGreaterEqual(self.compiled().cost_analysis()["flops"], 2 * 8 * 8 * 6)

    def test_export_and_run(self):
        data = jax.export.export(jax.jit(lambda x: jnp.cos(x).sum(0)), platforms=["cpu"])(jax.ShapeDtypeStruct((8, 6), np.float32)).serialize()
        y = on(HILO[0], jax.export.deserialize(data).call, X)
        np.testing.assert_allclose(np.asarray(y), np.cos(X).sum(0), rtol=1e-5)

    def test_symbolic_export(self):
        shape = jax.export.symbolic_shape("n, 6")
        data = jax.export.export(jax.jit(lambda x: x.sum(0) / x.shape[0]), platforms=["cpu"])(jax.ShapeDtypeStruct(shape, np.float32)).serialize()
        np.testing.assert_allclose(np.asarray(on(HILO[0], jax.export.deserialize(data).call, X)), X.mean(0), rtol=1e-5)

    def test_unknown_option(self):
        with self.assertRaisesRegex(Exception, "No such compile option: 'no_such_option'"):
            with jax.default_device(HILO[0]):
                jax.jit(lambda x: x + 1).lower(X).compile({"no_such_option": 1})

    def test_serialized(self):
        from jax.experimental import serialize_executable
        triple = serialize_executable.serialize(self.compiled())
        loaded = serialize_executable.deserialize_and_load(*triple, backend=HILO[0].client, execution_devices=HILO[:1])
        np.testing.assert_allclose(np.asarray(loaded(jax.device_put(X, HILO[0]))), np.sin(X) @ X.T, rtol=1e-4, atol=1e-5)

    def format_of(self, *major_to_minor):
        from jax.experimental.layout import Format, Layout
        return Format(Layout(major_to_minor), jax.sharding.SingleDeviceSharding(HILO[0]))

    def assert_lies(self, array, *major_to_minor):
        self.assertEqual(array.format.layout.major_to_minor, major_to_minor)

    def test_layout_of_result(self):
        y = jax.jit(lambda x: x + 1, out_shardings=self.format_of(1, 0))(jax.device_put(X, HILO[0]))
        self.assert_lies(y, 1, 0)
        np.testing.assert_array_equal(np.asarray(y), X + 1)

    def test_layouts_of_arguments(self):
        by_columns = self.format_of(1, 0)
        x = jax.device_put(X, by_columns)
        self.assert_lies(x, 1, 0)
        np.testing.assert_array_equal(np.asarray(x), X)
        product, total = jax.jit(lambda a: (a @ a.T, a.sum(0)), in_shardings=by_columns)(x)
        np.testing.assert_allclose(np.asarray(product), X @ X.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(np.asarray(total), X.sum(0), rtol=1e-4, atol=1e-5)
        self.assert_lies(product, 0, 1)
        self.assert_lies(jax.device_put(x, HILO[1]), 1, 0)

    def test_layouts_and_donation(self):
        by_columns = self.format_of(1, 0)
        for result in (by_columns, self.format_of(0, 1)):
            x = jax.device_put(np.arange(6000, dtype=np.float32).reshape(60, 100), by_columns)
            address, expected = x.unsafe_buffer_pointer(), np.asarray(x) * 2
            y = jax.jit(lambda a: a * 2, in_shardings=by_columns, out_shardings=result, donate_argnums=0)(x)
            self.assertTrue(x.is_deleted())
            self.assertEqual(y.unsafe_buffer_pointer() == address, result is by_columns)
            np.testing.assert_array_equal(np.asarray(y), expected)

    def test_free_layouts(self):
        from jax.experimental.layout import Format, Layout
        free = Format(Layout.AUTO)
        shape = jax.ShapeDtypeStruct((2, 3, 4), np.float32, sharding=jax.sharding.SingleDeviceSharding(HILO[0]))
        compiled = jax.jit(lambda a: (jnp.sin(a.T) * 2, a + 1), in_shardings=free, out_shardings=free).lower(shape).compile()
        formats = [f.layout.major_to_minor for f in (compiled.input_formats[0][0], *compiled.output_formats)]
        self.assertEqual(formats, [(0, 1, 2), (2, 1, 0), (0, 1, 2)])
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        transposed, _ = compiled(jax.device_put(x, HILO[0]))
        self.assert_lies(transposed, 2, 1, 0)
        np.testing.assert_allclose(np.asarray(transposed), np.sin(x.T) * 2, rtol=1e-6)

    def test_layouts_of_shards(self):
        from jax.experimental.layout import Format, Layout
        mesh = jax.sharding.Mesh(np.array(HILO[:4]).reshape(2, 2), ("x", "y"))
        cut = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", "y"))
        by_columns = Format(Layout((1, 0)), cut)
        x = jax.device_put(np.arange(96, dtype=np.float32).reshape(8, 12), by_columns)
        y = jax.jit(lambda a: a + 1, in_shardings=by_columns, out_shardings=by_columns)(x)
        for array in (x, y, x.addressable_shards[1].data):
            self.assert_lies(array, 1, 0)
        np.testing.assert_array_equal(np.asarray(y), np.arange(96).reshape(8, 12) + 1)

    def test_x64(self):
        with jax.enable_x64(True):
            y = on(HILO[0], lambda x: x * 3, X.astype(np.float64))
            self.assertEqual(y.dtype, np.float64)
            np.testing.assert_array_equal(np.asarray(y), X.astype(np.float64) * 3)


PROCESS = """
import os, sys
sys.path[:0] = [{tests!r}, {python!r}]
import on_hilo
import jax, jax.numpy as jnp
{body}
"""


class Processes(unittest.TestCase):
    """Whole processes: their ends, their caches."""

    def run_python(self, body, **environment):
        code = PROCESS.format(tests=os.path.dirname(__file__), python=str(SOURCE / "python"), body=body)
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False)

    def test_ends_with_work_in_flight(self):
        done = self.run_python("x = jax.device_put(jnp.ones((900, 900)), on_hilo.HILO[0])\nfor _ in range(20): x = jax.jit(lambda a: a @ a / 900)(x)\nprint('end')")
        self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr)

    def test_views_outlive_the_client(self):
        keeper = """
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
views = []
def keep(x): views.append(np.asarray(jax.jit(lambda x: x * 2).lower(x).compile()(x)))
"""
        body = """
sys.path.insert(0, {!r})
from keeper import *
x = jax.device_put(np.ones((32, 8), np.float32), NamedSharding(Mesh(np.array(on_hilo.HILO), ("x",)), P()))
keep(x)
print(views[0].sum())
"""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "keeper.py").write_text(keeper)
            done = self.run_python(body.format(folder), MALLOC_PERTURB_="165")
        self.assertEqual((done.returncode, done.stdout), (0, "512.0\n"), done.stderr)

    def test_threads_and_cache_of_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            body = "print(float(jax.jit(lambda x: jnp.sin(x).sum())(jax.device_put(jnp.zeros(5), on_hilo.HILO[0]))))"
            done = self.run_python(body, HILO_THREADS="1", HILO_CACHE=folder)
            self.assertEqual((done.returncode, done.stdout), (0, "0.0\n"), done.stderr)
            self.assertTrue(os.listdir(folder))
            wrong = self.run_python(body, HILO_THREADS="many")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("HILO_THREADS: 'many' is no number of threads", wrong.stderr)

    def test_compilation_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            body = f"jax.config.update('jax_compilation_cache_dir', {folder!r})\njax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\njax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\nprint(float(jax.jit(lambda x: jnp.sin(x).sum())(jax.device_put(jnp.ones(5), on_hilo.HILO[0]))))"
            first, second = self.run_python(body), self.run_python(body)
            self.assertEqual((first.returncode, first.stdout), (0, second.stdout), first.stderr + second.stderr)
            self.assertTrue(os.listdir(folder))

    def test_module_of_python(self):
        done = self.run_python("import hilo, numpy as np\nlowered = jax.jit(lambda x: (x + 1, x.sum())).lower(np.ones((2, 3), np.float32))\np = hilo.load(str(lowered.compiler_ir('stablehlo')))\nprint(p.check(), 'HloModule' in p.text, [r.tolist() for r in p(np.ones((2, 3), np.float32))], sorted(p.explain())[:1] != [])")
        self.assertEqual((done.returncode, done.stdout), (0, "[] True [[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]], 6.0] True\n"), done.stderr)


class Threads(unittest.TestCase):
    """Several threads of Python at once."""

    def test_jit_put_delete(self):
        errors = []

        def work(number):
            try:
                f = jax.jit(lambda x: jnp.cumsum(x * number))
                for i in range(20):
                    x = jax.device_put(np.full(2000, i, np.float32), HILO[number % 4])
                    y = f(x)
                    x.delete()
                    np.testing.assert_allclose(np.asarray(y)[-1], 2000.0 * i * number, rtol=1e-5)
            except Exception as error:  # told by the main thread
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])


if __name__ == "__main__":
    main()
