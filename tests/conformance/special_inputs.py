"""Element types as NumPy and ml_dtypes hold them, and the special values of each."""
import functools
import itertools
import re

import ml_dtypes
import numpy as np

PART = {"c64": "f32", "c128": "f64"}
NAMED = {"pred": np.bool_, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
         "c64": np.complex64, "c128": np.complex128}


@functools.cache
def dtype_of(name):
    """The dtype that holds a type; that of bytes where neither package has it."""
    if name in NAMED:
        return np.dtype(NAMED[name])
    kind, bits, rest = re.fullmatch(r"([a-z])(\d+)(.*)", name).groups()
    word = {"s": "int", "u": "uint", "f": "float"}[kind] + bits + ("_" + rest if rest else "")
    found = getattr(np, word, None) or getattr(ml_dtypes, word, None)
    return np.dtype(found or {"s": np.int8, "u": np.uint8}[kind])


def is_complex(name):
    return name in PART


def is_float(name):
    return name.startswith("f") or name == "bf16"


def is_signed(name):
    return name.startswith("s")


def bits_of(name):
    """How many bits count; more may be stored."""
    return {"pred": 1, "bf16": 16}.get(name) or int(re.match(r"[a-z](\d+)", name)[1])


def stored_bits(array):
    """The storage of an array as unsigned integers."""
    array = np.array(array, order="C")
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.itemsize <= 8 else array.view("u8")


def from_bits(name, bits):
    """Values of a type from their bits."""
    dtype = dtype_of(name)
    if is_float(name):
        return np.asarray(bits).astype(f"u{dtype.itemsize}").view(dtype)
    if name == "pred":
        return np.asarray(bits).astype(bool)
    whole = np.asarray(bits).astype(np.int64)
    if is_signed(name) and bits_of(name) < 64:
        whole = (whole ^ (1 << (bits_of(name) - 1))) - (1 << (bits_of(name) - 1))
    return whole.astype(f"{'i' if is_signed(name) else 'u'}{dtype.itemsize}").astype(dtype)


def is_exhaustive(name):
    return not is_complex(name) and bits_of(name) <= 8


def wide_integers(name):
    bits = bits_of(name)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(name) else (0, (1 << bits) - 1)
    near = [low, low + 1, high, high - 1, 0, 1, -1, 2, 3, -2, 7, bits - 1, bits, bits + 1, high // 2, high // 2 + 1, 100]
    return np.array(sorted({x for x in near if low <= x <= high}), dtype_of(name))


@functools.cache
def special_values(name):
    """NaNs of both signs and two payloads, infinities, zeros, the ends of subnormal, normal and all numbers, values around
    one, multiples of pi, large arguments; of types of at most a byte all values. Complex ones: what parts may be combined."""
    if is_exhaustive(name):
        return from_bits(name, np.arange(1 << bits_of(name)))
    if is_complex(name):
        part = NAMED[PART[name]]
        few = np.concatenate([few_values(PART[name]), np.array([1e-3, 3.0, 88.0, -20.5, np.pi], part)])
        return np.array([complex_of(a, b, NAMED[name]) for a, b in itertools.product(few, few)])
    if not is_float(name):
        return wide_integers(name)
    dtype = dtype_of(name)
    info = ml_dtypes.finfo(dtype)
    digits = info.nmant
    unsigned = [0.0, float(info.smallest_subnormal), float(info.smallest_normal) / 2, float(info.smallest_normal),
                float(info.smallest_normal) * 1.5, float(info.max), float(info.max) / 2, 1.0, 1 + 2.0 ** -digits,
                1 - 2.0 ** -(digits + 1), 0.5, 1.5, 2.0, 2.5, 3.0, 10.0, 1e-3, 1e-5, 2.0 ** -(digits + 2), 100.0, 88.0, 104.0, 710.0,
                746.0, 2.0 ** digits, 2.0 ** digits + 1, 2.0 ** 31, 2.0 ** 63, 1e10, 1e30, 0.75, 0.25, 1e-30,
                *(np.pi * k for k in (0.25, 0.5, 1, 2, 3, 1000)), np.inf]
    with np.errstate(all="ignore"):
        values = np.array(unsigned).astype(dtype)
    values = np.concatenate([values, -values])
    nan = stored_bits(np.array([np.nan], dtype))[0] & ((1 << (8 * dtype.itemsize - 1)) - 1)
    sign = 1 << (8 * dtype.itemsize - 1)
    nans = from_bits(name, np.array([nan, int(nan) | sign, int(nan) | 1, int(nan) | sign | 5], np.uint64))
    return np.concatenate([values, nans])


def complex_of(real, imaginary, dtype):
    """Put together part by part: a sum would make NaNs of infinities."""
    out = np.zeros(1, dtype)
    out.real[0], out.imag[0] = real, imaginary
    return out[0]


@functools.cache
def few_values(name):
    """The fewest that stand for all classes."""
    if is_complex(name):
        few = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5]
        return np.array([complex_of(a, b, NAMED[name]) for a, b in itertools.product(few, few)])
    if not is_float(name):
        return special_values(name)[:: max(1, len(special_values(name)) // 12)]
    if is_exhaustive(name):
        return special_values(name)[:: max(1, len(special_values(name)) // 16)]
    info = ml_dtypes.finfo(dtype_of(name))
    with np.errstate(all="ignore"):
        return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.smallest_subnormal), -float(info.smallest_normal) / 2,
                         float(info.smallest_normal), float(info.max), -float(info.max), 1.0, -1.0, 0.5, -2.5, 1e10]).astype(
                             dtype_of(name))


def ordinary_values(rng, name, count):
    if name == "pred" or is_exhaustive(name) or not (is_float(name) or is_complex(name)):
        return rng.choice(special_values(name), count)
    draw = lambda: rng.normal(0, 3, count) * 10.0 ** rng.integers(-3, 4, count)
    values = draw() + 1j * draw() if is_complex(name) else draw()
    with np.errstate(all="ignore"):
        return values.astype(dtype_of(name))


def operands(rng, name, count, most=4000):
    """`count` arrays of one length: each special value beside each, and as many ordinary ones as make a tail."""
    values = special_values(name) if count == 1 or len(special_values(name)) ** count <= most else few_values(name)
    if len(values) ** count > most:
        values = rng.choice(values, int(most ** (1 / count)), replace=False)
    grids = [np.array(x) for x in zip(*itertools.product(values, repeat=count))]
    grids = [np.concatenate([np.asarray(x, dtype_of(name)), ordinary_values(rng, name, 67)]) for x in grids]
    return grids
