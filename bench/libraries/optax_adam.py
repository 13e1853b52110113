"""optax: a network of three layers fitted with a schedule, clipping, weight decay and averages."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZES = (32, 128, 128, 1)


def predict(params, x):
    for weights, bias in params[:-1]:
        x = jnp.tanh(x @ weights + bias)
    return x @ params[-1][0] + params[-1][1]


def program():
    numbers = np.random.default_rng(0)
    x = jnp.asarray(numbers.normal(size=(256, SIZES[0])), jnp.float32)
    y = jnp.sin(x.sum(-1, keepdims=True))
    params = [(jnp.asarray(numbers.normal(size=(i, o)) / i**0.5, jnp.float32), jnp.zeros(o))
              for i, o in zip(SIZES, SIZES[1:])]
    schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-3, 100, 10000)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))

    @jax.jit
    def step(state):
        params, optimizer_state, average = state
        loss, gradients = jax.value_and_grad(
            lambda params: optax.huber_loss(predict(params, x), y).mean())(params)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state, params)
        params = optax.apply_updates(params, updates)
        average = optax.incremental_update(params, average, 0.01)
        return (params, optimizer_state, average), loss

    return step, (params, optimizer.init(params), params)
