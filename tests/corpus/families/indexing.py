"""Gathers, scatters, slices, pads and other movement of data."""

import jax
import jax.numpy as jnp
from jax import lax

from families.registry import program

f32, bf16 = jnp.float32, jnp.bfloat16


@program("f32[50,64]", "s32[20]", "s32[6,64]")
def takes(x, i, along):
    return (
        x[i],
        jnp.take(x, i, axis=1),
        jnp.take_along_axis(x, along, 0),
        x[i, i],
        x[i][:, i],
        x[:, 3][i],
        jnp.take(x, i),
    )


@program("f32[30,24]", "s32[40]")
def takes_outside(x, i):
    far = i * 9 - 10
    return (
        jnp.take(x, far, 0, mode="clip"),
        jnp.take(x, far, 0, mode="fill", fill_value=7),
        jnp.take(x, far, 0, mode="wrap"),
        x.at[far].get(mode="drop", fill_value=-1),
        x.at[i].get(mode="promise_in_bounds"),
    )


@program("bf16[40,128]", "s8[40,128]", "s32[12]", "u8[16,16]")
def takes_of_narrow_types(x, n, i, m):
    return x[i], n[i], jnp.take(n, i, 1), m[i, i], x[i, 5]


@program("f32[40,32]", "s32[15]", "f32[15,32]")
def updates(x, i, u):
    return (
        x.at[i].set(i[:, None].astype(f32)),
        x.at[i].add(u),
        x.at[i].multiply(u),
        x.at[i].min(u),
        x.at[i].max(u),
        x.at[:, i].add(1),
        x.at[i, i].add(2),
        x.at[3].set(0),
        x.at[2:30:4].add(1),
    )


@program("s32[64,16]", "s32[24]", "s32[24,16]", "bf16[64,16]")
def updates_of_narrow_types(n, i, u, b):
    return (
        n.at[i].add(u),
        n.at[i].max(u),
        b.at[i].add(u.astype(bf16)),
        n.at[i * 11 - 9].add(u, mode="drop"),
        n.astype(jnp.int8).at[i].add(1),
    )


@program("f32[4,50,8]", "s32[4,10]", "f32[4,10,8]")
def updates_in_batches(x, i, u):
    def one(x, i, u):
        return x.at[i].add(u), x[i], x.at[i].set(0)

    return jax.vmap(one)(x, i, u)


@program("f32[60,32]", "s32[25]")
def gather_gradients(x, i):
    return jax.grad(lambda x: (jnp.sin(x[i]) * x[i, 0][:, None]).sum())(x), jax.grad(
        lambda x: (x.at[i].add(x[:25] ** 2) ** 2).sum()
    )(x)


@program("f32[64,128]", "s32[]", "f32[8,128]")
def dynamic_slices(x, i, u):
    j = i * 7
    return (
        lax.dynamic_slice(x, (j, 0), (8, 128)),
        lax.dynamic_slice(x, (i, i), (5, 40)),
        lax.dynamic_update_slice(x, u, (j, 0)),
        lax.dynamic_update_slice(x, u[:3, :10], (i, j)),
        lax.dynamic_index_in_dim(x, j, 1),
        lax.dynamic_slice(x, (99, -5), (4, 4)),
    )


@program("bf16[64,128]", "s32[2]", "s8[64,128]", "pred[40,40]")
def dynamic_slices_of_narrow_types(x, i, n, p):
    return (
        lax.dynamic_slice(x, (i[0], 0), (9, 128)),
        lax.dynamic_slice(n, (i[0], i[1]), (5, 64)),
        lax.dynamic_update_slice(x, x[:3], (i[1], 0)),
        lax.dynamic_slice(p, (i[0], i[1]), (7, 9)),
        lax.dynamic_update_slice(n, n[:5, :7], (i[0], i[1])),
    )


@program("f32[64,128]", "s32[]", donate=(0,))
def donated_updates(x, i):
    return x.at[i].set(1.5).at[:, i + 3].add(2), x.sum()


@program("f32[9,20]")
def pads(x):
    kinds = [
        jnp.pad(x, ((1, 2), (3, 4)), mode=m)
        for m in ("constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum")
    ]
    return kinds, lax.pad(x, 1.0, ((2, -1, 1), (-3, 5, 0))), jnp.pad(x, 2, mode="linear_ramp")


@program("f32[12,20]", "f32[3,20]")
def rearrangements(x, y):
    return (
        jnp.roll(x, 3, 1),
        jnp.roll(x, (2, -5), (0, 1)),
        x[::-1],
        jnp.rot90(x),
        jnp.tile(x, (2, 3)),
        jnp.repeat(x, 3, 0),
        jnp.concatenate([x, y, x]),
        jnp.stack([x, x * 2], 1),
        jnp.split(x, 3),
        jnp.flip(x),
        jnp.hstack([x, x]),
        x[1:9:2, 15:2:-3],
        jnp.repeat(x, jnp.arange(12), 0, total_repeat_length=40),
        jnp.block([[y, y], [y, y]]),
    )


@program("f32[6,10,24]", "bf16[16,8,128]", "s8[32,32,4]")
def transposes(x, y, n):
    return (
        x.transpose(2, 0, 1),
        x.swapaxes(0, 2),
        x.reshape(24, 60),
        x.reshape(-1),
        y.transpose(1, 0, 2),
        y.reshape(128, 128).T,
        n.transpose(2, 1, 0),
        n.reshape(64, 64),
        jnp.moveaxis(x, 0, -1),
        x[None, :, None],
        jnp.squeeze(x[:1]),
        y.ravel()[:77],
    )


@program("f32[20,20]", "f32[30]")
def triangles(x, v):
    return (
        jnp.tril(x),
        jnp.triu(x, 2),
        jnp.diag(x),
        jnp.diag(v),
        jnp.diagonal(x, 3),
        jnp.trace(x),
        jnp.eye(9, 12) * v[0],
        jnp.vander(v[:6], 4),
        x.at[jnp.diag_indices(20)].set(9),
        x[jnp.triu_indices(20)],
        jnp.fill_diagonal(x, 5.0, inplace=False),
    )


@program("f32[70]", "s32[70]")
def selections(x, n):
    return (
        jnp.nonzero(x > 0.2, size=30, fill_value=-1),
        jnp.argwhere(n == 3, size=12),
        jnp.compress(x > 0, x, size=40),
        jnp.choose(n % 3, [x, -x, x * 2], mode="clip"),
        jnp.select([x < -0.2, x > 0.3], [x, n], 9),
        jnp.piecewise(x, [x < 0], [lambda v: -v, lambda v: v * v]),
        jnp.extract(n > 3, x, size=20),
        lax.select_n(n % 3, x, x + 1, x + 2),
    )


@program("s32[24]", "s32[24]")
def grids(a, b):
    return (
        jax.nn.one_hot(a, 10),
        jnp.meshgrid(a, b),
        jnp.indices((4, 5)) * a[0],
        jnp.unravel_index(a * 3, (5, 6)),
        jnp.ravel_multi_index((a, b), (8, 9), mode="clip"),
        jnp.linspace(0.0, 1.0, 13) * a[1],
        jnp.arange(50) + b[0],
        lax.broadcasted_iota(jnp.int32, (8, 128), 1) // 3,
        jax.nn.one_hot(b, 8, dtype=bf16, axis=0),
    )


@program("f32[16,3,128]", "f32[128]")
def broadcasts(x, v):
    return (
        x + v,
        jnp.broadcast_to(v[:, None], (128, 5)),
        x * v[:3, None],
        jnp.broadcast_to(x[:, :1], (16, 4, 128)),
        v[:, None] + v,
    )


@program("s4[64,128]", "s32[]")
def movement_of_4_bits(x, i):
    return (
        x.T.astype(jnp.int8),
        x[3:40:2].astype(jnp.int8),
        jnp.concatenate([x, x[:8]]).astype(jnp.int8),
        lax.dynamic_slice(x, (i, 0), (8, 128)).astype(jnp.int8),
        x.reshape(128, 64).astype(bf16),
    )


@program("f64[20,16]", "s32[9]", "s64[9]", x64=True)
def movement_of_64_bits(x, i, n):
    return (
        x[i],
        x.at[i].add(1.5),
        x.T,
        n[::-1],
        jnp.concatenate([n, n]),
        lax.dynamic_slice(x, (i[0], i[1]), (4, 5)),
        n.at[i].set(4),
    )


@program("c64[16,20]", "s32[9]")
def movement_of_c64(x, i):
    return (
        x[i],
        x.at[i].add(1j),
        x.T,
        jnp.roll(x, 2, 0),
        lax.dynamic_slice(x, (i[0], i[1]), (4, 5)),
        x.reshape(20, 16),
    )


@program("f32[4,6,40]", "s32[5,2]")
def general_gathers(x, i):
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(1, 2), collapsed_slice_dims=(0,), start_index_map=(0, 2)
    )
    window = lax.ScatterDimensionNumbers(
        update_window_dims=(1, 2), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 2)
    )
    got = lax.gather(x, i, numbers, (1, 3, 8), mode="clip")
    return (
        got,
        lax.scatter_add(x, i, got, window, mode="clip"),
        lax.scatter(x, i * 9, got, window, mode="drop"),
    )
