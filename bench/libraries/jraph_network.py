"""jraph: a graph convolution of two layers tells the communities of 500 nodes and 4000 edges."""
import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
import optax


def network(graph):
    hidden = jraph.GraphConvolution(hk.Linear(64), add_self_edges=True)(graph)
    hidden = hidden._replace(nodes=jax.nn.relu(hidden.nodes))
    return jraph.GraphConvolution(hk.Linear(7))(hidden).nodes


def program():
    numbers = np.random.default_rng(0)
    community = numbers.integers(0, 7, 500)
    senders, receivers = numbers.integers(0, 500, (2, 4000))
    features = numbers.normal(size=(500, 128)) + np.eye(7, 128)[community]
    graph = jraph.GraphsTuple(
        nodes=jnp.asarray(features, jnp.float32), edges=None, globals=None,
        senders=jnp.asarray(senders), receivers=jnp.asarray(receivers),
        n_node=jnp.array([500]), n_edge=jnp.array([4000]))
    labels = jnp.asarray(community)
    model = hk.without_apply_rng(hk.transform(network))
    params = model.init(jax.random.key(0), graph)
    optimizer = optax.adam(1e-2)

    @jax.jit
    def step(state):
        params, optimizer_state = state
        loss, gradients = jax.value_and_grad(lambda params: optax.losses
            .softmax_cross_entropy_with_integer_labels(model.apply(params, graph), labels)
            .mean())(params)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state)
        return (optax.apply_updates(params, updates), optimizer_state), loss

    return step, (params, optimizer.init(params))
