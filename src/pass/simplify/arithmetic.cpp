// add, subtract, negate, multiply, divide, remainder, power, abs, sign, and functions that undo
// each other. Sums and products of floats are not put in another order.
#include <cmath>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

// v / c => v * (1 / c) when 1 / c is exact or, of the looser rule, a normal number.
bool has_reciprocal(const Match& match, bool exact) {
  const Literal& literal = match.literal('C');
  if (!is_floating(literal.type()) || bits_of(literal.type()) < 16) return false;
  for (int64_t i = 0; i < literal.count(); ++i) {
    const double number = literal.number_at(i), inverse = 1 / number;
    const double limit = literal.type() == ElementType::F16   ? 0x1p-13
                         : literal.type() == ElementType::F64 ? 0x1p-1000
                                                              : 0x1p-120;
    int exponent;
    if (!(std::fabs(number) < 1 / limit && std::fabs(number) > limit)) return false;
    if (exact && std::fabs(std::frexp(inverse, &exponent)) != 0.5) return false;
  }
  return literal.count() > 0;
}
bool has_exact_reciprocal(const Match& match) { return has_reciprocal(match, true); }
// Of few bits a reciprocal that is rounded is too far off.
bool has_near_reciprocal(const Match& match) {
  return bits_of(match.literal('C').type()) >= 32 && has_reciprocal(match, false);
}

// Of an array that is spread.
InstructionId multiply_by_spread_reciprocals(Editor& editor, const Match& match) {
  const Shape shape = match.shape('C');
  const InstructionId inverse =
      editor.add(match.root(), Op::Divide, shape,
                 std::array{editor.add_splat(match.root(), shape, 1), match['C']});
  const Dims dims = dimensions_of(match, 'b');
  const InstructionId factor = editor.add(match.root(), Op::Broadcast, match.shape('b'),
                                          std::array{inverse}, DimensionsAttributes{dims});
  return editor.add(match.root(), Op::Multiply, match.shape(), std::array{match['v'], factor});
}

// k of 2^k, or -1.
int power_of_two(const Match& match) {
  const Literal& literal = match.literal('C');
  if (literal.count() != 1) return -1;
  const uint64_t number = static_cast<uint64_t>(literal.integer_at(0));
  return std::has_single_bit(number) ? std::countr_zero(number) : -1;
}
bool is_power_of_two(const Match& match) { return power_of_two(match) >= 0; }

InstructionId shift_right(Editor& editor, const Match& match) {
  const InstructionId by = editor.add_splat(match.root(), match.shape(), power_of_two(match));
  return editor.add(match.root(), Op::ShiftRightLogical, match.shape(), std::array{match['x'], by});
}
InstructionId keep_low_bits(Editor& editor, const Match& match) {
  const InstructionId mask =
      editor.add_splat(match.root(), match.shape(), std::ldexp(1.0, power_of_two(match)) - 1);
  return editor.add(match.root(), Op::And, match.shape(), std::array{match['x'], mask});
}
bool is_small_power(const Match& match) {
  return is_power_of_two(match) && power_of_two(match) < 53;
}

constexpr RewriteRule rules[] = {
    {"add-zero", Number, Values, "add(x, 0)", "x"},
    {"add-negative-zero", Float, Bits, "add(x, -0)", "x"},
    {"add-negate", Number, Values, "add(x, negate(y))", "subtract(x, y)"},
    {"add-constants", Integral, Bits, "add(add(v, C), D)", "add(v, add(C, D))"},
    {"add-to-less-constant", Integral, Bits, "add(subtract(v, C), D)", "add(v, subtract(D, C))"},
    {"add-to-constant-less", Integral, Bits, "add(subtract(C, v), D)", "subtract(add(C, D), v)"},
    {"add-to-less-same", Integral, Bits, "add(subtract(x, y), y)", "x"},
    {"add-common-factor", Integral, Bits, "add(multiply!(x, y), multiply!(x, z))",
     "multiply(x, add(y, z))"},

    {"subtract-zero", Number, Bits, "subtract(x, 0)", "x"},
    {"subtract-self", Integral, Bits, "subtract(x, x)", "0"},
    {"subtract-from-zero", Integral, Bits, "subtract(0, x)", "negate(x)"},
    {"subtract-from-negative-zero", Float, Values, "subtract(-0, x)", "negate(x)"},
    {"subtract-negate", Number, Values, "subtract(x, negate(y))", "add(x, y)"},
    {"subtract-addend", Integral, Bits, "subtract(add(x, y), y)", "x"},
    {"subtract-sum", Integral, Bits, "subtract(x, add(x, y))", "negate(y)"},
    {"subtract-difference", Integral, Bits, "subtract(x, subtract(x, y))", "y"},
    {"subtract-constants", Integral, Bits, "subtract(subtract(v, C), D)", "subtract(v, add(C, D))"},
    {"subtract-constant-from-sum", Integral, Bits, "subtract(add(v, C), D)",
     "add(v, subtract(C, D))"},
    {"subtract-from-constants", Integral, Bits, "subtract(C, subtract(D, v))",
     "add(v, subtract(C, D))"},
    {"subtract-sum-from-constant", Integral, Bits, "subtract(C, add(v, D))",
     "subtract(subtract(C, D), v)"},

    {"negate-negate", Number, Bits, "negate(negate(x))", "x"},
    {"negate-difference", Integral, Bits, "negate(subtract!(x, y))", "subtract(y, x)"},
    {"negate-product", Real, Values, "negate(multiply!(v, C))", "multiply(v, negate(C))"},

    {"multiply-one", Real, Bits, "multiply(x, 1)", "x"},
    {"multiply-one-complex", MaskComplex, Reals, "multiply(x, 1)", "x"},
    {"multiply-zero", Integral, Bits, "multiply(x, c:0)", "c"},
    {"multiply-minus-one", Real, Values, "multiply(x, -1)", "negate(x)"},
    {"multiply-constants", Integral, Bits, "multiply(multiply(v, C), D)",
     "multiply(v, multiply(C, D))"},
    {"multiply-negates", Number, Values, "multiply(negate(x), negate(y))", "multiply(x, y)"},
    {"multiply-negate-constant", Real, Values, "multiply(negate(v), C)", "multiply(v, negate(C))"},
    {"multiply-absolutes", Real, Values, "multiply(abs(x), abs(x))", "multiply(x, x)"},
    {"multiply-exponentials", FloatOrComplex, Reals, "multiply(exponential!(x), exponential!(y))",
     "exponential(add(x, y))"},
    {"multiply-pred-of-self", Pred, Bits, "multiply(x, x)", "x"},

    {"divide-one", Real, Bits, "divide(x, 1)", "x"},
    {"divide-minus-one", Real, Values, "divide(x, -1)", "negate(x)"},
    {"divide-negates", Float, Values, "divide(negate(x), negate(y))", "divide(x, y)"},
    {"divide-negate-constant", Float, Values, "divide(negate(v), C)", "divide(v, negate(C))"},
    {"divide-power-of-two", Unsigned, Bits, "divide(x, C)", shift_right, is_power_of_two},
    {"divide-exact-reciprocal", Float, Bits, "divide(v, C)", "multiply(v, divide(1, C))",
     has_exact_reciprocal},
    {"divide-constant", Float, Reals, "divide(v, C)", "multiply(v, divide(1, C))",
     has_near_reciprocal},
    {"divide-spread-constants", Float, Reals, "divide(v, b:broadcast(C))",
     multiply_by_spread_reciprocals, has_near_reciprocal},
    {"divide-exponential", FloatOrComplex, Reals, "divide(x, exponential!(y))",
     "multiply(x, exponential(negate(y)))"},
    {"divide-power", Float, Reals, "divide(x, power!(y, z))", "multiply(x, power(y, negate(z)))"},
    {"divide-square-root", Float, Reals, "divide(x, sqrt!(y))", "multiply(x, rsqrt(y))"},
    {"divide-to-logistic", Float, Reals, "divide(1, add(1, exponential(negate(x))))",
     "logistic(x)"},
    {"divide-reciprocal-root", Float, Reals, "divide(x, rsqrt!(y))", "multiply(x, sqrt(y))"},

    {"remainder-one", Integral, Bits, "remainder(x, 1)", "0"},
    {"remainder-again", Real, Bits, "remainder(r:remainder(x, y), y)", "r"},
    {"remainder-power-of-two", Unsigned, Bits, "remainder(x, C)", keep_low_bits, is_small_power},

    {"power-zero", Real, Bits, "power(x, 0)", "1"},
    {"power-one", Real, Bits, "power(x, 1)", "x"},
    {"power-two", Real, Reals, "power(x, 2)", "multiply(x, x)"},
    {"power-three", Real, Reals, "power(x, 3)", "multiply(multiply(x, x), x)"},
    {"power-minus-one", Float, Reals, "power(x, -1)", "divide(1, x)"},
    {"power-of-one", Real, Bits, "power(c:1, x)", "c"},
    {"power-of-exponential", Float, Reals, "power(exponential!(x), y)",
     "exponential(multiply(x, y))"},

    {"abs-abs", Real, Bits, "abs(a:abs(x))", "a"},
    {"abs-negate", Signed | Float, Bits, "abs(negate(x))", "abs(x)"},
    {"abs-unsigned", Unsigned, Bits, "abs(x)", "x"},
    {"abs-square", Float, Values, "abs(m:multiply(x, x))", "m"},
    {"abs-exponential", Float, Values, "abs(e:exponential(x))", "e"},
    {"sign-sign", Real, Bits, "sign(s:sign(x))", "s"},

    {"log-exponential", Float, Reals, "log(exponential(x))", "x"},
    {"log-plus-one-of-minus-one", Float, Reals, "log-plus-one(exponential-minus-one(x))", "x"},
    {"root-of-square", Float, Reals, "sqrt(multiply(x, x))", "abs(x)"},
    {"floor-floor", Float, Bits, "floor(f:floor(x))", "f"},
    {"ceil-ceil", Float, Bits, "ceil(c:ceil(x))", "c"},
    {"round-round", Float, Bits, "round-nearest-even(r:round-nearest-even(x))", "r"},
    {"round-round-away", Float, Bits, "round-nearest-afz(r:round-nearest-afz(x))", "r"},

    {"complex-of-parts", Float, Bits, "complex(real(x), imag(x))", "x"},
    {"real-of-complex", MaskComplex, Bits, "real(complex(x, y))", "x"},
    {"imag-of-complex", MaskComplex, Bits, "imag(complex(x, y))", "y"},
    {"real-of-real", Float, Bits, "real(x)", "x"},
    {"imag-of-real", Float, Bits, "imag(x)", "0"},
};

}  // namespace

RuleTable arithmetic_rules() { return rules; }

}  // namespace hilo
