"""Generators, and the draws that are made of them."""

import jax
import jax.numpy as jnp
from jax import lax

from families.registry import program

r = jax.random


@program("u32[2]")
def random_bits(key):
    return (
        r.bits(key, (9, 100)),
        r.bits(key, (33,), "uint16"),
        r.bits(key, (4, 8), "uint8"),
        r.split(key, 5),
        r.fold_in(key, 7),
    )


@program("u32[2]")
def random_uniform(key):
    return (
        r.uniform(key, (16, 40)),
        r.normal(key, (500,)),
        r.uniform(key, (32, 128), jnp.bfloat16),
        r.truncated_normal(key, -2, 2, (64,)),
    )


@program("u32[2]", "f32[12,20]")
def random_choices(key, x):
    return (
        r.categorical(key, x),
        r.gumbel(key, (9, 9)),
        r.permutation(key, 50),
        r.choice(key, 40, (7,)),
        r.permutation(key, x, axis=1),
        r.choice(key, x[0], (4,), replace=False),
    )


@program("u32[2]")
def random_distributions(key):
    return (
        r.bernoulli(key, 0.3, (50,)),
        r.exponential(key, (40,)),
        r.laplace(key, (40,)),
        r.logistic(key, (40,)),
        r.cauchy(key, (40,)),
        r.randint(key, (30,), 3, 900),
        r.rademacher(key, (20,)),
        r.rayleigh(key, 1.5, (20,)),
        r.weibull_min(key, 1.0, 2.0, (20,)),
        r.orthogonal(key, 4) * 0,
        r.triangular(key, 0.0, 0.5, 1.0, (9,)),
        r.maxwell(key, (8,)),
    )


@program("u32[2]")
def random_rejections(key):
    return (
        r.gamma(key, 2.5, (24,)),
        r.beta(key, 1.5, 2.0, (12,)),
        r.poisson(key, 3.0, (24,)),
        r.dirichlet(key, jnp.ones(5), (3,)),
    )


@program("u32[6,2]")
def random_in_batches(keys):
    return jax.vmap(lambda k: r.normal(k, (5,)))(keys), jax.vmap(
        lambda k: r.permutation(r.fold_in(k, 3), 9)
    )(keys)


@program("u64[2]", x64=True)
def random_philox(state):
    return lax.rng_bit_generator(
        state, (40, 8), algorithm=lax.RandomAlgorithm.RNG_PHILOX
    ), lax.rng_bit_generator(state, (24,), "uint64", algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)


@program("u32[4]")
def random_three_fry(key):
    return lax.rng_bit_generator(
        key, (300,), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY
    ), lax.rng_bit_generator(
        key[::-1], (8, 128), "uint8", algorithm=lax.RandomAlgorithm.RNG_THREE_FRY
    )


@program("u32[2]", "f32[64]")
def random_in_loops(key, x):
    def step(carry, _):
        key, x = carry
        key, used = r.split(key)
        proposal = x + 0.3 * r.normal(used, x.shape)
        return (
            key,
            jnp.where(r.uniform(used, x.shape) < jnp.exp(x**2 - proposal**2), proposal, x),
        ), x.mean()

    return lax.scan(step, (key, x), length=8)
