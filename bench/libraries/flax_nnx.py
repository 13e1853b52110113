"""flax.nnx: a small convolutional network learns to tell digits apart; batches of 32 images."""
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Digits(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Conv(1, 32, (3, 3), rngs=rngs)
        self.second = nnx.Conv(32, 64, (3, 3), rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.norm = nnx.BatchNorm(32, rngs=rngs)
        self.hidden = nnx.Linear(3136, 256, rngs=rngs)
        self.out = nnx.Linear(256, 10, rngs=rngs)

    def __call__(self, images):
        x = nnx.avg_pool(nnx.relu(self.norm(self.first(images))), (2, 2), (2, 2))
        x = nnx.avg_pool(nnx.relu(self.second(x)), (2, 2), (2, 2))
        return self.out(self.dropout(nnx.relu(self.hidden(x.reshape(x.shape[0], -1)))))


def loss_of(model, images, labels):
    logits = model(images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), logits


@nnx.jit
def train(model, optimizer, metrics, images, labels):
    (loss, logits), gradients = nnx.value_and_grad(loss_of, has_aux=True)(model, images, labels)
    metrics.update(loss=loss, logits=logits, labels=labels)
    optimizer.update(model, gradients)
    return loss


def program():
    numbers = np.random.default_rng(0)
    images = jnp.asarray(numbers.normal(size=(32, 28, 28, 1)), jnp.float32)
    labels = jnp.asarray(numbers.integers(0, 10, 32))
    model = Digits(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(0.005, 0.9), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))

    def step(state):
        return state, train(model, optimizer, metrics, images, labels)

    return step, None
