"""optax: L-BFGS with its line search, 20 steps down a valley of 50 unknowns, in one loop."""
import jax
import jax.numpy as jnp
import optax


def valley(x):
    return jnp.sum(10.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def program():
    optimizer = optax.lbfgs()
    value_and_gradient = optax.value_and_grad_from_state(valley)

    @jax.jit
    def minimise(start):
        def step(carry, _):
            x, state = carry
            value, gradient = value_and_gradient(x, state=state)
            updates, state = optimizer.update(gradient, state, x, value=value, grad=gradient,
                                              value_fn=valley)
            return (optax.apply_updates(x, updates), state), value

        (x, _), values = jax.lax.scan(step, (start, optimizer.init(start)), length=20)
        return values[:8]

    start = jnp.linspace(-0.5, 0.5, 50)
    return lambda state: (state, minimise(state)), start
