"""jaxley: a branched neuron with Hodgkin and Huxley's channels, 10 ms after a step of current."""
import jax
import jax.numpy as jnp
import jaxley as jx
from jaxley.channels import HH


def program():
    branch = jx.Branch(jx.Compartment(), ncomp=4)
    cell = jx.Cell(branch, parents=[-1, 0, 0, 1, 1])
    cell.insert(HH())
    cell.branch(0).loc(0.0).stimulate(jx.step_current(1.0, 2.0, 0.3, 0.025, 10.0), verbose=False)
    cell.branch(3).loc(1.0).record(verbose=False)
    cell.branch(0).loc(0.0).record(verbose=False)
    cell.make_trainable("radius", verbose=False)

    @jax.jit
    def gradient(params):
        def loss(params):
            return jnp.mean(jx.integrate(cell, params=params, delta_t=0.025) ** 2)

        return jax.value_and_grad(loss)(params)

    return lambda params: (params, gradient(params)), cell.get_parameters()
