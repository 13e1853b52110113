"""Transforms, linear algebra, special functions, statistics, signals and images."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jax import lax

from families.registry import program

special, stats, linalg = jsp.special, jsp.stats, jnp.linalg


def definite(a):
    return a @ a.T + 2 * jnp.eye(a.shape[-1], dtype=a.dtype)


@program("c64[6,64]", "c64[10,24]")
def fft(x, y):
    return (
        jnp.fft.fft(x),
        jnp.fft.ifft(x),
        jnp.fft.fft(y),
        jnp.fft.fft(x, axis=0),
        jnp.fft.fftshift(x),
    )


@program("f32[5,64]", "f32[4,30]")
def fft_real(x, y):
    return (
        jnp.fft.rfft(x),
        jnp.fft.irfft(jnp.fft.rfft(y) * 2),
        jnp.fft.rfft(y),
        jnp.fft.hfft(x[:, :9]),
        jnp.fft.fftfreq(9) * x[0, 0],
    )


@program("c64[3,16,20]", "f32[16,32]")
def fft_2d(x, y):
    return jnp.fft.fft2(x), jnp.fft.ifftn(x), jnp.fft.rfft2(y), jnp.fft.irfft2(jnp.fft.rfft2(y))


@program("f32[2,128]", "f32[9]")
def fft_gradients(x, k):
    return jax.grad(lambda x: (jnp.abs(jnp.fft.rfft(x)) ** 2 + 1).sum())(x), jsp.signal.fftconvolve(
        x[0], k
    )


@program("f32[3,12,12]", "f32[12,5]")
def cholesky(a, b):
    m = jax.vmap(definite)(a)
    return (
        linalg.cholesky(m),
        jsp.linalg.cho_solve((linalg.cholesky(m[0]), True), b),
        jax.grad(lambda a: linalg.cholesky(definite(a)).sum())(a[0]),
    )


@program("f32[40,40]")
def cholesky_larger(a):
    return linalg.cholesky(definite(a)), linalg.cholesky(definite(a), upper=True)


@program("f32[12,12]", "f32[12,4]", "f32[2,12,3]")
def triangular_solves(a, b, c):
    t, solve = jnp.tril(a) + 2 * jnp.eye(12), jsp.linalg.solve_triangular
    return (
        solve(t, b, lower=True),
        solve(t.T, b),
        solve(t, b, lower=True, trans=1),
        solve(t, b, lower=True, unit_diagonal=True),
        jax.vmap(lambda c: solve(t, c, lower=True))(c),
    )


@program("f32[12,7]", "f32[3,6,6]")
def qr(a, b):
    q, t = linalg.qr(a)
    return q @ t, q.T @ q, jnp.abs(jnp.diag(t)), jnp.abs(linalg.qr(b, mode="r"))


@program("f32[14,14]", "f32[14,3]")
def lu(a, b):
    a = a + 3 * jnp.eye(14)
    return (
        jsp.linalg.lu(a),
        linalg.solve(a, b),
        linalg.inv(a),
        linalg.det(a),
        linalg.slogdet(a),
        jax.grad(lambda a: linalg.inv(a).sum())(a),
    )


@program("f32[10,10]")
def eigenvalues(a):
    w, v = linalg.eigh(definite(a))
    return w, (v * w) @ v.T, linalg.eigvalsh(a + a.T)


@program("f32[10,6]")
def singular_values(a):
    u, s, v = linalg.svd(a, full_matrices=False)
    return s, (u * s) @ v, linalg.norm(a, 2), linalg.norm(a, "nuc")


@program("f32[9,9]")
def matrix_functions(a):
    return (
        jsp.linalg.expm(a),
        linalg.matrix_power(a, 5),
        linalg.norm(a),
        linalg.norm(a, 1),
        linalg.norm(a, jnp.inf),
        jsp.linalg.toeplitz(a[0]),
        jnp.trace(a),
    )


@program("f32[12,6]", "f32[12,2]")
def least_squares(a, b):
    return linalg.pinv(a), linalg.lstsq(a, b)[0], linalg.matrix_rank(a), linalg.cond(a)


@program("f32[20]", "f32[20]", "f32[20,3]")
def tridiagonal(d, e, b):
    return lax.linalg.tridiagonal_solve(e, d + 3, e, b)


@program("f32[24,24]", "f32[24]")
def conjugate_gradients(a, b):
    return (
        jsp.sparse.linalg.cg(lambda v: definite(a) @ v, b, maxiter=12)[0],
        jsp.sparse.linalg.bicgstab(lambda v: definite(a) @ v, b, maxiter=4)[0],
    )


@program("f64[8,8]", "f64[8,2]", x64=True)
def linear_algebra_f64(a, b):
    m = definite(a)
    return (
        linalg.cholesky(m),
        linalg.solve(m, b),
        linalg.det(m),
        jsp.linalg.solve_triangular(linalg.cholesky(m), b, lower=True),
    )


@program("c64[8,8]", "c64[8,2]")
def linear_algebra_c64(a, b):
    m = a @ a.conj().T + 2 * jnp.eye(8)
    return linalg.cholesky(m), linalg.solve(m, b), linalg.eigvalsh(m), jnp.abs(linalg.qr(m)[1])


@program("f32[8,60]")
def special_functions(x):
    p, s = jnp.abs(x) + 0.3, special
    return (
        s.gammaln(p),
        s.digamma(p),
        s.erf(x),
        s.erfc(x),
        s.erfinv(jnp.clip(x, -0.9, 0.9)),
        s.logsumexp(x, 1),
        s.ndtr(x),
        s.log_ndtr(x),
        s.ndtri(jax.nn.sigmoid(x)),
        s.i0(x),
        s.i0e(x),
        s.i1(x),
        s.i1e(x),
        s.expit(x),
        s.logit(jax.nn.sigmoid(x)),
        s.xlogy(p, p),
        s.xlog1py(p, p),
        s.entr(p),
        s.rel_entr(p, p + 1),
        s.kl_div(p, p + 1),
        s.gamma(p),
        s.factorial(p),
        s.exp1(p),
        s.softmax(x),
        s.spence(p),
        s.multigammaln(p + 2, 2),
    )


@program("f32[4,30]", "f32[4,30]")
def special_functions_of_two(x, y):
    a, b = jnp.abs(x) + 0.4, jnp.abs(y) + 0.6
    s = special
    return (
        s.betainc(a, b, jax.nn.sigmoid(x)),
        s.gammainc(a, b),
        s.gammaincc(a, b),
        s.betaln(a, b),
        s.zeta(a + 2, b),
        s.polygamma(2, b),
        s.beta(a, b),
        s.expi(a),
        s.expn(3, b),
        s.bernoulli(4) * x[0, 0],
        s.poch(a, b),
        s.hyp1f1(a, b, x),
        jax.grad(lambda a: s.gammainc(a, b).sum())(a),
    )


@program("f32[50]", "f32[50]")
def distributions(x, y):
    p, s = jnp.abs(y) + 0.2, stats
    return (
        s.norm.pdf(x),
        s.norm.cdf(x),
        s.norm.logsf(x),
        s.norm.ppf(jax.nn.sigmoid(x)),
        s.t.logpdf(x, p),
        s.gamma.logpdf(p, 2.0),
        s.beta.pdf(jax.nn.sigmoid(x), 2.0, 3.0),
        s.expon.logpdf(p),
        s.laplace.cdf(x),
        s.poisson.logpmf(jnp.floor(p * 9), 3.0),
        s.cauchy.logpdf(x),
        s.logistic.sf(x),
        s.uniform.pdf(x),
        s.chi2.logpdf(p, 3.0),
        s.binom.logpmf(jnp.floor(p * 4), 9, 0.3),
        s.multivariate_normal.logpdf(x[:3], y[:3], jnp.eye(3)),
        s.rankdata(x),
        s.mode(jnp.floor(x * 4)).mode,
        s.gaussian_kde(x)(y[:5]),
        s.sem(x),
    )


@program("f32[80]", "f32[7]", "f32[12,14]", "f32[3,3]")
def signals(x, k, image, small):
    s = jsp.signal
    return (
        s.convolve(x, k),
        s.correlate(x, k, "same"),
        s.convolve2d(image, small, "same"),
        s.detrend(x),
        jnp.convolve(x, k, "valid"),
        jnp.abs(s.stft(x, nperseg=16)[2]),
        s.welch(x, nperseg=16)[1],
        jnp.correlate(x, k),
        jnp.gradient(x),
        jnp.diff(x, 2),
        jnp.unwrap(x * 20),
        jnp.trapezoid(x),
    )


@program("f32[12,14]", "f32[2,30]")
def coordinates(image, at):
    at = (at + 1) * 5
    return [
        jsp.ndimage.map_coordinates(image, list(at), order, mode=mode)
        for order in (0, 1)
        for mode in ("constant", "nearest", "reflect")
    ]


@program("f32[2,12,14,3]")
def images(x):
    kinds = ("nearest", "linear", "cubic", "lanczos3")
    return (
        [jax.image.resize(x, (2, 24, 20, 3), k) for k in kinds],
        jax.image.resize(x, (2, 5, 7, 3), "linear"),
        jax.image.scale_and_translate(
            x, (2, 9, 9, 3), (1, 2), jnp.array([0.7, 0.6]), jnp.array([1.0, 0.5]), "linear"
        ),
    )


@program("f32[40]", "f32[40]", "f32[5]")
def polynomials(x, y, p):
    return (
        jnp.polyval(p, x),
        jnp.polyfit(x, y, 2),
        jnp.polymul(p, p),
        jnp.polyder(p),
        jnp.polyint(p),
        jnp.interp(x, jnp.linspace(-1, 1, 40), y),
        jnp.poly(p),
    )


@program("f32[30]", "f32[30]")
def minimum(x, y):
    def loss(x):
        return ((x[1:] - x[:-1] ** 2) ** 2).sum() + ((1 - x) ** 2).sum() + (x * y).sum()

    def step(x, _):
        return x - 0.02 * jax.grad(loss)(x), loss(x)

    return lax.scan(step, x, length=12)


@program("f32[16,16]")
def logarithms_of_sums(x):
    def step(_, s):
        s = s - special.logsumexp(s, axis=1, keepdims=True)
        return s - special.logsumexp(s, axis=0, keepdims=True)

    return lax.fori_loop(0, 8, step, x * 4)
