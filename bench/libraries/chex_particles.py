"""chex: a data class of 1000 bodies in a box, moved 20 times a step, with checks."""
import chex
import jax
import jax.numpy as jnp
import numpy as np


@chex.dataclass
class Bodies:
    position: chex.Array
    velocity: chex.Array


@chex.chexify
@jax.jit
def move(bodies):
    chex.assert_equal_shape([bodies.position, bodies.velocity])
    chex.assert_tree_all_finite(bodies)

    def once(bodies, _):
        velocity = bodies.velocity - 0.01 * jnp.sin(bodies.position)
        position = bodies.position + 0.01 * velocity
        out = jnp.abs(position) > 1
        velocity = jnp.where(out, -velocity, velocity)
        return Bodies(position=jnp.clip(position, -1, 1), velocity=velocity), None

    return jax.lax.scan(once, bodies, length=20)[0]


def program():
    numbers = np.random.default_rng(0)
    position, velocity = jnp.asarray(numbers.uniform(-1, 1, (2, 1000, 3)), jnp.float32)

    def step(bodies):
        bodies = move(bodies)
        return bodies, bodies.position

    return step, Bodies(position=position, velocity=velocity)
