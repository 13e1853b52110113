"""Products, convolutions, factorisations, transforms, random bits, batch norm, control flow."""
import numpy as np

from case import COMPLEX, FLOATS, INTEGERS, Case, braces, dims_of, draw, lines, module, parameters, shape


def dots(rng):
    for _ in range(10):
        for t in FLOATS + COMPLEX + ["s32", "s8", "u8", "s64", "f8e4m3fn", "f8e5m2"]:
            batch, free_left, free_right, inner = (dims_of(rng, 0, 2, 4), dims_of(rng, 0, 2, 5), dims_of(rng, 0, 2, 5), dims_of(rng, 0, 2, 9))
            names = [("b", i) for i in range(len(batch))]
            contracted = [("k", i) for i in range(len(inner))]
            sizes = {**dict(zip(names, batch)), **dict(zip(contracted, inner))}

            def side(free, tag):
                labels = names + contracted + [(tag, i) for i in range(len(free))]
                sizes.update({(tag, i): d for i, d in enumerate(free)})
                order = [labels[i] for i in rng.permutation(len(labels))]
                return order, [sizes[label] for label in order]

            left, left_dims = side(free_left, "l")
            right, right_dims = side(free_right, "r")
            out = batch + [sizes[x] for x in left if x[0] == "l"] + [sizes[x] for x in right if x[0] == "r"]
            result = "f32" if t.startswith("f8") else "s32" if t in ("s8", "u8") else t
            attributes = (f"lhs_batch_dims={braces(left.index(x) for x in names)}, lhs_contracting_dims={braces(left.index(x) for x in contracted)}, "
                          f"rhs_batch_dims={braces(right.index(x) for x in names)}, rhs_contracting_dims={braces(right.index(x) for x in contracted)}")
            text = module(lines(*parameters(shape(t, left_dims), shape(t, right_dims)), f"r = {shape(result, out)} dot(p0, p1), {attributes}"))
            yield Case("dot", text, [draw(rng, t, left_dims), draw(rng, t, right_dims)], 0 if t in INTEGERS else 64, of_largest=True, absolute=1e-6)


def convolutions(rng):
    for _ in range(60):
        t = ["f32", "f32", "f64", "bf16", "f16"][rng.integers(5)]
        n = int(rng.integers(0, 4))
        groups = int(rng.integers(1, 4))
        by_batch = bool(rng.integers(2))
        feature, batch = (1, groups) if by_batch else (groups, 1)
        b, i, o = int(rng.integers(1, 3)) * batch, int(rng.integers(1, 4)), int(rng.integers(1, 4)) * groups
        space = [int(v) for v in rng.integers(3, 8, n)]
        size, stride, left, right = ([int(v) for v in rng.integers(1, k, n)] for k in (4, 3, 3, 3))
        low, high = ([int(v) for v in rng.integers(-1, 3, n)] for _ in range(2))
        flip = [int(v) for v in rng.integers(0, 2, n)]
        out = [((d - 1) * l + 1 + p + q - ((s - 1) * r + 1)) // k + 1 for d, l, p, q, s, r, k in zip(space, left, low, high, size, right, stride)]
        if out and min(out) < 1:
            continue

        def arrange(labels, values):
            order = rng.permutation(len(labels))
            return "".join(labels[k] for k in order), [values[k] for k in order]

        digits = [str(k) for k in range(n)]
        x_label, x_dims = arrange(["b", "f"] + digits, [b, i * feature] + space)
        w_label, w_dims = arrange(["i", "o"] + digits, [i, o] + size)
        y_label, y_dims = arrange(["b", "f"] + digits, [b // batch, o] + out)
        window = ""
        if n:
            parts = [("size", size), ("stride", stride), ("pad", [f"{p}_{q}" for p, q in zip(low, high)]), ("lhs_dilate", left), ("rhs_dilate", right), ("rhs_reversal", flip)]
            window = "window={" + " ".join(f"{name}={'x'.join(map(str, v))}" for name, v in parts) + "}, "
        text = module(lines(*parameters(shape(t, x_dims), shape(t, w_dims)),
                            f"r = {shape(t, y_dims)} convolution(p0, p1), {window}dim_labels={x_label}_{w_label}->{y_label}, feature_group_count={feature}, batch_group_count={batch}"))
        yield Case("convolution", text, [draw(rng, t, x_dims), draw(rng, t, w_dims)], 64, of_largest=True)


def factorisations(rng):
    for t in ("f32", "f64", "c64", "c128"):
        for lower in ("true", "false"):
            batch, n = dims_of(rng, 0, 2, 3), int(rng.integers(1, 7))
            a = draw(rng, t, batch + [n, n])
            spd = (a @ np.conj(np.swapaxes(a, -1, -2)) + n * np.eye(n)).astype(a.dtype)
            # Only the triangle counts: the other one is whatever the implementation leaves.
            body = lines(*parameters(shape(t, batch + [n, n])), f"c = {shape(t, batch + [n, n])} cholesky(p0), lower={lower}",
                         f"i = {shape('s32', batch + [n, n])} iota(), iota_dimension={len(batch)}", f"j = {shape('s32', batch + [n, n])} iota(), iota_dimension={len(batch) + 1}",
                         f"m = {shape('pred', batch + [n, n])} compare(i, j), direction={'GE' if lower == 'true' else 'LE'}",
                         f"z = {t}[] constant({'(0, 0)' if t in COMPLEX else '0'})", f"zb = {shape(t, batch + [n, n])} broadcast(z), dimensions={{}}",
                         f"r = {shape(t, batch + [n, n])} select(m, c, zb)")
            yield Case("cholesky", module(body), [spd], 256, of_largest=True)
            for left in ("true", "false"):
                for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                    for unit in ("true", "false"):
                        k = int(rng.integers(1, 5))
                        tri = (a / (4 * n) + 2 * np.eye(n)).astype(a.dtype)
                        b_dims = batch + ([n, k] if left == "true" else [k, n])
                        text = module(lines(*parameters(shape(t, batch + [n, n]), shape(t, b_dims)),
                                            f"r = {shape(t, b_dims)} triangular-solve(p0, p1), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose}"))
                        yield Case("triangular-solve", text, [tri, draw(rng, t, b_dims)], 256, of_largest=True)


def transforms(rng):
    for real, complex_type in (("f32", "c64"), ("f64", "c128")):
        for rank in (1, 2, 3):
            for _ in range(4):
                batch, lengths = dims_of(rng, 0, 2, 3), [int(v) for v in rng.integers(1, 14, rank)]
                half = lengths[:-1] + [lengths[-1] // 2 + 1]
                for kind, t, dims, out, out_dims in (("FFT", complex_type, lengths, complex_type, lengths), ("IFFT", complex_type, lengths, complex_type, lengths),
                                                     ("RFFT", real, lengths, complex_type, half), ("IRFFT", complex_type, half, real, lengths)):
                    text = module(lines(*parameters(shape(t, batch + dims)), f"r = {shape(out, batch + out_dims)} fft(p0), fft_type={kind}, fft_length={braces(lengths)}"))
                    data = draw(rng, t, batch + dims)
                    if kind == "IRFFT":  # values of a real array's transform: what is not is undefined
                        data = np.fft.rfftn(draw(rng, real, batch + lengths), axes=range(len(batch), len(batch) + rank)).astype(data.dtype)
                    yield Case("fft", text, [data], 256, of_largest=True)


def random_bits(rng):
    for algorithm, states in (("rng_three_fry", (2,)), ("rng_philox", (3,)), ("rng_default", (3, 2))):
        for words in states:
            for t in ("u8", "u16", "u32", "u64", "s32", "s64"):
                for _ in range(3):
                    dims = dims_of(rng, 0, 3, 7)
                    state = rng.integers(0, 2**64, words, dtype=np.uint64)
                    text = module(lines(*parameters(shape("u64", [words])), f"r = ({shape('u64', [words])}, {shape(t, dims)}) rng-bit-generator(p0), algorithm={algorithm}"))
                    yield Case("rng-bit-generator", text, [state])


def batch_norms(rng):
    for t in ("f32", "f64"):
        for _ in range(4):
            dims = dims_of(rng, 2, 4, 5, 2)
            axis = int(rng.integers(len(dims)))
            n = [dims[axis]]
            x, v = shape(t, dims), shape(t, n)
            attributes = f"epsilon=0.001, feature_index={axis}"
            big, small = (lambda: draw(rng, t, dims)), (lambda: draw(rng, t, n, low=0.5, high=2))
            yield Case("batch-norm-training", module(lines(*parameters(x, v, v), f"r = ({x}, {v}, {v}) batch-norm-training(p0, p1, p2), {attributes}")), [big(), small(), small()], 512, of_largest=True)
            yield Case("batch-norm-inference", module(lines(*parameters(x, v, v, v, v), f"r = {x} batch-norm-inference(p0, p1, p2, p3, p4), {attributes}")), [big(), small(), small(), small(), small()], 512, of_largest=True)
            yield Case("batch-norm-grad", module(lines(*parameters(x, v, v, v, x), f"r = ({x}, {v}, {v}) batch-norm-grad(p0, p1, p2, p3, p4), {attributes}")), [big(), small(), small(), small(), big()], 2048, of_largest=True)


def control(rng):
    for t in ("f32", "s32", "bf16"):
        dims, steps = dims_of(rng, 0, 3), int(rng.integers(0, 6))
        state = f"(s32[], {shape(t, dims)})"
        computations = (f"cond {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant({steps})\n  ROOT r = pred[] compare(i, n), direction=LT\n}}\n\n"
                        f"body {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  x = {shape(t, dims)} get-tuple-element(s), index=1\n  one = s32[] constant(1)\n"
                        f"  j = s32[] add(i, one)\n  y = {shape(t, dims)} add(x, x)\n  ROOT r = {state} tuple(j, y)\n}}\n\n")
        text = module(lines(*parameters(shape(t, dims)), "z = s32[] constant(0)", f"t = {state} tuple(z, p0)", f"r = {state} while(t), condition=cond, body=body"), computations)
        yield Case("while", text, [draw(rng, t, dims)])
        branches = "".join(f"f{k} {{\n  x = {shape(t, dims)} parameter(0)\n  ROOT r = {shape(t, dims)} {op}\n}}\n\n" for k, op in enumerate(("negate(x)", "add(x, x)", "copy(x)")))
        for index in (-1, 0, 1, 2, 3):
            text = module(lines(*parameters("s32[]", shape(t, dims)), f"r = {shape(t, dims)} conditional(p0, p1, p1, p1), branch_computations={{f0, f1, f2}}"), branches)
            yield Case("conditional", text, [np.int32(index), draw(rng, t, dims)])
        for flag in (False, True):
            text = module(lines(*parameters("pred[]", shape(t, dims)), f"r = {shape(t, dims)} conditional(p0, p1, p1), true_computation=f0, false_computation=f1"), branches)
            yield Case("conditional", text, [np.bool_(flag), draw(rng, t, dims)])
        text = module(lines(*parameters(shape(t, dims)), f"r = {shape(t, dims)} call(p0), to_apply=f1"), branches)
        yield Case("call", text, [draw(rng, t, dims)])


FAMILIES = {"dots": dots, "convolutions": convolutions, "factorisations": factorisations, "transforms": transforms, "random bits": random_bits,
            "batch norms": batch_norms, "control": control}
