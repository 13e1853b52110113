"""Programs over four chips: by sharding of the arguments, and by collectives written out."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

from families.registry import program

f32, bf16 = jnp.float32, jnp.bfloat16
ROWS, COLUMNS, WHOLE = ("x", None), (None, "x"), ()


def mapped(mesh, function, ins, outs):
    return jax.shard_map(function, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=False)


@program("f32[32,64]", "f32[64,48]", "f32[32,48]", shard=[ROWS, WHOLE, ROWS])
def data_parallel(x, w, y):
    loss, g = jax.value_and_grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(w)
    return w - 0.1 * g, loss


@program("bf16[32,128]", "bf16[128,256]", "bf16[256,128]", shard=[ROWS, ROWS, ROWS])
def fully_sharded(x, up, down):
    return jax.value_and_grad(
        lambda up, down: ((jax.nn.silu(x @ up) @ down).astype(f32) ** 2).mean(), (0, 1)
    )(up, down)


@program("bf16[16,128]", "bf16[128,512]", "bf16[512,128]", shard=[WHOLE, COLUMNS, ROWS])
def tensor_parallel(x, up, down):
    return jax.nn.gelu(x @ up) @ down, (jax.nn.gelu(x @ up) @ down).astype(f32).sum()


@program("f32[2,64,8,16]", "f32[2,64,8,16]", "f32[2,64,8,16]", shard=[(None, "x")] * 3)
def sequence_parallel(q, k, v):
    s = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    return jnp.einsum("bhqk,bkhd->bqhd", s, v)


@program("f32[16,32]", "f32[4,32,32]", mesh=True, shard=[WHOLE, ("x",)])
def pipeline(mesh, x, w):
    def stages(x, w):
        me, state, out = lax.axis_index("x"), jnp.zeros((4, 32)), jnp.zeros((4, 4, 32))
        for i in range(7):
            given = lax.dynamic_slice_in_dim(x.reshape(4, 4, 32), min(i, 3), 1)[0]
            state = jnp.tanh(jnp.where(me == 0, given, state) @ w[0])
            if i >= 3:
                out = out.at[i - 3].set(state)
            state = lax.ppermute(state, "x", [(d, (d + 1) % 4) for d in range(4)])
        return lax.psum(jnp.where(me == 3, out, 0), "x")

    return mapped(mesh, stages, (P(), P("x")), P())(x, w)


@program("f32[16,32]", "bf16[16,128]", "s32[16,8]", mesh=True, shard=[ROWS] * 3)
def all_to_all(mesh, x, b, n):
    def f(x, b, n):
        return (
            lax.all_to_all(x, "x", 1, 0, tiled=True),
            lax.all_to_all(b, "x", 0, 1, tiled=True),
            lax.all_to_all(n.reshape(4, 8), "x", 0, 0),
        )

    return mapped(mesh, f, (P("x"),) * 3, (P(None, "x"), P("x"), P("x")))(x, b, n)


@program("f32[16,32]", "bf16[32,128]", "s8[16,128]", mesh=True, shard=[ROWS] * 3)
def collectives(mesh, x, b, n):
    def f(x, b, n):
        return (
            lax.psum(x, "x"),
            lax.psum_scatter(x, "x", tiled=True),
            lax.all_gather(b, "x", tiled=True),
            lax.pmax(x, "x"),
            lax.pmin(n, "x"),
            lax.pmean(b, "x"),
            lax.ppermute(n, "x", [(0, 1), (1, 0), (2, 3)]),
            lax.psum(n.astype(jnp.int32), "x"),
            (lax.axis_index("x") + n[0, 0])[None],
        )

    return mapped(mesh, f, (P("x"),) * 3, (P(), P("x"), P(), P(), P(), P(), P("x"), P(), P("x")))(
        x, b, n
    )


@program("f32[16,64]", "f32[64,32]", mesh=True, shard=[ROWS, ROWS])
def collectives_in_loops(mesh, x, w):
    def f(x, w):
        def step(i, s):
            out, w = s
            me = (lax.axis_index("x") - i) % 4
            out = out + lax.dynamic_slice_in_dim(x, me * 16, 16, 1) @ w
            return out, lax.ppermute(w, "x", [(d, (d + 1) % 4) for d in range(4)])

        return lax.fori_loop(0, 4, step, (jnp.zeros((4, 32)), w))[0]

    return mapped(mesh, f, (P("x"), P("x")), P("x"))(x, w)


@program("f32[32,16]", "f32[32,16]", "f32[32,16]", mesh=True, shard=[ROWS] * 3)
def ring_attention(mesh, q, k, v):
    def f(q, k, v):
        def step(s, _):
            top, total, out, k, v = s
            scores = q @ k.T
            new = jnp.maximum(top, scores.max(1))
            p, keep = jnp.exp(scores - new[:, None]), jnp.exp(top - new)
            k, v = (lax.ppermute(a, "x", [(d, (d + 1) % 4) for d in range(4)]) for a in (k, v))
            return (
                new,
                total * keep + p.sum(1),
                out * keep[:, None] + p @ jnp.roll(v, 0),
                k,
                v,
            ), None

        start = (jnp.full(8, -1e30), jnp.zeros(8), jnp.zeros((8, 16)), k, v)
        top, total, out, _, _ = lax.scan(step, start, length=4)[0]
        return out / total[:, None]

    return mapped(mesh, f, (P("x"),) * 3, P("x"))(q, k, v)


@program(
    "bf16[64,32]",
    "f32[32,4]",
    "bf16[4,32,64]",
    "bf16[4,64,32]",
    shard=[ROWS, WHOLE, ("x",), ("x",)],
)
def experts_sharded(x, router, up, down):
    gate = jax.nn.softmax(x.astype(f32) @ router)
    slot = jnp.cumsum(jax.nn.one_hot(gate.argmax(1), 4), 0) * jax.nn.one_hot(gate.argmax(1), 4)
    sent = jax.nn.one_hot(slot.astype(jnp.int32) - 1, 24, dtype=bf16) * (slot > 0)[
        ..., None
    ].astype(bf16)
    got = jnp.einsum("tec,td->ecd", sent, x)
    out = jnp.einsum("ech,ehd->ecd", jax.nn.silu(jnp.einsum("ecd,edh->ech", got, up)), down)
    return jnp.einsum("tec,ecd->td", sent, out) * gate.max(1)[:, None].astype(bf16)


@program("f32[32,40]", "f32[40,16]", shard=[ROWS, COLUMNS])
def sorts_sharded(x, y):
    return (
        jnp.sort(x, 0),
        jnp.cumsum(x, 0),
        x.argmax(0),
        lax.top_k(x.T, 3),
        jnp.sort(y, 0),
        x.argmin(1),
        jnp.argsort(x, 1),
    )


@program("f32[2,32,16,8]", "f32[3,3,8,16]", shard=[(None, "x"), WHOLE])
def convolution_sharded(x, w):
    def conv(step, padding):
        return lax.conv_general_dilated(
            x, w, step, padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return (
        conv((1, 1), "SAME"),
        conv((2, 2), "SAME"),
        lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
    )


@program("f32[32,64]", "f32[64]", shard=[COLUMNS, ("x",)])
def softmax_sharded(x, v):
    return (
        jax.nn.softmax(x),
        jax.nn.logsumexp(x, 1),
        x / jnp.linalg.norm(x, axis=1, keepdims=True),
        (x - x.mean(1, keepdims=True)) * v,
    )


@program("s32[16]", "f32[64,32]", "f32[64,32]", "f32[16,32]", shard=[WHOLE, ROWS, COLUMNS, ROWS])
def gathers_sharded(i, table, wide, u):
    return (
        table[i * 7],
        wide[i],
        table.at[i].add(u),
        wide.at[i].set(u),
        jax.grad(lambda t: (t[i] ** 2).sum())(table),
        lax.dynamic_slice(table, (i[0] * 5, 0), (4, 32)),
    )


@program("f32[32,64]", "f32[64,16]", mesh=True, shard=[ROWS, WHOLE])
def resharded(mesh, x, w):
    def on(a, *spec):
        return lax.with_sharding_constraint(a, NamedSharding(mesh, P(*spec)))

    return (
        on(x.T, "x", None),
        on(on(x, None, "x") * 2, None, None),
        on(x @ w, None, "x"),
        on(x.reshape(16, 2, 64), "x"),
        on(x + 1, "x", None),
    )


@program("f32[32,20]", "f32[30,32]", shard=[ROWS, COLUMNS])
def movement_sharded(x, y):
    return (
        jnp.roll(x, 3, 0),
        x[::-1],
        jnp.pad(x, ((2, 3), (1, 0))),
        jnp.concatenate([x, x[:4]]),
        x[3:27],
        y[:, ::2],
        jnp.tile(x, (2, 1)),
        y.T @ y,
        x.reshape(-1),
        jnp.repeat(y, 2, 1),
        jnp.diff(x, axis=0),
    )


@program("u32[2]", "f32[32,16]", shard=[WHOLE, ROWS])
def random_sharded(key, x):
    return (
        x + jax.random.normal(key, x.shape),
        jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0),
        jax.random.permutation(key, x),
    )


@program("c64[16,32]", "f32[8,12,12]", shard=[ROWS, ("x",)])
def numeric_sharded(x, a):
    m = jnp.einsum("bij,bkj->bik", a, a) + 2 * jnp.eye(12)
    return (
        jnp.fft.fft(x),
        jnp.fft.fft(x, axis=0),
        jnp.linalg.cholesky(m),
        jnp.linalg.solve(m, a[:, :, :2]),
    )


@program("f32[64]", mesh=True, shard=[("x",)])
def loop_until_all(mesh, x):
    def f(x):
        def going(s):
            return lax.pmax(jnp.abs(s[0]).max(), "x") > 0.05

        return lax.while_loop(going, lambda s: (s[0] * 0.7, s[1] + 1), (x, 0))

    return mapped(mesh, f, P("x"), (P("x"), P()))(x)


@program("f32[32,8]", "s32[16]", mesh=True, shard=[ROWS, ("x",)])
def ragged_exchange(mesh, x, n):
    def f(x, n):
        sizes, me = jnp.minimum(n, 2), lax.axis_index("x")
        starts = jnp.arange(4, dtype=jnp.int32) * 2

        def sent(x, sizes):
            got = lax.all_to_all(sizes, "x", 0, 0, tiled=True)
            to = jnp.full(4, me * 2, jnp.int32)
            return lax.ragged_all_to_all(
                x, jnp.zeros((8, 8)), starts, sizes, to, got, axis_name="x"
            )

        def gathered(x, sizes):
            mine = lax.dynamic_slice_in_dim(lax.all_gather(x, "x"), me * 2, 2, 1).reshape(8, 8)
            counts = lax.dynamic_slice_in_dim(lax.all_gather(sizes, "x"), me, 1, 1)
            return jnp.where((jnp.arange(2) < counts).reshape(8, 1), mine, 0)

        return lax.platform_dependent(x, sizes, tpu=sent, default=gathered)

    return mapped(mesh, f, (P("x"), P("x")), P("x"))(x, n)


@program("bf16[16,128]", "bf16[4,128,128]", shard=[ROWS, (None, None, "x")])
def layers_sharded(x, w):
    layer = jax.checkpoint(lambda x, w: (x + jnp.tanh(x @ w), None))
    return jax.value_and_grad(lambda w: (lax.scan(layer, x, w)[0].astype(f32) ** 2).mean())(w)


@program(
    "f32[64,128]", "f32[64,128]", "f32[64,128]", "f32[64,128]", shard=[ROWS] * 4, donate=(0, 1, 2)
)
def adam_sharded(w, m, v, g):
    g = g / jnp.maximum(1, jnp.sqrt((g * g).sum()))
    m, v = 0.9 * m + 0.1 * g, 0.99 * jnp.abs(v) + 0.01 * g * g
    return w - 0.01 * m / (jnp.sqrt(v) + 1e-6), m, v


@program("f32[30,10]", "f32[12,30]", shard=[WHOLE, ROWS])
def uneven_sharded(x, y):
    return jax.lax.map(lambda r: x @ r[:10], y), y @ x, jnp.sort(y, 0)[:3], y[1:8].sum(0)


@program("s4[32,128]", "f8e4m3fn[32,128]", "s8[32,128]", shard=[ROWS] * 3)
def narrow_types_sharded(a, b, c):
    return (
        a.astype(bf16) @ b.astype(bf16).T,
        c.sum(0, dtype=jnp.int32),
        c.T,
        jnp.concatenate([c, c]),
        b.astype(f32).max(0),
    )


@program("f64[16,12]", "s64[16]", x64=True, shard=[ROWS, ("x",)])
def wide_types_sharded(x, n):
    return x.sum(0), x.T, n.sum(), jnp.cumsum(n), x - x.mean(0), jnp.sort(n)
