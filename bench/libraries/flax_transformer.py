"""flax.linen: a character model of two attention blocks; 16 texts of 64 characters a step."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state

WIDTH, WORDS, LENGTH = 128, 96, 64


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        y = nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x), mask=mask)
        x = x + y
        y = nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))
        return x + nn.Dense(WIDTH)(nn.gelu(y))


class Characters(nn.Module):
    @nn.compact
    def __call__(self, texts):
        positions = self.param("positions", nn.initializers.normal(0.02), (LENGTH, WIDTH))
        x = nn.Embed(WORDS, WIDTH)(texts) + positions
        for _ in range(2):
            x = Block()(x, nn.make_causal_mask(texts))
        return nn.Dense(WORDS)(nn.LayerNorm()(x))


@jax.jit
def train(state, texts):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, texts[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, texts[:, 1:]).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


def program():
    texts = jnp.asarray(np.random.default_rng(0).integers(0, WORDS, (16, LENGTH + 1)))
    model = Characters()
    params = model.init(jax.random.key(0), texts[:, :-1])["params"]
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optimizer)
    return lambda state: train(state, texts), state
