"""Random JAX programs of small whole numbers, whose results no order of sums and no rounding changes."""
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

# Sums of so many products of numbers up to LARGEST are exact in the f32 that holds them.
LARGEST, MOST_ELEMENTS = 8, 60_000
TYPES = ["float32", "float32", "bfloat16", "float64", "int32", "int32", "int8", "int16", "int64", "uint8"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 20, 24, 31, 32, 33, 48, 64, 100]


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def small(x):
    """Back to small numbers: sums and products of them stay exact."""
    low = 0 if x.dtype == jnp.uint8 else -LARGEST
    return jnp.clip(x, jnp.asarray(low, x.dtype), jnp.asarray(LARGEST, x.dtype))


class Program:
    """The same seed makes the same program; calling it traces it."""

    def __init__(self, seed):
        self.seed, dice = seed, random.Random(seed)
        self.type = dice.choice(TYPES)
        self.dims = [dice.choice(SIZES) for _ in range(dice.choice([1, 2, 2, 3, 3, 4]))]
        while np.prod(self.dims) > MOST_ELEMENTS // 8:
            self.dims[self.dims.index(max(self.dims))] //= 2
        self.steps = dice.randint(3, 10)
        self.names = []

    def arguments(self):
        rng = np.random.default_rng(self.seed)
        low = 0 if self.type == "uint8" else -LARGEST
        draw = lambda: np.asarray(rng.integers(low, LARGEST + 1, self.dims)).astype(jnp.dtype(self.type))
        return [draw(), draw()]

    def __call__(self, x, y):
        dice, self.names, values = random.Random(~self.seed), [], [x, y]
        while len(self.names) < self.steps:
            name = dice.choice(sorted(STEPS))
            value = dice.choice(values[-3:])
            made = STEPS[name](dice, value, values)
            if made is None or made.size == 0 or made.size > MOST_ELEMENTS or made.ndim > 5:
                continue
            if made.dtype == jnp.bool_ or not jnp.issubdtype(made.dtype, jnp.number):
                made = made.astype(jnp.dtype(self.type))
            values.append(small(made))
            self.names.append(name)
        # A value between, which then lies in memory.
        return values[-1], dice.choice(values[2:])


def axis_of(dice, x):
    return dice.randrange(x.ndim) if x.ndim else None


def of_axis(step):
    """A step along one dimension."""
    return lambda dice, x, values: step(dice, x, axis_of(dice, x)) if x.ndim else None


def partner(dice, x, values):
    """Of x's shape and type: another value, or x from other places."""
    fitting = [v for v in values if v.shape == x.shape and v.dtype == x.dtype and v is not x]
    if fitting and dice.random() < 0.6:
        return dice.choice(fitting)
    return jnp.flip(x, axis_of(dice, x)) if dice.random() < 0.5 and x.ndim else jnp.roll(x, dice.choice([1, -2, 5]))


def binary(dice, x, values):
    op = dice.choice([jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum])
    return op(x, partner(dice, x, values))


def select(dice, x, values):
    y = partner(dice, x, values)
    op = dice.choice([jnp.less, jnp.equal, jnp.greater_equal])
    return jnp.where(op(x, y), x, jnp.asarray(dice.randrange(3), x.dtype) if dice.random() < 0.5 else y)


def unary(dice, x, values):
    if is_float(x):
        return dice.choice([jnp.abs, jnp.negative, jnp.sign, jnp.floor, lambda v: v * 0.5 + jnp.abs(v) * 0.5])(x)
    by = jnp.asarray(dice.choice([1, 2, 3, 5, 7]), x.dtype)
    return dice.choice([jnp.abs, jnp.sign, jnp.bitwise_not, lambda v: v // by, lambda v: v % by, lambda v: lax.div(v, by),
                        lambda v: lax.rem(v, by), lambda v: v ^ by, lambda v: v & by, lambda v: v << 1, lambda v: v >> 1,
                        lambda v: lax.population_count(v)])(x)


def quotient(dice, x, values):
    if is_float(x):
        return None
    y = partner(dice, x, values)
    return dice.choice([lax.div, lax.rem, jnp.floor_divide, jnp.mod])(x, jnp.where(y == 0, jnp.asarray(3, x.dtype), y))


def convert(dice, x, values):
    return x.astype(jnp.dtype(dice.choice(TYPES)))


def reduce(dice, x, axis):
    op = dice.choice([jnp.sum, jnp.max, jnp.min, jnp.any, jnp.argmax, jnp.argmin])
    return op(x, axis=axis).astype(x.dtype)


def centre(dice, x, axis):
    return x - dice.choice([jnp.sum, jnp.max, jnp.min])(x, axis=axis, keepdims=True).astype(x.dtype)


def running(dice, x, axis):
    reverse = dice.random() < 0.3
    if x.dtype == jnp.bfloat16 or dice.random() < 0.3:
        return lax.cummax(x, axis=axis, reverse=reverse)
    return lax.cumsum(x, axis=axis, reverse=reverse)


def transpose(dice, x, values):
    order = list(range(x.ndim))
    dice.shuffle(order)
    return x.transpose(order)


def reshape(dice, x, values):
    dims, axis = list(x.shape), axis_of(dice, x)
    if x.ndim > 1 and dice.random() < 0.5:
        first = dice.randrange(x.ndim - 1)
        dims[first:first + 2] = [dims[first] * dims[first + 1]]
    elif x.ndim:
        part = next((p for p in dice.sample([2, 3, 4, 5, 8], 5) if dims[axis] % p == 0), 1)
        dims[axis:axis + 1] = [dims[axis] // part, part]
    return x.reshape(dims)


def slices(dice, x, axis):
    size = x.shape[axis]
    start, stride = dice.randrange(max(1, size // 2)), dice.choice([1, 1, 2, 3])
    return lax.slice_in_dim(x, start, dice.randint(min(start + 1, size), size), stride=stride, axis=axis)


def pad(dice, x, axis):
    mode = dice.choice(["constant", "edge", "reflect", "wrap"]) if x.shape[axis] > 3 else "constant"
    return jnp.pad(x, [(dice.randrange(3), dice.randrange(3)) if d == axis else (0, 0) for d in range(x.ndim)], mode=mode)


def concatenate(dice, x, axis):
    parts = [x, dice.choice([lambda: lax.slice_in_dim(x, 0, 1, axis=axis), lambda: x * 2, lambda: jnp.flip(x, axis)])()]
    dice.shuffle(parts)
    return jnp.concatenate(parts, axis)


def spread(dice, x, values):
    op = dice.choice(["outer", "stack", "repeat", "tile"])
    axis = axis_of(dice, x)
    if op == "outer":
        return x[..., None] * jnp.arange(1, dice.choice([3, 5, 9])).astype(x.dtype)
    if op == "stack":
        return jnp.stack([x, partner(dice, x, values)], dice.randint(0, x.ndim))
    if axis is None:
        return None
    return jnp.repeat(x, dice.choice([2, 3]), axis=axis) if op == "repeat" else \
        jnp.tile(x, [dice.choice([2, 3]) if d == axis else 1 for d in range(x.ndim)])


def gather(dice, x, axis):
    size = x.shape[axis]
    if dice.random() < 0.4:
        return jnp.take_along_axis(x, jnp.abs(x).astype(jnp.int32) % size, axis=axis)
    places = jnp.arange(dice.randint(1, size + 3)) * dice.choice([1, 2, 3, -1]) // dice.choice([1, 2])
    return jnp.take(x, places % size if dice.random() < 0.7 else places, axis=axis, mode=dice.choice(["clip", "wrap", "fill"]),
                    fill_value=0)


def scatter(dice, x, values):
    if not x.ndim:
        return None
    rows = jnp.arange(0, x.shape[0], 2) if dice.random() < 0.5 else jnp.abs(x.reshape(-1)[:7]).astype(jnp.int32) % x.shape[0]
    ways = x.at[rows]
    return dice.choice([lambda: ways.add(1), lambda: ways.max(2), lambda: x.at[..., 0].set(0), lambda: x.at[..., -1].add(x[..., 0])])()


def segments(dice, x, values):
    if not x.ndim:
        return None
    return jax.ops.segment_sum(x, jnp.arange(x.shape[0]) * 5 % 7, num_segments=7)


def sort(dice, x, axis):
    return dice.choice([lambda: jnp.sort(x, axis=axis), lambda: jnp.argsort(x, axis=axis).astype(x.dtype)])()


def top_k(dice, x, values):
    if not x.ndim or x.shape[-1] < 4:
        return None
    return lax.top_k(x, dice.choice([1, 2, 4]))[dice.randrange(2)].astype(x.dtype)


def one_hot(dice, x, values):
    return jax.nn.one_hot(jnp.abs(x).astype(jnp.int32), LARGEST + 1, dtype=x.dtype)


def product(dice, x, values):
    if x.ndim < 2:
        return None
    return jnp.einsum(dice.choice(["...ij,...kj->...ik", "...ij,...ik->...jk", "...ij,...ij->...i"]), x, x)


def convolution(dice, x, values):
    if x.ndim < 2 or not is_float(x) or x.shape[-1] < 4:
        return None
    taps = jnp.array(dice.choice([[1, 2, 1], [1, -1], [1, 0, 2, -1]]), x.dtype)
    return jax.vmap(lambda row: jnp.convolve(row, taps, mode=dice.choice(["same", "valid", "full"])))(x.reshape(-1, x.shape[-1]))


def windows(dice, x, axis):
    window, strides = [1] * x.ndim, [1] * x.ndim
    window[axis], strides[axis] = min(dice.choice([2, 3, 5]), x.shape[axis]), dice.choice([1, 1, 2])
    padding = dice.choice(["SAME", "VALID"])
    if x.dtype == jnp.uint8 or dice.random() < 0.4:
        return lax.reduce_window(x, jnp.asarray(0, x.dtype), lax.add, window, strides, padding)
    return lax.reduce_window(x, jnp.asarray(-100, x.dtype), lax.max, window, strides, padding)


def dynamic(dice, x, axis):
    size = x.shape[axis]
    start = jnp.max(x).astype(jnp.int32) if dice.random() < 0.5 else dice.randint(-2, size)
    part = lax.dynamic_slice_in_dim(x, start, dice.randint(1, size), axis)
    return part if dice.random() < 0.5 else lax.dynamic_update_slice_in_dim(x, part + 1, dice.randint(0, size), axis)


def loop(dice, x, values):
    if not x.ndim or x.shape[0] > 64:
        return None
    step = dice.choice([lambda carry, row: (small(carry + row), carry), lambda carry, row: (jnp.maximum(carry, row), carry + row),
                        lambda carry, row: (jnp.where(row > 0, carry, row), small(carry * row))])
    return lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x, reverse=dice.random() < 0.3)[1]


def repeat_until(dice, x, values):
    body = dice.choice([lambda i, v: small(v + jnp.roll(v, 1)), lambda i, v: jnp.flip(v).reshape(v.shape) - i.astype(v.dtype) % 3])
    return lax.fori_loop(0, dice.randint(1, 5), lambda i, v: small(body(i, v)), x)


def condition(dice, x, values):
    return lax.cond(jnp.max(x) > dice.randrange(LARGEST), lambda v: small(v + 1), lambda v: jnp.flip(v).reshape(v.shape), x)


def triangle(dice, x, values):
    return dice.choice([jnp.tril, jnp.triu])(x, dice.randint(-1, 2)) if x.ndim >= 2 else None


def difference(dice, x, axis):
    return jnp.diff(x, axis=axis) if x.shape[axis] > 1 else None


# More than once: what fusions are made of.
STEPS = {"binary": binary, "binary again": binary, "select": select, "unary": unary, "quotient": quotient, "convert": convert,
         "reduce": of_axis(reduce), "centre": of_axis(centre), "running": of_axis(running), "transpose": transpose,
         "reshape": reshape, "slice": of_axis(slices), "pad": of_axis(pad), "concatenate": of_axis(concatenate),
         "concatenate again": of_axis(concatenate), "spread": spread, "gather": of_axis(gather), "scatter": scatter,
         "segments": segments, "sort": of_axis(sort), "top_k": top_k, "one_hot": one_hot, "product": product,
         "convolution": convolution, "windows": of_axis(windows), "dynamic": of_axis(dynamic), "loop": loop,
         "repeat_until": repeat_until, "condition": condition, "triangle": triangle, "difference": of_axis(difference),
         "flip": of_axis(lambda dice, x, axis: jnp.flip(x, axis)),
         "roll": of_axis(lambda dice, x, axis: jnp.roll(x, dice.choice([1, -1, 3]), axis))}
