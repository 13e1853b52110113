"""tinygp: gradient steps on the kernel's parameters of a Gaussian process of 200 points."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tinygp import GaussianProcess, kernels


def program():
    numbers = np.random.default_rng(0)
    x = jnp.asarray(np.sort(numbers.uniform(0, 10, 200)), jnp.float32)
    y = jnp.asarray(np.sin(x) + 0.3 * np.sin(5 * x) + 0.1 * numbers.normal(size=200), jnp.float32)
    optimizer = optax.sgd(1e-3)
    params = {"scale": jnp.float32(0.0), "length": jnp.float32(0.5), "period": jnp.float32(0.3),
              "noise": jnp.float32(-1.0)}

    def loss_of(params):
        kernel = jnp.exp(params["scale"]) * kernels.Matern32(jnp.exp(params["length"])) + \
            0.1 * kernels.ExpSineSquared(scale=jnp.exp(params["period"]), gamma=1.0)
        process = GaussianProcess(kernel, x, diag=jnp.exp(2 * params["noise"]))
        return -process.log_probability(y)

    @jax.jit
    def step(state):
        params, optimizer_state = state
        loss, gradients = jax.value_and_grad(loss_of)(params)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state)
        return (optax.apply_updates(params, updates), optimizer_state), loss

    return step, (params, optimizer.init(params))
