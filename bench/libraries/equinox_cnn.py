"""equinox: a convolutional network on images of 28 x 28, vmapped over a batch of 64."""
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Network(eqx.Module):
    layers: list

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        self.layers = [eqx.nn.Conv2d(1, 3, 4, key=keys[0]), eqx.nn.MaxPool2d(2), jax.nn.relu,
                       jnp.ravel, eqx.nn.Linear(1728, 512, key=keys[1]), jax.nn.sigmoid,
                       eqx.nn.Linear(512, 64, key=keys[2]), jax.nn.relu,
                       eqx.nn.Linear(64, 10, key=keys[3]), jax.nn.log_softmax]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss_of(model, images, labels):
    predicted = jax.vmap(model)(images)
    return -jnp.take_along_axis(predicted, labels[:, None], 1).mean()


def program():
    numbers = np.random.default_rng(0)
    images = jnp.asarray(numbers.normal(size=(64, 1, 28, 28)), jnp.float32)
    labels = jnp.asarray(numbers.integers(0, 10, 64))
    optimizer = optax.adamw(3e-4)
    model = Network(jax.random.key(0))

    @eqx.filter_jit
    def step(state):
        model, optimizer_state = state
        loss, gradients = eqx.filter_value_and_grad(loss_of)(model, images, labels)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state,
                                                    eqx.filter(model, eqx.is_array))
        return (eqx.apply_updates(model, updates), optimizer_state), loss

    return step, (model, optimizer.init(eqx.filter(model, eqx.is_array)))
