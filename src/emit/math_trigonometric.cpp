// Angles are reduced to quarter turns: |x| = m 2^s with m < 2^24 whole, and m (2^s 2/pi mod 4) is
// summed from two pieces of 2/pi of which the first gives exact products (after Payne and Hanek,
// "Radian reduction for trigonometric functions", SIGNUM 1983). What follows them is less than
// 2^-56 of a quarter turn, and no f32 is nearer than 2^-30 to a whole one.
#include <cmath>
#include <limits>

#include <llvm/IR/Module.h>

#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double half_pi = 0x1.921fb54442d18p+0, pi = 0x1.921fb54442d18p+1;
// sin(r) / r and cos r in r^2 for |r| <= pi / 4; atan(t) / t in t^2 for |t| <= 1.
constexpr double sine[] = {0x1.fffffffff67c2p-1, -0x1.5555554948094p-3, 0x1.1111074b2ec5ep-7,
                           -0x1.a00ee7e30b36cp-13, 0x1.6cb748c562976p-19};
constexpr double cosine[] = {0x1.ffffffffffe0bp-1,   -0x1.ffffffffe3762p-2, 0x1.555555447639ep-5,
                             -0x1.6c16b2d3e0aa9p-10, 0x1.a00e968302e7fp-16, -0x1.23c5c0d130a07p-22};
constexpr double arc[] = {0x1.ffffffff64898p-1,  -0x1.555553f671b9ap-2, 0x1.999914dc909cfp-3,
                          -0x1.2488519fa5a60p-3, 0x1.c6533dfc9a77bp-4,  -0x1.6f95036b2d2f5p-4,
                          0x1.2811fdeff7003p-4,  -0x1.ba035c4e8d652p-5, 0x1.151ab904c9279p-5,
                          -0x1.0354cc23b8650p-6, 0x1.3625e8d6eefb9p-8,  -0x1.5bcf6e5741041p-11};

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

constexpr int rows = 129;  // 2^-1 <= |x| < 2^128
constexpr int piece_bits[] = {29, 53};

// Piece number `part` for every exponent, as a constant array of the module.
Value* pieces(Builder& b, int part) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  const std::string name = "quarter_turns_" + std::to_string(part);
  if (llvm::GlobalVariable* made = module.getNamedGlobal(name)) return made;
  std::vector<double> values;
  for (int row = 0; row < rows; ++row) {
    const int scale = row - 1 - 23;  // of m; bits of weight 4 and more are whole turns
    int first = scale - 1;
    for (int i = 0; i < part; ++i) first += piece_bits[i];
    values.push_back(piece(first, piece_bits[part], scale));
  }
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), values);
  auto* global = new llvm::GlobalVariable(module, data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, name);
  return global;
}

struct Angle {
  Value* quarters;       // in the two low bits
  Value *sine, *cosine;  // of the rest
};

Angle reduced(Builder& b, Value* magnitude) {
  Value* all = bits(b, magnitude);
  Value* exponent = b.CreateSub(b.CreateLShr(all, 52), b.getInt64(1023 - 1));
  Value* small = b.CreateICmpSLT(exponent, b.getInt64(0));
  Value* row = b.CreateSelect(b.CreateICmpULT(exponent, b.getInt64(rows)), exponent, b.getInt64(0));
  Value* whole = b.CreateAnd(all, b.getInt64((int64_t{1} << 52) - 1));
  Value* m = from_bits(b, b.CreateOr(whole, b.getInt64(int64_t{1023 + 23} << 52)));
  Value* part[2];
  for (int i = 0; i < 2; ++i)
    part[i] =
        b.CreateLoad(b.getDoubleTy(), b.CreateInBoundsGEP(b.getDoubleTy(), pieces(b, i), row));
  Value* first = b.CreateFMul(m, part[0]);
  const Nearest n = nearest(b, first);
  Value* sum = multiply_add(b, m, part[1], b.CreateFSub(first, n.real));
  const Nearest rest = nearest(b, sum);
  Value* turned = b.CreateFMul(b.CreateFSub(sum, rest.real), number(b, half_pi));
  Value* r = b.CreateSelect(small, magnitude, turned);
  Value* quarters = b.CreateSelect(small, b.getInt64(0), b.CreateAdd(n.integer, rest.integer));
  Value* square = b.CreateFMul(r, r);
  return {quarters, b.CreateFMul(r, polynomial(b, square, sine)), polynomial(b, square, cosine)};
}

Value* bit(Builder& b, Value* quarters, int64_t mask) {
  return b.CreateICmpNE(b.CreateAnd(quarters, b.getInt64(mask)), b.getInt64(0));
}

Value* negated_if(Builder& b, Value* condition, Value* x) {
  return b.CreateSelect(condition, b.CreateFNeg(x), x);
}

Value* nan_unless_finite(Builder& b, Value* magnitude, Value* x) {
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, number(b, infinity)), x, number(b, nan));
}

// x where `of` is not negative, else -x.
Value* odd_in(Builder& b, Value* of, Value* x) {
  return negated_if(b, b.CreateICmpSLT(bits(b, of), b.getInt64(0)), x);
}

}  // namespace

Value* math_sin(Builder& b, Value* x) {
  Value* magnitude = absolute(b, x);
  const Angle angle = reduced(b, magnitude);
  Value* value = b.CreateSelect(bit(b, angle.quarters, 1), angle.cosine, angle.sine);
  value = negated_if(b, bit(b, angle.quarters, 2), value);
  return nan_unless_finite(b, magnitude, odd_in(b, x, value));
}

Value* math_cos(Builder& b, Value* x) {
  Value* magnitude = absolute(b, x);
  const Angle angle = reduced(b, magnitude);
  Value* value = b.CreateSelect(bit(b, angle.quarters, 1), angle.sine, angle.cosine);
  Value* next = b.CreateAdd(angle.quarters, b.getInt64(1));
  return nan_unless_finite(b, magnitude, negated_if(b, bit(b, next, 2), value));
}

Value* math_tan(Builder& b, Value* x) {
  Value* magnitude = absolute(b, x);
  const Angle angle = reduced(b, magnitude);
  Value* odd = bit(b, angle.quarters, 1);
  Value* above = b.CreateSelect(odd, b.CreateFNeg(angle.cosine), angle.sine);
  Value* below = b.CreateSelect(odd, angle.sine, angle.cosine);
  Value* value = b.CreateFMul(above, reciprocal(b, below));
  return nan_unless_finite(b, magnitude, odd_in(b, x, value));
}

Value* math_atan2(Builder& b, Value* y, Value* x) {
  Value *ay = absolute(b, y), *ax = absolute(b, x);
  Value* steep = b.CreateFCmpOGT(ay, ax);
  Value* less = b.CreateSelect(steep, ax, ay);
  Value* more = b.CreateSelect(steep, ay, ax);
  Value* quotient = b.CreateFDiv(less, more);
  // 0 / 0 stands for an angle of 0, infinity / infinity for one of 45 degrees.
  Value* none = b.CreateFCmpOEQ(more, number(b, 0));
  Value* both = b.CreateFCmpOEQ(less, number(b, infinity));
  Value* t = b.CreateSelect(none, number(b, 0), b.CreateSelect(both, number(b, 1), quotient));
  Value* angle = b.CreateFMul(t, polynomial(b, b.CreateFMul(t, t), arc));
  angle = b.CreateSelect(steep, b.CreateFSub(number(b, half_pi), angle), angle);
  Value* left = b.CreateICmpSLT(bits(b, x), b.getInt64(0));
  angle = b.CreateSelect(left, b.CreateFSub(number(b, pi), angle), angle);
  Value* unordered = b.CreateFCmpUNO(x, y);
  return b.CreateSelect(unordered, number(b, nan), copy_sign(b, angle, y));
}

}  // namespace hilo
