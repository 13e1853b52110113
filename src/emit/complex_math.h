// Functions of complex numbers as LLVM IR without calls and branches. Private to `emit`.
//
// Operands are doubles that hold the parts of a c64, results are doubles to be rounded to such
// parts: as near as the functions of reals that they are made of, measured by the length of the
// result. Infinities, NaN and zeros give what C's functions do (C23, annex G).
#pragma once

#include "emit/complex.h"

namespace hilo::complex_math {

Complex exponential(Builder& b, Complex x);
Complex exponential_minus_one(Builder& b, Complex x);
Complex logarithm(Builder& b, Complex x);
Complex log_plus_one(Builder& b, Complex x);
Complex logistic(Builder& b, Complex x);
Complex square_root(Builder& b, Complex x);
Complex sine(Builder& b, Complex x);
Complex cosine(Builder& b, Complex x);
Complex tangent(Builder& b, Complex x);
Complex hyperbolic_sine(Builder& b, Complex x);
Complex hyperbolic_cosine(Builder& b, Complex x);
Complex hyperbolic_tangent(Builder& b, Complex x);
// e^(y log x), x not 0.
Complex power(Builder& b, Complex x, Complex y);

// Of any doubles, by the larger part of y (R. Smith, "Algorithm 116: Complex division", CACM 1962),
// scaled where steps would overflow or vanish (M. Baudin and R. Smith, "A robust complex division
// in Scilab", arXiv:1210.4539, 2012): to the bit what libgcc's division gives since GCC 12, which
// the evaluator calls.
Complex quotient(Builder& b, Complex x, Complex y);

// The one that libm calls by that name, as in csin; null where there is none.
using Function = Complex (*)(Builder&, Complex);
Function function_of(std::string_view name);

}  // namespace hilo::complex_math
