"""numpyro: eight schools, not centred, by NUTS: 200 rounds of warming up and 200 samples."""
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

TOLERANCE = 0.5  # chains part after some steps: these are moments of 200 dependent samples
SCHOOLS = ((28, 15), (8, 10), (-3, 16), (7, 11), (-1, 9), (1, 11), (18, 10), (12, 18))


def model(deviations, effects):
    mean = numpyro.sample("mean", dist.Normal(0, 5))
    scale = numpyro.sample("scale", dist.HalfCauchy(5))
    with numpyro.plate("schools", len(deviations)):
        offset = numpyro.sample("offset", dist.Normal(0, 1))
        numpyro.sample("observed", dist.Normal(mean + scale * offset, deviations), obs=effects)


def program():
    effects, deviations = jnp.array(SCHOOLS, jnp.float32).T
    sampler = MCMC(NUTS(model), num_warmup=200, num_samples=200, progress_bar=False,
                   jit_model_args=True)

    def step(key):
        sampler.run(key, deviations, effects)
        samples = sampler.get_samples()
        return key, (samples["mean"].mean(), samples["mean"].std())

    return step, jax.random.key(0)
