// Angles are reduced to quarter turns: |x| = m 2^s with m < 2^24 whole, and m (2^s 2/pi mod 4) is
// summed from two pieces of 2/pi of which the first gives exact products (after Payne and Hanek,
// "Radian reduction for trigonometric functions", SIGNUM 1983). What follows them is less than
// 2^-56 of a quarter turn, and no f32 is nearer than 2^-30 to a whole one.
#include <cmath>

#include <llvm/IR/Module.h>

#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// sin(r) / r in r^2 for |r| <= pi / 2; sin(r) / r and cos r in r^2 for |r| <= pi / 4; atan(t) / t
// in t^2 for |t| <= tan(pi / 8).
constexpr double sine_of_half[] = {0x1.ffffffffda703p-1,  -0x1.555555443457cp-3,
                                   0x1.11110c001d1f5p-7,  -0x1.a017cff625861p-13,
                                   0x1.71701b445e16dp-19, -0x1.9a69e19f83a74p-26};
constexpr double sine[] = {0x1.fffffffff67c2p-1, -0x1.5555554948094p-3, 0x1.1111074b2ec5ep-7,
                           -0x1.a00ee7e30b36cp-13, 0x1.6cb748c562976p-19};
constexpr double cosine[] = {0x1.ffffffffffe0bp-1,   -0x1.ffffffffe3762p-2, 0x1.555555447639ep-5,
                             -0x1.6c16b2d3e0aa9p-10, 0x1.a00e968302e7fp-16, -0x1.23c5c0d130a07p-22};
constexpr double arc[] = {0x1.ffffffffd07f7p-1,  -0x1.55555481090bdp-2, 0x1.9998fdb6ab6a6p-3,
                          -0x1.247ca7ef795afp-3, 0x1.c437eaab45f78p-4,  -0x1.5a5d96a42cb12p-4,
                          0x1.81a02886f17f8p-5};
constexpr double nearer_arc[] = {
    0x1.0000000000000p+0, -0x1.555555555552fp-2, 0x1.9999999994669p-3, -0x1.2492492259b1ap-3,
    0x1.c71c70cb767b6p-4, -0x1.745cf64db2f4ap-4, 0x1.3b10f0f3e7bdbp-4, -0x1.10ea1d00f4417p-4,
    0x1.def9eba80444dp-5, -0x1.9c79bb162ebe9p-5, 0x1.3702dc86906ffp-5, -0x1.23b920ef30fd3p-6};

// The bits of 2 / pi behind its point.
constexpr uint32_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                    0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};

// The sum of bits first … first + count - 1, of weight 2^-i the i-th, count from 1, times 2^scale.
double piece(int first, int count, int scale) {
  double sum = 0;
  for (int i = std::max(first, 1); i < first + count; ++i)
    if (two_over_pi[(i - 1) / 32] >> (31 - (i - 1) % 32) & 1) sum += std::ldexp(1.0, scale - i);
  return sum;
}

// Up to 2^24 no bit is one of whole turns: the pieces are the same for all numbers.
constexpr int first_exponent = std::numeric_limits<float>::digits;
constexpr int rows =
    FloatBits<float>::bias - first_exponent + 2;  // of larger ones, and of what is not finite
constexpr int chunk_bits[] = {29, 53};

double chunk_of(int scale, int part) {
  int first = std::max(scale - 1, 1);  // of m; bits of weight 4 and more are whole turns
  for (int i = 0; i < part; ++i) first += chunk_bits[i];
  return piece(first, chunk_bits[part], scale);
}

// Piece number `part` for every exponent, as a constant array of the module.
Value* pieces(Builder& b, int part) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  const std::string name = "quarter_turns_" + std::to_string(part);
  if (llvm::GlobalVariable* made = module.getNamedGlobal(name)) return made;
  std::vector<double> values;
  for (int row = 0; row + 1 < rows; ++row)
    values.push_back(chunk_of(first_exponent - 23 + row, part));
  values.push_back(nan);
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), values);
  auto* global = new llvm::GlobalVariable(module, data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, name);
  return global;
}

// A number of quarter turns: a whole number of some unit, which is the low bits of `whole`, and the
// rest, at most half a unit.
struct Turns {
  Value *whole, *rest;
};

// A number added to `large` and taken away again is a whole number of units. The tables are read
// where a number is large (emit/select_to_branch.h).
Turns quarter_turns_of(Builder& b, Value* magnitude, int unit) {
  Value* large = number(b, unit * format_of(magnitude).large);
  Value* is_large = b.CreateFCmpOGE(magnitude, number(b, std::ldexp(1.0, first_exponent)));
  Value* all = bits(b, magnitude);
  Value* exponent = b.CreateSub(b.CreateLShr(all, 52), b.getInt64(uint64_t{1023} + first_exponent));
  Value* row =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, exponent, b.getInt64(int64_t{rows} - 1));
  Value* significand = b.CreateAnd(all, b.getInt64((int64_t{1} << 52) - 1));
  Value* m = from_bits(b, b.CreateOr(significand, b.getInt64(int64_t{1023 + 23} << 52)));
  m = b.CreateSelect(is_large, m, magnitude);
  Value *read[2], *part[2];
  for (int i = 0; i < 2; ++i)
    read[i] =
        b.CreateLoad(b.getDoubleTy(), b.CreateInBoundsGEP(b.getDoubleTy(), pieces(b, i), row));
  for (int i = 0; i < 2; ++i)
    part[i] = b.CreateSelect(is_large, read[i], number(b, chunk_of(0, i)));
  Value* first = b.CreateFMul(m, part[0]);
  Value* sum = b.CreateFAdd(multiply_add(b, m, part[1], first), large);
  Value* above = b.CreateFSub(first, b.CreateFSub(sum, large));
  return {bits(b, sum), multiply_add(b, m, part[1], above)};
}

// Of at most a quarter turn.
Value* sine_of(Builder& b, Value* quarters) {
  Value* r = b.CreateFMul(quarters, number(b, std::numbers::pi / 2));
  return b.CreateFMul(r, polynomial(b, b.CreateFMul(r, r), sine_of_half));
}

Value* flipped(Builder& b, Value* x, Value* sign) {
  return from_bits(b, b.CreateXor(bits(b, x), sign));
}

Value* bit(Builder& b, Value* quarters, int64_t mask) {
  return b.CreateICmpNE(b.CreateAnd(quarters, b.getInt64(mask)), b.getInt64(0));
}

Value* negated_if(Builder& b, Value* condition, Value* x) {
  return b.CreateSelect(condition, b.CreateFNeg(x), x);
}

// x where `of` is not negative, else -x.
Value* odd_in(Builder& b, Value* of, Value* x) {
  return negated_if(b, b.CreateICmpSLT(bits(b, of), b.getInt64(0)), x);
}

// atan t, 0 <= t <= 1, is that of (t - 1) / (t + 1) and an eighth of a turn more.
Value* angle_of(Builder& b, Value* y, Value* x, std::span<const double> polynomial_of_arc) {
  constexpr double tangent_of_sixteenth = 0x1.a827999fcef32p-2;
  Value *ay = absolute(b, y), *ax = absolute(b, x);
  Value* steep = b.CreateFCmpOGT(ay, ax);
  Value* less = b.CreateSelect(steep, ax, ay);
  Value* more = b.CreateSelect(steep, ay, ax);
  Value* is_rotated = b.CreateFCmpOGT(less, b.CreateFMul(more, number(b, tangent_of_sixteenth)));
  Value* above = b.CreateSelect(is_rotated, b.CreateFSub(less, more), less);
  Value* below = b.CreateSelect(is_rotated, b.CreateFAdd(less, more), more);
  Value* quotient = b.CreateFDiv(above, below);
  // 0 / 0 stands for an angle of 0, infinity / infinity for one of 45 degrees.
  Value* none = b.CreateFCmpOEQ(more, number(b, 0));
  Value* both = b.CreateFCmpOEQ(less, number(b, infinity));
  Value* t = b.CreateSelect(b.CreateOr(none, both), number(b, 0), quotient);
  Value* sum = polynomial(b, b.CreateFMul(t, t), polynomial_of_arc);
  Value* begin = b.CreateSelect(is_rotated, number(b, std::numbers::pi / 4), number(b, 0));
  begin = b.CreateSelect(both, number(b, std::numbers::pi / 4), begin);
  Value* angle = multiply_add(b, t, sum, begin);
  angle = b.CreateSelect(steep, b.CreateFSub(number(b, std::numbers::pi / 2), angle), angle);
  Value* left = b.CreateICmpSLT(bits(b, x), b.getInt64(0));
  angle = b.CreateSelect(left, b.CreateFSub(number(b, std::numbers::pi), angle), angle);
  Value* unordered = b.CreateFCmpUNO(x, y);
  return b.CreateSelect(unordered, number(b, nan), copy_sign(b, angle, y));
}

}  // namespace

Value* math_sin(Builder& b, Value* x) {
  Value* magnitude = absolute(b, x);
  const Turns turns = quarter_turns_of(b, magnitude, 2);
  Value* sign = b.CreateXor(bits(b, x), bits(b, magnitude));
  sign = b.CreateXor(sign, b.CreateShl(turns.whole, 63));
  return flipped(b, sine_of(b, turns.rest), sign);
}

// The sine of what is left to a quarter turn.
Value* math_cos(Builder& b, Value* x) {
  const Turns turns = quarter_turns_of(b, absolute(b, x), 2);
  Value* left = b.CreateFSub(number(b, 1), absolute(b, turns.rest));
  return flipped(b, sine_of(b, left), b.CreateShl(turns.whole, 63));
}

Value* math_tan(Builder& b, Value* x) {
  const Turns turns = quarter_turns_of(b, absolute(b, x), 1);
  Value* r = b.CreateFMul(turns.rest, number(b, std::numbers::pi / 2));
  Value* square = b.CreateFMul(r, r);
  Value *s = b.CreateFMul(r, polynomial(b, square, sine)), *c = polynomial(b, square, cosine);
  Value* odd = bit(b, turns.whole, 1);
  Value* above = b.CreateSelect(odd, b.CreateFNeg(c), s);
  Value* below = b.CreateSelect(odd, s, c);
  Value* value = b.CreateFMul(above, reciprocal(b, below));
  return odd_in(b, x, value);
}

Value* math_atan2(Builder& b, Value* y, Value* x) { return angle_of(b, y, x, arc); }
Value* math_atan2_nearer(Builder& b, Value* y, Value* x) { return angle_of(b, y, x, nearer_arc); }

}  // namespace hilo
