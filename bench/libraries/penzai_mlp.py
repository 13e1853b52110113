"""penzai: a network with named axes fits a circle's inside, 512 points a step."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from penzai import pz
from penzai.models import simple_mlp
from penzai.toolshed import basic_training


def program():
    points = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (512, 2)), jnp.float32)
    inside = (jnp.sum(points**2, -1) < 0.5).astype(jnp.int32)
    model = simple_mlp.MLP.from_config(name="mlp", init_base_rng=jax.random.key(0),
                                       feature_sizes=[2, 64, 64, 2])

    def loss_of(model, rng, state):
        logits = model(pz.nx.wrap(points, "batch", "features")).unwrap("batch", "features")
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, inside).mean()
        return loss, state, {"loss": loss}

    trainer = basic_training.StatefulTrainer.build(
        root_rng=jax.random.key(1), model=model, optimizer_def=optax.adam(1e-3), loss_fn=loss_of)
    return lambda state: (state, trainer.step()["loss"]), None
