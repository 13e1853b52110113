"""haiku: an LSTM of width 128 with a head, trained on 32 waves of 50 numbers."""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def network(series):
    core = hk.LSTM(128)
    outputs, _ = hk.dynamic_unroll(core, series, core.initial_state(series.shape[1]))
    return hk.BatchApply(hk.Linear(1))(outputs)


def program():
    phase = np.random.default_rng(0).uniform(0, 6, (1, 32, 1))
    waves = jnp.asarray(np.sin(phase + 0.3 * np.arange(51)[:, None, None]), jnp.float32)
    model = hk.without_apply_rng(hk.transform(network))
    optimizer = optax.adam(1e-3)
    params = model.init(jax.random.key(0), waves[:-1])

    @jax.jit
    def step(state):
        params, optimizer_state = state
        loss, gradients = jax.value_and_grad(
            lambda params: jnp.mean((model.apply(params, waves[:-1]) - waves[1:]) ** 2))(params)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state)
        return (optax.apply_updates(params, updates), optimizer_state), loss

    return step, (params, optimizer.init(params))
