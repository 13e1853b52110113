"""orbax: the state of training is saved, restored elsewhere, and training goes on from there."""
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp


def program():
    numbers = np.random.default_rng(0)
    x = jnp.asarray(numbers.normal(size=(128, 256)), jnp.float32)
    params = {"first": jnp.asarray(numbers.normal(size=(256, 256)) / 16, jnp.float32),
              "second": jnp.asarray(numbers.normal(size=(256, 16)) / 16, jnp.bfloat16)}
    optimizer = optax.adam(1e-3)

    @jax.jit
    def step(state):
        def loss_of(params):
            return jnp.mean((jnp.tanh(x @ params["first"]) @ params["second"] - x[:, :16]) ** 2)

        loss, gradients = jax.value_and_grad(loss_of)(state["params"])
        updates, inner = optimizer.update(gradients, state["optimizer"])
        return {"params": optax.apply_updates(state["params"], updates), "optimizer": inner}, loss

    state, _ = step({"params": params, "optimizer": optimizer.init(params)})
    with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(Path(folder) / "state", state)
        checkpointer.wait_until_finished()
        shapes = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
        restored = checkpointer.restore(Path(folder) / "state", shapes)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), state, restored))
    return step, restored
