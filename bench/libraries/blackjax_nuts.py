"""blackjax: NUTS on the mean and scale of 1000 numbers; 50 samples a step in one scan."""
import blackjax
import jax
import jax.numpy as jnp
import jax.scipy.stats as stats
import numpy as np

COMPARED_STEPS = 1  # chains part after some tens of samples


def program():
    observed = jnp.asarray(np.random.default_rng(0).normal(10, 20, 1000), jnp.float32)

    def log_density(x):
        scale = jnp.exp(x["log_scale"])
        return stats.expon.logpdf(scale, 0, 1) + x["log_scale"] + \
            jnp.sum(stats.norm.logpdf(observed, x["mean"], scale))

    kernel = blackjax.nuts(log_density, 1e-2, jnp.array([0.5, 0.01]))
    start = kernel.init({"mean": jnp.float32(1.0), "log_scale": jnp.float32(1.0)})

    @jax.jit
    def sample(state):
        state, key = state
        key, drawn = jax.random.split(key)
        state, info = jax.lax.scan(lambda state, key: kernel.step(key, state), state,
                                   jax.random.split(drawn, 50))
        return (state, key), info.acceptance_rate[:2]

    return sample, (start, jax.random.key(0))
