#!/usr/bin/env python3
"""The polynomials of src/emit/math_*.cpp, by interpolation at Chebyshev nodes where nothing else is said,
with their largest relative error. Needs the package mpmath.

  math_coefficients.py
"""

import re

import mpmath
from mpmath import mpf

mpmath.mp.prec = 300
LN2, MARGIN, RANGE_OF_ERF = mpmath.log(2), mpf(2) ** -20, mpf("7.75")


def over(function, limit):
    """function(x) / x, and its limit at 0."""
    return lambda x: function(x) / x if x else limit


def in_square(function, limit):
    """function(r) / r as a function of r squared."""
    return lambda t: over(function, limit)(mpmath.sqrt(t))


def erf_of_place(u):
    return in_square(mpmath.erf, 2 / mpmath.sqrt(mpmath.pi))((u + 1) * RANGE_OF_ERF)


def beyond(function, limit):
    """function(x), whose last difference cancels, and its limit at 0."""
    return lambda x: function(x) if abs(x) > mpf(2) ** -60 else limit


def rest_of_tanh(z):
    x = mpmath.sqrt(z)
    return (mpmath.tanh(x) / x - 1) / z


REST_OF_EXP = beyond(lambda x: (mpmath.expm1(x) - x) / x ** 2, mpf(1) / 2)
REST_OF_POWER = beyond(lambda x: (mpf(2) ** x - 1) / x, LN2)
REST_OF_SQUARE = beyond(lambda x: mpmath.expm1(2 * x) / x, mpf(2))
REST_OF_LOG = beyond(lambda x: (mpmath.log1p(x) - x + x * x / 2) / x ** 3, mpf(1) / 3)
QUARTER = (mpmath.pi / 4 * (1 + MARGIN)) ** 2
HALF_TURN = (mpmath.pi / 2 * (1 + MARGIN)) ** 2
ARC = (mpmath.tan(mpmath.pi / 8) * (1 + MARGIN)) ** 2
REST_OF_SINE = beyond(lambda t: (mpmath.sin(mpmath.sqrt(t)) / mpmath.sqrt(t) - 1) / t, -mpf(1) / 6)
REST_OF_COSINE = beyond(lambda t: (mpmath.cos(mpmath.sqrt(t)) - 1 + t / 2) / t ** 2, mpf(1) / 24)
REST_OF_ARC = beyond(lambda t: (mpmath.atan(mpmath.sqrt(t)) / mpmath.sqrt(t) - 1) / t, -mpf(1) / 3)
HALF, HALF_LN2 = mpf(1) / 2 + MARGIN, LN2 / 2 + MARGIN
FITS = {  # name: function, from, to, degree, bits of the coefficients
    "exponential, f32": (REST_OF_EXP, -HALF_LN2, HALF_LN2, 5, 24),
    "exponential, f32, by table": (REST_OF_EXP, -LN2 / 32 - MARGIN, LN2 / 32 + MARGIN, 1, 24),
    "exponential, f64": (REST_OF_EXP, -HALF_LN2, HALF_LN2, 9, 53),
    "power of two, bf16, and f16 before it is moved": (REST_OF_POWER, -HALF, HALF, 4, 24),
    "power of two, bf16, before it is moved": (REST_OF_POWER, -HALF, HALF, 3, 24),
    "square of exponential, f32": (REST_OF_SQUARE, -LN2 / 4 - MARGIN, LN2 / 4 + MARGIN, 5, 24),
    "logarithm, f64": (REST_OF_LOG, -mpf(1) / 4 - MARGIN, mpf(1) / 2 + MARGIN, 19, 53),
    "logarithm, row of table": (REST_OF_LOG, -mpf(2) ** -7, mpf(2) ** -7, 6, 53),
    "sine of half": (in_square(mpmath.sin, mpf(1)), mpf(0), HALF_TURN, 5, 53),
    "sine": (in_square(mpmath.sin, mpf(1)), mpf(0), QUARTER, 4, 53),
    "cosine": (lambda t: mpmath.cos(mpmath.sqrt(t)), mpf(0), QUARTER, 5, 53),
    "rest of sine, f64": (REST_OF_SINE, mpf(0), QUARTER, 5, 53),
    "rest of cosine, f64": (REST_OF_COSINE, mpf(0), QUARTER, 5, 53),
    "arc": (in_square(mpmath.atan, mpf(1)), mpf(0), ARC, 6, 53),
    "rest of arc, f64": (REST_OF_ARC, mpf(0), mpf(1) / 4 * (1 + MARGIN), 12, 53),
    "arc, nearer": (in_square(mpmath.atan, mpf(1)), mpf(0), ARC, 11, 53),
    "error": (erf_of_place, mpf(-1), mpf(1), 18, 53),
}


def short(c):
    """An f32 of C++."""
    return re.sub(r"[.]?0*p", "p", c.hex()) + "F" if c else "0"


def fit(function, begin, end, degree, bits):
    count = degree + 1
    nodes = [(begin + end) / 2 + (end - begin) / 2 * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count))
             for k in range(count)]
    powers = mpmath.matrix([[x ** j for j in range(count)] for x in nodes])
    solution = mpmath.lu_solve(powers, mpmath.matrix([function(x) for x in nodes]))
    with mpmath.workprec(bits):
        return [float(+c) for c in solution]


def fit_in_turn(function, begin, end, degree, bits, weight):
    """By least squares; each coefficient is rounded before those behind it are found."""
    nodes = [(begin + end) / 2 + (end - begin) / 2 * mpmath.cos(mpmath.pi * (2 * k + 1) / 80)
             for k in range(40)]
    rest, out = [function(x) for x in nodes], []
    for j in range(degree + 1):
        powers = mpmath.matrix([[weight(x) * x ** i for i in range(j, degree + 1)] for x in nodes])
        found = mpmath.lu_solve(powers, mpmath.matrix([weight(x) * y for x, y in zip(nodes, rest)]))
        with mpmath.workprec(bits):
            out.append(float(+found[0]))
        rest = [y - mpf(out[-1]) * x ** j for x, y in zip(nodes, rest)]
    return out


def powers_of_sixteenths():
    """Rounded to 24 bits, and by which part of each it is too small."""
    out = []
    for j in range(16):
        exact = mpf(2) ** (mpf(j) / 16)
        with mpmath.workprec(24):
            rounded = +exact
        lacking = exact / rounded - 1
        with mpmath.workprec(24):
            out.append([float(rounded), float(+lacking)])
    return out


def show_rows(name, columns):
    print(name)
    for row in zip(*columns):
        print("    {" + ", ".join(short(c) for c in row) + "},")


def place_of_tanh(begin, end):
    """Near to the middle, with a tanh that is a number of 24 bits but for 2^-9 of its last place."""
    with mpmath.workprec(24):
        middle = (begin + end) / 2
    unit = mpf(2) ** (mpmath.floor(mpmath.log(middle, 2)) - 23)
    for k in range(1 << 16):
        for x in (middle + k * unit, middle - k * unit):
            exact = mpmath.tanh(x)
            with mpmath.workprec(24):
                rounded = +exact
            if abs(exact / rounded - 1) < mpf(2) ** -33:
                return x, rounded


def pieces_of_tanh():
    """Of each piece of |x|, by the first bits of |x| + 0.625: its place c, tanh c, and the polynomial
    (tanh(c + t) - tanh c) / t; of the first one tanh t / t - 1."""
    def end(q):
        return mpf(2) ** (q // 4 - 1) * (1 + mpf(q % 4) / 4) - mpf("0.625")

    first = beyond(lambda x: (mpmath.tanh(x) / x - 1) / x, mpf(0))
    out = [[0.0, 0.0, 0.0] + fit(first, mpf(0), end(2), 4, 24)]
    for q in range(2, 17):
        begin, last = end(q), min(end(q + 1), mpf("9.25"))
        c, value = place_of_tanh(begin, last)
        rise = beyond(lambda t: (mpmath.tanh(c + t) - mpmath.tanh(c)) / t, 1 - mpmath.tanh(c) ** 2)
        out.append([float(c), float(value)] + fit(rise, begin - c, last - c, 5, 24))
    return out


def largest_error(function, begin, end, coefficients):
    places = [begin + (end - begin) * mpf(i) / 1000 for i in range(1001)]
    return max(abs(mpmath.polyval([mpf(c) for c in reversed(coefficients)], x) / function(x) - 1)
               for x in places)


def show(name, function, begin, end, coefficients):
    error = largest_error(function, begin, end, coefficients)
    print(f"{name}: relative error 2^{float(mpmath.log(error, 2)):.1f}")
    print("   ", ", ".join(c.hex() for c in coefficients))


for name, (function, begin, end, degree, bits) in FITS.items():
    show(name, function, begin, end, fit(function, begin, end, degree, bits))
begin, end = -HALF_LN2, LN2 + MARGIN
show("exponential, f32, up to ln 2", REST_OF_EXP, begin, end,
     fit_in_turn(REST_OF_EXP, begin, end, 5, 24, lambda x: x * x * (2 if x < 0 else 1)))
begin, end = mpf(0), mpf("0.975") ** 2 + MARGIN
show("tanh, f32", beyond(rest_of_tanh, -mpf(1) / 3), begin, end,
     fit_in_turn(beyond(rest_of_tanh, -mpf(1) / 3), begin, end, 6, 24, lambda z: z ** mpf(1.5) + mpf(1) / 100))
# Exact where the polynomial is a large part of the logarithm.
begin, end = -mpf(1) / 4 - MARGIN, mpf(1) / 2 + MARGIN
show("logarithm, f32", REST_OF_LOG, begin, end,
     fit_in_turn(REST_OF_LOG, begin, end, 8, 24, lambda x: x * x + mpf(1) / 20))
show_rows("powers of sixteenths, f32, and what they lack", powers_of_sixteenths())
show_rows("tanh, f32, by tables: places, values and a row of each power", pieces_of_tanh())
