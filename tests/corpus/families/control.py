"""Loops, branches, maps and what gradients make of them."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from families.registry import program

f32, bf16 = jnp.float32, jnp.bfloat16


@program("f32[10,8,32]", "f32[8,64]", "f32[32,64]", "f32[64,64]")
def recurrent(xs, h, w, u):
    def step(h, x):
        h = jnp.tanh(x @ w + h @ u)
        return h, (h[:, :5], h.sum())

    return lax.scan(step, h, xs)


@program("f32[6,4,16]", "f32[4,32]", "f32[16,128]", "f32[32,128]")
def lstm_gradients(xs, h, w, u):
    def loss(w, u):
        def step(carry, x):
            c, h = carry
            i, f, g, o = jnp.split(x @ w + h @ u, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (c, jax.nn.sigmoid(o) * jnp.tanh(c)), None

        return (lax.scan(step, (h, h), xs)[0][1] ** 2).sum()

    return jax.value_and_grad(loss, (0, 1))(w, u)


@program("f32[12,40]")
def scans_reversed(xs):
    return lax.scan(lambda c, x: (c * 0.5 + x, c), xs[0], xs, reverse=True), lax.scan(
        lambda c, x: (c + 1, x * c), 0.0, xs, unroll=4
    )


@program("f32[100]")
def newton(x):
    target = jnp.abs(x) + 1

    def going(s):
        return (jnp.abs(s[0] * s[0] - target).max() > 1e-5) & (s[1] < 20)

    return lax.while_loop(going, lambda s: (0.5 * (s[0] + target / s[0]), s[1] + 1), (target, 0))


@program("f32[32,16]", "s32[]")
def loops_with_slices(x, n):
    def body(i, a):
        row = lax.dynamic_slice_in_dim(a, i, 2)
        return lax.dynamic_update_slice_in_dim(a, row * 0.5 + a.mean(0), i, 0)

    return lax.fori_loop(0, 20, body, x), lax.fori_loop(0, n + 3, body, x)


@program("f32[16,32]", "s32[]")
def branches(x, i):
    kinds = [
        lambda v: v * 2,
        lambda v: jnp.sin(v),
        lambda v: v - v.mean(0),
        lambda v: jnp.sort(v, 0),
    ]
    return lax.cond(
        x.sum() > 0, lambda v: (v + 1, v.sum()), lambda v: (v - 1, v.max()), x
    ), lax.switch(i % 4, kinds, x)


@program("f32[16,8]", "s32[16]")
def branches_in_batches(x, n):
    def one(v, n):
        return lax.cond(n > 3, jnp.sin, jnp.cos, v), lax.fori_loop(
            0, n, lambda i, a: a * 1.1 + i, v
        )

    return jax.vmap(one)(x, n)


@program("f32[20,16]", "f32[16,16]")
def maps(x, w):
    return (
        lax.map(lambda r: jnp.tanh(w @ r), x),
        lax.map(lambda r: r.sum(), x, batch_size=8),
        jax.vmap(jnp.outer)(x, x).sum(0),
    )


@program("f32[5,6,32]")
def scans_nested(x):
    def outer(c, rows):
        return lax.scan(lambda c, r: (c + r * jnp.tanh(c), c.max()), c, rows)

    return lax.scan(outer, x[0, 0], x)


@program("f32[8,64]", "f32[4,64,128]", "f32[4,128,64]")
def layers_recomputed(x, up, down):
    @functools.partial(
        jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    )
    def layer(x, w):
        return x + jax.nn.gelu(x @ w[0]) @ w[1], None

    return jax.grad(lambda up, down: (lax.scan(layer, x, (up, down))[0] ** 2).sum(), (0, 1))(
        up, down
    )


@program("bf16[16,128]", "bf16[6,128,128]")
def layers_recomputed_bf16(x, w):
    layer = jax.checkpoint(
        lambda x, w: (x + jax.nn.silu(x @ w), None), policy=jax.checkpoint_policies.nothing_saveable
    )
    return jax.value_and_grad(lambda w: (lax.scan(layer, x, w)[0].astype(f32) ** 2).mean())(w)


@program("f32[32,32]", "f32[32,32]")
def named_checkpoints(x, w):
    name, policy = checkpoint_name, jax.checkpoint_policies.save_only_these_names("kept")

    def f(w):
        return (jnp.sin(name(jnp.cos(x @ w), "kept")) @ w).sum()

    return jax.grad(jax.checkpoint(f, policy=policy))(w)


@program("f32[24,24]")
def own_gradients(x):
    @jax.custom_vjp
    def clipped(x):
        return x * x

    clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2 * x * g, -0.1, 0.1),))
    return (
        jax.grad(lambda x: clipped(jnp.sin(x)).sum())(x),
        jax.jvp(jnp.tanh, (x,), (x,)),
        jax.linearize(jnp.exp, x)[1](x),
    )


@program("f32[12]", "f32[12,12]")
def second_derivatives(v, a):
    def f(v):
        return jnp.sin(v @ a @ v) + (v**3).sum()

    return (
        jax.hessian(f)(v),
        jax.jacfwd(lambda v: jnp.tanh(a @ v))(v),
        jax.jacrev(lambda v: jnp.tanh(a @ v))(v),
    )


@program("f32[200]", "f32[]")
def differential_equation(y, t):
    def slope(y, t):
        return -y + jnp.sin(t + y)

    def step(i, s):
        y, t = s
        a = slope(y, t)
        b = slope(y + 0.05 * a, t + 0.05)
        c = slope(y + 0.05 * b, t + 0.05)
        return y + 0.1 / 6 * (a + 2 * b + 2 * c + slope(y + 0.1 * c, t + 0.1)), t + 0.1

    return lax.fori_loop(0, 15, step, (y, t))


@program("f32[64,128]", "f32[16,128]", "s32[]", donate=(0,))
def donated_loop(cache, rows, start):
    def body(i, c):
        return lax.dynamic_update_slice(c, jnp.tanh(rows[i])[None], (start + i, 0))

    return lax.fori_loop(0, 16, body, cache)


@program("f32[30]", "s32[30]")
def early_exit(x, n):
    def going(s):
        return (s[0] < 30) & (s[1] < 20)

    return lax.while_loop(
        going, lambda s: (s[0] + 1, s[1] + n[s[0]], s[2].at[s[0]].set(x[s[0]] * 2)), (0, 0, x)
    )


@program("f64[16]", "s64[]", x64=True)
def loops_of_64_bits(x, n):
    return lax.fori_loop(0, n, lambda i, a: a * 1.01 + i, x), lax.while_loop(
        lambda s: s < 10**13, lambda s: s * 7 + n, n + 1
    )


@program("f32[33,24]", "f32[24]")
def life(x, v):
    def step(a, _):
        around = sum(jnp.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - a
        return jnp.where((around == 3) | ((a == 1) & (around == 2)), 1, 0), a.sum()

    return lax.scan(step, (x > 0.1).astype(jnp.int32), None, length=6)
