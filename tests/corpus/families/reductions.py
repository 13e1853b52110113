"""Sums, extrema, prefix sums, windows, sorts and counts."""

import jax
import jax.numpy as jnp
from jax import lax

from families.registry import program

f32, bf16 = jnp.float32, jnp.bfloat16


@program("f32[6,40,130]")
def sums(x):
    return (
        x.sum(),
        x.sum(0),
        x.sum(1),
        x.sum(2),
        x.sum((0, 2)),
        x.mean((0, 1)),
        jnp.linalg.norm(x, axis=1),
    )


@program("bf16[8,24,256]")
def sums_bf16(x):
    return x.sum(0), x.sum(1), x.sum(-1), x.max(-1), x.astype(f32).mean((0, 2)), x.var(1)


@program("s32[8,16,64]", "s8[32,128]", "u8[32,128]")
def sums_of_integers(x, y, z):
    return (
        x.sum(1),
        x.prod(0),
        x.max(2),
        x.min(),
        y.sum(0),
        y.sum(1, dtype="int32"),
        z.max(0),
        z.sum(1),
    )


@program("f32[16,100]", "pred[16,100]")
def extrema(x, p):
    return (
        x.max(0),
        x.min(1),
        x.prod(1),
        p.any(0),
        p.all(1),
        x.argmax(0),
        x.argmin(1),
        x.argmax(),
        jnp.ptp(x, 1),
        jnp.count_nonzero(x > 0, 0),
        lax.argmax(x, 1, jnp.int32),
        x.max(1, where=p, initial=-9),
    )


@program("f32[12,80]")
def statistics(x):
    return (
        x.mean(1),
        x.var(0),
        x.std(1, ddof=1),
        jnp.median(x, 1),
        jnp.quantile(x, 0.3, axis=1),
        jnp.percentile(x, jnp.array([10.0, 50.0, 99.0]), axis=0),
        jnp.cov(x),
        jnp.corrcoef(x),
        jnp.average(x, 0, jnp.arange(12.0) + 1),
    )


@program("f32[10,64]")
def sums_without_nan(x):
    y = jnp.where(x > 0.3, jnp.nan, x)
    return (
        jnp.nansum(y, 0),
        jnp.nanmax(y, 1),
        jnp.nanmin(y),
        jnp.nanmean(y, 1),
        jnp.nanargmax(y, 0),
        jnp.nanvar(y, 1),
    )


@program("f32[9,130]")
def prefix(x):
    return (
        jnp.cumsum(x, 0),
        jnp.cumsum(x, 1),
        jnp.cumprod(x, 1),
        lax.cummax(x, 1),
        lax.cummin(x, 0),
        lax.cumlogsumexp(x, 1),
        lax.cumsum(x, 1, reverse=True),
    )


@program("s32[4,600]", "bf16[4,300]")
def prefix_of_integers(n, x):
    return (
        jnp.cumsum(n, 1),
        lax.cummax(n, 1, reverse=True),
        jnp.cumsum(x, 1),
        jnp.cumprod(n & 1 | 1, 0),
    )


@program("f32[300,5]")
def prefix_gradients(x):
    return jax.grad(lambda x: (jnp.cumsum(x, 0) ** 2 * jnp.cumprod(x + 1, 1)).sum())(x)


@program("f32[64,16]", "f32[64,16]")
def associative(a, b):
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    return lax.associative_scan(combine, (a, b)), lax.associative_scan(jnp.maximum, a, reverse=True)


@program("f32[2,20,18,16]")
def windows(x):
    def pool(start, op, size, step, padding):
        return lax.reduce_window(x, start, op, size, step, padding)

    return (
        pool(-jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
        pool(0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        pool(jnp.inf, lax.min, (1, 1, 4, 1), (1, 1, 1, 1), "SAME"),
        lax.reduce_window(
            x, 0.0, lax.add, (1, 3, 1, 3), (1, 1, 1, 1), "VALID", window_dilation=(1, 2, 1, 1)
        ),
    )


@program("f32[2,16,16,8]")
def window_gradients(x):
    def loss(x):
        largest = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9
        return (largest**2).sum() + (mean**3).sum()

    return jax.grad(loss)(x)


@program("f32[16,200]", "f32[1000]")
def sorts(x, y):
    return (
        jnp.sort(x),
        jnp.sort(x, 0, descending=True),
        jnp.argsort(x),
        jnp.sort(y),
        jnp.argsort(y, stable=True),
    )


@program("s32[300]", "f32[300]", "s8[6,130]", "bf16[6,130]")
def sorts_by_keys(k, v, n, b):
    return (
        jnp.lexsort((v, k)),
        lax.sort((k, v), num_keys=1),
        lax.sort((k, -v, v), num_keys=2),
        jnp.sort(n),
        jnp.sort(b, 0),
        lax.sort_key_val(k, jnp.arange(300)),
        jnp.argsort(n, 1, descending=True),
    )


@program("f32[8,500]", "bf16[4,256]", "s32[4,100]")
def top(x, y, n):
    return (
        lax.top_k(x, 7),
        lax.top_k(y, 3)[0],
        lax.top_k(n * 100 + jnp.arange(100), 2),
        jnp.partition(x, 3)[:, 3],
    )


@program("f32[8,512]")
def approximate_top(x):
    return lax.approx_max_k(x, 8, recall_target=1.0), lax.approx_min_k(x, 4, recall_target=1.0)


@program("f32[100]", "f32[7,30]")
def searches(x, y):
    edges = jnp.sort(x)
    return (
        jnp.searchsorted(edges, y),
        jnp.searchsorted(edges, y, side="right", method="sort"),
        jnp.digitize(y, edges[::10]),
        jnp.interp(y, edges, jnp.arange(100.0)),
        jnp.searchsorted(edges, y, method="compare_all"),
    )


@program("f32[400]", "s32[400]")
def counts(x, n):
    return (
        jnp.histogram(x, 12),
        jnp.bincount(n, length=9),
        jnp.bincount(n, x, length=8),
        jnp.histogram2d(x[:200], x[200:], 5)[0],
        jnp.unique(n, size=10, fill_value=-1),
        jnp.unique_counts(n, size=8),
    )


@program("f32[120,32]", "s32[120]")
def segments(x, ids):
    s = jax.ops
    return (
        s.segment_sum(x, ids, 8),
        s.segment_max(x, ids, 8),
        s.segment_min(x, jnp.sort(ids), 8, indices_are_sorted=True),
        s.segment_prod(x, ids, 10),
    )


@program("s32[60]", "s32[40]")
def sets(a, b):
    return (
        jnp.isin(a, b[:3]),
        jnp.intersect1d(a, b, size=9, fill_value=-1),
        jnp.union1d(a, b, size=12, fill_value=9),
        jnp.setdiff1d(a, b[:2], size=9, fill_value=-1),
    )


@program("f64[12,33]", x64=True)
def sums_f64(x):
    return x.sum(), x.sum(0), jnp.cumsum(x, 1), x.max(1), x.argmax(0), jnp.sort(x, 1), x.std(1)


@program("s64[12,33]", x64=True)
def sums_s64(x):
    return (
        x.sum(),
        (x * 10**12).sum(0),
        jnp.cumsum(x, 1),
        x.max(1),
        jnp.argmax(x, 0),
        jnp.sort(x, 1),
    )


@program("c64[8,40]")
def sums_c64(x):
    return x.sum(), x.mean(0), x.prod(1), jnp.cumsum(x, 1), jnp.var(x, 1)
