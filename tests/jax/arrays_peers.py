"""Shapes, indexing, reductions, sorting, products, convolutions, transforms of arrays."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from on_hilo import Compared, add_cases, main, random_array

X = random_array((4, 6, 5))
MATRIX, SQUARE = random_array((6, 8)), random_array((7, 7), seed=5)
VECTOR = random_array((40,), seed=2)
INDICES = np.array([3, 0, 2, 2, -1], np.int32)
IMAGE, KERNEL = random_array((2, 9, 9, 3)), random_array((3, 3, 3, 4), seed=9)


class Shapes(Compared):
    """Movement of elements."""


add_cases(Shapes, {
    "reshape": (lambda x: x.reshape(6, -1), X), "transpose": (lambda x: x.transpose(2, 0, 1), X),
    "broadcast": (lambda x: jnp.broadcast_to(x[:, None], (4, 3, 6, 5)), X),
    "concatenate": (lambda x: jnp.concatenate([x, x[:, :2]], 1), X), "stack": (lambda x: jnp.stack([x, x + 1], 2), X),
    "split": (lambda x: jnp.split(x, 3, axis=1), X), "tile": (lambda x: jnp.tile(x, (1, 2, 1)), X),
    "repeat": (lambda x: jnp.repeat(x, 3, axis=1), X), "flip": (lambda x: jnp.flip(x, (0, 2)), X),
    "roll": (lambda x: jnp.roll(x, 2, 1), X), "pad": (lambda x: jnp.pad(x, ((1, 0), (2, 1), (0, 3))), X),
    "pad_reflect": (lambda x: jnp.pad(x, 2, mode="reflect"), X), "pad_negative": (lambda x: lax.pad(x, 0.5, ((-1, 2, 1), (0, 0, 0), (1, -1, 0))), X),
    "squeeze": (lambda x: jnp.squeeze(x[:1]), X), "moveaxis": (lambda x: jnp.moveaxis(x, 0, -1), X),
    "triangles": (lambda x: (jnp.tril(x), jnp.triu(x, 1)), SQUARE), "diagonal": (lambda x: (jnp.diag(x), jnp.diag(jnp.diag(x))), SQUARE),
    "iota": (lambda: (jnp.arange(7), jnp.linspace(0, 1, 9), jnp.eye(4), lax.broadcasted_iota(jnp.int32, (3, 4), 1)),),
    "meshgrid": (lambda x: jnp.meshgrid(x, x[:3]), VECTOR), "rot90": (jnp.rot90, SQUARE),
    "scalar": (lambda x: x[0, 0, 0] * 2, X), "empty": (lambda x: (x[:0] + 1, jnp.sum(x[:0])), X),
})


class Indexing(Compared):
    """Gathers, scatters, dynamic slices."""


add_cases(Indexing, {
    "slice": (lambda x: x[1:, ::2, -3:], X), "take": (lambda x, i: jnp.take(x, i, axis=1), X, INDICES),
    "gather_pairs": (lambda x, i: x[i, :, i], X[:, :, :4], INDICES), "out_of_range": (lambda x: x.at[jnp.array([1, 99])].get(mode="fill", fill_value=7), VECTOR),
    "clipped": (lambda x: jnp.take(x, jnp.array([99, -99]), mode="clip"), VECTOR), "mask": (lambda x: jnp.where(x > 0)[0].shape[0] if False else jnp.nonzero(x > 0, size=9, fill_value=-1), VECTOR),
    "take_along": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), MATRIX), "set": (lambda x, i: x.at[i].set(1.5), VECTOR, INDICES[:3]),
    "add": (lambda x, i: x.at[i].add(2.0), VECTOR, INDICES), "multiply": (lambda x, i: x.at[i].multiply(2.0), VECTOR, INDICES),
    "max": (lambda x, i: x.at[:, i].max(0.25), MATRIX, INDICES), "min": (lambda x, i: x.at[i, 2:].min(0.25), MATRIX, INDICES),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), MATRIX, INDICES),
    "dynamic_update_slice": (lambda x, i: lax.dynamic_update_slice(x, x[:2, :2] * 0, (i[0], i[2])), MATRIX, INDICES),
    "scatter_apply": (lambda x, i: x.at[i].apply(jnp.sin), VECTOR, INDICES), "one_hot": (lambda i: jax.nn.one_hot(i, 6), INDICES),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.sort(x), x + 0.1), VECTOR), "bincount": (lambda x: jnp.bincount(jnp.abs(x.astype(int)), length=4), VECTOR),
    "segment_sum": (lambda x: jax.ops.segment_sum(x, jnp.arange(40) % 7, 7), VECTOR), "digitize": (lambda x: jnp.digitize(x, jnp.linspace(-2, 2, 6)), VECTOR),
})


class Reductions(Compared):
    """Sums, extremes, scans, sorting."""


add_cases(Reductions, {name: (getattr(jnp, name), X) for name in
                       "sum prod max min mean var std any all argmax argmin median ptp count_nonzero nansum nanmax cumsum cumprod".split()})
add_cases(Reductions, {f"{name}_axis": (lambda x, f=getattr(jnp, name): f(x, axis=1), X) for name in
                       "sum prod max min mean var argmax argmin median cumsum cumprod sort argsort diff gradient nanmean".split()})
add_cases(Reductions, {
    "logsumexp": (lambda x: jax.nn.logsumexp(x, axis=2), X), "cummax": (lambda x: lax.cummax(x, 1), X), "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 0), X),
    "norm": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1)), MATRIX), "top_k": (lambda x: lax.top_k(x, 5), VECTOR),
    "lexsort": (lambda x: jnp.lexsort((x, (x * 2).astype(int))), VECTOR), "sort_pairs": (lambda x: lax.sort((x, jnp.arange(40)), num_keys=1), VECTOR),
    "sort_descending": (lambda x: jnp.sort(x, descending=True), VECTOR), "unique": (lambda x: jnp.unique(x.astype(int), size=5), VECTOR), "percentile": (lambda x: jnp.percentile(x, jnp.array([10.0, 50.0])), VECTOR),
    "histogram": (lambda x: jnp.histogram(x, 8, (-2, 2)), VECTOR), "bf16_sum": (lambda x: x.astype(jnp.bfloat16).sum(1), MATRIX),
    "reduce_window": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2), (1, 2, 1), "SAME"), X), "custom_reduce": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b * 0.5 + a * 0, (1,)) * 0, X),
    "associative_scan": (lambda x: lax.associative_scan(jnp.multiply, x), VECTOR), "average": (lambda x: jnp.average(x, axis=0, weights=jnp.arange(6.0)), MATRIX), "cov": (jnp.cov, MATRIX), "corrcoef": (jnp.corrcoef, MATRIX),
    "argmax_nan": (lambda x: jnp.argmax(jnp.where(x > 1.5, jnp.nan, x)), VECTOR), "approx_max_k": (lambda x: lax.approx_max_k(x, 4), VECTOR),
    "approx_rows": (lambda x: lax.approx_min_k(x, 3, reduction_dimension=0, aggregate_to_topk=False), MATRIX),
})


class Products(Compared):
    """Products, convolutions, Fourier transforms, interpolation."""


add_cases(Products, {
    "dot": (jnp.dot, MATRIX, MATRIX.T.copy()), "matvec": (jnp.matmul, MATRIX, MATRIX[0]), "batched": (lambda x: jnp.matmul(x, x.swapaxes(1, 2)), X),
    "einsum": (lambda x: jnp.einsum("bij,bkj->ikb", x, x), X), "tensordot": (lambda x: jnp.tensordot(x, x, ((1, 2), (1, 2))), X), "outer": (jnp.outer, VECTOR, VECTOR), "kron": (jnp.kron, SQUARE, SQUARE[:2, :2].copy()), "cross": (lambda x: jnp.cross(x[:, :3], x[:, 1:4]), MATRIX),
    "bf16_dot": (lambda x: x.astype(jnp.bfloat16) @ x.T.astype(jnp.bfloat16), MATRIX), "int_dot": (lambda x: lax.dot(x.astype("int8"), x.T.astype("int8"), preferred_element_type=jnp.int32), MATRIX * 9),
    "f64_dot": (lambda x: x @ x.T, MATRIX.astype("float64")), "complex_dot": (lambda x: x @ x.T, random_array((5, 6), "complex64")), "precision": (lambda x: jnp.dot(x, x.T, precision="highest"), MATRIX),
    "convolution": (lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), IMAGE, KERNEL),
    "strided": (lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "VALID", rhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")), IMAGE, KERNEL),
    "transposed": (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), IMAGE, KERNEL), "depthwise": (lambda x, w: lax.conv_general_dilated(x, w[:, :, :1, :3], (1, 1), "SAME", feature_group_count=3, dimension_numbers=("NHWC", "HWIO", "NHWC")), IMAGE, KERNEL),
    "convolve": (lambda x: jnp.convolve(x, x[:5]), VECTOR), "max_pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE),
    "max_pool_gradient": (jax.grad(lambda x: jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)), IMAGE),
    "fft": (jnp.fft.fft, VECTOR), "ifft2": (jnp.fft.ifft2, MATRIX), "rfft": (jnp.fft.rfft, VECTOR), "irfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), VECTOR), "fftn": (jnp.fft.fftn, X), "fftshift": (jnp.fft.fftshift, X), "stft": (lambda x: jax.scipy.signal.stft(x, nperseg=8)[2], VECTOR),
    "interp": (lambda x: jnp.interp(x, jnp.linspace(-2, 2, 9), jnp.arange(9.0)), VECTOR), "resize": (lambda x: jax.image.resize(x, (2, 13, 7, 3), "bilinear"), IMAGE), "map_coordinates": (lambda x: jax.scipy.ndimage.map_coordinates(x, [jnp.array([0.5, 2.2]), jnp.array([1.1, 3.0])], order=1), MATRIX),
    "polyval": (jnp.polyval, VECTOR[:5].copy(), VECTOR), "attention": (lambda x: jax.nn.dot_product_attention(x[:, :, None], x[:, :, None], x[:, :, None]), X),
    "ragged_dot": (lambda x, w: lax.ragged_dot(x, w, jnp.array([2, 4], jnp.int32)), MATRIX, random_array((2, 8, 3))),
})

if __name__ == "__main__":
    main()
