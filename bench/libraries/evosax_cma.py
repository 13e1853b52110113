"""evosax: CMA-ES with 64 candidates for 32 unknowns, 10 generations a step."""
import jax
import jax.numpy as jnp
from evosax.algorithms import CMA_ES

COMPARED_STEPS = 1  # axes of nearly round ellipses are anybody's choice


def rastrigin(x):
    return 10 * x.shape[-1] + jnp.sum(x**2 - 10 * jnp.cos(2 * jnp.pi * x), -1)


def program():
    strategy = CMA_ES(population_size=64, solution=jnp.zeros(32))
    params = strategy.default_params
    state = strategy.init(jax.random.key(0), jnp.zeros(32), params)

    def generation(carry, key):
        state, first, second = *carry, *jax.random.split(key)[:1], key
        candidates, state = strategy.ask(first, state, params)
        fitness = rastrigin(candidates)
        state, _ = strategy.tell(second, candidates, fitness, state, params)
        return (state,), fitness.min()

    @jax.jit
    def step(carry):
        state, key = carry
        key, drawn = jax.random.split(key)
        (state,), best = jax.lax.scan(generation, (state,), jax.random.split(drawn, 10))
        return (state, key), best[:2]

    return step, (state, jax.random.key(1))
