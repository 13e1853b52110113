"""Layers and training steps as people write them."""

import jax
import jax.numpy as jnp
from jax import lax

from families.registry import program

f32, bf16 = jnp.float32, jnp.bfloat16


def rms(x, scale):
    wide = x.astype(f32)
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def attend(q, k, v, causal=True):
    """q, k, v: batch, time, heads, size."""
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=f32) * q.shape[-1] ** -0.5
    if causal:
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool), k.shape[1] - q.shape[1]), s, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(v.dtype), v)


@program("f32[32,200]", "f32[200]", "f32[200]")
def layer_norm(x, scale, bias):
    def f(x, scale, bias):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias

    return f(x, scale, bias), jax.grad(lambda *a: (f(*a) ** 3).sum(), (0, 1, 2))(x, scale, bias)


@program("bf16[64,256]", "bf16[256]")
def rms_norm(x, scale):
    return rms(x, scale), jax.grad(lambda x, s: (rms(x, s).astype(f32) ** 2).sum(), (0, 1))(
        x, scale
    )


@program("f32[8,6,6,16]", "f32[16]", "f32[16]", "f32[16]")
def batch_norm(x, scale, bias, running):
    def f(x, scale, bias):
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) * lax.rsqrt(variance + 1e-3) * scale + bias, running * 0.9 + mean * 0.1

    return f(x, scale, bias), jax.grad(lambda *a: (f(*a)[0] ** 3).sum(), (0, 1, 2))(x, scale, bias)


@program("f32[4,8,8,32]", "f32[32]")
def group_norm(x, scale):
    g = x.reshape(4, 8, 8, 4, 8)
    g = (g - g.mean((1, 2, 4), keepdims=True)) / jnp.sqrt(g.var((1, 2, 4), keepdims=True) + 1e-5)
    return g.reshape(x.shape) * scale


@program("f32[2,40,4,16]", "f32[2,40,4,16]", "f32[2,40,4,16]")
def attention(q, k, v):
    return attend(q, k, v), jax.grad(lambda *a: (attend(*a) ** 2).sum(), (0, 1, 2))(q, k, v)


@program("bf16[2,64,8,32]", "bf16[2,64,2,32]", "bf16[2,64,2,32]")
def attention_grouped(q, k, v):
    return attend(q, jnp.repeat(k, 4, 2), jnp.repeat(v, 4, 2)), jax.nn.dot_product_attention(
        q, k, v, is_causal=True
    )


@program("f32[64,32]", "f32[128,32]", "f32[128,32]")
def attention_in_chunks(q, k, v):
    def step(carry, kv):
        top, total, out = carry
        s = q @ kv[0].T * 0.2
        new = jnp.maximum(top, s.max(1))
        p, keep = jnp.exp(s - new[:, None]), jnp.exp(top - new)
        return (new, total * keep + p.sum(1), out * keep[:, None] + p @ kv[1]), None

    start = (jnp.full(64, -jnp.inf), jnp.zeros(64), jnp.zeros((64, 32)))
    top, total, out = lax.scan(step, start, (k.reshape(8, 16, 32), v.reshape(8, 16, 32)))[0]
    return out / total[:, None], top + jnp.log(total)


@program("bf16[2,32,4,64]", "s32[2,32]")
def rotary(x, positions):
    angle = positions[..., None].astype(f32) * 10000.0 ** (-jnp.arange(32) / 32)
    sin, cos = jnp.sin(angle)[:, :, None].astype(bf16), jnp.cos(angle)[:, :, None].astype(bf16)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


@program(
    "bf16[2,128,4,32]",
    "bf16[2,128,4,32]",
    "bf16[2,1,4,32]",
    "bf16[2,1,4,32]",
    "bf16[2,1,4,32]",
    "s32[]",
    donate=(0, 1),
)
def decode_with_cache(keys, values, q, k, v, at):
    keys, values = (
        lax.dynamic_update_slice(c, n, (0, at, 0, 0)) for c, n in ((keys, k), (values, v))
    )
    s = jnp.einsum("bqhd,bkhd->bhqk", q, keys, preferred_element_type=f32)
    s = jnp.where(jnp.arange(128) <= at, s, -1e30)
    return keys, values, jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(bf16), values)


@program(
    "bf16[2,64,128]",
    "bf16[128]",
    "bf16[128,3,4,32]",
    "bf16[4,32,128]",
    "bf16[128,256]",
    "bf16[256,128]",
)
def transformer_block(x, scale, qkv, out, up, down):
    def block(x, scale, qkv, out, up, down):
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dnhk->btnhk", rms(x, scale), qkv), 2, 0)
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v), out)
        return x + jax.nn.silu(rms(x, scale) @ up) @ down

    return jax.value_and_grad(lambda *a: (block(*a).astype(f32) ** 2).mean(), (0, 2, 4, 5))(
        x, scale, qkv, out, up, down
    )


@program("f32[64,32]", "f32[32,4]", "f32[4,32,64]", "f32[4,64,32]")
def experts_one_hot(x, router, up, down):
    p = jax.nn.softmax(x @ router)
    weight, chosen = lax.top_k(p, 2)
    gate = (jax.nn.one_hot(chosen, 4) * weight[..., None]).sum(1)
    return jnp.einsum(
        "te,teo->to",
        gate,
        jnp.einsum("teh,eho->teo", jax.nn.gelu(jnp.einsum("td,edh->teh", x, up)), down),
    )


@program("bf16[64,32]", "bf16[32,4]", "bf16[4,32,64]", "bf16[4,64,32]", precision="default")
def experts_ragged(x, router, up, down):
    chosen = jnp.argmax(x.astype(f32) @ router.astype(f32), -1)
    order = jnp.argsort(chosen)
    sizes = jnp.bincount(chosen, length=4).astype(jnp.int32)
    y = lax.ragged_dot(jax.nn.silu(lax.ragged_dot(x[order], up, sizes)), down, sizes)
    return jnp.zeros_like(x).at[order].set(y)


@program("s32[4,20]", "f32[50,64]", "f32[64,50]", "s32[4,20]")
def language_model_loss(tokens, table, out, labels):
    def loss(table, out):
        logits = jnp.tanh(table[tokens]) @ out
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()

    return jax.value_and_grad(loss, (0, 1))(table, out)


@program("f32[32,64]", "u32[2]")
def dropout(x, key):
    def f(x):
        return jnp.where(jax.random.bernoulli(key, 0.8, x.shape), x / 0.8, 0)

    return f(x), jax.grad(lambda x: (f(x) ** 2).sum())(x)


@program("f32[64,128]", "f32[64,128]", "f32[64,128]", "f32[64,128]", "s32[]", donate=(0, 1, 2))
def adam(w, m, v, g, n):
    m, v = 0.9 * m + 0.1 * g, 0.999 * jnp.abs(v) + 0.001 * g * g
    step = n.astype(f32) + 1
    norm = jnp.sqrt((g * g).sum())
    return (
        w
        - 1e-3
        * jnp.minimum(1, 1 / norm)
        * (m / (1 - 0.9**step))
        / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8),
        m,
        v,
        n + 1,
    )


@program(
    "f32[32,64]",
    "f32[64,48]",
    "f32[48]",
    "f32[64,48]",
    "f32[48]",
    "f32[32,48]",
    donate=(1, 2, 3, 4),
)
def momentum(x, w, b, mw, mb, y):
    loss, (gw, gb) = jax.value_and_grad(lambda w, b: ((x @ w + b - y) ** 2).mean(), (0, 1))(w, b)
    mw, mb = 0.9 * mw + gw, 0.9 * mb + gb
    return w - 0.1 * mw, b - 0.1 * mb, mw, mb, loss


@program("f32[64,96]", "f32[64]", "f32[96]", "f32[64,96]")
def adafactor(w, rows, columns, g):
    square = g * g + 1e-30
    rows, columns = 0.9 * jnp.abs(rows) + 0.1 * square.mean(1), 0.9 * jnp.abs(
        columns
    ) + 0.1 * square.mean(0)
    update = g * lax.rsqrt(jnp.outer(rows / rows.mean(), columns) + 1e-6)
    return w - 0.01 * update / jnp.maximum(1, jnp.sqrt((update**2).mean())), rows, columns


@program("f32[128,256]", "f32[256,64]", "bf16[32,128]", "s32[32]", donate=(0, 1))
def mixed_precision_step(w1, w2, x, labels):
    def loss(w1, w2):
        h = jax.nn.relu(x @ w1.astype(bf16)) @ w2.astype(bf16)
        return -(jax.nn.log_softmax(h.astype(f32)) * jax.nn.one_hot(labels, 64)).sum() / 32

    value, (g1, g2) = jax.value_and_grad(loss, (0, 1))(w1, w2)
    return w1 - 0.1 * g1, w2 - 0.1 * g2, value


@program("f32[2,16,16,8]", "f32[3,3,8,8]", "f32[3,3,8,8]", "f32[8,10]")
def residual_block(x, w1, w2, out):
    def loss(w1, w2, out):
        def conv(x, w):
            return lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )

        return (
            jax.nn.softmax((x + conv(jax.nn.relu(conv(x, w1)), w2)).mean((1, 2)) @ out) ** 2
        ).sum()

    return jax.value_and_grad(loss, (0, 1, 2))(w1, w2, out)


@program("f32[2,32,32,3]", "f32[192,64]", "f32[16,64]")
def patches(x, w, positions):
    return (
        x.reshape(2, 4, 8, 4, 8, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 16, 192) @ w + positions
    )


@program("f32[24,16]", "f32[24,16]", "f32[16,8]", "f32[24,8]", "f32[24,8]")
def selective_scan(x, step, a, b, c):
    d = jax.nn.softplus(step)[..., None]
    decay, drive = jnp.exp(-d * jnp.exp(a)), d * b[:, None] * x[..., None]
    h = lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (decay, drive))[1]
    return (
        jnp.einsum("tdn,tn->td", h, c),
        lax.scan(lambda h, e: (h * e[0] + e[1],) * 2, jnp.zeros((16, 8)), (decay, drive))[0],
    )


@program("f32[40,16]", "s32[100]", "s32[100]", "f32[16,32]")
def graph_layer(nodes, source, target, w):
    def f(nodes, w):
        got = jax.ops.segment_sum(nodes[source] @ w, target, 40)
        return jax.nn.relu(got / jnp.maximum(1, jnp.bincount(target, length=40))[:, None])

    return f(nodes, w), jax.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1))(nodes, w)


@program("f32[3,64]", "u32[2]")
def sampling(logits, key):
    top = lax.top_k(logits, 10)[0][:, -1:]
    order = jnp.sort(logits, -1, descending=True)
    kept = (jnp.cumsum(jax.nn.softmax(order), -1) < 0.7).sum(-1)
    return (
        jax.random.categorical(key, jnp.where(logits < top, -1e9, logits)),
        kept,
        jnp.argmax(logits, -1),
    )


@program("f32[2,24,12]", "s32[2,6]")
def alignment_loss(logits, labels):
    p = jax.nn.log_softmax(logits)
    rows = jnp.take_along_axis(p, labels[:, None, :], 2)

    def step(a, row):
        return (
            jnp.logaddexp(a, jnp.pad(a[:, :-1], ((0, 0), (1, 0)), constant_values=-1e5)) + row,
            a[:, 0],
        )

    return lax.scan(step, jnp.full((2, 6), -1e5).at[:, 0].set(0), rows.swapaxes(0, 1))


@program("f32[8,48]", "f32[48,64]", "f32[48,4]", "f32[4,64]")
def low_rank_adapter(x, w, a, b):
    return jax.value_and_grad(lambda a, b: ((x @ w + x @ a @ b * 2) ** 2).mean(), (0, 1))(a, b)


@program("f32[2,128,64]", "f32[64,32]", "f32[32]")
def contrastive_loss(x, w, b):
    def loss(w, b):
        z = jnp.tanh(x @ w + b).mean(1)
        many = jnp.tanh(x @ w + b).reshape(-1, 32)[:32]
        many = many / jnp.linalg.norm(many, axis=1, keepdims=True)
        s = many @ many.T / 0.1
        return -jnp.diag(jax.nn.log_softmax(s)).mean() + (z**2).sum()

    return jax.value_and_grad(loss, (0, 1))(w, b)
