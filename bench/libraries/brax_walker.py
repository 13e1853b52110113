"""brax: 64 ants walk under the same random actions, a step of the physics of springs."""
import jax
from brax import envs


def program():
    world = envs.get_environment("ant", backend="spring")
    keys = jax.random.split(jax.random.key(0), 64)
    start = jax.jit(jax.vmap(world.reset))(keys)
    actions = jax.random.uniform(jax.random.key(1), (64, world.action_size), minval=-1, maxval=1)

    @jax.jit
    def step(state):
        state = jax.vmap(world.step)(state, actions)
        return state, (state.reward, state.pipeline_state.q)

    return step, start
