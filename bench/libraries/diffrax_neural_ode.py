"""diffrax: one step of training a neural ODE on 32 curves of 20 points, gradients by adjoint."""
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Field(eqx.Module):
    network: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.network(y)


def program():
    times = jnp.linspace(0, 2, 20)
    start = jnp.asarray(np.random.default_rng(0).uniform(-0.6, 1.0, (32, 2)), jnp.float32)
    cosine, sine = jnp.cos(times)[:, None], jnp.sin(times)[:, None]
    curves = start[:, None] * cosine + start[:, None, ::-1] * sine
    field = Field(eqx.nn.MLP(2, 2, 64, 2, activation=jax.nn.softplus, key=jax.random.key(0)))
    optimizer = optax.adabelief(3e-3)

    def solve(field, start):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field), diffrax.Tsit5(), t0=times[0], t1=times[-1], dt0=0.1, y0=start,
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-6),
            saveat=diffrax.SaveAt(ts=times)).ys

    @eqx.filter_value_and_grad
    def loss_of(field):
        return jnp.mean((jax.vmap(solve, (None, 0))(field, curves[:, 0]) - curves) ** 2)

    @eqx.filter_jit
    def step(state):
        field, optimizer_state = state
        loss, gradients = loss_of(field)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state)
        return (eqx.apply_updates(field, updates), optimizer_state), loss

    return step, (field, optimizer.init(eqx.filter(field, eqx.is_inexact_array)))
