"""Small modules of every elementwise op and type with special values among the inputs, one op a module."""
import dataclasses

import numpy as np

from special_inputs import (NAMED, PART, complex_of, dtype_of, few_values, is_complex, is_float, is_signed, operands, ordinary_values,
                            special_values, bits_of)

# How near the two devices are, in units of the last place (emit/math.h), and how near XLA is.
EXACT, MOVED = 0, None


@dataclasses.dataclass
class Case:
    op: str
    type: str  # of the operands
    context: str
    text: str
    inputs: list
    results: list  # types
    # Units of the last place between the devices and to XLA; None: the same bits, of NaNs too.
    ulps: float | None = EXACT
    peer_ulps: float | None = EXACT
    # Whether signs of zeros count: of a sum they follow from its order, and a sum of one term may be that.
    has_signs: bool = True
    # Whether XLA is asked: of the contexts of an elementwise op one is enough.
    is_plain: bool = True

    @property
    def name(self):
        return f"{self.op}/{self.type}/{self.context}"


def module(lines, computations=""):
    body = "\n".join(f"  {'ROOT ' if i + 1 == len(lines) else ''}{one}" for i, one in enumerate(lines))
    return f"HloModule m\n\n{computations}ENTRY e {{\n{body}\n}}\n"


def parameters(inputs, types):
    return [f"p{i} = {t}[{','.join(map(str, x.shape))}] parameter({i})" for i, (x, t) in enumerate(zip(inputs, types))]


def joined(types, dims, names):
    """A tuple of results."""
    shapes = ", ".join(f"{t}[{dims}]" for t in types)
    return f"r = ({shapes}) tuple({', '.join(names)})"


def text_of_value(x, name):
    """As HLO text writes it, or None where text cannot say it."""
    if is_complex(name):
        return f"({text_of_value(x.real, PART[name])}, {text_of_value(x.imag, PART[name])})"
    if name == "pred":
        return "true" if x else "false"
    if not is_float(name):
        return str(int(x))
    value = float(x)
    if np.isnan(value):
        return "nan"
    return "-inf" if value == -np.inf else "inf" if value == np.inf else repr(value)


@dataclasses.dataclass
class Elementwise:
    """An op on operands of one type: how it is written, and the type of its result."""
    op: str
    type: str
    operand_types: list
    result: str
    attributes: str = ""
    is_function: bool = False

    def line(self, name, dims, operands):
        return f"{name} = {self.result}[{dims}] {self.op}({', '.join(operands)}){self.attributes}"


OF_PART = ("abs", "real", "imag")
DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
PRECISIONS = ((5, 10), (8, 7), (5, 2), (4, 3), (8, 10), (2, 1), (11, 52), (1, 0))


def forms_of(row, types):
    """Every way to write an elementwise op of `hilo list ops`; `types` has the kind of each type."""
    op, count = row["op"], int(row["operands"])
    is_function = "transcendental" in row["traits"].split()
    for t in (t for t, kind in types.items() if kind in row["kinds"].split()):
        same = lambda result=t, attributes="", operand_types=None: Elementwise(
            op, t, operand_types or [t] * count, result, attributes, is_function)
        if op == "convert":
            yield from (same(to) for to in types if to != t and (is_complex(to) or not is_complex(t)))
        elif op == "compare":
            for direction in DIRECTIONS:
                if not is_complex(t) or direction in ("EQ", "NE"):
                    yield same("pred", f", direction={direction}")
                if is_float(t):
                    yield same("pred", f", direction={direction}, type=TOTALORDER")
        elif op == "reduce-precision":
            for exponent, mantissa in PRECISIONS:
                yield same(t, f", exponent_bits={exponent}, mantissa_bits={mantissa}")
        elif op == "select":
            yield same(t, "", ["pred", t, t])
        elif op == "stochastic-convert":
            random = f"u{bits_of(t)}"
            if is_float(t) and random in types:
                yield from (same(to, "", [t, random]) for to in types if is_float(to) and to != t or to in ("s8", "s32", "u8"))
        elif op == "complex":
            if t in PART.values():
                yield same({"f32": "c64", "f64": "c128"}[t])
        elif op == "is-finite":
            yield same("pred")
        else:
            yield same(PART.get(t, t) if op in OF_PART else t)


def inputs_of(form, rng):
    """One array an operand, all of one length."""
    if len(set(form.operand_types)) == 1:
        return operands(rng, form.type, len(form.operand_types))
    if form.operand_types[0] == "pred":
        x, y = operands(rng, form.type, 2)
        return [rng.integers(0, 2, len(x)).astype(bool), x, y]
    x, = operands(rng, form.type, 1)
    random = special_values(form.operand_types[1])
    x = np.repeat(x, 3)
    return [x, rng.choice(random, len(x))]


def units(form):
    """What the devices owe each other, and what XLA's functions are near to ours."""
    if form.op in ("select",):
        return MOVED, MOVED
    narrow = bits_of(PART.get(form.type, form.type)) < 32 if not is_complex(form.type) else False
    if is_complex(form.type):
        exact = form.op in ("negate", "real", "imag", "add", "subtract", "compare")
        return (EXACT, EXACT) if exact else (4, 64)
    if form.is_function and form.op != "sqrt" and is_float(form.type):
        return (1, 1 if bits_of(form.type) <= 8 else 4) if narrow else (3 if form.type == "f64" else 2, 16)
    return EXACT, EXACT


def case_of(form, context, lines, inputs, types, results):
    ours, theirs = units(form)
    label = context + ("" if form.result == form.type and not form.attributes else f" {form.result}{form.attributes}")
    return Case(form.op, form.type, label, module(lines), inputs, results, ours, theirs,
                is_plain=context == "whole")


def whole(form, rng):
    inputs = inputs_of(form, rng)
    n = len(inputs[0])
    names = [f"p{i}" for i in range(len(inputs))]
    lines = parameters(inputs, form.operand_types) + [form.line("r", n, names)]
    return case_of(form, "whole", lines, inputs, form.operand_types, [form.result])


def short(form, rng):
    """Lengths 1 and 7, and a scalar."""
    inputs = [x for x in inputs_of(form, rng)]
    places = rng.integers(0, len(inputs[0]), 7)
    inputs = [x[places] for x in inputs]
    lines = parameters(inputs, form.operand_types)
    lines.append(form.line("seven", 7, [f"p{i}" for i in range(len(inputs))]))
    for i, t in enumerate(form.operand_types):
        lines.append(f"s{i} = {t}[1] slice(p{i}), slice={{[3:4]}}")
        lines.append(f"t{i} = {t}[] reshape(s{i})")
    lines.append(form.line("single", 1, [f"s{i}" for i in range(len(inputs))]))
    lines.append(form.line("scalar", "", [f"t{i}" for i in range(len(inputs))]))
    r = form.result
    lines.append(f"r = ({r}[7], {r}[1], {r}[]) tuple(seven, single, scalar)")
    return case_of(form, "short", lines, inputs, form.operand_types, [r, r, r])


def strided(form, rng):
    """Every second element of a row, and columns of a matrix."""
    inputs = inputs_of(form, rng)
    n = len(inputs[0]) // 6 * 6
    inputs = [x[:n] for x in inputs]
    lines = parameters(inputs, form.operand_types)
    for i, t in enumerate(form.operand_types):
        lines.append(f"s{i} = {t}[{n // 2}] slice(p{i}), slice={{[0:{n}:2]}}")
        lines.append(f"m{i} = {t}[{n // 6},6] reshape(p{i})")
        lines.append(f"t{i} = {t}[6,{n // 6}] transpose(m{i}), dimensions={{1,0}}")
    lines.append(form.line("stepped", n // 2, [f"s{i}" for i in range(len(inputs))]))
    lines.append(form.line("turned", f"6,{n // 6}", [f"t{i}" for i in range(len(inputs))]))
    r = form.result
    lines.append(f"r = ({r}[{n // 2}], {r}[6,{n // 6}]) tuple(stepped, turned)")
    return case_of(form, "strided", lines, inputs, form.operand_types, [r, r])


def fused(form, rng):
    """Behind a reversal, before a selection, beside another user."""
    inputs = inputs_of(form, rng)
    n = len(inputs[0])
    choice = rng.integers(0, 2, n).astype(bool)
    types = form.operand_types + ["pred"]
    lines = parameters(inputs + [choice], types)
    for i, t in enumerate(form.operand_types):
        lines.append(f"v{i} = {t}[{n}] reverse(p{i}), dimensions={{0}}")
    r = form.result
    lines += [form.line("y", n, [f"v{i}" for i in range(len(inputs))]),
              f"w = {r}[{n}] reverse(y), dimensions={{0}}",
              f"z = {r}[{n}] select(p{len(inputs)}, y, w)",
              joined([r, r], n, ["y", "z"])]
    return case_of(form, "fused", lines, inputs + [choice], types, [r, r])


def with_constants(form, rng):
    """One operand a constant, as rules of simplification want it, or a scalar that is broadcast."""
    if len(form.operand_types) != 2 or len(set(form.operand_types)) != 1:
        return None
    t = form.type
    if is_float(t) and bits_of(t) < 16:
        return None
    x, = operands(rng, t, 1)
    n = len(x)
    if is_complex(t):
        constants = [complex_of(a, b, NAMED[t]) for a, b in ((0, 0), (1, 0), (-1, 0), (0, 1), (2, 0), (0.5, 0), (np.inf, 0), (3, 0))]
    elif is_float(t):
        constants = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -0.5, np.inf, -np.inf, np.nan, 10.0, 0.25]
    else:
        constants = [v for v in {0, 1, 2, 3, -1, 7, 8} if t != "pred" and 0 <= v + (1 << (bits_of(t) - 1)) * is_signed(t) < 1 << bits_of(t)
                     and (v < 1 << (bits_of(t) - is_signed(t)))]
        constants = constants or [False, True]
    lines, names = parameters([x], [t]), []
    for i, c in enumerate(constants):
        lines += [f"c{i} = {t}[] constant({text_of_value(dtype_of(t).type(c) if not is_complex(t) else c, t)})",
                  f"b{i} = {t}[{n}] broadcast(c{i}), dimensions={{}}",
                  form.line(f"l{i}", n, [f"b{i}", "p0"]), form.line(f"r{i}", n, ["p0", f"b{i}"])]
        names += [f"l{i}", f"r{i}"]
    lines.append(joined([form.result] * len(names), n, names))
    return case_of(form, "constants", lines, [x], [t], [form.result] * len(names))


def scalar_operand(form, rng):
    """One operand a scalar of the run: broadcast inside of the loop."""
    if len(form.operand_types) != 2 or len(set(form.operand_types)) != 1:
        return None
    t = form.type
    x, = operands(rng, t, 1)
    n = len(x)
    picked = np.asarray(rng.choice(few_values(t), 1), dtype_of(t)).reshape(())
    lines = parameters([x, picked], [t, t]) + [
        f"b = {t}[{n}] broadcast(p1), dimensions={{}}", form.line("y", n, ["p0", "b"]), form.line("z", n, ["b", "p0"]),
        joined([form.result] * 2, n, ["y", "z"])]
    return case_of(form, "scalar", lines, [x, picked], [t, t], [form.result] * 2)


CONTEXTS = (whole, short, strided, fused, with_constants, scalar_operand)


def elementwise_cases(rows, types):
    """Functions that draw a case each, by name: what is not wanted is not drawn."""
    for row in rows:
        if row["class"] != "elementwise":
            continue
        for form in forms_of(row, types):
            # Ops of many forms are the same loops around other steps.
            for context in (whole, fused) if form.attributes or form.op == "convert" else CONTEXTS:
                yield f"{form.op}/{form.type}/{form.result}{form.attributes}/{context.__name__}", form.op, form.type, \
                    lambda rng, form=form, context=context: context(form, rng)
