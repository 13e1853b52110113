"""Whether two arrays of one type agree: kind by kind (NaN, infinity, zero and its sign), then within units of the last place."""
import numpy as np

from special_inputs import PART, bits_of, dtype_of, from_bits, is_complex, is_float, stored_bits

DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def as_type(array, name):
    """An array that a device gave, as values of the type."""
    dtype = dtype_of(name)
    if array.dtype == dtype:
        return array
    if is_float(name) and array.dtype.itemsize == dtype.itemsize:
        return array.view(dtype)
    return from_bits(name, stored_bits(array) & ((1 << bits_of(name)) - 1)) if bits_of(name) < 8 else array.astype(dtype)


def as_input(array):
    """What an .npz file holds of it: types that NumPy lacks as bits, narrow integers as bytes."""
    if array.dtype.name in ("int2", "int4"):
        return array.astype(np.int8)
    if array.dtype.name in ("uint2", "uint4"):
        return array.astype(np.uint8)
    if array.dtype.kind in "biufc" and array.dtype.isbuiltin == 1:
        return array
    return stored_bits(array)


def unit_at(size, name):
    """From |x| to the next number of the type; of numbers that are no normal ones, that of the least normal one."""
    import ml_dtypes
    info = ml_dtypes.finfo(dtype_of(name))
    size = np.maximum(np.minimum(size, float(info.max)), float(info.smallest_normal))
    return 2.0 ** (np.floor(np.log2(size)) - info.nmant)


def kinds_differ(a, b, near, has_signs):
    """NaN against number, infinity against another, and zeros of other signs. `near`: pairs that count as one number."""
    nan = np.isnan(a) != np.isnan(b)
    infinite = (np.isinf(a) | np.isinf(b)) & (a != b) & ~near & ~(np.isnan(a) | np.isnan(b))
    zeros = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)) & has_signs
    zeros |= ((a == 0) != (b == 0)) & ~near & ~(np.isnan(a) | np.isnan(b))
    return nan | infinite | zeros


def parts_of(array, name):
    with np.errstate(all="ignore"):
        if is_complex(name):
            return [array.real.astype(np.float64), array.imag.astype(np.float64)]
        return [array.astype(np.float64)]


def as_values(x, name):
    """What simplification keeps: subnormal numbers and zeros without signs are 0, a complex NaN is NaN in both parts."""
    if not (is_float(name) or is_complex(name)):
        return x
    import ml_dtypes
    limit = float(ml_dtypes.finfo(dtype_of(PART.get(name, name))).smallest_normal)
    out = x.copy()
    for part in (out.real, out.imag) if is_complex(name) else (out,):
        with np.errstate(all="ignore"):
            part[np.abs(part.astype(float)) < limit] = 0
    if is_complex(name):
        nan = np.isnan(out.real) | np.isnan(out.imag)
        out.real[nan] = out.imag[nan] = np.nan
    return out


def differing(a, b, name, ulps, has_signs=True):
    """Where two arrays of type `name` differ; `has_signs`: in the signs of zeros too. `ulps` None: bit by bit, payloads of NaNs too; else by units of the last place (of
    a complex number: of its modulus), NaNs being alike."""
    if ulps is None:
        return bits_differ(a, b)
    if not (is_float(name) or is_complex(name)):
        return a != b
    real = PART.get(name, name)
    left, right = parts_of(a, name), parts_of(b, name)
    out = np.zeros(a.shape, bool)
    import ml_dtypes
    largest = float(ml_dtypes.finfo(dtype_of(real)).max)
    with np.errstate(all="ignore"):
        # A modulus beyond all numbers has the unit of the largest; a part that is no number counts not.
        size = np.zeros(a.shape)
        for part in right:
            size = np.maximum(size, np.where(np.isfinite(part), np.abs(part), 0))
        for x, y in zip(left, right):
            bound = ulps * unit_at(size if is_complex(name) else np.abs(np.where(np.isnan(y), 0, y)), real)
            limited = [np.clip(v, -largest, largest) for v in (x, y)]
            near = (np.abs(limited[0] - limited[1]) <= bound) & (ulps > 0)
            out |= kinds_differ(x, y, near, has_signs) | ~((x == y) | (np.isnan(x) & np.isnan(y)) | near | np.isinf(x) | np.isinf(y) |
                                                np.isnan(x) | np.isnan(y))
    return out


def bits_differ(a, b):
    x, y = stored_bits(np.atleast_1d(a)), stored_bits(np.atleast_1d(b))
    return (x != y).reshape(*a.shape, -1).any(-1)  # of complex doubles two words each


def kind_of(x):
    """One word for a number: nan, inf, -inf, 0, -0, sub or number; of complex ones two."""
    if isinstance(x, (complex, np.complexfloating)):
        return f"({kind_of(x.real)},{kind_of(x.imag)})"
    value = float(x)
    if np.isnan(value):
        return "nan"
    sign = "-" if np.signbit(value) else ""
    if np.isinf(value):
        return sign + "inf"
    if value == 0:
        return sign + "0"
    if hasattr(x, "dtype") and is_small(x):
        return sign + "sub"
    return sign + "number"


def is_small(x):
    import ml_dtypes
    try:
        return abs(float(x)) < float(ml_dtypes.finfo(x.dtype).smallest_normal)
    except ValueError:
        return False
