"""compiled_programs.py FOLDER: compiles programs for the CPU with jaxlib and leaves XLA's dumps of
them in FOLDER. Exit status 77: cannot run."""

import os
import sys


def programs(jnp, lax, jax):
    matrix, vector, index = jnp.ones((32, 32)), jnp.ones((32,)), jnp.int32(3)

    def scan(a, x):
        return lax.scan(lambda c, _: (jnp.tanh(a @ c), c.sum()), x, None, length=10)

    def nested_loops(a, x):
        def outer(i, state):
            p, q, b = state
            r = lax.fori_loop(0, 3, lambda j, t: (t[0] @ t[1] * 0.5 + p, t[1]), (q @ b, b))
            return p, r[0], b
        return lax.fori_loop(0, 9, outer, (x, x + 1, a))

    def swapping_loop(a, x):
        return lax.fori_loop(0, 9, lambda i, s: (s[1], s[0], s[2] + s[0] @ s[1]),
                             (x, x + 1, jnp.float32(0)))

    def branches(x, i):
        return lax.switch(i, [lambda x: x @ x * x, jnp.sort, jnp.cumsum], x)

    def branch_in_loop(x, i):
        def body(state):
            i, x = state
            return i + 1, lax.cond(i % 2 == 0, lambda x: jnp.sort(x) * 2, jnp.cumsum, x)
        return lax.while_loop(lambda s: s[0] < 20, body, (i, x))

    def update(a, x, i):
        return lax.dynamic_update_slice(a, x[None], (i, 0))

    def scatter(a, x):
        places = jnp.arange(10) * 3
        return a.at[places].add(x), a[places]

    def scan_gradient(a, x):
        def loss(a):
            c, ys = lax.scan(lambda c, _: (jnp.tanh(a @ c), c), x, None, length=10)
            return (c + ys.sum(0)).sum()
        return jax.value_and_grad(loss)(a)

    def nested_tuples(a, x):
        return a, (x, a), a + 1

    return [(scan, (matrix, vector), ()), (nested_loops, (matrix, vector), ()),
            (swapping_loop, (matrix, vector), ()), (branches, (vector, index), ()),
            (branch_in_loop, (vector, index), ()), (update, (matrix, vector, index), (0,)),
            (scatter, (matrix, vector), ()), (scan_gradient, (matrix, vector), ()),
            (nested_tuples, (matrix, vector), ())]


def main():
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={sys.argv[1]} --xla_dump_hlo_as_text"
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import jax
        from jax import lax
        from jax import numpy as jnp
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    for function, arguments, donated in programs(jnp, lax, jax):
        jax.jit(function, donate_argnums=donated).lower(*arguments).compile()
    return 0


if __name__ == "__main__":
    sys.exit(main())
