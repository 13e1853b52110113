"""Calls that the user's own functions cut over devices, and who asks how arrays are cut."""
import ctypes as C
import os
import threading
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jaxlib import xla_client

from on_hilo import CPU, HILO, main, random_array
from hilo import jax_plugin

PLATFORMS = {"hilo": HILO, "cpu": CPU}


def mesh_of(devices, shape=(4,), names=("x",)):
    return Mesh(np.array(devices[:int(np.prod(shape))]).reshape(shape), names)


def shardings_of(shapes):
    return jax.tree.map(lambda one: one.sharding, shapes)


@custom_partitioning
def rows_sorted(x):
    return jnp.sort(x, axis=1)


asked = []


def cut_rows(mesh, arguments, result):
    asked.append(result.shape)
    spec = NamedSharding(mesh, P(arguments[0].sharding.spec[0], None))
    return mesh, lambda x: jnp.sort(x, axis=1), spec, (spec,)


rows_sorted.def_partition(cut_rows, sharding_rule="i j -> i j", need_replication_factors=("j",))


@custom_partitioning
def sum_and_product(x, y):
    return x.sum(0), x * y


def cut_sum(mesh, arguments, result):
    axis = arguments[0].sharding.spec[0]

    def lower(x, y):
        total = x.sum(0)
        return (lax.psum(total, axis) if axis else total), x * y

    rows, whole = NamedSharding(mesh, P(axis, None)), NamedSharding(mesh, P(None))
    return mesh, lower, (whole, rows), (rows, rows)


sum_and_product.def_partition(cut_sum, sharding_rule="i j, i j -> j, i j")


@custom_partitioning
def refused(x):
    return x + 1


def cut_nothing(mesh, arguments, result):
    raise ValueError("not with these shardings")


refused.def_partition(cut_nothing, sharding_rule="i -> i")


class CustomPartitioning(unittest.TestCase):
    def compiled(self, function, *arguments, spec=P("x"), devices=HILO):
        sharding = NamedSharding(mesh_of(devices), spec)
        placed = [jax.device_put(argument, sharding) for argument in arguments]
        return jax.jit(function).lower(*placed).compile(), placed

    def test_rows_stay_where_they_are(self):
        x = random_array((8, 5))
        for name, devices in PLATFORMS.items():
            program, placed = self.compiled(rows_sorted, x, devices=devices)
            y = program(*placed)
            np.testing.assert_array_equal(np.asarray(y), np.sort(x, axis=1), name)
            self.assertEqual({shard.data.shape for shard in y.addressable_shards}, {(2, 5)}, name)
            text = program.as_text()
            self.assertNotIn("all-gather", text, name)
            self.assertNotIn("CustomSPMDPartitioning", text, name)

    def test_operands_are_brought_to_what_the_function_wants(self):
        x = random_array((4, 8))
        program, placed = self.compiled(rows_sorted, x, spec=P(None, "x"))
        np.testing.assert_array_equal(np.asarray(program(*placed)), np.sort(x, axis=1))

    def test_collectives_and_several_results(self):
        x, y = random_array((8, 3)), random_array((8, 3), seed=1)
        for name, devices in PLATFORMS.items():
            program, placed = self.compiled(sum_and_product, x, y, devices=devices)
            total, product = program(*placed)
            np.testing.assert_allclose(np.asarray(total), x.sum(0), rtol=1e-5, atol=1e-5, err_msg=name)
            np.testing.assert_array_equal(np.asarray(product), x * y, name)
            self.assertIn("all-reduce", program.as_text(), name)

    def test_between_other_ops_and_in_a_loop(self):
        x = random_array((8, 5))

        def f(x):
            body = lambda i, a: rows_sorted(a * -1.0) + i
            return jnp.sin(lax.fori_loop(0, 3, body, jnp.cos(x))).sum(1)

        program, placed = self.compiled(f, x)
        expected = np.cos(x)
        for i in range(3):
            expected = np.sort(-expected, axis=1) + np.float32(i)
        np.testing.assert_allclose(np.asarray(program(*placed)), np.sin(expected).sum(1), rtol=1e-5, atol=1e-5)

    def test_an_exception_is_an_error(self):
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "not with these shardings"):
            self.compiled(refused, random_array((8,)))
        program, placed = self.compiled(lambda x: x + 1, random_array((8,)))  # the client goes on
        np.testing.assert_array_equal(np.asarray(program(*placed)), random_array((8,)) + 1)

    def test_a_saved_executable_asks_nobody(self):
        x = random_array((8, 5))
        program, placed = self.compiled(lambda x: rows_sorted(rows_sorted(x) * -2), x)
        saved = program.runtime_executable().serialize()
        del program
        asked.clear()
        devices = xla_client.DeviceList(tuple(HILO[:4]))
        again = HILO[0].client.deserialize_executable(saved, devices, None)
        results = again.execute_sharded(placed).disassemble_into_single_device_arrays()[0]
        y = np.concatenate([np.asarray(shard) for shard in results])
        np.testing.assert_array_equal(y, np.sort(x * -2, axis=1))
        self.assertEqual(asked, [])
        with self.assertRaises(jax.errors.JaxRuntimeError):
            HILO[0].client.deserialize_executable(saved[:-1], devices, None)

    def test_regions_that_are_manual(self):
        mesh = mesh_of(HILO, (2, 2), ("x", "y"))
        x = random_array((8, 5))
        for axes in ({"x"}, {"x", "y"}):
            f = jax.jit(jax.shard_map(rows_sorted, mesh=mesh, in_specs=P("x"), out_specs=P("x"),
                                      axis_names=axes, check_vma=False))
            if axes == {"x", "y"}:  # JAX lowers the function itself
                np.testing.assert_array_equal(np.asarray(f(x)), np.sort(x, axis=1))
                continue
            with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "region that is manual already"):
                f(x)


class Text(C.Structure):
    _fields_ = [("data", C.c_char_p), ("size", C.c_size_t)]


class Partition(C.Structure):
    """What a partitioner is asked, of which this test only writes the answer."""
    _fields_ = [("version", C.c_int64), ("data", C.c_void_p), ("clean_up", C.c_void_p), ("failed", C.c_bool),
                ("code", C.c_int), ("error", Text), ("count", C.c_size_t), ("operands", C.c_void_p),
                ("shape", Text), ("has_sharding", C.c_bool), ("sharding", Text), ("config", Text),
                ("program", Text), ("operand_shardings", C.POINTER(Text)), ("result_sharding", Text)]


PARTITION = C.CFUNCTYPE(None, C.c_void_p, C.POINTER(Partition))


class Callbacks(C.Structure):
    _fields_ = [("version", C.c_int64), ("data", C.c_void_p), ("end", C.c_void_p), ("partition", PARTITION),
                ("infer", C.c_void_p), ("propagate", C.c_void_p), ("may_be_replicated", C.c_bool)]


class Registration(C.Structure):
    _fields_ = [("size", C.c_size_t), ("name", C.c_char_p), ("name_size", C.c_size_t),
                ("callbacks", C.POINTER(Callbacks))]


class Extension(C.Structure):
    _fields_ = [("head", jax_plugin.Extension), ("register", C.CFUNCTYPE(C.c_void_p, C.POINTER(Registration)))]


def program_of(shape, op="stablehlo.add", arguments=1):
    signature = ", ".join(f"%a{i}: tensor<{shape}xf32>" for i in range(arguments))
    return (f"module @tile {{ func.func public @main({signature}) -> tensor<{shape}xf32> {{\n"
            f"  %0 = {op} %a0, %a0 : tensor<{shape}xf32>\n  return %0 : tensor<{shape}xf32> }} }}").encode()


class AnswersFromOutside(unittest.TestCase):
    """A partitioner may say anything: that is a program or an error, never the end of the process."""

    @classmethod
    def setUpClass(cls):
        library = C.CDLL(os.environ["HILO_PLUGIN"])
        library.GetPjrtApi.restype = C.POINTER(jax_plugin.Api)
        extension = library.GetPjrtApi().contents.extensions
        while extension.contents.type != 2:
            extension = extension.contents.next
        cls.callbacks = Callbacks(partition=PARTITION(cls.answer))
        extension = C.cast(extension, C.POINTER(Extension)).contents
        failed = extension.register(C.byref(Registration(C.sizeof(Registration), b"twice", 5,
                                                         C.pointer(cls.callbacks))))
        assert not failed
        assert extension.register(C.byref(Registration(C.sizeof(Registration), b"twice", 5, None)))

    @staticmethod
    def answer(_, question):
        program, operands, result = AnswersFromOutside.said
        to = question.contents
        AnswersFromOutside.kept = (Text * max(1, len(operands)))(*[Text(one, len(one)) for one in operands])
        to.program, to.result_sharding = Text(program, len(program)), Text(result, len(result))
        to.count, to.operand_shardings = len(operands), AnswersFromOutside.kept

    def run_with(self, program, operands=None, result=None):
        sharding = NamedSharding(mesh_of(HILO), P("x"))
        rows = sharding._to_xla_hlo_sharding(1).to_proto().SerializeToString()
        AnswersFromOutside.said = (program, [rows] if operands is None else operands,
                                   rows if result is None else result)
        x = jax.device_put(np.arange(8, dtype=np.float32), sharding)
        call = jax.ffi.ffi_call("twice", jax.ShapeDtypeStruct((8,), np.float32))
        return np.asarray(jax.jit(lambda x: call(x) + 1)(x))

    def test_its_program_runs(self):
        np.testing.assert_array_equal(self.run_with(program_of(2)), np.arange(8) * 2 + 1)

    def test_what_is_no_answer(self):
        five = NamedSharding(mesh_of(HILO, (2,)), P("x"))._to_xla_hlo_sharding(1).to_proto()
        plane = NamedSharding(mesh_of(HILO), P("x", None))._to_xla_hlo_sharding(2).to_proto()
        cases = {
            "cut short": (dict(program=program_of(2)[:-20]), ""),
            "bytecode that ends": (dict(program=b"ML\xefR\x0d"), ""),
            "nothing": (dict(program=b""), ""),
            "an op that is none": (dict(program=program_of(2, op="stablehlo.twist")), "twist"),
            "arity": (dict(program=program_of(2, arguments=2)), "2 arguments, expected 1"),
            "another tile": (dict(program=program_of(3)), r"f32\[3\], expected the tile f32\[2\]"),
            "too few shardings": (dict(program=program_of(2), operands=[]), "0 shardings of operands, expected 1"),
            "no message": (dict(program=program_of(2), operands=[b"\xff\xff"]), "OpSharding"),
            "no result": (dict(program=program_of(2), result=b"\xff"), "OpSharding"),
            "other devices": (dict(program=program_of(2), operands=[five.SerializeToString()]), "4 devices, found 2"),
            "another rank": (dict(program=program_of(2), result=plane.SerializeToString()), "dimensions"),
        }
        for name, (said, message) in cases.items():
            with self.subTest(name), self.assertRaisesRegex(jax.errors.JaxRuntimeError, message):
                self.run_with(**said)
        np.testing.assert_array_equal(self.run_with(program_of(2)), np.arange(8) * 2 + 1)


class Inspecting(unittest.TestCase):
    def test_sharding_that_propagation_found(self):
        for name, devices in PLATFORMS.items():
            mesh, seen = mesh_of(devices, (2, 2), ("x", "y")), []

            def f(x):
                y = jnp.sin(x) @ jnp.ones((6, 4))
                jax.debug.inspect_array_sharding(y, callback=seen.append)
                return y.sum()

            x = jax.device_put(random_array((8, 6)), NamedSharding(mesh, P("x")))
            jax.jit(f).lower(x).compile()
            self.assertEqual(len(seen), 1, name)
            self.assertTrue(seen[0].is_equivalent_to(NamedSharding(mesh, P("x")), 2), (name, seen))

    def test_values_stay(self):
        seen = []

        def f(x):
            jax.debug.inspect_array_sharding(x, callback=seen.append)
            return x * x

        x = random_array((8,))
        mesh = mesh_of(HILO)
        y = jax.jit(f)(jax.device_put(x, NamedSharding(mesh, P("x"))))
        np.testing.assert_array_equal(np.asarray(y), x * x)
        self.assertEqual([len(sharding.device_set) for sharding in seen], [4])


class PartitionedCallbacks(unittest.TestCase):
    def test_each_device_shows_its_shard(self):
        x = np.arange(24, dtype=np.float32).reshape(8, 3)
        for name, devices in PLATFORMS.items():
            seen, lock = [], threading.Lock()

            def note(a):
                with lock:
                    seen.append(np.asarray(a).tolist())

            def f(x):
                jax.debug.callback(note, x + 1, partitioned=True)
                return x

            y = jax.jit(f)(jax.device_put(x, NamedSharding(mesh_of(devices), P("x"))))
            jax.block_until_ready(y)
            jax.effects_barrier()
            self.assertEqual(sorted(seen), [(x[i:i + 2] + 1).tolist() for i in range(0, 8, 2)], name)


if __name__ == "__main__":
    main()
