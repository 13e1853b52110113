"""Transformations of a user's: jax.extend.xla.register_hlo_module_transformation on Hilo."""
import contextlib
import pickle
import unittest

import jax
import numpy as np
from jax._src.lib import hlo
from jax.experimental import serialize_executable
from jax.extend import xla

from on_hilo import HILO, main

X = np.linspace(0, 2, 6, dtype=np.float32)


def sine_to_cosine(module_bytes):
    """A new module where there is a sine."""
    module = hlo.HloModule.from_serialized_hlo_module_proto(module_bytes)
    changed = False
    for computation in module.computations():
        for instruction in computation.instructions():
            if instruction.opcode == hlo.HloOpcode.kSin:
                cosine = computation.create_unary_instruction(hlo.HloOpcode.kCos, instruction.operands()[0])
                computation.replace_instruction(instruction, cosine)
                changed = True
    return module.as_serialized_hlo_module_proto() if changed else None


@contextlib.contextmanager
def registered(function, stage):
    xla.register_hlo_module_transformation(function, name="tested", stage=stage)
    try:
        yield
    finally:
        assert xla.clear_hlo_module_transformation("tested", stage)


def compiled(function):
    with jax.default_device(HILO[0]):
        return jax.jit(function).lower(X).compile()


class Transformations(unittest.TestCase):
    def test_both_stages(self):
        for stage in xla.PipelineStage:
            with self.subTest(stage), registered(sine_to_cosine, stage):
                with jax.default_device(HILO[0]):
                    y = compiled(lambda x: jax.numpy.sin(x) + 1)(X)
                np.testing.assert_allclose(np.asarray(y), np.cos(X) + 1, rtol=1e-6)
        np.testing.assert_allclose(np.asarray(compiled(lambda x: jax.numpy.sin(x) + 1)(X)), np.sin(X) + 1, rtol=1e-6)

    def test_of_sharded_arrays(self):
        mesh = jax.sharding.Mesh(np.array(HILO), "x")
        x = jax.device_put(np.arange(8, dtype=np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
        for stage in xla.PipelineStage:
            with self.subTest(stage), registered(sine_to_cosine, stage):
                total = jax.jit(lambda x: (jax.numpy.sin(x) ** 2).sum())(x)
            np.testing.assert_allclose(float(total), (np.cos(np.arange(8)) ** 2).sum(), rtol=1e-5)

    def test_what_it_sees(self):
        seen = {}

        def look(stage):
            def function(module_bytes):
                module = hlo.HloModule.from_serialized_hlo_module_proto(module_bytes)
                seen[stage] = module.to_string()
                if stage == xla.PipelineStage.POST_SCHEDULER:
                    module.schedule().verify()
            return function

        with registered(look(xla.PipelineStage.PRE_SCHEDULER), xla.PipelineStage.PRE_SCHEDULER), \
                registered(look(xla.PipelineStage.POST_SCHEDULER), xla.PipelineStage.POST_SCHEDULER):
            program = compiled(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: jax.numpy.sin(y) * x, x).sum())
        self.assertNotIn("is_scheduled=true", seen[xla.PipelineStage.PRE_SCHEDULER])
        self.assertIn("is_scheduled=true", seen[xla.PipelineStage.POST_SCHEDULER])
        self.assertIn("fusion", seen[xla.PipelineStage.PRE_SCHEDULER])
        y = X
        for _ in range(3):
            y = np.sin(y) * X
        np.testing.assert_allclose(float(program(X)), y.sum(), rtol=1e-5)

    def test_errors(self):
        def refuse(module_bytes):
            raise ValueError("not this one")

        for function, words in ((refuse, "INTERNAL: .*not this one"), (lambda _: b"\xff no module", "INVALID_ARGUMENT: .*'tested'")):
            for stage in xla.PipelineStage:
                with self.subTest(words=words, stage=stage), registered(function, stage), \
                        self.assertRaisesRegex(jax.errors.JaxRuntimeError, f"(?s){words}"):
                    compiled(lambda x: x * 3)

    def test_serialised(self):
        with registered(sine_to_cosine, xla.PipelineStage.PRE_SCHEDULER):
            program = serialize_executable.serialize(compiled(lambda x: jax.numpy.sin(x) * 2))
        program = pickle.loads(pickle.dumps(program))
        y = serialize_executable.deserialize_and_load(*program, backend=HILO[0].client, execution_devices=HILO[:1])(X)
        np.testing.assert_allclose(np.asarray(y), np.cos(X) * 2, rtol=1e-6)

    def test_of_other_platforms(self):
        xla.register_hlo_module_transformation(sine_to_cosine, name="tpu's", platforms="tpu")
        np.testing.assert_allclose(np.asarray(compiled(lambda x: jax.numpy.sin(x) * 4)(X)), np.sin(X) * 4, rtol=1e-6)


if __name__ == "__main__":
    main()
