// Roundings to narrower floats, and quotients by one number a row, against those of C: to the bit.
#include <bit>

#include "math_arrays.h"

namespace hilo::test {
namespace {

// Ties, what lies beside them, infinities and subnormal numbers, after arithmetic and without.
TEST(Rounding, Bf16IsRoundedToEven) {
  constexpr uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  const Literal in = floats(std::size(low) << 16, [&](size_t i) {
    return std::bit_cast<float>(static_cast<uint32_t>(i) << 16 | low[i >> 16]);
  });
  const auto module = parse(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[{0}] parameter(0)
  y = f32[{0}] add(x, x)
  p = bf16[{0}] convert(x)
  q = bf16[{0}] convert(y)
  ROOT t = (bf16[{0}], bf16[{0}]) tuple(p, q) }}
)",
                                        in.count()));
  const auto executable = compile(*module, cpu_target());
  ASSERT_TRUE(executable);
  const auto out = executable->run({in});
  ASSERT_TRUE(out);
  const auto converted = out->elements()[0].data<BF16>(), doubled = out->elements()[1].data<BF16>();
  for (size_t i = 0; i < converted.size(); ++i) {
    const float x = in.data<float>()[i];
    const auto y = static_cast<float>(flushed(2 * flushed(x)));
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(float(converted[i])) && std::isnan(float(doubled[i])));
      continue;
    }
    ASSERT_EQ(flushed(float(converted[i])), flushed(float(BF16(x)))) << fmt::format("{:a}", x);
    ASSERT_EQ(float(doubled[i]), float(BF16(y))) << fmt::format("{:a}", y);
  }
}

// NaN stay NaN, those whose low half is all ones, too: of f32, f16 and bf16, after arithmetic.
TEST(Rounding, NaNAreRoundedToNaN) {
  constexpr int64_t count = 1 << 16;
  const auto nan_of = []<class T, class Bits>(ElementType type, Bits first, Bits all) {
    Literal out = Literal::uninitialized(Shape::array(type, {count}));
    for (uint32_t i = 0; i < count; ++i) {
      const auto payload = static_cast<Bits>(static_cast<Bits>(~i) % all + 1);
      const auto sign = static_cast<Bits>(static_cast<Bits>(i % 2) << (8 * sizeof(Bits) - 1));
      out.mutable_data<T>()[i] = std::bit_cast<T>(static_cast<Bits>(first | payload | sign));
    }
    return out;
  };
  const std::vector<Literal> in = {
      nan_of.operator()<float, uint32_t>(ElementType::F32, 0x7f800000, 0x7fffff),
      nan_of.operator()<F16, uint16_t>(ElementType::F16, 0x7c00, 0x3ff),
      nan_of.operator()<BF16, uint16_t>(ElementType::BF16, 0x7f80, 0x7f)};
  const auto module = parse(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[{0}] parameter(0)
  h = f16[{0}] parameter(1)
  b = bf16[{0}] parameter(2)
  double = f32[{0}] add(x, x)
  of_f32 = bf16[{0}] convert(double)
  wide = f32[{0}] convert(h)
  squares = f32[{0}] multiply(wide, wide)
  of_f16 = bf16[{0}] convert(squares)
  s = bf16[{0}] logistic(b)
  silu = bf16[{0}] multiply(b, s)
  t = bf16[{0}] tanh(silu)
  power = bf16[{0}] exponential(t)
  of_bf16 = bf16[{0}] subtract(power, b)
  ROOT all = (bf16[{0}], bf16[{0}], bf16[{0}], bf16[{0}]) tuple(of_f32, of_f16, silu, of_bf16) }}
)",
                                        count));
  ASSERT_TRUE(module) << to_string(module.error());
  const auto executable = compile(*module, cpu_target());
  ASSERT_TRUE(executable) << to_string(executable.error());
  const auto out = executable->run(in);
  ASSERT_TRUE(out) << to_string(out.error());
  for (const Literal& results : out->elements())
    for (BF16 result : results.data<BF16>()) ASSERT_TRUE(std::isnan(float(result)));
}

// Every bf16 by divisors with every significand, of many sizes, and by the edges.
TEST(Rounding, Bf16IsDividedByNumbersOfRows) {
  const float edges[] = {0.0F,    -0.0F,    1e-40F,   HUGE_VALF,  -HUGE_VALF,   NAN,
                         0x1p64F, -0x1p65F, 0x1p126F, 0x1.8p127F, -0x1.fep127F, 0x1p-126F};
  std::vector<float> divisors(std::begin(edges), std::end(edges));
  for (int i = 0; i < 128; ++i)
    divisors.push_back(std::ldexp(1 + static_cast<float>(i) / 128, i % 4 ? i - 64 : 2 * i - 126));
  const auto rows = static_cast<int64_t>(divisors.size());
  constexpr int64_t columns = 1 << 16;
  Literal x = Literal::uninitialized(Shape::array(ElementType::BF16, {rows, columns}));
  Literal y = Literal::uninitialized(Shape::array(ElementType::BF16, {rows}));
  for (int64_t i = 0; i < rows * columns; ++i)
    x.mutable_data<BF16>()[i] = std::bit_cast<BF16>(static_cast<uint16_t>(i));
  for (int64_t i = 0; i < rows; ++i) y.mutable_data<BF16>()[i] = BF16(divisors[i]);
  const auto module = parse(fmt::format(R"(HloModule m
ENTRY e {{
  x = bf16[{0},{1}] parameter(0)
  y = bf16[{0}] parameter(1)
  z = bf16[{0},{1}] broadcast(y), dimensions={{0}}
  ROOT r = bf16[{0},{1}] divide(x, z) }}
)",
                                        rows, columns));
  const auto executable = compile(*module, cpu_target());
  ASSERT_TRUE(executable);
  const auto out = executable->run({x, y});
  ASSERT_TRUE(out);
  const auto found = out->data<BF16>();
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double a = flushed(x.data<BF16>()[i]), c = flushed(y.data<BF16>()[i / columns]);
    const auto quotient = static_cast<float>(flushed(static_cast<float>(a / c)));
    const double exact = BF16(quotient);
    if (std::isnan(exact) && std::isnan(float(found[i]))) continue;
    ASSERT_EQ(float(found[i]), exact) << a << " / " << c;
  }
}

// To the bit, of all sizes, signs and edges: also where one of two vectors is multiplied by a
// reciprocal, and numbers that it does not divide right stand beside those that it does.
TEST(Rounding, FloatsAreDividedByNumbersOfRows) {
  std::mt19937 random(1);
  std::vector<float> divisors = {0.0F,      -0.0F,    1e-40F, HUGE_VALF,    -HUGE_VALF, NAN,
                                 0x1p-126F, 0x1p127F, 1.0F,   -3.0F,        0x1p40F,    0x1.8p40F,
                                 0x1p-40F,  0x1p-41F, 7.0F,   0x1.fffffep0F};
  for (int i = 0; i < 48; ++i)
    divisors.push_back(std::ldexp(1 + std::ldexp(static_cast<float>(random() >> 9), -23), i - 24));
  const auto rows = static_cast<int64_t>(divisors.size());
  constexpr int64_t columns = 4096;
  const float edges[] = {0.0F, -0.0F, 1e-40F, HUGE_VALF, -HUGE_VALF, NAN, 3e38F, 0x1p-126F};
  const auto dividend = [&](size_t i) {
    if (i % 512 < std::size(edges)) return edges[i % 512];
    if (i % columns < 1024) return std::bit_cast<float>(static_cast<uint32_t>(random()));
    return std::ldexp(static_cast<float>(random() >> 8), -24 - static_cast<int>(random() % 64));
  };
  const Literal x = floats(static_cast<size_t>(rows * columns), dividend);
  const auto module = parse(fmt::format(R"(HloModule m
ENTRY e {{
  p = f32[{2}] parameter(0)
  x = f32[{0},{1}] reshape(p)
  y = f32[{0}] parameter(1)
  z = f32[{0},{1}] broadcast(y), dimensions={{0}}
  ROOT r = f32[{0},{1}] divide(x, z) }}
)",
                                        rows, columns, rows * columns));
  ASSERT_TRUE(module) << to_string(module.error());
  const auto executable = compile(*module, cpu_target());
  ASSERT_TRUE(executable) << to_string(executable.error());
  const auto out =
      executable->run({x, floats(divisors.size(), [&](size_t i) { return divisors[i]; })});
  ASSERT_TRUE(out) << to_string(out.error());
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double a = flushed(x.data<float>()[i]), c = flushed(divisors[i / columns]);
    const auto exact = static_cast<float>(flushed(static_cast<float>(a / c)));
    const float found = out->data<float>()[i];
    if (std::isnan(exact) && std::isnan(found)) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(exact)) << a << " / " << c;
  }
}

}  // namespace
}  // namespace hilo::test
