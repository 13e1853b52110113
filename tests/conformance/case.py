"""One conformance case: an HLO module as text, its inputs, and how closely results must agree."""
import dataclasses

import ml_dtypes
import numpy as np

TYPES = {
    "pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3": ml_dtypes.float8_e4m3, "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
}
SIGNED, UNSIGNED = ["s8", "s16", "s32", "s64"], ["u8", "u16", "u32", "u64"]
INTEGERS, FLOATS, COMPLEX = SIGNED + UNSIGNED, ["f16", "bf16", "f32", "f64"], ["c64", "c128"]
F8 = [t for t in TYPES if t.startswith("f8")]
# Significand bits, hidden one included: a unit in the last place of a result.
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53, "c64": 24, "c128": 53, "f8e5m2": 3, "f8e4m3fn": 4, "f8e4m3": 4,
             "f8e3m4": 5, "f8e4m3b11fnuz": 4, "f8e5m2fnuz": 3, "f8e4m3fnuz": 4}


@dataclasses.dataclass
class Case:
    op: str
    text: str
    inputs: list
    # |got - want| <= ulps units in the last place of want's type at want, or of the largest value
    # when `of_largest` (sums, products of matrices); 0: the same bits.
    ulps: float = 0
    of_largest: bool = False
    absolute: float = 0.0
    # What NumPy makes of it, for ops that jaxlib cannot run or gets wrong.
    want: list | None = None
    # Why jaxlib may differ here and Hilo be right; such a difference is counted apart.
    listed: str = ""


def shape(type_name, dims):
    dims = list(dims)
    layout = "{" + ",".join(str(i) for i in reversed(range(len(dims)))) + "}" if dims else ""
    return f"{type_name}[{','.join(map(str, dims))}]{layout}"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


def is_float(type_name):
    return type_name in PRECISION and not type_name.startswith("c")


SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-3, 100.0]


def draw(rng, type_name, dims, low=None, high=None, specials=False):
    """Values of a type: integers over their range (or [low, high)), floats N(0, 2) or uniform."""
    dtype, count = TYPES[type_name], int(np.prod(dims, dtype=np.int64))
    if type_name == "pred":
        return rng.integers(0, 2, dims).astype(bool)
    if type_name in ("s4", "u4"):
        bounds = (-8, 8) if type_name == "s4" else (0, 16)
        return rng.integers(low if low is not None else bounds[0], high if high is not None else bounds[1], dims).astype(dtype)
    if type_name in INTEGERS:
        info = np.iinfo(dtype)
        if low is None and not specials:
            low, high = max(info.min, -20), min(info.max, 20)
        if low is None:
            values = rng.integers(info.min, info.max, dims, dtype=dtype, endpoint=True).reshape(-1)
            extremes = [info.min, info.max, 0, 1, info.max - 1]
            for i in rng.choice(count, min(count, 4), replace=False) if count else []:
                values[i] = extremes[rng.integers(len(extremes))]
            return values.reshape(dims)
        return rng.integers(low, high, dims).astype(dtype)
    if type_name in COMPLEX:
        part = np.float32 if type_name == "c64" else np.float64
        return (rng.normal(0, 2, dims).astype(part) + 1j * rng.normal(0, 2, dims).astype(part)).astype(dtype)
    values = rng.normal(0, 2, dims) if low is None else rng.uniform(low, high, dims)
    values = np.asarray(values).reshape(-1)
    if specials:
        for i in rng.choice(count, min(count, 6), replace=False) if count else []:
            values[i] = SPECIALS[rng.integers(len(SPECIALS))]
    with np.errstate(all="ignore"):
        return values.reshape(dims).astype(dtype)


def module(body, computations=""):
    return f"HloModule case\n\n{computations}ENTRY main {{\n{body}}}\n"


def lines(*instructions):
    """Instructions, the last of which is the root."""
    return "".join(f"  {'ROOT ' if i + 1 == len(instructions) else ''}{one}\n" for i, one in enumerate(instructions))


def parameters(*shapes):
    return [f"p{i} = {one} parameter({i})" for i, one in enumerate(shapes)]


def combiner(name, op, type_name):
    t = type_name
    return f"{name} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = {t}[] {op}(a, b)\n}}\n\n"


def dims_of(rng, low=0, high=4, most=6, least=1):
    return [int(d) for d in rng.integers(least, most + 1, rng.integers(low, high + 1))]
