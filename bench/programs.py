#!/usr/bin/env python3
"""Writes small programs of many kinds as HLO text, as JAX lowers them: models, loops, sorts,
scatters, convolutions, reductions, gradients, signals, decode steps.

  programs.py FOLDER [NAME...]
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax

f32, f64, bf16 = jnp.float32, jnp.float64, jnp.bfloat16
s8, s32, u8 = jnp.int8, jnp.int32, jnp.uint8
PROGRAMS = {}


def program(*shapes):
    """Registers a function with the shapes of its arguments: (dims..., type)."""
    def register(function):
        PROGRAMS[function.__name__] = (function, [jax.ShapeDtypeStruct(s[:-1], s[-1]) for s in shapes])
        return function
    return register


# Elementwise, out of cache and in it.
@program((1 << 24, f32))
def axpy(x): return 2 * x + 1
@program((1 << 22, f32))
def gelu(x): return jax.nn.gelu(x)
@program((1 << 22, f32))
def tanh_chain(x): return jnp.tanh(x) * jax.nn.sigmoid(x) + jnp.log1p(jnp.exp(-jnp.abs(x)))
@program((1 << 22, bf16))
def silu_bf16(x): return jax.nn.silu(x)
@program((1 << 20, f32))
def angles(x): return jnp.sin(x) * jnp.cos(x) + jnp.arctan2(x, x + 2)
@program((1024, f32))
def tiny(x): return x * x + 1


# Rows: softmax, norms, losses.
@program((2048, 2048, f32))
def softmax(x): return jax.nn.softmax(x)
@program((4096, 768, f32), (768, f32), (768, f32))
def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias
@program((4096, 1024, bf16), (1024, bf16))
def rms_norm_bf16(x, scale):
    wide = x.astype(f32)
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(bf16) * scale
@program((512, 8192, f32), (512, s32))
def cross_entropy(logits, labels):
    rows = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(rows, labels[:, None], 1).mean()


# Reductions.
@program((1 << 24, f32))
def total(x): return x.sum()
@program((4096, 4096, f32))
def column_sums(x): return x.sum(0)
@program((4096, 4096, f32))
def row_maxima(x): return x.max(1), x.argmax(1)
@program((1 << 20, f32))
def prefix_sums(x): return jnp.cumsum(x)
@program((64, 112, 112, 64, f32))
def max_pool(x): return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


# Products.
@program((1024, 1024, f32), (1024, 1024, f32))
def matmul(a, b): return a @ b
@program((1024, 1024, bf16), (1024, 1024, bf16))
def matmul_bf16(a, b): return a @ b
@program((64, 512, f32), (512, 2048, f32), (2048, f32), (2048, 512, f32))
def mlp(x, up, bias, down): return jax.nn.gelu(x @ up + bias) @ down
@program((256, 32, 32, f32), (256, 32, 32, f32))
def small_products(a, b): return a @ b
@program((1, 4096, f32), (4096, 4096, f32))
def vector_times_matrix(x, w): return x @ w
@program((8, 256, 64, f32), (8, 256, 64, f32), (8, 256, 64, f32))
def attention(q, k, v):
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / 8
    mask = jnp.tril(jnp.ones((256, 256), bool))
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


# Convolutions.
def convolve(x, w, **more):
    return lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)
@program((8, 56, 56, 64, f32), (3, 3, 64, 64, f32))
def convolution(x, w): return jax.nn.relu(convolve(x, w, window_strides=(1, 1), padding="SAME"))
@program((8, 56, 56, 128, f32), (3, 3, 1, 128, f32))
def depthwise(x, w):
    return convolve(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=128)
@program((4, 28, 28, 64, f32), (3, 3, 16, 128, f32))
def grouped(x, w):
    return convolve(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=4)
@program((4, 28, 28, 64, f32), (4, 4, 64, 32, f32))
def transposed(x, w):
    return convolve(x, w, window_strides=(1, 1), padding=((2, 2), (2, 2)), lhs_dilation=(2, 2))


# Order.
@program((256, 4096, f32))
def sort_rows(x): return jnp.sort(x)
@program((1024, 4096, bf16))
def sort_rows_bf16(x): return jnp.sort(x)
@program((64, 16384, f32))
def argsort(x): return jnp.argsort(x)
@program((16, 50000, f32))
def top_k(x): return lax.top_k(x, 10)


# Moving data.
@program((2048, 4096, f32))
def transpose(x): return x.T + 1
@program((50000, 256, f32), (4096, s32))
def embedding(table, ids): return table[ids]
@program((50000, 64, f32), (8192, s32), (8192, 64, f32))
def scatter_add(table, ids, rows): return table.at[ids].add(rows)
@program((512, 1024, f32), (512, 1024, f32), (512, 1024, f32))
def joined(a, b, c): return jnp.concatenate([a, jnp.flip(b, 1), c * 2], 1)
@program((2, u8))
def random_normal(seed):
    return jax.random.normal(jax.random.key(seed[0].astype(jnp.uint32)), (1 << 20,))


# Loops.
@program((64, f32))
def small_loop(x):
    return lax.fori_loop(0, 10000, lambda i, y: jnp.sin(y) * 0.5 + 1, x)
@program((256, 64, f32), (64, 64, f32))
def recurrent(xs, w):
    def step(h, x):
        h = jnp.tanh(h @ w * 0.1 + x)  # no chaos
        return h, h
    return lax.scan(step, jnp.zeros(64), xs)[1]
@program((128, 128, f32))
def power_iteration(a):
    step = lambda i, v: (lambda w: w / jnp.linalg.norm(w))(a @ v)
    return lax.fori_loop(0, 200, step, jnp.ones(128))
@program((f32,))
def newton(x):
    going = lambda s: jnp.logical_and(s[1] < 100000, jnp.abs(s[0] * s[0] - 2 - x) >= 0)
    return lax.while_loop(going, lambda s: ((s[0] + (2 + x) / s[0]) / 2, s[1] + 1), (x + 2, 0))


# Steps of models.
@program((512, f32), (4, 512, 1536, f32), (4, 512, 512, f32), (4, 512, 2048, f32),
         (4, 2048, 512, f32), (4, 2, 8, 256, 64, f32), (s32,))
def decode_step(x, to_qkv, to_out, up, down, cache, place):
    place = jnp.clip(place, 0, 255)
    def layer(x, parts):
        to_qkv, to_out, up, down, cache = parts
        norm = lambda y: y * lax.rsqrt((y * y).mean() + 1e-6)
        q, k, v = jnp.split((norm(x) @ to_qkv).reshape(24, 64), 3)
        cache = lax.dynamic_update_slice(cache, jnp.stack([k, v])[:, :, None], (0, 0, place, 0))
        scores = jnp.einsum("hd,hkd->hk", q, cache[0]) / 8
        scores = jnp.where(jnp.arange(256) <= place, scores, -1e9)
        x = x + jnp.einsum("hk,hkd->hd", jax.nn.softmax(scores), cache[1]).reshape(512) @ to_out
        return x + jax.nn.silu(norm(x) @ up) @ down, cache
    return lax.scan(layer, x, (to_qkv, to_out, up, down, cache))
@program((256, 128, f32), (256, s32), (128, 256, f32), (256, f32), (256, 10, f32))
def training_step(x, labels, w1, b1, w2):
    def loss(w1, b1, w2):
        logits = jax.nn.log_softmax(jax.nn.relu(x @ w1 + b1) @ w2)
        return -jnp.take_along_axis(logits, labels[:, None] % 10, 1).mean()
    gradients = jax.grad(loss, (0, 1, 2))(w1, b1, w2)
    return [w - 0.1 * g for w, g in zip((w1, b1, w2), gradients)]


# Gradients.
@program((8, 32, 32, 64, f32), (3, 3, 64, 64, f32))
def convolution_gradients(x, w):
    loss = lambda x, w: (convolve(x, w, window_strides=(1, 1), padding="SAME") ** 2).sum()
    return jax.grad(loss, (0, 1))(x, w)
@program((8, 64, 64, 32, f32))
def max_pool_gradient(x):
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.grad(lambda x: (pool(x) ** 2).sum())(x)
@program((512, 1024, f32), (1024, 1024, f32), (1024, f32))
def dense_gradients(x, w, b):
    return jax.grad(lambda x, w, b: jax.nn.gelu(x @ w + b).sum(), (0, 1, 2))(x, w, b)
@program((100000, 64, f32), (4096, s32), (4096, 64, f32))
def embedding_gradient(table, ids, grad):
    return jax.grad(lambda t: (t[ids] * grad).sum())(table)


# Signals and images.
@program((64, 4096, f32))
def spectra(x): return jnp.abs(jnp.fft.rfft(x))
@program((256, 256, f32))
def low_pass(x):
    keep = jnp.hypot(jnp.arange(256)[:, None] - 128, jnp.arange(256) - 128) > 100
    return jnp.fft.ifft2(jnp.fft.fft2(x) * keep).real
@program((1024, 1024, f32), (1024, 1024, f32))
def complex_arithmetic(re, im):
    z = lax.complex(re, im)
    return jnp.abs(z * jnp.conj(z) + jnp.exp(z * 0.1))
@program((512, 512, f32), (9, f32))
def smooth_rows(x, weights): return jax.vmap(lambda row: jnp.convolve(row, weights, "same"))(x)
@program((4, 224, 224, 3, f32))
def half_size(x): return jax.image.resize(x, (4, 112, 112, 3), "bilinear")
@program((4, 224, 224, 3, f32), (7, 7, 3, 64, f32))
def first_layer(x, w): return jax.nn.relu(convolve(x, w, window_strides=(2, 2), padding="SAME"))
@program((512, 512, f32))
def heat(x):
    roll = lambda x, by, axis: jnp.roll(x, by, axis)
    def step(_, x):
        return x + 0.1 * (roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - 4 * x)
    return lax.fori_loop(0, 50, step, x)


# Statistics and tables.
@program((1 << 16, f32), (1 << 16, f32))
def two_keys(a, b): return jnp.lexsort((a, b))
@program((1 << 18, f32), (1 << 18, f32))
def keys_and_values(keys, values): return lax.sort((keys, values), num_keys=1)
@program((1 << 20, s32))
def histogram(x): return jnp.bincount(jnp.abs(x) % 1000, length=1000)
@program((2048, 2048, f32))
def variances(x): return jnp.var(x, axis=0)
@program((1000, 3, f32), (1000, 3, f32))
def nearest(a, b): return jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)).min(1)
@program((2, u8))
def random_integers(seed):
    return jax.random.randint(jax.random.key(seed[0].astype(jnp.uint32)), (1 << 20,), 0, 1000)


# Sequences.
@program((64, 32, 128, f32), (256, 512, f32), (512, f32))
def lstm(xs, w, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w * 0.05 + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (jnp.zeros((32, 128)),) * 2, xs)[1]
@program((100, f32))
def runge_kutta(y):
    slope = lambda y: jnp.sin(y) - y
    def step(_, y):
        a = slope(y)
        b = slope(y + 0.005 * a)
        c = slope(y + 0.005 * b)
        return y + 0.01 / 6 * (a + 2 * b + 2 * c + slope(y + 0.01 * c))
    return lax.fori_loop(0, 1000, step, y)


# Scans by halves, and running values by other computations.
@program((2, 128, 64, f32), (2, 128, 64, f32), (64, 16, f32), (2, 128, 16, f32), (2, 128, 16, f32))
def selective_state(x, delta, a, b, c):
    delta = jax.nn.softplus(delta)[..., None]
    decay, given = jnp.exp(-delta * jnp.exp(a * 0.1)), delta * b[:, :, None] * x[..., None]
    join = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])
    return jnp.einsum("btdn,btn->btd", lax.associative_scan(join, (decay, given), axis=1)[1], c)
@program((64, 4096, f32))
def running_maxima(x): return lax.associative_scan(jnp.maximum, x, axis=1)
@program((512, 512, f32))
def running_sums(x): return lax.cumlogsumexp(x, 1), lax.cummin(x, 1, reverse=True)


# Parts of models.
@program((4, 512, 64, f32), (4, 512, 64, f32), (4, 512, 64, f32))
def attention_by_chunks(q, k, v):
    def head(q, k, v):
        def step(state, chunk):
            top, norm, out = state
            scores = q @ chunk[0].T / 8
            new = jnp.maximum(top, scores.max(-1))
            p, old = jnp.exp(scores - new[:, None]), jnp.exp(top - new)
            return (new, norm * old + p.sum(-1), out * old[:, None] + p @ chunk[1]), None
        start = jnp.full(512, -jnp.inf), jnp.zeros(512), jnp.zeros((512, 64))
        _, norm, out = lax.scan(step, start, (k.reshape(8, 64, 64), v.reshape(8, 64, 64)))[0]
        return out / norm[:, None]
    return jax.vmap(head)(q, k, v)
@program((256, 128, f32), (128, 8, f32), (8, 128, 256, f32), (8, 256, 128, f32))
def experts(x, to_experts, up, down):
    weights, which = lax.top_k(jax.nn.softmax(x @ to_experts), 2)
    chosen = jax.nn.one_hot(which, 8, dtype=s32).reshape(-1, 8)
    place = (jnp.cumsum(chosen, 0) * chosen).reshape(256, 2, 8) - 1
    sent = jax.nn.one_hot(place, 96) * (place >= 0)[..., None]
    y = jax.nn.gelu(jnp.einsum("tec,td,edf->ecf", sent.sum(1), x, up))
    return jnp.einsum("tec,ecf,efd->td", (sent * weights[:, :, None, None]).sum(1), y, down)
@program((4, 1000, f32), (2, u8))
def nucleus(logits, seed):
    p = jax.nn.softmax(logits / 0.8)
    falling = jnp.sort(p)[:, ::-1]
    last = jnp.argmax(jnp.cumsum(falling, -1) > 0.9, -1)[:, None]
    kept = jnp.where(p >= jnp.take_along_axis(falling, last, -1), logits, -jnp.inf)
    return jax.random.categorical(jax.random.key(seed[0].astype(jnp.uint32)), kept, axis=-1)
@program((2, 56, 56, 48, f32), (7, 7, 1, 48, f32), (48, 192, f32), (192, 48, f32))
def convnext_block(x, filters, up, down):
    y = convolve(x, filters, window_strides=(1, 1), padding="SAME", feature_group_count=48)
    y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-6)
    return x + jax.nn.gelu(y @ up) @ down
@program((8, 4, 4, 128, f32), (4, 4, 128, 64, f32), (4, 4, 64, 3, f32))
def generator(x, w1, w2):
    y = jax.nn.leaky_relu(lax.conv_transpose(x, w1, (2, 2), "SAME"))
    return jnp.tanh(lax.conv_transpose(y, w2, (2, 2), "SAME"))
@program((500, 32, f32), (2000, s32), (2000, s32))
def graph_attention(x, source, target):
    source, target = source * 62, target * 71
    def energy(x):
        e = jax.nn.leaky_relu((x[source] * x[target]).sum(-1))
        p = jnp.exp(e - jax.ops.segment_max(e, target, 500)[target])
        p = p / jax.ops.segment_sum(p, target, 500)[target]
        return (jax.ops.segment_sum(p[:, None] * x[source], target, 500) ** 2).sum()
    return jax.grad(energy)(x)


# Simulations and dynamic programming.
@program((300, 300, f32))
def wave(u):
    def step(state, _):
        u, v = state
        at = lambda i, j: jnp.pad(u, 1)[i:i + 300, j:j + 300]
        v = v + 0.1 * (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - 4 * u)
        return (u + 0.1 * v, v), None
    return lax.scan(step, (u, jnp.zeros_like(u)), None, length=30)[0]
@program((200, 3, f32), (200, 3, f32))
def bodies(x, v):
    def step(_, state):
        x, v = state
        d = x[None] - x[:, None]
        v = v + 1e-4 * (d * (((d * d).sum(-1) + 0.01) ** -1.5)[..., None]).sum(1)
        return x + 0.01 * v, v
    return lax.fori_loop(0, 10, step, (x, v))
@program((64, 64, f32))
def bilateral(x):
    total = weights = 0
    for i in range(-2, 3):
        for j in range(-2, 3):
            y = jnp.roll(x, (i, j), (0, 1))
            w = jnp.exp(-(i * i + j * j) / 4 - (y - x) ** 2)
            total, weights = total + w * y, weights + w
    return total / weights
@program((64, s32), (64, s32))
def edit_distance(a, b):
    def row(above, given):
        i, letter = given
        def cell(left, given):
            up, corner, other = given
            least = jnp.minimum(jnp.minimum(left, up) + 1, corner + (other != letter))
            return least, least
        first, rest = lax.scan(cell, i + 1, (above[1:], above[:-1], b))
        return jnp.concatenate([jnp.array([i + 1]), rest]), None
    return lax.scan(row, jnp.arange(65), (jnp.arange(64), a))[0][-1]
@program((100, 16, f32), (16, 16, f32))
def hidden_markov(seen, between):
    rows = jax.nn.log_softmax(between)
    def step(a, e): return (jax.nn.logsumexp(a[:, None] + rows, 0) + e,) * 2
    return lax.scan(step, seen[0], seen[1:])[1]


# Clouds of points, random walks, control.
@program((2000, 16, f32), (10, 16, f32))
def k_means(x, centres):
    def step(_, centres):
        nearest = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
        count = jax.ops.segment_sum(jnp.ones(2000), nearest, 10)
        return jax.ops.segment_sum(x, nearest, 10) / jnp.maximum(count, 1)[:, None]
    return lax.fori_loop(0, 10, step, centres)
@program((500, 3, f32), (500, 16, s32))
def molecules(x, near):
    near = (near * 61 + jnp.arange(16) * 7 + jnp.arange(500)[:, None]) % 500
    def energy(x):
        d = x[:, None] - x[near]
        d = d - 30 * jnp.round(d / 30)
        r2 = (d * d).sum(-1) + 0.5
        return jnp.where(r2 < 25, 4 * (r2 ** -6 - r2 ** -3), 0).sum()
    def step(_, state):
        x, v = state
        v = v - 1e-3 * jax.grad(energy)(x)
        return x + 1e-3 * v, v
    return lax.fori_loop(0, 20, step, (x * 10, jnp.zeros_like(x)))
@program((128, 128, f32))
def lattice_boltzmann(u):
    ways = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    weights = jnp.array([(4, 1, 0.25)[abs(i) + abs(j)] / 9 for i, j in ways])[:, None, None]
    def step(_, f):
        total = f.sum(0)
        x = sum(f[n] * i for n, (i, _) in enumerate(ways)) / total
        y = sum(f[n] * j for n, (_, j) in enumerate(ways)) / total
        along = jnp.stack([3 * (i * x + j * y) for i, j in ways])
        calm = weights * total * (1 + along + along ** 2 / 2 - 1.5 * (x * x + y * y))
        f = f + 0.6 * (calm - f)
        return jnp.stack([jnp.roll(f[n], way, (0, 1)) for n, way in enumerate(ways)])
    return lax.fori_loop(0, 20, step, jnp.stack([u] * 9) * 0.1 + 1)
@program((2, u8), (100, 8, f32))
def hamiltonian_walk(seed, x):
    energy = lambda w: jnp.sum(jax.nn.softplus(x @ w) - (x[:, 0] > 0) * (x @ w)) + 0.5 * w @ w
    slope = jax.grad(energy)
    def sample(w, key):
        push, luck = jax.random.split(key)
        p = jax.random.normal(push, (8,))
        def leap(_, state):
            w, p = state
            p = p - 0.025 * slope(w)
            return w + 0.05 * p, p - 0.025 * slope(w + 0.05 * p)
        w2, p2 = lax.fori_loop(0, 10, leap, (w, p))
        gain = energy(w) - energy(w2) + 0.5 * (p @ p - p2 @ p2)
        return (jnp.where(jnp.log(jax.random.uniform(luck)) < gain, w2, w),) * 2
    keys = jax.random.split(jax.random.key(seed[0].astype(jnp.uint32)), 50)
    return lax.scan(sample, jnp.zeros(8), keys)[1]
@program((256, 256, f32))
def choices(x):
    y = x
    for i in range(40):
        high, low = y - jnp.sin(y - i / 10) / 2, y - jnp.sin(y + i / 10) / 2
        y = jnp.where(y > i / 10, high, jnp.where(y < -i / 10, low, y))
    return y
@program((3, 65536, f32), (256, 256, f32))
def planes_to_colours(planes, light):
    colours = planes.T.reshape(256, 256, 3)
    return (colours - jnp.array([0.5, 0.4, 0.3])) * light[..., None]


# Gradients of whole losses.
@program((2, 64, s32), (100, 64, f32), (64, 192, f32), (64, 64, f32), (64, 256, f32), (256, 64, f32))
def transformer_gradients(ids, table, to_qkv, to_out, up, down):
    norm = lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    def loss(table, to_qkv, to_out, up, down):
        x = table[ids]
        q, k, v = (y.reshape(2, 64, 4, 16) for y in jnp.split(norm(x) @ to_qkv * 0.1, 3, -1))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
        scores = jnp.where(jnp.tril(jnp.ones((64, 64), bool)), scores, -1e9)
        seen = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(2, 64, 64)
        x = x + seen @ to_out * 0.1
        x = x + jax.nn.gelu(norm(x) @ up * 0.1) @ down * 0.1
        rows = jax.nn.log_softmax(norm(x) @ table.T)
        return -jnp.take_along_axis(rows[:, :-1], ids[:, 1:, None], -1).mean()
    return jax.grad(loss, (0, 1, 2, 3, 4))(table, to_qkv, to_out, up, down)
@program((4, 50, 20, f32), (4, 10, s32))
def alignment_gradient(logits, labels):
    def loss(rows, letters):
        states = jnp.zeros(21, s32).at[1::2].set(letters % 19 + 1)
        skips = jnp.concatenate([jnp.zeros(2, bool), states[2:] != states[:-2]]) & (states > 0)
        later = lambda a, n: jnp.concatenate([jnp.full(n, -1e30), a[:-n]])
        def step(a, row):
            two = jnp.where(skips, later(a, 2), -1e30)
            return jnp.logaddexp(jnp.logaddexp(a, later(a, 1)), two) + row[states], None
        start = jnp.full(21, -1e30).at[:2].set(rows[0, states[:2]])
        return -jnp.logaddexp(*lax.scan(step, start, rows[1:])[0][-2:])
    return jax.grad(lambda x: jax.vmap(loss)(jax.nn.log_softmax(x), labels).sum())(logits)


# Linear algebra by LAPACK.
@program((200, f32), (50, f32))
def gaussian_process(x, asked):
    kernel = lambda a, b: jnp.exp(-0.5 * (a[:, None] - b) ** 2)
    factor = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(200))
    return kernel(asked, x) @ jax.scipy.linalg.cho_solve((factor, True), jnp.sin(x))
@program((200, 4, f32))
def kalman(seen):
    move = jnp.eye(4) + jnp.diag(jnp.ones(2) * 0.1, 2)
    def step(state, z):
        x, p = move @ state[0], move @ state[1] @ move.T + 0.01 * jnp.eye(4)
        gain = jnp.linalg.solve(p + 0.1 * jnp.eye(4), p).T
        x = x + gain @ (z - x)
        return (x, p - gain @ p), x
    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), seen)[1]
@program((32, 48, f32), (32, 48, f32))
def shampoo(w, g):
    def root(m):
        values, vectors = jnp.linalg.eigh(m + 0.01 * jnp.eye(len(m)))
        return (vectors * jnp.maximum(values, 1e-6) ** -0.25) @ vectors.T
    return w - 0.1 * root(g @ g.T) @ g @ root(g.T @ g)


# Other types.
@program((1024, 1024, s8), (1024, 1024, s8))
def matmul_s8(a, b): return lax.dot(a, b, preferred_element_type=s32)
@program((512, 512, f64), (512, 512, f64))
def matmul_f64(a, b): return a @ b
@program((300, 300, f64))
def functions_f64(x): return jnp.exp(x) + jnp.log(jnp.abs(x) + 1) + jnp.tanh(x)
@program((1 << 22, s32))
def integers(x): return (x * 1103515245 + 12345) // 7 % 1000


@program((64, 256, f32), (256, 256, f32))
def products_f8(x, w):
    narrow = lambda a: a.astype(jnp.float8_e4m3fn)
    return lax.dot(narrow(x), narrow(w), preferred_element_type=f32)
@program((64, 256, f32), (256, 256, u8), (4, 256, f32))
def four_bits(x, packed, scale):
    w = jnp.stack([packed & 15, packed >> 4], 1).reshape(512, 256)[:256].astype(f32) - 8
    return x @ (w.reshape(4, 64, 256) * scale[:, None]).reshape(256, 256)



# Short last dimensions, indices known in advance, one number in many places.
@program((16384, 128, 3, f32), (3, f32))
def grey(image, weights): return (image * weights).sum((1, 2))
@program((64, 4096, 6, s32))
def triangle_counts(x): return (jnp.tril(x) > 3).sum((1, 2))
@program((64, 50, 30, 5, f32))
def worst_of_five(x): return jnp.abs(x[:, 5:45:2]).max((1, 2))
@program((2, 191885, f32))
def repeated(x): return jnp.repeat(jnp.tile(x.astype(jnp.float16), (2, 1)), 2, 1)
@program((4, 64, 64, 32, f32), (4, 128, 128, 32, f32))
def upsampled(low, high): return jax.image.resize(low, high.shape, "nearest") + high
@program((64, 512, 64, f32))
def one_of_many(x): return jnp.tanh(x)[jnp.array([58])]
@program((64, 7168, f32), (1000, s32))
def marked(x, where): return x.at[where].max(1.0)
@program((1 << 20, s32))
def counts(x): return jnp.bincount(x, length=1000)
@program((4096, 100, f32), (64, s32), (4096, 64, f32))
def scattered_columns(x, columns, y): return x.at[:, columns].add(y)
@program((2, 2000, 32, f32), (2, 32, 64, f32), (32, 32, f32))
def gated_convolution(x, kernel, out):
    a, b = jnp.split(lax.conv_general_dilated(x, kernel, (1,), [(8, 0)], rhs_dilation=(8,),
                                              dimension_numbers=("NWC", "WIO", "NWC")), 2, -1)
    return x + (jnp.tanh(a) * jax.nn.sigmoid(b)) @ out


# Few results of long sums; layers whose weights stand in one array; votes of capsules.
@program((250000, 6, f32))
def covariances(x):
    apart = x - x.mean(0)
    return apart.T @ apart / (len(x) - 1)
@program((64, 256, f32), (6, 256, 256, f32))
def stacked_layers(x, w):
    def loss(w):
        y = x
        for i in range(6): y = jax.nn.relu(y @ w[i])
        return (y * y).mean()
    return jax.grad(loss)(w)
@program((8, 288, 10, f32), (288, 10, 16, 8, f32))
def capsule_votes(c, votes): return jnp.einsum("bij,ijdb->bjd", c, votes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        function, arguments = PROGRAMS[name]
        with jax.enable_x64(any(a.dtype == f64 for a in arguments)):
            lowered = jax.jit(function).lower(*arguments).compiler_ir("hlo")
        (options.folder / f"{name}.hlo").write_text(lowered.as_hlo_text())


if __name__ == "__main__":
    main()
