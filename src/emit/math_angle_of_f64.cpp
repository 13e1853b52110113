// The angle of a point, of f64, within 2 units of the last place. atan t, 1/2 < t <= 1, is that of
// (t - 1) / (t + 1) and an eighth of a turn more.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// (atan t / t - 1) / t^2 in t^2 for |t| <= 1/2
constexpr double rest_of_arc[] = {
    -0x1.5555555555555p-2, 0x1.99999999998e1p-3, -0x1.2492492488296p-3, 0x1.c71c71c01b20ep-4,
    -0x1.745d16026e613p-4, 0x1.3b138e63642c8p-4, -0x1.110ea5017747ep-4, 0x1.e1a7b244c1f02p-5,
    -0x1.ad44d990e46c3p-5, 0x1.7b20b556c17e2p-5, -0x1.37d74acbfebabp-5, 0x1.99b4cf4e4c91bp-6,
    -0x1.2dfb9281e7654p-7};

// The quotient of two numbers is that of their multiples; neither sums of these nor differences
// leave the normal numbers where the quotient is one.
Value* scale_for(Builder& b, Value* more) {
  Value* of_small =
      b.CreateSelect(b.CreateFCmpOLT(more, number(b, 0x1p-400)), number(b, 0x1p600), number(b, 1));
  return b.CreateSelect(b.CreateFCmpOGT(more, number(b, 0x1p1000)), number(b, 0x1p-600), of_small);
}

}  // namespace

Value* math_atan2_of_f64(Builder& b, Value* y, Value* x) {
  Value *ay = absolute(b, y), *ax = absolute(b, x);
  Value* steep = b.CreateFCmpOGT(ay, ax);
  Value* less = b.CreateSelect(steep, ax, ay);
  Value* more = b.CreateSelect(steep, ay, ax);
  Value* both_infinite = b.CreateFCmpOEQ(less, number(b, infinity));
  Value* none = b.CreateFCmpOEQ(more, number(b, 0));
  Value* scale = scale_for(b, more);
  less = b.CreateFMul(less, scale);
  more = b.CreateFMul(more, scale);
  Value* is_rotated = b.CreateFCmpOGT(less, b.CreateFMul(more, number(b, 0.5)));
  Value* above = b.CreateSelect(is_rotated, b.CreateFSub(less, more), less);
  Value* below = b.CreateSelect(is_rotated, b.CreateFAdd(less, more), more);
  // 0 / 0 stands for an angle of 0, infinity / infinity for an eighth of a turn.
  above = b.CreateSelect(b.CreateOr(none, both_infinite), number(b, 0), above);
  below = b.CreateSelect(b.CreateOr(none, both_infinite), number(b, 1), below);
  Value* t = b.CreateFDiv(above, below);
  Value* square = b.CreateFMul(t, t);
  Value* rest = b.CreateFMul(b.CreateFMul(t, square), polynomial(b, square, rest_of_arc));
  // A whole number of eighths of a turn, in two parts, and t + rest more or less.
  Value* is_eighth = b.CreateOr(is_rotated, both_infinite);
  Value* eighths = b.CreateSelect(is_eighth, number(b, 0.5), number(b, 0));
  Value* left = b.CreateICmpSLT(bits(b, x), b.getInt64(0));
  // Steep: pi / 2 less the angle. Left: pi less it.
  Value* minus = b.CreateXor(steep, left);
  Value* begin = b.CreateSelect(left, number(b, 2), number(b, 0));
  begin = b.CreateSelect(steep, number(b, 1), begin);
  Value* whole = b.CreateSelect(minus, b.CreateFSub(begin, eighths), b.CreateFAdd(begin, eighths));
  Value* sign = b.CreateSelect(minus, number(b, -1), number(b, 1));
  t = b.CreateFMul(t, sign);
  Value* first = b.CreateFMul(whole, number(b, std::numbers::pi / 2));
  Value* low = b.CreateIntrinsic(llvm::Intrinsic::fma, {first->getType()},
                                 {whole, number(b, std::numbers::pi / 2), b.CreateFNeg(first)});
  low = multiply_add(b, whole, number(b, pi_low / 2), low);
  rest = multiply_add(b, rest, sign, low);
  Value* sum = b.CreateFAdd(first, t);
  Value* lost = b.CreateFSub(t, b.CreateFSub(sum, first));
  Value* angle = b.CreateFAdd(sum, b.CreateFAdd(lost, rest));
  Value* unordered = b.CreateFCmpUNO(x, y);
  return b.CreateSelect(unordered, number(b, nan), copy_sign(b, absolute(b, angle), y));
}

}  // namespace hilo
