"""numpyro: Bayesian logistic regression by variational inference, 2000 rows of 20 columns."""
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoMultivariateNormal


def model(x, y):
    weights = numpyro.sample("weights", dist.Normal(0, 1).expand([x.shape[1]]).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0, 3))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights + bias), obs=y)


def program():
    numbers = np.random.default_rng(0)
    x = jnp.asarray(numbers.normal(size=(2000, 20)), jnp.float32)
    y = jnp.asarray(numbers.uniform(size=2000) < 0.6, jnp.float32)
    inference = SVI(model, AutoMultivariateNormal(model), numpyro.optim.Adam(0.01), Trace_ELBO())
    state = inference.init(jax.random.key(0), x, y)
    update = jax.jit(inference.update)
    return lambda state: update(state, x, y), state
