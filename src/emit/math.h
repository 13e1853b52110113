// Functions of real numbers as LLVM IR without calls and branches, so that loops over them become
// vector code. Private to `emit`.
//
// NaN gives NaN, signed zeros, infinities and arguments outside the domain give what C's functions
// do. The polynomials interpolate at Chebyshev nodes; bench/math_coefficients.py makes them.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <array>
#include <limits>
#include <numbers>
#include <span>
#include <string>

#include "emit/float_bits.h"
#include "emit/ir_types.h"

namespace hilo {

// Of f32 and f64, each in its own precision: within 1 unit of the last place of f32, 2 of f64. f32
// that hold bf16 give what rounds to the nearest bf16, as the test of each tries for all of them.
llvm::Value* math_exp(Builder& b, llvm::Value* x);
// e^(high + low) of f64, |low| at most a unit of the last place of high.
llvm::Value* math_exp_of_sum(Builder& b, llvm::Value* high, llvm::Value* low);
llvm::Value* math_expm1(Builder& b, llvm::Value* x);
llvm::Value* math_tanh(Builder& b, llvm::Value* x);
// Of f32, where looks_up_16().
llvm::Value* math_exp_by_table(Builder& b, llvm::Value* x);
llvm::Value* math_logistic_by_table(Builder& b, llvm::Value* x);
llvm::Value* math_tanh_by_tables(Builder& b, llvm::Value* x);
llvm::Value* math_logistic(Builder& b, llvm::Value* x);
llvm::Value* math_log(Builder& b, llvm::Value* x);
llvm::Value* math_log1p(Builder& b, llvm::Value* x);
// ln(sum + lost), |lost| at most half a unit of the last place of sum.
llvm::Value* math_log_of_sum(Builder& b, llvm::Value* sum, llvm::Value* lost);

// Of f32 that are added to products in one rounding, within 0.51 units.
llvm::Value* math_rsqrt(Builder& b, llvm::Value* x);
llvm::Value* math_erf_of_f32(Builder& b, llvm::Value* x);  // of f32 alone

// Of f32 that hold bf16 alone, at half the cost: what rounds to the nearest bf16.
llvm::Value* math_exp_of_bf16(Builder& b, llvm::Value* x);
llvm::Value* math_expm1_of_bf16(Builder& b, llvm::Value* x);
llvm::Value* math_tanh_of_bf16(Builder& b, llvm::Value* x);
llvm::Value* math_logistic_of_bf16(Builder& b, llvm::Value* x);
llvm::Value* math_erf_of_bf16(Builder& b, llvm::Value* x);
// And of f32 that hold f16, but for results that f32 does not tell from the middle of two f16.
llvm::Value* math_exp_of_f16(Builder& b, llvm::Value* x);
llvm::Value* math_tanh_of_f16(Builder& b, llvm::Value* x);

// These take a double that holds an f32 (or narrower) exactly and return a double within 2^-31 of
// the function, so that what is rounded from it to f32 is within 0.51 units of the last place; sin,
// cos and tan of the few numbers next to whole quarter turns within 2^-26, or 0.75 units.
llvm::Value* math_cbrt(Builder& b, llvm::Value* x);
llvm::Value* math_pow(Builder& b, llvm::Value* x, llvm::Value* y);
// C's fmod, exactly, of doubles that hold floats of so many bits, at most 24.
llvm::Value* math_remainder(Builder& b, llvm::Value* x, llvm::Value* y, int significand);
llvm::Value* math_sin(Builder& b, llvm::Value* x);
llvm::Value* math_cos(Builder& b, llvm::Value* x);
llvm::Value* math_tan(Builder& b, llvm::Value* x);
llvm::Value* math_atan2(Builder& b, llvm::Value* y, llvm::Value* x);
llvm::Value* math_erf(Builder& b, llvm::Value* x);
llvm::Value* math_asin(Builder& b, llvm::Value* x);
llvm::Value* math_acos(Builder& b, llvm::Value* x);
llvm::Value* math_sinh(Builder& b, llvm::Value* x);
llvm::Value* math_cosh(Builder& b, llvm::Value* x);
llvm::Value* math_asinh(Builder& b, llvm::Value* x);
llvm::Value* math_acosh(Builder& b, llvm::Value* x);
llvm::Value* math_atanh(Builder& b, llvm::Value* x);
// Of any double within a unit of the last place.
llvm::Value* math_sin_of_f64(Builder& b, llvm::Value* x);
llvm::Value* math_cos_of_f64(Builder& b, llvm::Value* x);
llvm::Value* math_tan_of_f64(Builder& b, llvm::Value* x);
// C's fmod, exactly.
llvm::Value* math_remainder_of_f64(Builder& b, llvm::Value* x, llvm::Value* y);
// The same of floats of any type where y is known, or null where it is no power of two that will
// do.
llvm::Value* math_remainder_by_power(Builder& b, llvm::Value* x, llvm::Value* y);
// These two within 2 units. The power is for machines that multiply and add in one rounding.
llvm::Value* math_atan2_of_f64(Builder& b, llvm::Value* y, llvm::Value* x);
llvm::Value* math_pow_of_f64(Builder& b, llvm::Value* x, llvm::Value* y);
// Within 2^-51.
llvm::Value* math_atan2_nearer(Builder& b, llvm::Value* y, llvm::Value* x);

// What they are made of, in the type of x where nothing else is said.
namespace real_parts {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi_low = 0x1.1a62633145c07p-53;  // what pi has beyond a double

llvm::Value* number(Builder& b, double value);         // a double
llvm::Value* number(llvm::Value* like, double value);  // of the same type
llvm::Value* bits(Builder& b, llvm::Value* x);         // as an integer of its width
llvm::Value* from_bits(Builder& b, llvm::Value* x);    // and back
// Of f32 and f64. ln 2 comes in two parts, the first of so few bits that its products with
// exponents are exact; a number added to `large` and taken away again is a whole number.
struct Format {
  uint64_t significand;  // bits of it that are stored
  double ln_2_high, ln_2_low, large;
};
const Format& format_of(llvm::Value* x);
// Whether the machine adds products in one rounding, as fast as it adds: x86 has that together with
// wide registers.
bool adds_products(const Builder& b);
// a * c + d, in one rounding where the machine does that as fast.
llvm::Value* multiply_add(Builder& b, llvm::Value* a, llvm::Value* c, llvm::Value* d);
llvm::Value* absolute(Builder& b, llvm::Value* x);
llvm::Value* twice(Builder& b, llvm::Value* x);
llvm::Value* half_of(Builder& b, llvm::Value* x);  // of a double
llvm::Value* copy_sign(Builder& b, llvm::Value* magnitude, llvm::Value* sign);
// The same of a number without a sign, in one step less.
llvm::Value* give_sign(Builder& b, llvm::Value* positive, llvm::Value* sign);
llvm::Value* at_most(Builder& b, llvm::Value* x, double most);  // NaN stays
llvm::Value* at_least(Builder& b, llvm::Value* x, double least);
llvm::Value* clamp(Builder& b, llvm::Value* x, double least, double most);
// 1 / x, of a double, for 2^-100 < |x| < 2^100, with a relative error of 2^-46.
llvm::Value* reciprocal(Builder& b, llvm::Value* x);
// The sum of coefficients[i] * x^i, by halves, so that few multiplications wait for others.
llvm::Value* polynomial(Builder& b, llvm::Value* x, std::span<const double> coefficients);
// The same, one multiplication after the other, where the sum of halves would lose a bit.
llvm::Value* horner(Builder& b, llvm::Value* x, std::span<const double> coefficients);
// The integer nearest to the double x, |x| < 2^51: as a double and, in its low bits, as an i64.
struct Nearest {
  llvm::Value *real, *integer;
};
Nearest nearest(Builder& b, llvm::Value* x);
// ln |x| where x is finite and not 0.
llvm::Value* log_of_positive(Builder& b, llvm::Value* x);
// A constant array of the module under this name, of numbers that are made where it is new.
llvm::Value* table(Builder& b, const std::string& name, llvm::function_ref<llvm::Constant*()> make);
// Whether vectors look up tables of 16 f32 in one step (emit/table_reads.h), and multiply f32 by
// powers of two in one (emit/scaled_powers.h).
bool looks_up_16(const Builder& b);
// The number of a table of this name whose place ends in the bits.
using Row = std::array<float, 16>;
llvm::Value* looked_up(Builder& b, const std::string& name, const Row& numbers, llvm::Value* bits);

}  // namespace real_parts
}  // namespace hilo
