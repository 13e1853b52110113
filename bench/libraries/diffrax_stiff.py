"""diffrax: Robertson's stiff reactions by the implicit method Kvaerno5."""
import diffrax
import jax
import jax.numpy as jnp


def rates(t, y, k):
    a, b, c = y
    first, second, third = k[0] * a, k[1] * b**2, k[2] * b * c
    return jnp.stack([third - first, first - second - third, second])


@jax.jit
def solve(k):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(rates), diffrax.Kvaerno5(), t0=0.0, t1=100.0, dt0=2e-4,
        y0=jnp.array([1.0, 0.0, 0.0]), args=k, max_steps=4096,
        saveat=diffrax.SaveAt(ts=jnp.array([1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0])),
        stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-7))
    return solution.ys


def program():
    return lambda k: (k, solve(k)), jnp.array([0.04, 3e7, 1e4])
