// sin, cos and tan of f64 within a unit of the last place. |x| 2/pi is summed as two numbers from
// three pieces of 2/pi where |x| <= 2^24, and else from four, of the bits that count for its
// exponent (after Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM 1983).
#include <array>
#include <cmath>

#include <llvm/IR/Module.h>

#include "emit/math.h"
#include "emit/select_to_branch.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// (sin y / y - 1) / y^2 and (cos y - 1 + y^2 / 2) / y^4 in y^2 for |y| <= pi / 4
constexpr double rest_of_sine[] = {-0x1.5555555555555p-3,  0x1.1111111110bb2p-7,
                                   -0x1.a01a019e83aa2p-13, 0x1.71de379689090p-19,
                                   -0x1.ae600b01a40ccp-26, 0x1.5e0b1995f429ap-33};
constexpr double rest_of_cosine[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16967p-10,
                                     0x1.a01a019f4eafap-16, -0x1.27e4fa17d9864p-22,
                                     0x1.1eeb68e8b2372p-29, -0x1.907da304ce77bp-37};
constexpr double end_of_identity = 0x1p-27;

// 2 / pi, and the bits of 1 / pi behind its point.
constexpr double two_over_pi_terms[] = {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55,
                                        -0x1.6447e493ad4cep-109};
constexpr uint64_t bits_of_inverse[] = {
    0x517cc1b727220a94, 0xfe13abe8fa9a6ee0, 0x6db14acc9e21c820, 0xff28b1d5ef5de2b0,
    0xdb92371d2126e970, 0x0324977504e8c90e, 0x7f0ef58e5894d39f, 0x74411afa975da242,
    0x74ce38135a2fbf20, 0x9cc8eb1cc1a99cfa, 0x4e422fc5defc941d, 0x8ffc4bffef02cc07,
    0xf79788c5ad05368f, 0xb69b3f6793e584db, 0xa7a31fb34f2ff516, 0xba93dd63f5f2f8bd,
    0x9e839cfbc5294975, 0x35fdafd88fc6ae84, 0x2b0198237e3db5d5, 0xf867de104d7a1b0e};
constexpr int chunk_bits = std::numeric_limits<double>::digits;
constexpr int first_exponent = std::numeric_limits<float>::digits;
constexpr int first_bit = first_exponent - chunk_bits + 1;
constexpr int windows = 1024 - first_exponent + 1 + 3 * chunk_bits;

// Bits first … first + 52 of 1 / pi, the first one behind the point is number 1, as an integer.
uint64_t window(int first) {
  const auto word = [](int i) { return i < 0 ? 0 : bits_of_inverse[i]; };
  const int place = first - 1 + 64, skipped = place % 64;
  uint64_t out = word(place / 64 - 1) << skipped;
  if (skipped) out |= word(place / 64) >> (64 - skipped);
  return out >> (64 - chunk_bits);
}

// All windows from `first_bit` on, as a constant array of the module.
Value* windows_of_inverse(Builder& b) {
  return table(b, "windows_of_inverse_of_pi", [&] {
    std::array<double, windows> values;
    for (int i = 0; i < windows; ++i) values[i] = static_cast<double>(window(first_bit + i));
    return llvm::ConstantDataArray::get(b.getContext(), values);
  });
}

struct Sum {
  Value *high, *low;
};

// a + c exactly, where |a| >= |c| or a is a multiple of c's last place (Dekker).
Sum ordered_sum(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFAdd(a, c);
  return {high, b.CreateFSub(c, b.CreateFSub(high, a))};
}
// a + c exactly (Knuth).
Sum sum_of(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFAdd(a, c);
  Value* part = b.CreateFSub(high, a);
  Value* rest = b.CreateFSub(a, b.CreateFSub(high, part));
  return {high, b.CreateFAdd(rest, b.CreateFSub(c, part))};
}
// a * c exactly, on any machine.
Sum product_of(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFMul(a, c);
  return {high,
          b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, c, b.CreateFNeg(high)})};
}

Value* rounded(Builder& b, Value* x) {
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
}

// A number of quarter turns: the whole number nearest to it, of which the last two bits count, and
// the rest.
struct Turns {
  Value *whole, *high, *low;
};

Turns quarter_turns_of_small(Builder& b, Value* magnitude) {
  Value* third = number(b, two_over_pi_terms[2]);
  const Sum first = product_of(b, magnitude, number(b, two_over_pi_terms[0]));
  const Sum second = product_of(b, magnitude, number(b, two_over_pi_terms[1]));
  const Nearest whole = nearest(b, first.high);
  const Sum between = sum_of(b, first.low, second.high);
  const Sum rest = ordered_sum(b, b.CreateFSub(first.high, whole.real), between.high);
  Value* low = b.CreateFAdd(between.low, multiply_add(b, magnitude, third, second.low));
  return {whole.integer, rest.high, b.CreateFAdd(low, rest.low)};
}

// Adds from the last to the first; each term becomes what its sum lost.
void distil(Builder& b, std::span<Value*> terms) {
  for (size_t i = terms.size() - 1; i-- > 0;) {
    const Sum sum = sum_of(b, terms[i], terms[i + 1]);
    terms[i] = sum.high;
    terms[i + 1] = sum.low;
  }
}

// The significand is multiplied by the bits from that on of which it makes no number of whole
// turns.
Turns quarter_turns_of_large(Builder& b, Value* magnitude) {
  Value* all = bits(b, magnitude);
  Value* row = b.CreateAdd(b.CreateLShr(all, 52), b.getInt64(-1023 - first_exponent));
  const auto rows = static_cast<uint64_t>(windows - 3 * chunk_bits);
  row = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, b.getInt64(rows - 1));
  Value* significand = b.CreateAnd(all, b.getInt64((uint64_t{1} << 52) - 1));
  significand = from_bits(b, b.CreateOr(significand, bits(b, number(b, 1))));
  // NaN of what is not finite.
  significand = multiply_add(b, magnitude, number(b, 0), significand);
  Value* piece[4];
  for (int i = 0; i < 4; ++i) {
    Value* place = b.CreateAdd(row, b.getInt64(static_cast<uint64_t>(i * chunk_bits)));
    Value* read = b.CreateLoad(b.getDoubleTy(),
                               b.CreateInBoundsGEP(b.getDoubleTy(), windows_of_inverse(b), place));
    piece[i] = b.CreateFMul(read, number(b, std::ldexp(2.0, -i * chunk_bits)));
  }
  const Sum first = product_of(b, significand, piece[0]);
  const Sum second = product_of(b, significand, piece[1]);
  const Sum third = product_of(b, significand, piece[2]);
  Value* turns = rounded(b, b.CreateFMul(first.high, number(b, 0.25)));
  Value* rest = multiply_add(b, turns, number(b, -4), first.high);
  std::array<Value*, 6> terms = {rest, first.low, second.high, second.low, third.high, third.low};
  terms[5] = multiply_add(b, significand, piece[3], terms[5]);
  distil(b, terms);
  const Nearest whole = nearest(b, terms[0]);
  terms[0] = b.CreateFSub(terms[0], whole.real);
  distil(b, terms);
  distil(b, terms);
  return {whole.integer, terms[0], b.CreateFAdd(terms[1], terms[2])};
}

Turns quarter_turns_of(Builder& b, Value* x) {
  Value* magnitude = absolute(b, x);
  const Turns small = quarter_turns_of_small(b, magnitude),
              large = quarter_turns_of_large(b, magnitude);
  Value* is_large = b.CreateFCmpOGT(magnitude, number(b, 0x1p24));
  return {unlikely_select(b, is_large, large.whole, small.whole),
          unlikely_select(b, is_large, large.high, small.high),
          unlikely_select(b, is_large, large.low, small.low)};
}

// Of what is left of a quarter turn.
struct Circle {
  Sum sine, cosine;
};

// y + (y^3 P(y^2) + low) and 1 - y^2 / 2 + (y^4 Q(y^2) - y low + what the difference lost).
Circle circle_of(Builder& b, const Turns& turns) {
  Value* half_pi = number(b, std::numbers::pi / 2);
  const Sum y = product_of(b, turns.high, half_pi);
  Value* low = multiply_add(b, turns.high, number(b, pi_low / 2), y.low);
  low = multiply_add(b, turns.low, half_pi, low);
  Value *square = b.CreateFMul(y.high, y.high), *cube = b.CreateFMul(square, y.high);
  Value* rest = multiply_add(b, cube, polynomial(b, square, rest_of_sine), low);
  const Sum first = ordered_sum(b, number(b, 1), b.CreateFMul(square, number(b, -0.5)));
  Value* lost = multiply_add(b, b.CreateFNeg(y.high), low, first.low);
  Value* fourth = b.CreateFMul(square, square);
  lost = multiply_add(b, fourth, polynomial(b, square, rest_of_cosine), lost);
  return {ordered_sum(b, y.high, rest), ordered_sum(b, first.high, lost)};
}

Value* is_odd(Builder& b, Value* quarters) { return b.CreateTrunc(quarters, b.getInt1Ty()); }

// Negated where `quarters` is two or three quarter turns.
Value* with_sign(Builder& b, Value* x, Value* quarters) {
  Value* sign = b.CreateShl(b.CreateLShr(quarters, 1), 63);
  return from_bits(b, b.CreateXor(bits(b, x), sign));
}

// `of_magnitude` with the sign of x changed where x is negative; x itself where it is small.
// Subnormal ones become zeros.
Value* odd_function(Builder& b, Value* x, Value* of_magnitude) {
  Value* sign = b.CreateAnd(bits(b, x), b.getInt64(uint64_t{1} << 63));
  Value* out = from_bits(b, b.CreateXor(bits(b, of_magnitude), sign));
  Value* same = multiply_add(b, x, number(b, 0x1p-70), x);
  Value* is_small = b.CreateFCmpOLT(absolute(b, x), number(b, end_of_identity));
  return b.CreateSelect(is_small, same, out);
}

}  // namespace

Value* math_sin_of_f64(Builder& b, Value* x) {
  const Turns turns = quarter_turns_of(b, x);
  const Circle circle = circle_of(b, turns);
  Value* out = b.CreateSelect(is_odd(b, turns.whole), circle.cosine.high, circle.sine.high);
  return odd_function(b, x, with_sign(b, out, turns.whole));
}

Value* math_cos_of_f64(Builder& b, Value* x) {
  const Turns turns = quarter_turns_of(b, x);
  const Circle circle = circle_of(b, turns);
  Value* out = b.CreateSelect(is_odd(b, turns.whole), circle.sine.high, circle.cosine.high);
  return with_sign(b, out, b.CreateAdd(turns.whole, b.getInt64(1)));
}

Value* math_tan_of_f64(Builder& b, Value* x) {
  const Turns turns = quarter_turns_of(b, x);
  const Circle circle = circle_of(b, turns);
  Value* odd = is_odd(b, turns.whole);
  const auto chosen = [&](const Sum& of_odd, const Sum& of_even) {
    return Sum{b.CreateSelect(odd, of_odd.high, of_even.high),
               b.CreateSelect(odd, of_odd.low, of_even.low)};
  };
  const Sum above = chosen(circle.cosine, circle.sine), below = chosen(circle.sine, circle.cosine);
  // One step of Newton's method takes in what the sums lost.
  Value* inverse = b.CreateFDiv(number(b, 1), below.high);
  Value* first = b.CreateFMul(above.high, inverse);
  Value* minus = b.CreateFNeg(first);
  Value* rest = multiply_add(b, minus, below.low, above.low);
  rest = b.CreateFAdd(multiply_add(b, minus, below.high, above.high), rest);
  Value* tangent = multiply_add(b, rest, inverse, first);
  return odd_function(b, x, b.CreateSelect(odd, b.CreateFNeg(tangent), tangent));
}

}  // namespace hilo
