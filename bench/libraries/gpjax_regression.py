"""gpjax: the marginal likelihood of a Gaussian process of 150 points, and its gradient steps."""
import equinox as eqx
import gpjax as gpx
import jax.numpy as jnp
import numpy as np
import optax
import paramax


def program():
    numbers = np.random.default_rng(0)
    x = jnp.asarray(np.sort(numbers.uniform(-3, 3, (150, 1)), 0), jnp.float32)
    y = jnp.asarray(np.sin(4 * x) + np.cos(2 * x) + 0.3 * numbers.normal(size=x.shape), jnp.float32)
    data = gpx.Dataset(X=x, y=y)
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=gpx.kernels.RBF())
    posterior = prior * gpx.likelihoods.Gaussian()
    optimizer = optax.adam(1e-2)

    @eqx.filter_value_and_grad
    def loss_of(model):
        return -gpx.objectives.conjugate_mll(paramax.unwrap(model), data)

    @eqx.filter_jit
    def step(state):
        model, optimizer_state = state
        loss, gradients = loss_of(model)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state)
        return (eqx.apply_updates(model, updates), optimizer_state), loss

    return step, (posterior, optimizer.init(eqx.filter(posterior, eqx.is_array)))
