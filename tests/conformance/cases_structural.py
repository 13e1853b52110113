"""Data movement, reductions, windows, sorts, gathers."""
import numpy as np

from case import COMPLEX, FLOATS, INTEGERS, TYPES, Case, braces, combiner, dims_of, draw, is_float, lines, module, parameters, shape

ANY = FLOATS + INTEGERS + COMPLEX + ["pred"]


def any_type(rng, of=ANY):
    return of[rng.integers(len(of))]


def pick(rng, values, count):
    return [int(v) for v in rng.choice(values, count, replace=False)]


def movement(rng):
    for _ in range(12):
        t = any_type(rng)
        dims = dims_of(rng, 1, 4, 5)
        n, data = len(dims), draw(rng, t, dims)
        p = parameters(shape(t, dims))
        order = [int(i) for i in rng.permutation(n)]
        out = [dims[i] for i in order]
        yield Case("transpose", module(lines(*p, f"r = {shape(t, out)} transpose(p0), dimensions={braces(order)}")), [data])
        flip = pick(rng, n, rng.integers(0, n + 1))
        yield Case("reverse", module(lines(*p, f"r = {shape(t, dims)} reverse(p0), dimensions={braces(flip)}")), [data])
        flat = [int(np.prod(dims))]
        yield Case("reshape", module(lines(*p, f"r = {shape(t, flat)} reshape(p0)")), [data])
        start = [int(rng.integers(0, d)) for d in dims]
        limit = [int(rng.integers(s, d + 1)) for s, d in zip(start, dims)]
        stride = [int(rng.integers(1, 4)) for _ in dims]
        out = [-(-(l - s) // k) for s, l, k in zip(start, limit, stride)]
        cuts = ", ".join(f"[{s}:{l}:{k}]" for s, l, k in zip(start, limit, stride))
        yield Case("slice", module(lines(*p, f"r = {shape(t, out)} slice(p0), slice={{{cuts}}}")), [data])
        low, high = [[int(v) for v in rng.integers(-2, 3, n)] for _ in range(2)]
        interior = [int(v) for v in rng.integers(0, 3, n)]
        out = [l + h + d + max(d - 1, 0) * k for l, h, d, k in zip(low, high, dims, interior)]
        if min(out) >= 0:
            padding = "x".join(f"{l}_{h}_{k}" for l, h, k in zip(low, high, interior))
            yield Case("pad", module(lines(*parameters(shape(t, dims), shape(t, [])), f"r = {shape(t, out)} pad(p0, p1), padding={padding}")),
                       [data, draw(rng, t, [])])
        extra = dims_of(rng, 0, 2, 3)
        where = sorted(pick(rng, n + len(extra), n))
        out, rest = [], list(extra)
        for i in range(n + len(extra)):
            out.append(dims[where.index(i)] if i in where else rest.pop())
        yield Case("broadcast", module(lines(*p, f"r = {shape(t, out)} broadcast(p0), dimensions={braces(where)}")), [data])
        axis = int(rng.integers(n))
        others = [dims[:axis] + [int(rng.integers(0, 4))] + dims[axis + 1:] for _ in range(int(rng.integers(1, 4)))]
        parts = [dims] + others
        out = dims[:axis] + [sum(part[axis] for part in parts)] + dims[axis + 1:]
        names = ", ".join(f"p{i}" for i in range(len(parts)))
        yield Case("concatenate", module(lines(*parameters(*(shape(t, part) for part in parts)), f"r = {shape(t, out)} concatenate({names}), dimensions={{{axis}}}")),
                   [draw(rng, t, part) for part in parts])
        if t not in ("pred",):
            yield Case("iota", module(lines(f"r = {shape(t, dims)} iota(), iota_dimension={axis}")), [])
        sizes = [int(rng.integers(1, d + 1)) for d in dims]
        it = any_type(rng, ["s32", "s64", "u32", "u8"])
        starts = [draw(rng, it, [], low=0 if it.startswith("u") else -3, high=7) for _ in dims]
        names = ", ".join(f"p{i + 1}" for i in range(n))
        yield Case("dynamic-slice", module(lines(*parameters(shape(t, dims), *[shape(it, [])] * n), f"r = {shape(t, sizes)} dynamic-slice(p0, {names}), dynamic_slice_sizes={braces(sizes)}")),
                   [data, *starts])
        names = ", ".join(f"p{i + 2}" for i in range(n))
        yield Case("dynamic-update-slice", module(lines(*parameters(shape(t, dims), shape(t, sizes), *[shape(it, [])] * n), f"r = {shape(t, dims)} dynamic-update-slice(p0, p1, {names})")),
                   [data, draw(rng, t, sizes), *starts])


def reductions(rng):
    for _ in range(3):
        for op, types in (("add", FLOATS + INTEGERS + COMPLEX), ("multiply", FLOATS + INTEGERS), ("maximum", FLOATS + INTEGERS),
                          ("minimum", FLOATS + INTEGERS), ("and", ["pred", "s32", "u8"]), ("or", ["pred", "u64"])):
            t = any_type(rng, types)
            dims = dims_of(rng, 1, 4, 9)
            over = sorted(pick(rng, len(dims), rng.integers(1, len(dims) + 1)))
            out = [d for i, d in enumerate(dims) if i not in over]
            text = module(lines(*parameters(shape(t, dims), shape(t, [])), f"r = {shape(t, out)} reduce(p0, p1), dimensions={braces(over)}, to_apply=f"), combiner("f", op, t))
            exact = op in ("maximum", "minimum", "and", "or") or t in INTEGERS
            drawing = {"low": 0.5, "high": 1.5} if op == "multiply" and is_float(t) else {}
            count = float(np.prod([dims[i] for i in over]))
            yield Case("reduce", text, [draw(rng, t, dims, **drawing), draw(rng, t, [], **drawing)], 0 if exact else 4 * count, of_largest=True,
                       listed="XLA drops the initial value of a reduction over one element" if count == 1 else "")
    for t in ("f32", "s32", "bf16"):
        dims = dims_of(rng, 1, 3, 8)
        axis = int(rng.integers(len(dims)))
        out = [d for i, d in enumerate(dims) if i != axis]
        arg_max = (f"f {{\n  a = {t}[] parameter(0)\n  i = s32[] parameter(1)\n  b = {t}[] parameter(2)\n  j = s32[] parameter(3)\n"
                   "  c = pred[] compare(a, b), direction=GE\n" f"  v = {t}[] select(c, a, b)\n  k = s32[] select(c, i, j)\n"
                   f"  ROOT r = ({t}[], s32[]) tuple(v, k)\n}}\n\n")
        body = lines(*parameters(shape(t, dims), shape("s32", dims), shape(t, []), shape("s32", [])),
                     f"r = ({shape(t, out)}, {shape('s32', out)}) reduce(p0, p1, p2, p3), dimensions={{{axis}}}, to_apply=f")
        index = np.broadcast_to(np.arange(dims[axis]).reshape([-1 if i == axis else 1 for i in range(len(dims))]), dims).astype(np.int32)
        yield Case("reduce", module(body, arg_max), [draw(rng, t, dims), index, draw(rng, t, [], low=-99, high=-98), np.int32(-1)])
    for t in ("f32", "s32", "f64"):
        dims = dims_of(rng, 1, 3)
        text = module(lines(*parameters(shape(t, dims), shape(t, dims)), f"r = {shape(t, dims)} map(p0, p1), dimensions={braces(range(len(dims)))}, to_apply=f"),
                      f"f {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  c = {t}[] multiply(a, b)\n  ROOT r = {t}[] subtract(c, a)\n}}\n\n")
        # x*y - x may be one fused operation there: the error is of the size of the product.
        yield Case("map", text, [draw(rng, t, dims), draw(rng, t, dims)], 4, of_largest=True)


def windows(rng):
    for op, t in (("add", "f32"), ("maximum", "f32"), ("minimum", "s32"), ("add", "s32"), ("multiply", "f64"), ("add", "bf16"), ("maximum", "bf16"), ("maximum", "u8")):
        n = int(rng.integers(1, 4))
        dims = [int(d) for d in rng.integers(3, 8, n)]
        size, stride, base, dilate = ([int(v) for v in rng.integers(1, k, n)] for k in (4, 3, 3, 3))
        low, high = ([int(v) for v in rng.integers(0, 3, n)] for _ in range(2))
        out = [((d - 1) * b + 1 + l + h - ((s - 1) * w + 1)) // k + 1 for d, b, l, h, s, w, k in zip(dims, base, low, high, size, dilate, stride)]
        if min(out) < 1:
            continue
        window = (f"size={'x'.join(map(str, size))} stride={'x'.join(map(str, stride))} pad={'x'.join(f'{l}_{h}' for l, h in zip(low, high))} "
                  f"lhs_dilate={'x'.join(map(str, base))} rhs_dilate={'x'.join(map(str, dilate))}")
        text = module(lines(*parameters(shape(t, dims), shape(t, [])), f"r = {shape(t, out)} reduce-window(p0, p1), window={{{window}}}, to_apply=f"), combiner("f", op, t))
        initial = {"add": 0, "maximum": -30 if t != "u8" else 0, "minimum": 30, "multiply": 1}[op]
        drawing = {"low": 0.5, "high": 1.5} if op == "multiply" else {}
        exact = op in ("maximum", "minimum") or t == "s32"
        yield Case("reduce-window", text, [draw(rng, t, dims, **drawing), np.full([], initial).astype(draw(rng, t, []).dtype)], 0 if exact else 4 * np.prod(size), of_largest=True)
        if t not in ("f32", "s32", "f64") or max(base + dilate) > 1:
            continue
        window = f"size={'x'.join(map(str, size))} stride={'x'.join(map(str, stride))} pad={'x'.join(f'{l}_{h}' for l, h in zip(low, high))}"
        select = f"s {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=GE\n}}\n\n"
        text = module(lines(*parameters(shape(t, dims), shape(t, out), shape(t, [])), f"r = {shape(t, dims)} select-and-scatter(p0, p1, p2), window={{{window}}}, select=s, scatter=f"),
                      select + combiner("f", "add", t))
        # Different numbers: of equal ones XLA:CPU takes the first column's, where its semantics (select is called with the
        # lexicographically lesser index first) and Hilo take the first row's.
        operand = np.asarray(rng.permutation(int(np.prod(dims))).reshape(dims) - 5, TYPES[t])
        yield Case("select-and-scatter", text, [operand, draw(rng, t, out), draw(rng, t, [], low=0, high=1)], 16, of_largest=True)


def sorts(rng):
    for t in FLOATS + INTEGERS:
        for direction in ("LT", "GT"):
            dims = dims_of(rng, 1, 3, 9)
            axis = int(rng.integers(len(dims)))
            order = ", type=TOTALORDER" if is_float(t) else ""
            compare = f"f {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction={direction}{order}\n}}\n\n"
            yield Case("sort", module(lines(*parameters(shape(t, dims)), f"r = {shape(t, dims)} sort(p0), dimensions={{{axis}}}, to_apply=f"), compare), [draw(rng, t, dims, specials=True)])
            compare = (f"f {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
                       f"  ROOT r = pred[] compare(a, b), direction={direction}{order}\n}}\n\n")
            body = lines(*parameters(shape(t, dims), shape("s32", dims)), f"r = ({shape(t, dims)}, {shape('s32', dims)}) sort(p0, p1), dimensions={{{axis}}}, is_stable=true, to_apply=f")
            yield Case("sort", module(body, compare), [draw(rng, t, dims, low=0, high=4), np.arange(np.prod(dims)).reshape(dims).astype(np.int32)])


def top(rng):
    for t in FLOATS + INTEGERS:
        dims = dims_of(rng, 1, 3, 9)
        largest = bool(rng.integers(2))
        k = int(rng.integers(0, dims[-1] + 1))
        out = dims[:-1] + [k]
        values = draw(rng, t, dims)
        keys = values.astype(np.float64) * (-1 if largest else 1)
        places = np.argsort(keys, axis=-1, kind="stable")[..., :k].astype(np.int32)
        text = module(lines(*parameters(shape(t, dims)),
                            f"r = ({shape(t, out)}, {shape('s32', out)}) topk(p0), k={k}, largest={str(largest).lower()}"))
        yield Case("topk", text, [values], want=[np.take_along_axis(values, places, axis=-1), places])


def scans(rng):
    """Running sums, and what is left at the end."""
    for t in ("f32", "f64", "s32", "u8", "s64"):
        dims = dims_of(rng, 1, 3, 7)
        axis, reverse = int(rng.integers(len(dims))), bool(rng.integers(2))
        inner = dims[:axis] + dims[axis + 1:]
        values, carry = draw(rng, t, dims), draw(rng, t, inner)
        slice_shape, stack = shape(t, inner), shape(t, dims)
        body = (f"f {{\n  a = {slice_shape} parameter(0)\n  b = {slice_shape} parameter(1)\n  s = {slice_shape} add(a, b)\n"
                f"  n = {slice_shape} negate(s)\n  ROOT r = ({slice_shape}, {slice_shape}) tuple(n, s)\n}}\n\n")
        text = module(lines(*parameters(stack, slice_shape),
                            f"r = ({stack}, {slice_shape}) scan(p0, p1), dimensions={{{axis}}}, is_reverse={str(reverse).lower()}, num_carries=1, to_apply=f"), body)
        out, state = np.empty_like(values), carry
        places = range(dims[axis])
        for i in reversed(places) if reverse else places:
            with np.errstate(over="ignore"):  # integers wrap
                state = values.take(i, axis=axis) + state
                out[(slice(None),) * axis + (i,)] = np.negative(state)
        yield Case("scan", text, [values, carry], want=[out, np.asarray(state)])


def gathers(rng):
    for t in ("f32", "s32", "bf16", "pred", "u8", "c64"):
        for _ in range(4):
            rows, columns, count = (int(v) for v in rng.integers(2, 8, 3))
            it = any_type(rng, ["s32", "s64", "u32"])
            indices = draw(rng, it, [count, 1], low=0 if it == "u32" else -2, high=rows + 2)
            text = module(lines(*parameters(shape(t, [rows, columns]), shape(it, [count, 1])),
                                f"r = {shape(t, [count, columns])} gather(p0, p1), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{columns}}}"))
            yield Case("gather", text, [draw(rng, t, [rows, columns]), indices])
            size = int(rng.integers(1, columns + 1))
            text = module(lines(*parameters(shape(t, [rows, columns]), shape(it, [2, count])),
                                f"r = {shape(t, [1, count, size])} gather(p0, p1), offset_dims={{0,2}}, collapsed_slice_dims={{}}, start_index_map={{0,1}}, index_vector_dim=0, slice_sizes={{1,{size}}}"))
            yield Case("gather", text, [draw(rng, t, [rows, columns]), draw(rng, it, [2, count], low=0, high=9)])
            text = module(lines(*parameters(shape(t, [count, rows, columns]), shape(it, [count, 1])),
                                f"r = {shape(t, [count, columns])} gather(p0, p1), offset_dims={{1}}, collapsed_slice_dims={{1}}, start_index_map={{1}}, operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, index_vector_dim=1, slice_sizes={{1,1,{columns}}}"))
            yield Case("gather", text, [draw(rng, t, [count, rows, columns]), indices])
            if t in ("pred", "c64"):
                continue
            op = any_type(rng, ["add", "maximum", "multiply"])
            text = module(lines(*parameters(shape(t, [rows, columns]), shape(it, [count, 1]), shape(t, [count, columns])),
                                f"r = {shape(t, [rows, columns])} scatter(p0, p1, p2), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f"), combiner("f", op, t))
            yield Case("scatter", text, [draw(rng, t, [rows, columns]), indices, draw(rng, t, [count, columns])], 0 if t in INTEGERS or op == "maximum" else 16, of_largest=True)


FAMILIES = {"movement": movement, "reductions": reductions, "windows": windows, "sorts": sorts, "top": top, "scans": scans, "gathers": gathers}
