#!/usr/bin/env python3
"""Writes random programs of one operation each: a product, a reduction, a convolution or a move.

  single_ops.py FOLDER [--first 1] [--count 200]      program number N is FOLDER/N_WHAT.hlo
  single_ops.py build/ops && performance.py build/ops/*.hlo --threads 1 --turns 1

The same number is the same program, and says in its name what it is. Sizes are drawn so that an
operation takes some 10 to some 1000 us: shapes, types and orders that no model in the list has.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from random_programs import text_of, write_programs

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 17, 20, 24, 31, 32, 33, 48, 50, 64, 65, 96, 100, 128, 150, 200, 256, 300, 384, 500, 512, 768,
         1000, 1024, 2000]
LEAST_ELEMENTS, MOST_ELEMENTS = 20_000, 4_000_000
LEAST_TERMS, MOST_TERMS = 20_000, 300_000_000
CHANNELS = [1, 3, 4, 8, 16, 32, 48, 64, 128]

REDUCTIONS = {
    "sum": lambda x, axes: x.sum(axes),
    "max": lambda x, axes: x.max(axes),
    "prod": lambda x, axes: x.prod(axes),
    "any": lambda x, axes: (x > 0).any(axes),
    "argmax": lambda x, axes: jnp.argmax(x, axes[0]),
    "cumsum": lambda x, axes: jnp.cumsum(x, axes[0]),
    "sort": lambda x, axes: jnp.sort(x, axis=axes[0]),
    "mean": lambda x, axes: x.mean(axes),
    "std": lambda x, axes: x.std(axes),
    "norm": lambda x, axes: jnp.sqrt((x * x).sum(axes)),
    "logsumexp": lambda x, axes: jax.nn.logsumexp(x, axes),
    "softmax": lambda x, axes: jax.nn.softmax(x, axes),
}
OF_FLOATS = {"mean", "std", "norm", "logsumexp", "softmax"}

MOVES = {
    "transpose": lambda x, order: x.transpose(order),
    "flatten": lambda x, order: x.transpose(order).reshape(-1) * 2,
    "reverse": lambda x, order: jnp.flip(x, order[0]),
    "pad": lambda x, order: jnp.pad(x, [(1, 2)] * x.ndim, mode="edge"),
    "roll": lambda x, order: jnp.roll(x, 3, order[0]),
    "take": lambda x, order: jnp.take(x, jnp.arange(x.shape[order[0]])[::-2], order[0]),
    "slice": lambda x, order: lax.slice_in_dim(x, 0, x.shape[order[0]], min(2, x.shape[order[0]]), order[0]) + 1,
    "repeat": lambda x, order: jnp.repeat(x, 3, order[0]),
}


def name_of(*words):
    return "_".join("x".join(map(str, word)) if isinstance(word, (tuple, list)) else str(word) for word in words)


def array(shape, dtype):
    return jax.ShapeDtypeStruct(tuple(shape), dtype)


def draw_shape(draw, least, most):
    while True:
        shape = [draw.choice(SIZES) for _ in range(draw.randint(least, most))]
        if LEAST_ELEMENTS < np.prod(shape) < MOST_ELEMENTS:
            return shape


def product(draw):
    while True:
        m, k, n = (draw.choice(SIZES) for _ in range(3))
        batch = draw.choice([(), (), (), (1,), (3,), (8,), (16,), (64,)])
        times = int(np.prod(batch))
        if k > 1 and LEAST_TERMS < times * m * k * n < MOST_TERMS and times * (m * k + k * n + m * n) < 2 * MOST_ELEMENTS:
            break
    dtype = draw.choice(["float32"] * 5 + ["bfloat16", "float64", "complex64"])
    turned = draw.random() < 0.4, draw.random() < 0.4
    left, right = batch + ((k, m) if turned[0] else (m, k)), batch + ((n, k) if turned[1] else (k, n))

    def function(x, y):
        x, y = (jnp.swapaxes(a, -1, -2) if is_turned else a for a, is_turned in zip((x, y), turned))
        return x @ y

    orders = "".join("t" if is_turned else "n" for is_turned in turned)
    return name_of("dot", dtype, batch + (m, k, n), orders), function, [array(left, dtype), array(right, dtype)]


def reduction(draw):
    what = draw.choice(sorted(REDUCTIONS))
    dtype = draw.choice(["float32"] * 3 + ["bfloat16", "float64"] + ([] if what in OF_FLOATS else ["int32"]))
    shape = draw_shape(draw, 2, 4)
    axes = tuple(sorted(draw.sample(range(len(shape)), draw.randint(1, len(shape) - 1))))
    return name_of(what, dtype, shape, "over", axes), lambda x: REDUCTIONS[what](x, axes), [array(shape, dtype)]


def convolution(draw):
    while True:
        images, inputs, outputs = draw.choice([1, 2, 4, 8]), draw.choice(CHANNELS), draw.choice(CHANNELS)
        size, kernel = draw.choice([7, 14, 16, 28, 32, 56, 64, 100]), draw.choice([1, 1, 2, 3, 3, 3, 4, 5, 7])
        stride, dilation, is_depthwise = draw.choice([1, 1, 2]), draw.choice([1, 1, 1, 2]), draw.random() < 0.25
        outputs, groups = (inputs, inputs) if is_depthwise else (outputs, 1)
        if kernel <= size and images * inputs // groups * outputs * (size * kernel // stride) ** 2 < MOST_TERMS:
            break
    orders = draw.choice([("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC")])
    sizes = {"N": images, "C": inputs, "H": size, "W": size}
    of_kernel = {"O": outputs, "I": inputs // groups, "H": kernel, "W": kernel}

    def function(x, k):
        return lax.conv_general_dilated(x, k, (stride,) * 2, "SAME", rhs_dilation=(dilation,) * 2, dimension_numbers=orders,
                                        feature_group_count=groups)

    name = name_of("conv", orders[0], (images, inputs, size), f"o{outputs}", f"k{kernel}", f"s{stride}", f"d{dilation}", f"g{groups}")
    return name, function, [array([sizes[d] for d in orders[0]], "float32"), array([of_kernel[d] for d in orders[1]], "float32")]


def move(draw):
    what, dtype = draw.choice(sorted(MOVES)), draw.choice(["float32", "float32", "bfloat16", "int8", "float64"])
    shape = draw_shape(draw, 2, 5)
    order = draw.sample(range(len(shape)), len(shape))
    return name_of(what, dtype, shape, "by", order), lambda x: MOVES[what](x, order), [array(shape, dtype)]


def program(number):
    """The name and the HLO of a program before it is optimised, as text."""
    name, function, arguments = random.Random(number).choice([product, product, reduction, convolution, move])(random.Random(number))
    return f"{number}_{name}", text_of(function, arguments)


if __name__ == "__main__":
    write_programs(__doc__, program, 200)
