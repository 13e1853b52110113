"""optimistix: Levenberg-Marquardt fits sums of two exponentials to 256 noisy curves at once."""
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

TIMES = np.linspace(0, 4, 40, dtype=np.float32)


def curve(p):
    return p[0] * jnp.exp(-p[1] * TIMES) + p[2] * jnp.exp(-p[3] * TIMES)


@jax.jit
def fit(observed):
    def one(y):
        solver = optx.LevenbergMarquardt(rtol=1e-4, atol=1e-4)
        start = jnp.array([1.0, 0.3, 1.0, 2.0])
        solution = optx.least_squares(lambda p, y: curve(p) - y, solver, start, args=y,
                                      max_steps=64, throw=False)
        return curve(solution.value)

    return jax.vmap(one)(observed)


def program():
    numbers = np.random.default_rng(0)
    truth = numbers.uniform((1, 0.2, 0.5, 1.5), (2, 0.6, 1.5, 3.0), (256, 4))
    curves = truth[:, :1] * np.exp(-truth[:, 1:2] * TIMES) + \
        truth[:, 2:3] * np.exp(-truth[:, 3:] * TIMES)
    observed = jnp.asarray(curves + 0.01 * numbers.normal(size=curves.shape), jnp.float32)
    return lambda state: (state, fit(state)), observed
