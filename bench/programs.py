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


# Other types.
@program((1024, 1024, s8), (1024, 1024, s8))
def matmul_s8(a, b): return lax.dot(a, b, preferred_element_type=s32)
@program((512, 512, f64), (512, 512, f64))
def matmul_f64(a, b): return a @ b
@program((300, 300, f64))
def functions_f64(x): return jnp.exp(x) + jnp.log(jnp.abs(x) + 1) + jnp.tanh(x)
@program((1 << 22, s32))
def integers(x): return (x * 1103515245 + 12345) // 7 % 1000


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
