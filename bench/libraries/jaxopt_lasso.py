"""jaxopt: a lasso of 500 rows and 100 columns by proximal gradients, and its logistic twin."""
import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def logistic_loss(weights, strength, x, above):
    margins = jnp.where(above, 1, -1) * (x @ weights)
    return jnp.mean(jax.nn.softplus(-margins)) + 0.5 * strength * jnp.sum(weights**2)


def program():
    numbers = np.random.default_rng(0)
    x = jnp.asarray(numbers.normal(size=(500, 100)), jnp.float32)
    weights = numbers.normal(size=100) * (numbers.uniform(size=100) < 0.1)
    y = jnp.asarray(x @ weights + 0.1 * numbers.normal(size=500), jnp.float32)
    lasso = jaxopt.ProximalGradient(jaxopt.objective.least_squares, jaxopt.prox.prox_lasso,
                                    maxiter=100, tol=1e-5)
    logistic = jaxopt.LBFGS(logistic_loss, maxiter=30, tol=1e-4)

    @jax.jit
    def fit(strength):
        sparse = lasso.run(jnp.zeros(100), hyperparams_prox=strength, data=(x, y)).params
        dense = logistic.run(jnp.zeros(100), strength, x, y > 0).params
        return sparse, dense

    return lambda strength: (strength, fit(strength)), jnp.float32(0.1)
