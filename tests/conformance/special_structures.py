"""Small modules that move, combine, sort or multiply special values of every type."""
import numpy as np

from special_cases import EXACT, MOVED, Case, joined, module, parameters, text_of_value
from special_inputs import PART, bits_of, dtype_of, few_values, is_complex, is_exhaustive, is_float, is_signed, special_values

DIMENSIONS = (3, 37)


def values(rng, t, count):
    """Special values, in another order and as many as wanted."""
    chosen = special_values(t)
    return np.asarray(chosen[rng.permutation(max(count, len(chosen)))[:count] % len(chosen)], dtype_of(t))


def matrix(rng, t, rows=3, columns=37):
    return values(rng, t, rows * columns).reshape(rows, columns)


# Each: (lines after the parameters x and y = x's shape, result types and shapes), all of which only move elements.
MOVES = {
    "copy": "{t}[3,37] copy(p0)",
    "reverse": "{t}[3,37] reverse(p0), dimensions={{0,1}}",
    "reverse-rows": "{t}[3,37] reverse(p0), dimensions={{0}}",
    "transpose": "{t}[37,3] transpose(p0), dimensions={{1,0}}",
    "reshape": "{t}[111] reshape(p0)",
    "slice": "{t}[2,12] slice(p0), slice={{[1:3], [0:36:3]}}",
    "pad": "{t}[5,80] pad(p0, p2), padding=1_1x4_3_1",
    "pad-less": "{t}[3,35] pad(p0, p2), padding=0_0x-1_-1",
    "concatenate": "{t}[6,37] concatenate(p0, p1), dimensions={{0}}",
    "concatenate-columns": "{t}[3,74] concatenate(p0, p1), dimensions={{1}}",
    "broadcast": "{t}[2,3,37,2] broadcast(p0), dimensions={{1,2}}",
    "broadcast-scalar": "{t}[67] broadcast(p2), dimensions={{}}",
    "select": "{t}[3,37] select(p3, p0, p1)",
    "select-scalar": "{t}[3,37] select(p5, p0, p1)",
    "dynamic-slice": "{t}[2,30] dynamic-slice(p0, p4, p4), dynamic_slice_sizes={{2,30}}",
    "dynamic-update-slice": "{t}[3,37] dynamic-update-slice(p0, p6, p4, p4)",
    "gather": "{t}[5,37] gather(p0, p7), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
              "slice_sizes={{1,37}}",
    "scatter": "{t}[3,37] scatter(p0, p8, p6), update_window_dims={{0,1}}, inserted_window_dims={{}}, "
               "scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply=second",
}


def move(op, form, t, rng):
    x, y = matrix(rng, t), matrix(rng, t)
    inputs = [x, y, values(rng, t, 1).reshape(()), rng.integers(0, 2, (3, 37)).astype(bool), np.int32(rng.integers(-2, 9)),
              np.bool_(rng.integers(0, 2)), matrix(rng, t, 2, 5), rng.integers(-1, 4, (5, 1)).astype(np.int32),
              rng.integers(0, 2, 1).astype(np.int32)]
    inputs = [np.asarray(v) for v in inputs]
    types = [t, t, t, "pred", "s32", "pred", t, "s32", "s32"]
    second = f"second {{\n  a = {t}[] parameter(0)\n  ROOT b = {t}[] parameter(1)\n}}\n\n"
    lines = parameters(inputs, types) + ["r = " + form.format(t=t)]
    return Case(op, t, "whole", module(lines, second if "to_apply" in form else ""), inputs, [t], MOVED, MOVED)


def moved_in_loop(t, rng):
    """Carried by a loop, and through a tuple, a call and a conditional."""
    x, y = matrix(rng, t), matrix(rng, t)
    text = f"""HloModule m

body {{
  s = (s32[], {t}[3,37]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = {t}[3,37] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = {t}[3,37] reverse(v), dimensions={{1}}
  ROOT r = (s32[], {t}[3,37]) tuple(j, w)
}}

condition {{
  s = (s32[], {t}[3,37]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(3)
  ROOT r = pred[] compare(i, end), direction=LT
}}

first {{
  ROOT v = {t}[3,37] parameter(0)
}}

second {{
  v = {t}[3,37] parameter(0)
  ROOT r = {t}[3,37] reverse(v), dimensions={{0}}
}}

ENTRY e {{
  p0 = {t}[3,37] parameter(0)
  p1 = {t}[3,37] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], {t}[3,37]) tuple(zero, p0)
  w = (s32[], {t}[3,37]) while(s), condition=condition, body=body
  v = {t}[3,37] get-tuple-element(w), index=1
  i = s32[] get-tuple-element(w), index=0
  three = s32[] constant(3)
  c = pred[] compare(i, three), direction=EQ
  x = {t}[3,37] conditional(c, p1, p0), true_computation=second, false_computation=first
  ROOT r = ({t}[3,37], {t}[3,37]) tuple(v, x)
}}
"""
    return Case("while", t, "whole moves", text, [x, y], [t, t], MOVED, MOVED)


COMBINERS = {"add": 0, "multiply": 1, "minimum": None, "maximum": None, "and": None, "or": None, "xor": 0}


def takes(op, t):
    """Whether a combiner takes a type, by the kind of what it does."""
    whole = not (is_float(t) or is_complex(t))
    if op in ("and", "or", "xor"):
        return whole
    return not (is_complex(t) and op in ("minimum", "maximum"))


def identity(op, t):
    if op in ("add", "or", "xor"):
        return dtype_of(t).type(0)
    if op == "multiply":
        return dtype_of(t).type(1)
    if op == "and":
        return special_values(t)[-1] if t == "pred" else dtype_of(t).type(-1 if is_signed(t) else (1 << bits_of(t)) - 1)
    if is_float(t):
        import ml_dtypes
        with np.errstate(all="ignore"):
            end = np.array(np.inf).astype(dtype_of(t))
        end = end if np.isinf(end.astype(float)) else np.array(float(ml_dtypes.finfo(dtype_of(t)).max)).astype(dtype_of(t))
        return end[()] if op == "minimum" else (-end)[()]
    ordered = special_values(t)
    return ordered.max() if op == "minimum" else ordered.min()


def combiner(op, t):
    return f"combine {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = {t}[] {op}(a, b)\n}}\n\n"


SMALLEST = float(np.finfo(np.float32).smallest_normal)


def planted(rng, t, rows, columns):
    """Small ordinary numbers, one special one a row, in some rows two; none so large or small that sums depend on
    their order."""
    few = few_values(t)
    if is_float(t) and not is_exhaustive(t):
        size = np.abs(few.astype(float))
        few = few[~np.isfinite(size) | (size < SMALLEST) | ((size > 0.1) & (size < 100))]
    whole = rng.integers(0 if t[0] in "pu" else -1, 2, (rows, columns)).astype(np.int8)
    out = whole.astype(dtype_of(t))
    for i in range(rows):
        for _ in range(1 + i % 2):
            out[i, rng.integers(columns)] = few[rng.integers(len(few))]
    return out


def sums(op, t):
    """How near sums are: their order is free; XLA's narrow ones round each step."""
    if op == "add" and (is_float(t) or is_complex(t)) or op == "multiply" and (is_float(t) or is_complex(t)):
        return 4
    return EXACT


REDUCTIONS = {
    "pairs": (40, 2, "{t}[40] reduce(p0, p1), dimensions={{1}}, to_apply=combine"),
    "rows": (40, 67, "{t}[40] reduce(p0, p1), dimensions={{1}}, to_apply=combine"),
    "columns": (67, 40, "{t}[40] reduce(p0, p1), dimensions={{0}}, to_apply=combine"),
    "all": (3, 7, "{t}[] reduce(p0, p1), dimensions={{0,1}}, to_apply=combine"),
    "window": (5, 37, "{t}[5,35] reduce-window(p0, p1), window={{size=1x3}}, to_apply=combine"),
    "cumulative": (9, 7, "{t}[9,7] reduce-window(p0, p1), window={{size=1x7 pad=0_0x6_0}}, to_apply=combine"),
}


def reduction(op, shape, t, rng):
    rows, columns, form = REDUCTIONS[shape]
    if shape == "pairs":
        few = few_values(t)
        x = np.asarray(few[rng.integers(0, len(few), (rows, columns))], dtype_of(t))
    else:
        x = planted(rng, t, rows, columns) if shape != "columns" else planted(rng, t, columns, rows).T.copy()
    inputs = [x, np.asarray(identity(op, t), dtype_of(t))]
    lines = parameters(inputs, [t, t]) + ["r = " + form.format(t=t)]
    near = sums(op, t)
    return Case(f"reduce-{op}", t, shape, module(lines, combiner(op, t)), inputs, [t], near, near, has_signs=False)


def fused_reduction(op, t, rng):
    """Of what is computed on the way: the sum or the maximum of negated elements beside their absolute values."""
    x = planted(rng, t, 20, 67)
    inputs = [x, np.asarray(identity(op, t), dtype_of(t))]
    lines = parameters(inputs, [t, t]) + [f"n = {t}[20,67] negate(p0)", f"a = {t}[20] reduce(n, p1), dimensions={{1}}, to_apply=combine",
                                          f"c = {t}[67] reduce(n, p1), dimensions={{0}}, to_apply=combine",
                                          f"r = ({t}[20], {t}[67]) tuple(a, c)"]
    near = sums(op, t)
    return Case(f"reduce-{op}", t, "fused", module(lines, combiner(op, t)), inputs, [t, t], near, near, has_signs=False)


def scan(op, t, rng):
    x = planted(rng, t, 9, 17)
    inputs = [x, np.full(9, identity(op, t), dtype_of(t))]
    text = (f"step {{\n  a = {t}[9] parameter(0)\n  b = {t}[9] parameter(1)\n  c = {t}[9] {op}(a, b)\n"
            f"  ROOT r = ({t}[9], {t}[9]) tuple(c, c)\n}}\n\n")
    lines = parameters(inputs, [t, t]) + [f"r = ({t}[9,17], {t}[9]) scan(p0, p1), dimensions={{1}}, num_carries=1, to_apply=step"]
    return Case(f"scan-{op}", t, "whole", module(lines, text), inputs, [t, t], sums(op, t), sums(op, t), has_signs=False)


def arg_reduction(t, rng):
    """The largest and where it is, NaN being larger, as frameworks write it."""
    x = planted(rng, t, 30, 37)
    inputs = [x, np.asarray(identity("maximum", t), dtype_of(t)), np.int32(0)]
    inputs = [np.asarray(v) for v in inputs]
    text = f"""larger {{
  a = {t}[] parameter(0)
  i = s32[] parameter(1)
  b = {t}[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  unordered = pred[] compare(a, a), direction=NE
  left = pred[] or(more, unordered)
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  first = pred[] and(same, before)
  place = pred[] or(left, first)
  v = {t}[] select(left, a, b)
  k = s32[] select(place, i, j)
  ROOT r = ({t}[], s32[]) tuple(v, k)
}}

"""
    lines = parameters(inputs, [t, t, "s32"]) + ["k = s32[30,37] iota(), iota_dimension=1",
                                                 f"r = ({t}[30], s32[30]) reduce(p0, k, p1, p2), dimensions={{1}}, to_apply=larger"]
    return Case("argmax", t, "whole", module(lines, text), inputs, [t, "s32"], EXACT, EXACT)


def sort(t, direction, order, rng):
    """NaN is neither before nor behind a number but in the total order."""
    x, n = values(rng, t, 6 * 37).reshape(6, 37), "6,37"
    if is_float(t):
        x[x != x] = np.nan if order else 1
    kind = f", type={order}" if order else ""
    text = (f"before {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n"
            f"  ROOT r = pred[] compare(a, b), direction={direction}{kind}\n}}\n\n")
    lines = parameters([x], [t]) + [f"k = s32[{n}] iota(), iota_dimension=1",
                                    f"r = ({t}[{n}], s32[{n}]) sort(p0, k), dimensions={{1}}, is_stable=true, to_apply=before"]
    return Case("sort", t, f"whole {direction}{order}", module(lines, text), [x], [t, "s32"], MOVED, MOVED)


def top(t, rng):
    x = values(rng, t, 6 * 37).reshape(6, 37)
    lines = parameters([x], [t]) + [f"r = ({t}[6,5], s32[6,5]) topk(p0), k=5, largest=true"]
    return Case("topk", t, "whole", module(lines), [x], [t, "s32"], MOVED, MOVED)


# (rows, summed, columns)
PRODUCTS = {"inner": (1, 19, 1), "row": (1, 19, 33), "column": (33, 19, 1), "outer": (17, 1, 9), "small": (4, 5, 6), "large": (40, 67, 48)}


def product(shape, t, rng):
    m, k, n = PRODUCTS[shape]
    x, y = planted(rng, t, m, k), planted(rng, t, n, k).T.copy()
    x[rng.random((m, k)) < 0.5] = dtype_of(t).type(1)
    inputs = [x, y]
    lines = parameters(inputs, [t, t]) + [f"r = {t}[{m},{n}] dot(p0, p1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"]
    near = 8 if is_float(t) or is_complex(t) else EXACT
    return Case("dot", t, shape, module(lines), inputs, [t], near, near, has_signs=False)


def convolved(t, rng):
    x, w = planted(rng, t, 1, 3 * 17).reshape(1, 17, 3), planted(rng, t, 1, 45).reshape(3, 3, 5)
    w[rng.random(w.shape) < 0.5] = dtype_of(t).type(1)
    lines = parameters([x, w], [t, t]) + [f"r = {t}[1,17,5] convolution(p0, p1), window={{size=3 pad=1_1}}, dim_labels=b0f_0io->b0f"]
    near = 8 if is_float(t) or is_complex(t) else EXACT
    return Case("convolution", t, "whole", module(lines), [x, w], [t], near, near, has_signs=False)


def clamped(t, bounds, rng):
    few = few_values(t)
    n = 300
    x, low, high = (np.asarray(few[rng.integers(0, len(few), n)], dtype_of(t)) for _ in range(3))
    inputs, dims = ([low, x, high], n) if bounds == "each" else ([low[:1].reshape(()), x, high[:1].reshape(())], "")
    lines = parameters(inputs, [t] * 3) + [f"r = {t}[{n}] clamp(p0, p1, p2)"]
    del dims
    return Case("clamp", t, "whole" if bounds == "each" else "scalars", module(lines), inputs, [t])


def iota(t, rng):
    n = min(70_000, 300 if bits_of(PART.get(t, t)) <= 8 else 70_000)
    lines = [f"a = {t}[{n}] iota(), iota_dimension=0", f"b = {t}[3,7] iota(), iota_dimension=1", f"r = ({t}[{n}], {t}[3,7]) tuple(a, b)"]
    return Case("iota", t, "whole", module(lines), [], [t, t])


def sliced(t, rng):
    """Starts of an index type, its extremes among them."""
    x = np.arange(20, dtype=np.float32)
    picked = special_values(t)
    if bits_of(t) >= 8:
        picked = np.concatenate([picked[:2], picked[-2:], np.array([0, 1, 5], picked.dtype)])
    starts = [np.asarray(v) for v in picked[:12]]
    lines = parameters([x, *starts], ["f32"] + [t] * len(starts))
    names = []
    for i in range(len(starts)):
        lines += [f"read{i} = f32[6] dynamic-slice(p0, p{i + 1}), dynamic_slice_sizes={{6}}",
                  f"v{i} = f32[6] negate(read{i})", f"written{i} = f32[20] dynamic-update-slice(p0, v{i}, p{i + 1})"]
        names += [f"read{i}", f"written{i}"]
    shapes = ", ".join(f"f32[{6 if n[0] == 'r' else 20}]" for n in names)
    lines.append(f"r = ({shapes}) tuple({', '.join(names)})")
    return Case("dynamic-slice", t, "indices", module(lines), [x, *starts], ["f32"] * len(names))


def gathered(t, rng):
    x = np.arange(20, dtype=np.float32)
    at = np.asarray(special_values(t)[:40]).reshape(-1, 1)
    n = len(at)
    add = "combine {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n\n"
    lines = parameters([x, at], ["f32", t]) + [
        f"g = f32[{n},3] gather(p0, p1), offset_dims={{1}}, collapsed_slice_dims={{}}, start_index_map={{0}}, index_vector_dim=1, "
        "slice_sizes={3}",
        f"s = f32[20] scatter(p0, p1, g), update_window_dims={{1}}, inserted_window_dims={{}}, scatter_dims_to_operand_dims={{0}}, "
        "index_vector_dim=1, to_apply=combine", f"r = (f32[{n},3], f32[20]) tuple(g, s)"]
    return Case("gather", t, "indices", module(lines, add), [x, at], ["f32", "f32"])


def scattered(op, t, rng):
    x, u = planted(rng, t, 1, 20)[0], planted(rng, t, 40, 1)[:, 0]
    at = rng.integers(-1, 21, (40, 1)).astype(np.int32)
    lines = parameters([x, at, u], [t, "s32", t]) + [
        f"r = {t}[20] scatter(p0, p1, p2), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, "
        "index_vector_dim=1, to_apply=combine"]
    near = sums(op, t)
    return Case(f"scatter-{op}", t, "whole", module(lines, combiner(op, t)), [x, at, u], [t], near, near, has_signs=False)


def bitcast(t, rng):
    to = f"u{8 * dtype_of(t).itemsize}" if bits_of(PART.get(t, t)) >= 8 else f"u{bits_of(t)}"
    x = matrix(rng, t)
    lines = parameters([x], [t]) + [f"a = {to}[3,37] bitcast-convert(p0)", f"b = {t}[3,37] bitcast-convert(a)",
                                    f"r = ({to}[3,37], {t}[3,37]) tuple(a, b)"]
    return Case("bitcast-convert", t, "whole", module(lines), [x], [to, t], MOVED, MOVED)


def uniform(t, rng):
    """Between bounds, equal and far ones."""
    few = special_values(t)
    low, high = (np.asarray(v) for v in (few[0], few[-1]))
    lines = parameters([low, high], [t, t]) + [f"a = {t}[33] rng(p0, p1), distribution=rng_uniform", f"r = {t}[33] rng(p0, p0), distribution=rng_uniform"]
    return Case("rng", t, "whole", module(lines), [low, high], [t])


def constants(t, rng):
    """As text says them: also what constant folding makes of them."""
    x = few_values(t)[:40]
    text = ", ".join(text_of_value(v, t) for v in x)
    n = len(x)
    lines = [f"c = {t}[{n}] constant({{{text}}})", f"v = {t}[{n}] reverse(c), dimensions={{0}}", f"b = {t}[2,{n}] broadcast(v), dimensions={{1}}",
             f"r = ({t}[{n}], {t}[{n}], {t}[2,{n}]) tuple(c, v, b)"]
    return Case("constant", t, "whole", module(lines), [], [t, t, t])


def structural_cases(types):
    """As elementwise_cases: (name, op, type, function that draws the case)."""
    def row(name, op, t, function, *given):
        return f"{name}/{t}", op, t, lambda rng: function(*given, rng)

    for t in types:
        number = t != "pred"
        for op, form in MOVES.items():
            yield row(f"move-{op}", op, t, move, op, form, t)
        yield row("while", "while", t, moved_in_loop, t)
        yield row("constant", "constant", t, constants, t)
        if not is_complex(t) and t != "pred":
            yield row("bitcast-convert", "bitcast-convert", t, bitcast, t)
        for op in COMBINERS:
            if not takes(op, t):
                continue
            for shape in REDUCTIONS:
                yield row(f"reduce-{op}/{shape}", f"reduce-{op}", t, reduction, op, shape, t)
            if number and t[0] != "u" and op not in ("and", "or", "xor"):
                yield row(f"reduce-{op}/fused", f"reduce-{op}", t, fused_reduction, op, t)
            yield row(f"scan-{op}", f"scan-{op}", t, scan, op, t)
            yield row(f"scatter-{op}", f"scatter-{op}", t, scattered, op, t)
        if not is_complex(t):
            yield row("argmax", "argmax", t, arg_reduction, t)
            for direction in ("LT", "GT"):
                yield row(f"sort/{direction}", "sort", t, sort, t, direction, "")
                if is_float(t):
                    yield row(f"sort/{direction}/total", "sort", t, sort, t, direction, "TOTALORDER")
            if t != "pred":
                yield row("topk", "topk", t, top, t)
            for bounds in ("each", "scalar"):
                yield row(f"clamp/{bounds}", "clamp", t, clamped, t, bounds)
        if number:
            for shape in PRODUCTS:
                yield row(f"dot/{shape}", "dot", t, product, shape, t)
            yield row("convolution", "convolution", t, convolved, t)
            yield row("iota", "iota", t, iota, t)
        if not (is_complex(t) or is_float(t)) and number and bits_of(t) > 1:
            yield row("dynamic-slice", "dynamic-slice", t, sliced, t)
            yield row("gather/indices", "gather", t, gathered, t)
