#!/usr/bin/env python3
"""Writes random programs: chains of a few jax operations over an array of random type and sizes.

  chains.py FOLDER [--first 1] [--count 100]        program number N is FOLDER/N.hlo
  chains.py build/chains && performance.py build/chains/*.hlo --threads 1 --turns 1

The same number is the same program. They are what nobody would think of timing: narrow rows, tiles,
shifts, windows, look-ups and running sums one after the other.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from random_programs import text_of, write_programs

SIZES = [1, 2, 3, 4, 5, 7, 8, 10, 12, 16, 17, 24, 30, 32, 48, 50, 64, 65, 96, 100, 128, 196, 256, 300, 512, 768, 1000, 1024]
TYPES = ["float32"] * 5 + ["bfloat16"] * 2 + ["float16", "float64"] + ["int32"] * 2 + ["uint8", "int8", "int64"]
MOST_ELEMENTS = 6_000_000

OF_FLOATS = [jnp.exp, jnp.tanh, jnp.abs, jnp.sqrt, jax.nn.sigmoid, jax.nn.relu, jax.nn.gelu, jax.nn.silu, jnp.log1p, jnp.square, jnp.floor,
             jnp.sin, jax.nn.softplus, lax.rsqrt, lambda x: x * 2 + 1, lambda x: 1 / (1 + x * x), lambda x: jnp.where(x > 0, x, 0.1 * x),
             lambda x: jnp.clip(x, -1, 1), jnp.isnan]
OF_INTEGERS = [jnp.abs, jnp.negative, lambda x: x * 3 + 1, lambda x: x & 7, lambda x: x >> 1, lambda x: x ^ 5, lambda x: jnp.clip(x, 0, 9),
               lambda x: x // 3, lambda x: x % 5, lambda x: jnp.where(x > 3, x, 0)]
OF_TWO = [jnp.add, jnp.multiply, jnp.subtract, jnp.maximum, lambda a, b: jnp.where(a > b, a, b * 2)]


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def numbers(x):
    return x.astype(jnp.int32) if x.dtype == jnp.bool_ else x


def places(draw, size, count):
    return jnp.asarray(np.random.RandomState(draw.randrange(99)).randint(0, size, count))


def elementwise(draw, x, axis):
    return ~x if x.dtype == jnp.bool_ else draw.choice(OF_FLOATS if is_float(x) else OF_INTEGERS)(x)


def with_itself(draw, x, axis):
    x = numbers(x)
    return draw.choice(OF_TWO)(x, x[::-1] if draw.random() < 0.3 else x * 2)


def with_row(draw, x, axis):
    x = numbers(x)
    row = lax.slice_in_dim(x, 0, 1, axis=axis)
    return draw.choice(OF_TWO)(x, row)


def convert(draw, x, axis):
    return x.astype(draw.choice(["float32", "bfloat16", "float16", "float64", "int32"]))


def reduce(draw, x, axis):
    axes = tuple(sorted(draw.sample(range(x.ndim), draw.randint(1, x.ndim)))) if draw.random() < 0.7 else axis
    choices = [jnp.sum, jnp.max, jnp.min, jnp.any] + ([jnp.mean, jnp.var, jnp.prod] if is_float(x) else [jnp.all])
    return draw.choice(choices)(x, axis=axes, keepdims=draw.random() < 0.3)


def transpose(draw, x, axis):
    return jnp.transpose(x, draw.sample(range(x.ndim), x.ndim))


def part(draw, x, axis):
    size = x.shape[axis]
    return lax.slice_in_dim(x, draw.randrange(max(1, size // 2)), size, stride=draw.choice([1, 1, 1, 2, 3]), axis=axis)


def pad(draw, x, axis):
    width = [(0, 0)] * x.ndim
    width[axis] = (draw.randint(0, 3), draw.randint(0, 3))
    return jnp.pad(x, width, mode=draw.choice(["constant", "constant", "edge", "wrap"]))


def join(draw, x, axis):
    return jnp.concatenate([x, numbers(x) * 2 if x.dtype != jnp.bool_ else ~x], axis)


def running(draw, x, axis):
    return draw.choice([jnp.cumsum, jnp.cumprod, lax.cummax, lax.cummin])(numbers(x), axis=axis)


def order(draw, x, axis):
    return draw.choice([jnp.sort, jnp.argsort])(x, axis=axis) if x.size < 300_000 else x


def look_up(draw, x, axis):
    size = x.shape[axis]
    return jnp.take(x, places(draw, size, draw.choice([1, 8, 100, size])), axis=axis, mode=draw.choice(["clip", "fill", "wrap"]))


def take_along(draw, x, axis):
    shape = [-1 if d == axis else 1 for d in range(x.ndim)]
    where = jnp.broadcast_to(jnp.arange(x.shape[axis]).reshape(shape) // 2, x.shape)
    return jnp.take_along_axis(x, where, axis)


def scatter(draw, x, axis):
    where = places(draw, x.shape[0], draw.choice([1, 8, 100, x.shape[0]]))
    values = jnp.ones(where.shape + x.shape[1:], x.dtype)
    return draw.choice([lambda: x.at[where].add(values), lambda: x.at[where].set(values), lambda: x.at[where].max(values)])()


def segments(draw, x, axis):
    count = draw.choice([4, 50, 1000])
    return jax.ops.segment_sum(numbers(x), places(draw, count, x.shape[0]), count)


def shift(draw, x, axis):
    rolled = jnp.roll(numbers(x), draw.randrange(1, 5), axis)
    return rolled + numbers(x) if draw.random() < 0.5 else rolled


def stack(draw, x, axis):
    return jnp.stack([x, numbers(x) + numbers(x)], axis=draw.randint(0, x.ndim)) if x.ndim < 5 else x


def normalise(draw, x, axis):
    return (x - jnp.mean(x, axis, keepdims=True)) * lax.rsqrt(jnp.var(x, axis, keepdims=True) + 1e-5) if is_float(x) else x


def softmax(draw, x, axis):
    return jax.nn.softmax(x, axis) if is_float(x) else x


def place_of_extreme(draw, x, axis):
    return draw.choice([jnp.argmax, jnp.argmin])(x, axis=axis)


def reshape(draw, x, axis):
    if x.ndim > 1 and draw.random() < 0.5:
        return x.reshape((x.shape[0] * x.shape[1],) + x.shape[2:])
    return x.reshape(draw.sample(x.shape, x.ndim))


def windows(draw, x, axis):
    x = numbers(x)
    size, stride = [1] * x.ndim, [1] * x.ndim
    size[axis], stride[axis] = draw.choice([2, 3, 5]), draw.choice([1, 1, 2])
    least = np.array(-np.inf if is_float(x) else np.iinfo(x.dtype).min).astype(x.dtype)
    function, first = draw.choice([(lax.add, np.zeros((), x.dtype)), (lax.max, least)])
    return lax.reduce_window(x, first, function, size, stride, draw.choice(["SAME", "VALID"]))


def product(draw, x, axis):
    columns = draw.choice([1, 3, 8, 16, 50, 64, 128])
    if not is_float(x) or x.ndim < 2 or x.size * columns > 3e7:
        return x
    return jnp.tensordot(x, jnp.full((x.shape[axis], columns), 0.1, x.dtype), axes=((axis,), (0,)))


def triangle(draw, x, axis):
    rows, columns = (lax.broadcasted_iota(jnp.int32, x.shape, d) for d in (axis, draw.randrange(x.ndim)))
    return jnp.where(rows >= columns, x, jnp.zeros((), x.dtype))


def halves(draw, x, axis):
    half = x.shape[axis] // 2
    x = numbers(x)
    return lax.slice_in_dim(x, 0, half, axis=axis) * lax.slice_in_dim(x, half, 2 * half, axis=axis) if half else x


def update(draw, x, axis):
    some = lax.slice_in_dim(x, 0, max(1, x.shape[axis] // 3), axis=axis)
    return lax.dynamic_update_slice_in_dim(x, some, jnp.argmax(x.reshape(-1)[:8]).astype(jnp.int32), axis)


def repeat(draw, x, axis):
    times = [1] * x.ndim
    times[axis] = 2
    return jnp.repeat(x, 2, axis=axis) if draw.random() < 0.5 else jnp.tile(x, times)


def steps(draw, x, axis):
    if x.dtype == jnp.bool_ or x.shape[0] > 300:
        return x

    def step(carry, row):
        carry = (carry * (0.5 if is_float(x) else 1) + row).astype(x.dtype)
        return carry, carry

    return lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x)[1]


STEPS = [elementwise] * 3 + [reduce] * 4 + [with_itself, with_itself, with_row, with_row, transpose, transpose, convert, part, pad, join, running,
                                            order, look_up, take_along, scatter, segments, shift, shift, stack, normalise, softmax,
                                            place_of_extreme, reshape, windows, product, triangle, halves, update, repeat, repeat, steps]


def draw_shape(draw):
    left = int(10 ** draw.uniform(3.3, 6.2))
    dims = []
    for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3, 3, 4])):
        dims.append(draw.choice([size for size in SIZES if size <= left]))
        left //= dims[-1]
    dims.append(left)
    draw.shuffle(dims)
    return dims


def program(number):
    """The name and the HLO of a program before it is optimised, as text, or None."""
    draw = random.Random(number)
    argument = jax.ShapeDtypeStruct(draw_shape(draw), draw.choice(TYPES))
    count, seed = draw.choice([1, 2, 2, 3, 4, 6]), draw.random()

    def chain(x):
        inner = random.Random(seed)
        for _ in range(count):
            if x.ndim == 0 or x.size == 0:
                break
            axis = inner.randrange(x.ndim)
            y = inner.choice(STEPS)(inner, x, axis)
            if y.size > MOST_ELEMENTS:
                break
            x = y
        return x

    try:
        return str(number), text_of(chain, [argument])
    except (TypeError, ValueError) as error:
        print(f"{number}: jax takes no such program: {str(error).splitlines()[0][:100]}")
        return str(number), None


if __name__ == "__main__":
    write_programs(__doc__, program, 100)
