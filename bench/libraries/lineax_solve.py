"""lineax: one system of 200 unknowns by conjugate gradients and by Cholesky; least squares."""
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


@jax.jit
def solve(matrix, vector):
    definite = lx.MatrixLinearOperator(matrix @ matrix.T + 10 * jnp.eye(len(matrix)),
                                       lx.positive_semidefinite_tag)
    gradients = lx.linear_solve(definite, vector, lx.CG(rtol=1e-5, atol=1e-5))
    factors = lx.linear_solve(definite, vector, lx.Cholesky())
    tall = lx.MatrixLinearOperator(matrix[:, :50])
    squares = lx.linear_solve(tall, vector, lx.QR())
    return gradients.value, factors.value, squares.value


def program():
    numbers = np.random.default_rng(0)
    matrix = jnp.asarray(numbers.normal(size=(200, 200)) / 200**0.5, jnp.float32)
    vector = jnp.asarray(numbers.normal(size=200), jnp.float32)
    return lambda state: (state, solve(*state)), (matrix, vector)
