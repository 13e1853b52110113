"""Control flow, transformations, linear algebra, random numbers: programs of several parts."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import control_deps

from on_hilo import CPU, HILO, Compared, add_cases, main, on, random_array

X, VECTOR, MATRIX = random_array((4, 6, 5)), random_array((12,), seed=2), random_array((6, 6), seed=4)
SYMMETRIC = MATRIX @ MATRIX.T + 6 * np.eye(6, dtype=np.float32)


class ControlFlow(Compared):
    """Loops, branches, scans."""


def in_order(x):
    """Two values that are computed one after the other."""
    a, b = x + 1, x * 2
    control_deps.control_dep(a, b)
    return a, b


def sunk(x):
    """A value that nobody uses and that is computed nevertheless."""
    lax.dce_sink(x + 1, prevent_mlir_dce=True)
    return x * 2


def newton(x):
    """A square root, by as many steps as it takes."""
    return lax.while_loop(lambda s: (abs(s[0] ** 2 - x).max() > 1e-3) & (s[1] < 50), lambda s: ((s[0] + x / s[0]) / 2, s[1] + 1), (x, 0))


def recurrent(x, w):
    """A small recurrent network."""
    def step(h, row):
        h = jnp.tanh(h @ w + row)
        return h, h.sum()
    return lax.scan(step, jnp.zeros(6), x)


add_cases(ControlFlow, {
    "while": (newton, abs(VECTOR) + 1), "fori": (lambda x: lax.fori_loop(0, 7, lambda i, s: s * 0.5 + i, x), VECTOR), "fori_dynamic": (lambda x, n: lax.fori_loop(0, n, lambda i, s: s.at[i].add(i), x), VECTOR, np.int32(5)),
    "scan": (recurrent, random_array((9, 6)), MATRIX), "scan_reverse": (lambda x: lax.scan(lambda c, r: (c + r, c * r), 0.0, x, reverse=True), VECTOR), "scan_unrolled": (lambda x: lax.scan(lambda c, r: (c * 0.9 + r, c), 0.0, x, unroll=4), VECTOR),
    "scan_gradient": (jax.grad(lambda w, x: recurrent(x, w)[1].sum()), MATRIX, random_array((9, 6))), "cond": (lambda x, p: lax.cond(p, jnp.sin, jnp.cos, x), VECTOR, np.bool_(True)), "cond_other": (lambda x, p: lax.cond(p, lambda a: a * 2, lambda a: a + VECTOR, x), VECTOR, np.bool_(False)),
    "switch": (lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), VECTOR, np.int32(1)), "switch_clamped": (lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), VECTOR, np.int32(77)), "nested": (lambda x: lax.fori_loop(0, 3, lambda i, s: lax.fori_loop(0, i + 1, lambda j, t: t + j * s.sum(), s), x), VECTOR),
    "map": (lambda x: lax.map(lambda r: r @ r, MATRIX) + x[:6], VECTOR), "cond_in_scan": (lambda x: lax.scan(lambda c, r: (lax.cond(r > 0, lambda: c + r, lambda: c - 1), c), 0.0, x), VECTOR), "while_vmapped": (jax.vmap(lambda x: lax.while_loop(lambda s: s < 10, lambda s: s * 1.5 + 0.1, x)), abs(VECTOR) + 0.1),
    "inner_jit": (lambda x: jax.jit(lambda y: jax.jit(jnp.sin)(y) + jax.jit(jnp.sin)(y * 2))(x), VECTOR), "custom_root": (lambda x: lax.custom_root(lambda y: y**3 - x, jnp.ones_like(x), lambda f, y: lax.fori_loop(0, 30, lambda _, v: v - f(v) / (3 * v**2), y), lambda g, y: y / g(jnp.ones_like(y))), abs(VECTOR) + 1),
    "checkpoint": (jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()), VECTOR), "in_order": (in_order, MATRIX), "sunk": (sunk, MATRIX), "barrier": (lambda x: lax.optimization_barrier((x, x + 1)), VECTOR), "bisect": (lambda x: lax.while_loop(lambda s: s[1] - s[0] > 1e-3, lambda s: jnp.where((s[0] + s[1]) / 2 > x, jnp.stack([s[0], (s[0] + s[1]) / 2]), jnp.stack([(s[0] + s[1]) / 2, s[1]])), jnp.array([-3.0, 3.0])), np.float32(0.7)),
})


class Transformations(Compared):
    """Derivatives and batches."""


def network(w, x):
    """A small network with its loss."""
    h = jax.nn.gelu(x @ w["a"] + w["b"])
    return jnp.mean((jax.nn.softmax(h @ w["c"]) - 0.2) ** 2)


WEIGHTS = {"a": MATRIX, "b": VECTOR[:6], "c": MATRIX[:, :3].copy()}
add_cases(Transformations, {
    "grad": (jax.grad(network), WEIGHTS, random_array((5, 6))), "value_and_grad": (jax.value_and_grad(network), WEIGHTS, random_array((5, 6))), "vmap": (jax.vmap(jnp.dot, (0, None)), MATRIX, MATRIX[0]), "vmap_grad": (jax.vmap(jax.grad(lambda x: jnp.sin(x) * x)), VECTOR),
    "hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) * x[::-1])), VECTOR), "jacfwd": (jax.jacfwd(lambda x: jnp.cumsum(x**2)), VECTOR), "jacrev": (jax.jacrev(lambda x: jnp.cumprod(x)), VECTOR[:5]), "jvp": (lambda x: jax.jvp(jnp.tanh, (x,), (x * 2,)), VECTOR),
    "vjp": (lambda x: jax.vjp(jnp.sin, x)[1](x), VECTOR), "linearize": (lambda x: jax.linearize(jnp.exp, x)[1](x), VECTOR), "conv_gradient": (jax.grad(lambda w, x: jnp.sum(lax.conv(x, w, (1, 1), "SAME") ** 2)), random_array((4, 3, 3, 3)), random_array((2, 3, 7, 7))),
    "sort_gradient": (jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(12.0))), VECTOR), "gather_gradient": (jax.grad(lambda x: jnp.sum(x[jnp.array([1, 1, 3])] ** 2)), VECTOR), "norm_gradient": (jax.grad(lambda x: jnp.linalg.norm(x)), MATRIX), "custom_vjp": (jax.grad(lambda x: jnp.sum(jax.nn.relu(x) ** 2)), VECTOR),
    "adam": (lambda w, x: (lambda g: jax.tree.map(lambda p, d: p - 0.1 * d / (jnp.sqrt(d * d) + 1e-3), w, g))(jax.grad(network)(w, x)), WEIGHTS, random_array((5, 6)), {"rtol": 1e-3}), "pytrees": (lambda t: {"x": t["a"][0] + 1, "y": (t["a"][1], None)}, {"a": [VECTOR, MATRIX]}),
})


class LinearAlgebra(Compared):
    """jax.numpy.linalg and jax.scipy.linalg: what is unique, or undone."""


linalg = jnp.linalg
add_cases(LinearAlgebra, {
    "cholesky": (linalg.cholesky, SYMMETRIC), "solve": (linalg.solve, SYMMETRIC, VECTOR[:6]), "inverse": (linalg.inv, SYMMETRIC), "determinant": (linalg.det, MATRIX), "slogdet": (linalg.slogdet, MATRIX), "eigvalsh": (linalg.eigvalsh, SYMMETRIC), "matrix_power": (lambda x: linalg.matrix_power(x, 5), MATRIX, {"rtol": 1e-4}),
    "eigh_undone": (lambda x: (lambda w, v: (v * w) @ v.T)(*linalg.eigh(x)), SYMMETRIC, {"rtol": 1e-4}), "qr_undone": (lambda x: (lambda q, r: q @ r)(*linalg.qr(x)), MATRIX, {"rtol": 1e-4}), "svd_undone": (lambda x: (lambda u, s, v: (u * s) @ v)(*linalg.svd(x)), MATRIX, {"rtol": 1e-4}), "singular_values": (lambda x: linalg.svd(x, compute_uv=False), MATRIX),
    "lu": (lambda x: jax.scipy.linalg.lu(x), MATRIX), "triangular": (lambda x, b: jax.scipy.linalg.solve_triangular(jnp.tril(x), b, lower=True), SYMMETRIC, VECTOR[:6]), "cho_solve": (lambda x, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(x), b), SYMMETRIC, VECTOR[:6]), "expm": (jax.scipy.linalg.expm, MATRIX / 4, {"rtol": 1e-4}), "pinv": (linalg.pinv, MATRIX[:, :4], {"rtol": 1e-3}),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], MATRIX[:, :3], VECTOR[:6], {"rtol": 1e-3}), "eigenvalues": (lambda x: jnp.sort_complex(linalg.eigvals(x)), MATRIX, {"rtol": 1e-3}), "batched_cholesky": (lambda x: linalg.cholesky(jnp.stack([x, x * 2])), SYMMETRIC), "f64": (lambda x: linalg.inv(x), SYMMETRIC.astype("float64")), "complex": (lambda x: linalg.solve(x + 1j, x[0] * 1j), SYMMETRIC), "rank": (lambda x: linalg.matrix_rank(x), MATRIX),
    "gradient": (jax.grad(lambda x: linalg.slogdet(x)[1]), SYMMETRIC), "cholesky_gradient": (jax.grad(lambda x: linalg.cholesky(x).sum()), SYMMETRIC), "failed_cholesky": (lambda x: jnp.isnan(linalg.cholesky(-x)).all(), SYMMETRIC), "tridiagonal": (lambda d: lax.linalg.tridiagonal_solve(d * 0 + 0.1, abs(d) + 2, d * 0 + 0.1, d[:, None]), VECTOR),
})


class RandomNumbers(Compared):
    """The same bits as everywhere."""


KEY = np.array([7, 99], np.uint32)
_random = jax.random
add_cases(RandomNumbers, {name: (lambda k, n=name: getattr(_random, n)(k, shape=(33,)), KEY) for name in "uniform normal exponential gumbel laplace logistic cauchy bits rademacher".split()})
add_cases(RandomNumbers, {
    "split": (_random.split, KEY), "fold_in": (lambda k: _random.fold_in(k, 5), KEY), "randint": (lambda k: _random.randint(k, (40,), -5, 60), KEY), "permutation": (lambda k: _random.permutation(k, 30), KEY), "choice": (lambda k: _random.choice(k, 20, (7,), replace=False), KEY), "categorical": (lambda k: _random.categorical(k, jnp.arange(5.0), shape=(20,)), KEY),
    "bernoulli": (lambda k: _random.bernoulli(k, 0.3, (50,)), KEY), "gamma": (lambda k: _random.gamma(k, 2.5, (20,)), KEY, {"rtol": 1e-4}), "beta": (lambda k: _random.beta(k, 2.0, 3.0, (20,)), KEY, {"rtol": 1e-4}), "poisson": (lambda k: _random.poisson(k, 4.0, (20,)), KEY), "truncated": (lambda k: _random.truncated_normal(k, -1, 1, (20,)), KEY), "dirichlet": (lambda k: _random.dirichlet(k, jnp.ones(4), (3,)), KEY, {"rtol": 1e-4}),
    "multivariate": (lambda k: _random.multivariate_normal(k, jnp.zeros(6), SYMMETRIC, (3,)), KEY, {"rtol": 1e-3}), "new_keys": (lambda: _random.key_data(_random.split(_random.key(3), 4)),), "rbg": (lambda: _random.uniform(_random.key(3, impl="rbg"), (17,)),), "unsafe_rbg": (lambda: _random.normal(_random.key(3, impl="unsafe_rbg"), (17,)),), "bf16": (lambda k: _random.normal(k, (9,), jnp.bfloat16), KEY), "f64": (lambda k: _random.uniform(k, (9,)), KEY),
})

if __name__ == "__main__":
    main()
