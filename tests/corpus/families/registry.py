"""How a family registers its programs: `@program("f32[8,128]", "s32[8]", ...)`."""

import functools

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

CHIPS = ["v4:2x2x1", "v5e:2x2", "v5p:2x2x1", "v6e:2x2"]
TYPES = {
    "pred": bool,
    "s4": jnp.int4,
    "u4": jnp.uint4,
    "s8": jnp.int8,
    "u8": jnp.uint8,
    "s16": jnp.int16,
    "u16": jnp.uint16,
    "s32": jnp.int32,
    "u32": jnp.uint32,
    "s64": "int64",
    "u64": "uint64",
    "f16": jnp.float16,
    "bf16": jnp.bfloat16,
    "f32": jnp.float32,
    "f64": "float64",
    "c64": jnp.complex64,
    "f8e4m3fn": jnp.float8_e4m3fn,
    "f8e5m2": jnp.float8_e5m2,
}
PROGRAMS = {}


def argument(text):
    """f32[8,128] as jax.ShapeDtypeStruct."""
    name, sizes = text.rstrip("]").split("[")
    return jax.ShapeDtypeStruct(tuple(int(n) for n in sizes.split(",") if n), TYPES[name])


def program(*types, shard=None, mesh=False, x64=False, donate=(), precision="highest", chips=CHIPS):
    """shard: for each argument the mesh axis of each dimension, as in ("x", None); mesh: the
    function takes the mesh first; x64: 64-bit types are allowed; donate: arguments that results
    may overwrite; precision: of f32 products."""

    def register(function):
        def make(jax, over):
            jax.config.update("jax_enable_x64", x64)
            inner = functools.partial(function, over) if mesh else function

            def run(*arguments):
                with jax.default_matmul_precision(precision):
                    return inner(*arguments)

            run.donate, run.over_mesh = donate, mesh
            arguments = tuple(argument(text) for text in types)
            axes = shard or [()] * len(types)
            assert len(axes) == len(types), function.__name__
            return run, arguments, tuple(PartitionSpec(*a) for a in axes)

        assert function.__name__ not in PROGRAMS, function.__name__
        PROGRAMS[function.__name__] = (make, chips)
        return function

    return register
