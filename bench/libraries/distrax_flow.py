"""distrax: a flow of six masked couplings learns two moons, 256 points a step."""
import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def conditioner():
    return hk.Sequential([hk.nets.MLP([64, 64], activate_final=True),
                          hk.Linear(4, w_init=jnp.zeros, b_init=jnp.zeros),
                          hk.Reshape((2, 2), preserve_dims=-1)])


def flow():
    def bijector(params):
        return distrax.ScalarAffine(shift=params[..., 0], log_scale=jnp.tanh(params[..., 1]))

    layers = [distrax.MaskedCoupling(mask=jnp.arange(2) % 2 == layer % 2, bijector=bijector,
                                     conditioner=conditioner()) for layer in range(6)]
    base = distrax.Independent(distrax.Normal(jnp.zeros(2), jnp.ones(2)), 1)
    return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))


def program():
    numbers = np.random.default_rng(0)
    angle, moon = numbers.uniform(0, np.pi, 256), numbers.integers(0, 2, 256)
    sign = 1 - 2 * moon
    points = np.stack([sign * np.cos(angle) + moon, sign * np.sin(angle) + 0.5 * moon], -1)
    points = jnp.asarray(points + 0.05 * numbers.normal(size=points.shape), jnp.float32)
    model = hk.without_apply_rng(hk.transform(lambda points: flow().log_prob(points)))
    params = model.init(jax.random.key(0), points)
    optimizer = optax.adam(1e-3)

    @jax.jit
    def step(state):
        params, optimizer_state = state
        loss, gradients = jax.value_and_grad(
            lambda params: -model.apply(params, points).mean())(params)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state)
        return (optax.apply_updates(params, updates), optimizer_state), loss

    return step, (params, optimizer.init(params))
