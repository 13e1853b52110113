#!/usr/bin/env python3
"""The polynomials of src/emit/math_*.cpp, by interpolation at Chebyshev nodes, with their largest
relative error. Needs the package mpmath.

  math_coefficients.py
"""

import mpmath
from mpmath import mpf

mpmath.mp.prec = 200
LN2, MARGIN = mpmath.log(2), mpf(2) ** -20
HALF_ROOT, RANGE_OF_ERF = mpmath.sqrt(mpf(1) / 2), mpf("7.75")


def over(function, limit):
    """function(x) / x, and its limit at 0."""
    return lambda x: function(x) / x if x else limit


def in_square(function, limit):
    """function(r) / r as a function of r squared."""
    return lambda t: over(function, limit)(mpmath.sqrt(t))


def erf_of_place(u):
    return in_square(mpmath.erf, 2 / mpmath.sqrt(mpmath.pi))((u + 1) * RANGE_OF_ERF)


QUARTER = (mpmath.pi / 4 * (1 + MARGIN)) ** 2
FITS = {  # name: function, from, to, degree
    "exponential": (over(mpmath.expm1, mpf(1)), -LN2 / 2 - MARGIN, LN2 / 2 + MARGIN, 6),
    "rest_of_exponential": (lambda x: (mpmath.expm1(x) - x) / x ** 2 if x else mpf(1) / 2,
                            -LN2 / 2 - MARGIN, LN2 / 2 + MARGIN, 5),
    "logarithm": (over(mpmath.log1p, mpf(1)), HALF_ROOT - 1 - MARGIN, 2 * HALF_ROOT - 1 + MARGIN,
                  15),
    "sine": (in_square(mpmath.sin, mpf(1)), mpf(0), QUARTER, 4),
    "cosine": (lambda t: mpmath.cos(mpmath.sqrt(t)), mpf(0), QUARTER, 5),
    "arc": (in_square(mpmath.atan, mpf(1)), mpf(0), mpf(1), 11),
    "error": (erf_of_place, mpf(-1), mpf(1), 18),
}


def fit(function, begin, end, degree):
    count = degree + 1
    nodes = [(begin + end) / 2 + (end - begin) / 2 * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count))
             for k in range(count)]
    powers = mpmath.matrix([[x ** j for j in range(count)] for x in nodes])
    solution = mpmath.lu_solve(powers, mpmath.matrix([function(x) for x in nodes]))
    return [float(c) for c in solution]


def largest_error(function, begin, end, coefficients):
    places = [begin + (end - begin) * mpf(i) / 1000 for i in range(1001)]
    return max(abs(mpmath.polyval([mpf(c) for c in reversed(coefficients)], x) / function(x) - 1)
               for x in places)


for name, (function, begin, end, degree) in FITS.items():
    coefficients = fit(function, begin, end, degree)
    error = largest_error(function, begin, end, coefficients)
    print(f"{name}: relative error 2^{float(mpmath.log(error, 2)):.1f}")
    print("   ", ", ".join(c.hex() for c in coefficients))
