"""Where XLA's CPU back end gives other special values than Hilo, and why Hilo keeps its own. docs/special-values.md shows it."""
import dataclasses
import re
from typing import Callable

import ml_dtypes
import numpy as np

from special_inputs import PART, dtype_of, is_float
from special_judge import differing


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    ops: str  # regular expressions, of all of the name
    types: str
    reason: str
    # (case, Hilo's, XLA's) -> where the row holds
    where: Callable


@dataclasses.dataclass(frozen=True)
class DeviceRow:
    contexts: str
    name: str
    ops: str
    types: str
    reason: str
    where: Callable  # (case, compiled, evaluated)


def parts(x):
    with np.errstate(all="ignore"):
        return [x.real.astype(float), x.imag.astype(float)] if np.iscomplexobj(x) else [np.asarray(x).astype(float)]


def any_part(holds, x):
    out = np.zeros(np.shape(x), bool)
    for part in parts(x):
        out |= holds(part)
    return out


def beside(case, holds, like):
    """Where an operand that lies beside the results holds."""
    out = np.zeros(like.shape, bool)
    for x in case.inputs:
        if x.shape == like.shape:
            out |= any_part(holds, x)
    return out


def smallest(name):
    name = PART.get(name, name)
    return float(ml_dtypes.finfo(dtype_of("f32" if name in ("bf16", "f8e8m0fnu") or name[0] != "f" else name)).smallest_normal)


def has_subnormals(case, ours, theirs):
    """An operand beside or a result is subnormal; where operands do not lie beside, a result is zero or subnormal."""
    limit = smallest(case.type)
    small = lambda part: (part != 0) & (np.abs(part) < limit)
    out = beside(case, small, ours) | any_part(small, ours) | any_part(small, theirs)
    return out


def with_parts(case, ours, theirs, holds):
    return beside(case, holds, ours)


def not_finite(part):
    return ~np.isfinite(part)


def far(part):
    """So large or small that its exponential or its square is no number of the type, or loses bits."""
    return (np.abs(part) > 80) | ((np.abs(part) < 1e-15) & (part != 0))


def nearly(a, b):
    """Parts that agree but for digits that XLA loses, in units of the modulus."""
    size = np.maximum(np.abs(a), np.abs(b))
    return np.abs(a - b) <= 1e-5 * size


def both_nan(case, ours, theirs):
    return any_part(np.isnan, ours) & any_part(np.isnan, theirs)


def only_signs_of_zeros(case, ours, theirs):
    out = np.ones(ours.shape, bool)
    for a, b in zip(parts(ours), parts(theirs)):
        with np.errstate(all="ignore"):
            out &= (a == b) | (np.isnan(a) & np.isnan(b)) | ~np.isfinite(a) | nearly(a, b)
    return out


def beside_cut(case, ours, theirs):
    """Values that are the same but for signs of parts, or a turn of the angle, where an operand has a part that is zero, or where the value is nearly zero."""
    on_axis = beside(case, lambda part: part == 0, ours)
    same = np.ones(ours.shape, bool)
    for a, b in zip(parts(ours), parts(theirs)):
        with np.errstate(all="ignore"):
            same &= (np.abs(np.abs(a) - np.abs(b)) <= 2e-6) | (np.abs(np.abs(a - b) - 2 * np.pi) <= 2e-6)
    return same & (on_axis | (case.op == "atan2"))


MOVES = "copy|reverse.*|transpose|reshape|slice|pad.*|concatenate.*|broadcast.*|select.*|dynamic-.*|gather|scatter|while|constant|sort|topk"
COMPLEX = "c64|c128"
FUNCTIONS = ("abs|acosh?|asinh?|atanh|cosine|cosh|exponential|exponential-minus-one|log|log-plus-one|logistic|rsqrt|sign|sine|sinh|sqrt|tanh?|"
             "atan2|power|divide|multiply")
ROWS = [
    Row("NaN payloads", MOVES, "f.*|bf16", "XLA moves small floats through f32, which makes every NaN the quiet one; Hilo moves bits",
        both_nan),
    Row("subnormals", "(?!compare|convert).*", "f32|f64|bf16|f8e8m0fnu|c64|c128",
        "XLA's functions flush or keep subnormal numbers as their steps happen to; in Hilo arithmetic takes and gives zeros",
        has_subnormals),
    Row("floats of few bits as integers", "convert", "f4.*|f6.*|f8.*",
        "XLA compares with the ends of the integers rounded to the float's type, which may be smaller",
        lambda case, ours, theirs: np.full(ours.shape, case.results[0][0] in "su")),
    Row("integers of one bit", "convert", ".*", "HLO: toward zero and saturating; XLA takes s1 and u1 for pred",
        lambda case, ours, theirs: np.full(ours.shape, case.results[0] in ("s1", "u1"))),
    Row("NaN parts of complex functions", FUNCTIONS, COMPLEX,
        "C99's Annex G says what a function is where one part is infinite or NaN; XLA computes NaN",
        lambda case, ours, theirs: beside(case, not_finite, ours)),
    Row("signs of complex zeros", FUNCTIONS, COMPLEX, "C99: f(conj z) = conj f(z), so that the sign of a zero part is that of the operand's",
        only_signs_of_zeros),
    Row("far complex parts", FUNCTIONS, COMPLEX,
        "XLA squares parts, or takes exponentials of parts, that are too large or too small for that, and multiplies infinity by zero",
        lambda case, ours, theirs: beside(case, far, ours)),
    Row("digits of complex functions", FUNCTIONS, COMPLEX, "XLA's sums cancel near zeros of functions", lambda case, ours, theirs:
        np.abs(np.nan_to_num(ours) - np.nan_to_num(theirs)) <= (1e-3 if case.type == "c64" else 1e-9) * np.abs(np.nan_to_num(ours))),
    Row("infinite complex products", "dot|convolution", COMPLEX, "Hilo adds the products of parts; XLA's matrix products make NaN of both",
        lambda case, ours, theirs: any_part(not_finite, theirs) | any_part(not_finite, ours)),
    Row("subnormals of reduced precision", "reduce-precision", "f8.*|f4.*|f6.*|f16", "Hilo rounds them as the f32 that holds them, XLA as bits",
        lambda case, ours, theirs: beside(case, lambda part: (part != 0) & (np.abs(part) < 2 * float(
            ml_dtypes.finfo(dtype_of(case.type)).smallest_normal)), ours)),
    Row("order of NaN payloads", "topk|sort", "f8.*", "XLA's narrow NaNs become one; in Hilo payloads have an order, as in totalOrder",
        lambda case, ours, theirs: np.full(ours.shape, ours.dtype.kind in "iu")),
    Row("sums of small floats", "(reduce|scan|scatter)-(add|multiply)|dot|convolution", "f4.*|f6.*|f8.*",
        "XLA rounds each step to the small type; Hilo adds in f32", lambda case, ours, theirs: np.full(ours.shape, True)),
    Row("order of subnormals", "topk|sort", "bf16|f32|f64", "they equal zero in comparisons, and keep the order that they had",
        lambda case, ours, theirs: np.full(ours.shape, True) if ours.dtype.kind in "iu" else
        (np.abs(ours.astype(float)) < 2 * smallest(case.type)) & (np.abs(theirs.astype(float)) < 2 * smallest(case.type))),
    Row("numbers that f16 lacks", "while|sort|topk|" + MOVES, "f8e5m2fnuz", "XLA moves them through f16",
        lambda case, ours, theirs: np.abs(ours.astype(float)) < 2 * smallest("f16")),
    Row("complex constants", "constant", COMPLEX, "XLA makes NaN of both parts where one is", both_nan),
    Row("least power of two", "convert", "f8e8m0fnu|bf16|f32",
        "f8e8m0fnu has no zero, so that all its numbers are true, and zeros, which subnormal numbers are, become NaN in it",
        lambda case, ours, theirs: np.full(ours.shape, case.type == "f8e8m0fnu") if case.results == ["pred"] else
        (has_subnormals(case, ours, theirs) if case.results == ["f8e8m0fnu"] else np.zeros(ours.shape, bool))),
    Row("subnormals that are true", "convert", "bf16", "subnormal numbers are zeros; XLA looks at the bits of a bf16",
        lambda case, ours, theirs: has_subnormals(case, ours, theirs) & (case.results == ["pred"])),
    Row("logistic of f16", "logistic", "f16", "XLA's exponential is beyond the numbers of f16, though the quotient is not",
        lambda case, ours, theirs: (theirs == 0) & beside(case, lambda part: part < -11, ours)),
    Row("bits of narrow integers", "popcnt", "[su][24]", "XLA counts the bits of the byte that holds the number",
        lambda case, ours, theirs: beside(case, lambda part: part < 0, ours)),
    Row("cuts of complex functions", "sqrt|log|power|a.*|rsqrt|cbrt", COMPLEX,
        "C99: the sign of a zero says on which side of its cut a function is; XLA's sums lose it", beside_cut),
    Row("powers of integers", "power", "[su]\\d+", "XLA takes few bits of the exponent; Hilo's powers wrap",
        lambda case, ours, theirs: np.full(ours.shape, True)),
    Row("stochastic rounding of small floats", "stochastic-convert", "f8.*|f4.*|f6.*",
        "XLA rounds the fraction that is compared with the random number to the small type",
        lambda case, ours, theirs: np.full(ours.shape, True)),
    Row("rounded twice", "(?!compare).*", "f8.*|f4.*|f6.*", "XLA computes small floats in f16 or f32 and rounds again; Hilo rounds once",
        lambda case, ours, theirs: ~differing(ours, theirs, case.results[0], 1.0) if is_float(case.results[0]) else np.zeros(
            ours.shape, bool)),
]


def rows_of(case):
    return [row for row in ROWS if re.fullmatch(row.ops, case.op) and re.fullmatch(row.types, case.type)]


# Where the compiler gives other values than the evaluator, and may. docs/special-values.md shows it.
OF_DEVICES = [
    DeviceRow("constants.*", "division by a constant", "divide", "f32|f64", "is multiplication by the reciprocal: within a unit",
        lambda case, compiled, ours: ~differing(compiled, ours, case.results[0], 1.0)),
    DeviceRow("constants.*", "complex product with 1", "multiply|divide", COMPLEX, "is the other operand; evaluated, infinite parts become NaN",
        lambda case, compiled, ours: any_part(np.isinf, compiled) & any_part(np.isnan, ours)),
    DeviceRow("constants.*", "angles of complex powers", "power", "c64", "the angle is held to 2^-32 of its size",
        lambda case, compiled, ours: beside(case, far, ours)),
    DeviceRow("pairs", "least power of two", "reduce-(min|max)imum", "f8e8m0fnu", "is a zero, which is NaN in the type; compiled, a choice keeps it",
              lambda case, compiled, ours: np.isnan(ours.astype(float)) & (compiled.astype(float) < 1e-38)),
]


def rows_of_devices(case):
    return [row for row in OF_DEVICES if re.fullmatch(row.contexts, case.context) and re.fullmatch(row.ops, case.op)
            and re.fullmatch(row.types, case.type)]
