"""flax.linen: a variational autoencoder of images of 784 pixels; batches of 128."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state


class Autoencoder(nn.Module):
    latents: int = 20

    @nn.compact
    def __call__(self, x, key):
        h = nn.relu(nn.Dense(500, name="encoder")(x))
        mean, log_variance = nn.Dense(self.latents)(h), nn.Dense(self.latents)(h)
        z = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(key, mean.shape)
        logits = nn.Dense(784)(nn.relu(nn.Dense(500, name="decoder")(z)))
        return logits, mean, log_variance


@jax.jit
def train(state, images, key):
    key, drawn = jax.random.split(key)

    def loss_of(params):
        logits, mean, log_variance = state.apply_fn({"params": params}, images, drawn)
        entropy = optax.sigmoid_binary_cross_entropy(logits, images).sum(-1).mean()
        divergence = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance), -1)
        return entropy + divergence.mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return (state.apply_gradients(grads=gradients), key), loss


def program():
    images = jnp.asarray(np.random.default_rng(0).uniform(size=(128, 784)) > 0.8, jnp.float32)
    model = Autoencoder()
    params = model.init(jax.random.key(0), images, jax.random.key(1))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
    return lambda state: train(state[0], images, state[1]), (state, jax.random.key(2))
