"""Elementwise ops over all their types."""
import numpy as np

from case import (COMPLEX, F8, FLOATS, INTEGERS, SIGNED, TYPES, Case, dims_of, draw, is_float, lines, module, parameters,
                  shape)

# Allowed distance in ULPs between two good implementations; XLA's own float functions are within a
# few, its complex and f16 ones looser.
UNARY_FLOAT = {
    "abs": 0, "acos": 8, "acosh": 16, "asin": 8, "asinh": 16, "atanh": 16, "cbrt": 4, "ceil": 0, "cosine": 4, "cosh": 8,
    "erf": 16, "exponential": 8, "exponential-minus-one": 16, "floor": 0, "log": 4, "log-plus-one": 16, "logistic": 16,
    "negate": 0, "round-nearest-afz": 0, "round-nearest-even": 0, "rsqrt": 4, "sign": 0, "sine": 4, "sinh": 16, "sqrt": 1,
    "tan": 8, "tanh": 16, "is-finite": 0,
}
UNARY_COMPLEX = ["abs", "cosine", "exponential", "log", "negate", "sign", "sine", "sqrt", "tanh", "real", "imag", "rsqrt"]
UNARY_INTEGER = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"]
# Domain where both sides are defined and well conditioned; elsewhere rounding of the argument rules.
DOMAIN = {"acos": (-1, 1), "asin": (-1, 1), "acosh": (1, 50), "atanh": (-0.99, 0.99), "log": (0, 50), "rsqrt": (0.01, 50),
          "sqrt": (0, 50), "log-plus-one": (-0.9, 50)}


def one_operand(rng, op, t, out=None, ulps=0, attributes="", absolute=0.0, **drawing):
    dims = dims_of(rng, 0, 3)
    text = module(lines(*parameters(shape(t, dims)), f"r = {shape(out or t, dims)} {op}(p0){attributes}"))
    return Case(op, text, [draw(rng, t, dims, **drawing)], ulps, absolute=absolute)


def unary(rng):
    for op, ulps in UNARY_FLOAT.items():
        for t in FLOATS:
            out = "pred" if op == "is-finite" else t
            low, high = DOMAIN.get(op, (-4, 4))
            for drawing in ({"specials": op not in DOMAIN}, {"low": low, "high": high}):
                case = one_operand(rng, op, t, out, ulps, **drawing)
                if (op, t) == ("log-plus-one", "f64"):  # XLA's is wrong by up to 128 ULP near -0.41
                    with np.errstate(all="ignore"):
                        case.want, case.ulps = [np.log1p(case.inputs[0])], 2
                yield case
    for op in UNARY_COMPLEX:
        for t in COMPLEX:
            out = {"c64": "f32", "c128": "f64"}[t] if op in ("abs", "real", "imag") else t
            yield one_operand(rng, op, t, out, 0 if op in ("real", "imag", "negate") else 32, absolute=1e-5)
    for op in UNARY_INTEGER:
        for t in INTEGERS + (["pred"] if op == "not" else []):
            if op in ("negate", "sign") and t not in SIGNED:
                continue
            yield one_operand(rng, op, t, specials=True)
    for t in FLOATS[:3]:
        for bits in ((5, 10), (8, 7), (5, 2), (4, 3), (8, 10)):
            yield one_operand(rng, "reduce-precision", t, attributes=f", exponent_bits={bits[0]}, mantissa_bits={bits[1]}", specials=True)


def two_operands(rng, op, t, out=None, ulps=0, attributes="", left=None, right=None):
    dims = dims_of(rng, 0, 3)
    inputs = [draw(rng, t, dims, **(left or {"specials": True})), draw(rng, t, dims, **(right or left or {"specials": True}))]
    text = module(lines(*parameters(shape(t, dims), shape(t, dims)), f"r = {shape(out or t, dims)} {op}(p0, p1){attributes}"))
    return Case(op, text, inputs, ulps)


def binary(rng):
    for op in ("add", "subtract", "multiply", "maximum", "minimum"):
        for t in FLOATS + INTEGERS:
            yield two_operands(rng, op, t)
        if op in ("add", "subtract", "multiply"):
            for t in COMPLEX:
                yield two_operands(rng, op, t, ulps=4)
    for op in ("and", "or", "xor"):
        for t in INTEGERS + ["pred"]:
            yield two_operands(rng, op, t)
    for op in ("add", "multiply", "maximum", "minimum"):
        yield two_operands(rng, op, "pred")
    for op in ("divide", "remainder"):
        for t in FLOATS + INTEGERS:
            yield two_operands(rng, op, t, ulps=1 if t in FLOATS else 0)
    for t in COMPLEX:
        yield two_operands(rng, "divide", t, ulps=64)
    for op in ("shift-left", "shift-right-logical", "shift-right-arithmetic"):
        for t in INTEGERS:
            yield two_operands(rng, op, t, right={"low": 0, "high": 100})
            yield two_operands(rng, op, t, right={"specials": True})
    for t in FLOATS:
        yield two_operands(rng, "power", t, ulps=16)
        yield two_operands(rng, "power", t, ulps=16, left={"low": 0.1, "high": 9}, right={"low": -3, "high": 3})
        yield two_operands(rng, "atan2", t, ulps=8)
    for t in INTEGERS:
        yield two_operands(rng, "power", t, left={"low": 0, "high": 6}, right={"low": 0, "high": 6})
    for t, out in (("f32", "c64"), ("f64", "c128")):
        yield two_operands(rng, "complex", t, out)


def choices(rng):
    for direction in ("EQ", "NE", "GE", "GT", "LE", "LT"):
        for t in FLOATS + INTEGERS + ["pred"]:
            yield two_operands(rng, "compare", t, "pred", attributes=f", direction={direction}")
        for t in FLOATS:
            yield two_operands(rng, "compare", t, "pred", attributes=f", direction={direction}, type=TOTALORDER")
    for direction in ("EQ", "NE"):
        for t in COMPLEX:
            yield two_operands(rng, "compare", t, "pred", attributes=f", direction={direction}")
    for t in FLOATS + INTEGERS + COMPLEX + ["pred"]:
        for scalar in (False, True):
            dims = dims_of(rng, 0, 3)
            pred = [] if scalar else dims
            text = module(lines(*parameters(shape("pred", pred), shape(t, dims), shape(t, dims)), f"r = {shape(t, dims)} select(p0, p1, p2)"))
            yield Case("select", text, [draw(rng, "pred", pred), draw(rng, t, dims), draw(rng, t, dims)])
            if t in COMPLEX or t == "pred":
                continue
            low = [] if scalar else dims
            a, b = draw(rng, t, low, specials=is_float(t)), draw(rng, t, low)
            with np.errstate(all="ignore"):
                small, large = (np.minimum(a, b), np.maximum(a, b)) if t in INTEGERS else (a, b)
            text = module(lines(*parameters(shape(t, low), shape(t, dims), shape(t, low)), f"r = {shape(t, dims)} clamp(p0, p1, p2)"))
            yield Case("clamp", text, [small, draw(rng, t, dims, specials=True), large])


def conversions(rng):
    for source in TYPES:
        for target in TYPES:
            if source == target or (source in COMPLEX and target not in COMPLEX):
                continue
            # Out-of-range conversions of floats to narrow integers differ between XLA's own back ends.
            drawing = {"low": -7, "high": 7} if target in ("s4", "u4") else {"specials": True}
            if target in ("u4",) or (source in ("u4",)):
                drawing = {"low": 0, "high": 7}
            yield one_operand(rng, "convert", source, target, **drawing)
    for a, b in (("f32", "s32"), ("f32", "u32"), ("f64", "u64"), ("bf16", "s16"), ("f16", "u16"), ("s8", "u8"), ("f64", "s64")):
        yield one_operand(rng, "bitcast-convert", a, b, specials=True)
        yield one_operand(rng, "bitcast-convert", b, a, specials=True)
    for wide, narrow, ratio in (("f32", "u8", 4), ("u32", "u16", 2), ("f64", "u32", 2), ("s64", "s16", 4)):
        dims = dims_of(rng, 0, 2)
        yield Case("bitcast-convert", module(lines(*parameters(shape(wide, dims)), f"r = {shape(narrow, dims + [ratio])} bitcast-convert(p0)")),
                   [draw(rng, wide, dims, specials=True)])
        yield Case("bitcast-convert", module(lines(*parameters(shape(narrow, dims + [ratio])), f"r = {shape(wide, dims)} bitcast-convert(p0)")),
                   [draw(rng, narrow, dims + [ratio])])


FAMILIES = {"unary": unary, "binary": binary, "choices": choices, "conversions": conversions}
