// Functions of real numbers against libm in double, which stands for the exact value: of f32 within
// 0.51 units of the last place, or 1 where they are computed in f32, of bf16 and f16 the nearest
// one, for every number of 16 bits and a hundred thousand of all f32. Of f64 within 2 units,
// against libm in long double.
#include <bit>

#include "math_arrays.h"

namespace hilo::test {
namespace {

struct Function {
  std::string_view op;
  double (*exact)(double);
  double units = 0.51;
  long double (*longer)(long double) = nullptr;  // where f64 does not call libm
};
template <class T>
T logistic(T x) {
  const T e = std::exp(-std::fabs(x));
  return x >= 0 ? 1 / (1 + e) : x < 0 ? e / (1 + e) : x;
}
double rsqrt(double x) { return 1 / std::sqrt(x); }
constexpr Function functions[] = {{"exponential", std::exp, 0.85, std::exp},
                                  {"exponential-minus-one", std::expm1, 1, std::expm1},
                                  {"log", std::log, 0.95, std::log},
                                  {"log-plus-one", std::log1p, 0.95, std::log1p},
                                  {"tanh", std::tanh, 1, std::tanh},
                                  {"logistic", logistic<double>, 0.85, logistic<long double>},
                                  {"sine", std::sin, 0.51, std::sin},
                                  {"cosine", std::cos, 0.51, std::cos},
                                  {"tan", std::tan, 0.51, std::tan},
                                  {"asin", std::asin},
                                  {"acos", std::acos},
                                  {"asinh", std::asinh},
                                  {"acosh", std::acosh},
                                  {"atanh", std::atanh},
                                  {"sinh", std::sinh},
                                  {"cosh", std::cosh},
                                  {"erf", std::erf, 0.95},
                                  {"cbrt", std::cbrt},
                                  {"rsqrt", rsqrt}};

Literal apply(std::string_view op, const std::vector<Literal>& arguments) {
  const Shape& shape = arguments[0].shape();
  const std::string array = fmt::format("{}[{}]", text_of(shape.type), shape.dims[0]);
  const std::string text =
      arguments.size() == 1
          ? fmt::format(
                "HloModule m\nENTRY e {{\n  p = {0} parameter(0)\n  ROOT r = {0} {1}(p)\n}}\n",
                array, op)
          : fmt::format(
                "HloModule m\nENTRY e {{\n  p = {0} parameter(0)\n  q = {0} parameter(1)\n"
                "  ROOT r = {0} {1}(p, q)\n}}\n",
                array, op);
  auto module = parse(text);
  EXPECT_TRUE(module) << to_string(module.error());
  auto executable = compile(std::move(*module), cpu_target());
  EXPECT_TRUE(executable) << to_string(executable.error());
  EXPECT_TRUE(executable->report().evaluated.empty()) << op;
  auto out = executable->run(arguments);
  EXPECT_TRUE(out) << to_string(out.error());
  return *out;
}

// |found - exact| in units of the last place of an f32 near it; infinity where one is NaN, or where
// signs or infinities differ.
double ulps(float found, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (found == 0 && std::fabs(rounded) <= 0x1p-126F) exact = flushed(exact);
  if (std::isnan(exact) || std::isnan(found))
    return std::isnan(exact) && std::isnan(found) ? 0 : HUGE_VAL;
  if (std::signbit(found) != std::signbit(rounded)) return HUGE_VAL;
  if (std::isinf(found) || std::isinf(rounded)) return found == rounded ? 0 : HUGE_VAL;
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(found - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

class Math : public testing::TestWithParam<Function> {};

TEST_P(Math, FloatsAreRoundedNearlyRight) {
  constexpr uint32_t step = 40009;
  const Literal in = floats((uint64_t{1} << 32) / step, [](size_t i) {
    return std::bit_cast<float>(static_cast<uint32_t>(i * step));
  });
  const Literal out = apply(GetParam().op, {in});
  for (size_t i = 0; i < static_cast<size_t>(in.count()); ++i) {
    const float x = in.data<float>()[i], y = out.data<float>()[i];
    ASSERT_LE(ulps(y, GetParam().exact(flushed(x))), GetParam().units)
        << fmt::format("{}({:a}) = {:a}", GetParam().op, x, y);
  }
}

TEST_P(Math, EdgesAreThoseOfC) {
  constexpr float edges[] = {0.0F,   -0.0F,  1.0F,      -1.0F,      HUGE_VALF, -HUGE_VALF,
                             NAN,    1e-45F, -1e-45F,   3.4e38F,    -3.4e38F,  2.0F,
                             0.5F,   88.72F, 88.73F,    -103.9F,    -104.1F,   1.5707964F,
                             1e-30F, 10.0F,  -87.3366F, 16777216.0F};
  const Literal in = floats(std::size(edges), [&](size_t i) { return edges[i]; });
  const Literal out = apply(GetParam().op, {in});
  for (size_t i = 0; i < std::size(edges); ++i)
    EXPECT_LE(ulps(out.data<float>()[i], GetParam().exact(flushed(edges[i]))), GetParam().units)
        << GetParam().op << " of " << edges[i];
}

// All whose exponentials lie next to the largest number and to the least normal one.
TEST(Math, ExponentialsNextToTheLastOnes) {
  for (const auto& [first, last] : {std::pair(88.3F, 88.75F), std::pair(-87.2F, -87.4F)}) {
    const auto begin = std::bit_cast<uint32_t>(first), end = std::bit_cast<uint32_t>(last);
    const Literal in = floats(end - begin, [begin](size_t i) {
      return std::bit_cast<float>(begin + static_cast<uint32_t>(i));
    });
    const Literal out = apply("exponential", {in});
    for (size_t i = 0; i < end - begin; ++i)
      ASSERT_LE(ulps(out.data<float>()[i], std::exp(in.number_at(static_cast<int64_t>(i)))), 1);
  }
}

template <class T>
void expect_nearest(const Function& function, ElementType type) {
  Literal in = Literal::uninitialized(Shape::array(type, {1 << 16}));
  for (uint32_t i = 0; i < 1 << 16; ++i)
    in.mutable_data<T>()[i] = std::bit_cast<T>(static_cast<uint16_t>(i));
  const Literal out = apply(function.op, {in});
  int other = 0;
  for (int64_t i = 0; i < in.count(); ++i) {
    const double found = out.number_at(i);
    const double nearest =
        flushed(static_cast<double>(T(function.exact(flushed(in.number_at(i))))));
    if (std::isnan(found) && std::isnan(nearest)) continue;
    if (found != nearest || std::signbit(found) != std::signbit(nearest)) ++other;
  }
  EXPECT_EQ(other, 0) << function.op << " of " << text_of(type);
}

TEST_P(Math, SixteenBitsAreRoundedRight) {
  expect_nearest<BF16>(GetParam(), ElementType::BF16);
  expect_nearest<F16>(GetParam(), ElementType::F16);
}

// A number as bits, so that neighbours differ by 1 and -0 is 0.
int64_t place(double x) {
  const auto bits = std::bit_cast<int64_t>(x);
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits;
}

// Every f64 whose first bits differ, and many between -40 and 40.
std::vector<double> doubles() {
  std::vector<double> out = {0.0, -0.0, 1.0, -1.0, 0.5, HUGE_VAL, -HUGE_VAL, NAN, 709.8, -708.5};
  for (uint64_t first = 0; first < 1 << 16; ++first)
    out.push_back(std::bit_cast<double>(first << 48 | (first * 0x9e3779b97f4a7c15) >> 16));
  for (int i = -100000; i < 100000; ++i) out.push_back(i * 4.000000007e-4);
  for (int i = -50000; i < 50000; ++i) out.push_back(i * 2.000000003e-5);
  return out;
}

double flushed_f64(double x) { return std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x; }

TEST_P(Math, DoublesAreWithinTwoUnits) {
  if (!GetParam().longer) return;
  const std::vector<double> all = doubles();
  Literal in =
      Literal::uninitialized(Shape::array(ElementType::F64, {static_cast<int64_t>(all.size())}));
  std::ranges::copy(all, in.mutable_data<double>().begin());
  const Literal out = apply(GetParam().op, {in});
  for (size_t i = 0; i < all.size(); ++i) {
    const double found = out.data<double>()[i], x = flushed_f64(all[i]);
    const auto exact = flushed_f64(static_cast<double>(GetParam().longer(x)));
    if (std::isnan(found) && std::isnan(exact)) continue;
    ASSERT_LE(std::abs(place(found) - place(exact)), std::isfinite(exact) ? 2 : 0)
        << fmt::format("{}({:a}) = {:a}, not {:a}", GetParam().op, x, found, exact);
    ASSERT_EQ(std::signbit(found), std::signbit(exact)) << GetParam().op << " of " << x;
  }
}

INSTANTIATE_TEST_SUITE_P(Compile, Math, testing::ValuesIn(functions), [](const auto& info) {
  std::string name(info.param.op);
  std::erase(name, '-');
  return name;
});

// Pairs of numbers of all sizes, whole ones and edges among them.
std::vector<std::pair<float, float>> pairs() {
  std::mt19937 random(1);
  std::vector<std::pair<float, float>> out;
  const float edges[] = {0.0F, -0.0F, 1.0F, -1.0F, 2.0F, -3.0F, 0.5F, HUGE_VALF, -HUGE_VALF, NAN};
  for (float x : edges)
    for (float y : edges) out.emplace_back(x, y);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 20000; ++i) {
    out.emplace_back(std::exp(2 * normal(random)), 10 * normal(random));
    out.emplace_back(normal(random), std::round(5 * normal(random)));
    out.emplace_back(std::bit_cast<float>(static_cast<uint32_t>(random())), normal(random));
  }
  return out;
}

void expect_near(std::string_view op, double (*exact)(double, double)) {
  const auto all = pairs();
  const Literal out = apply(op, {floats(all.size(), [&](size_t i) { return all[i].first; }),
                                 floats(all.size(), [&](size_t i) { return all[i].second; })});
  for (size_t i = 0; i < all.size(); ++i) {
    const auto [x, y] = all[i];
    ASSERT_LE(ulps(out.data<float>()[i], exact(flushed(x), flushed(y))), 0.51)
        << fmt::format("{}({:a}, {:a}) = {:a}", op, x, y, out.data<float>()[i]);
  }
}

// Tables are read where any lane of a vector needs them: all, one, none and every second one.
TEST(Math, LargeAnglesStandBesideSmallOnes) {
  const Literal in = floats(4096, [](size_t i) {
    const float small = 0.001F * static_cast<float>(i), large = 1e7F * static_cast<float>(i * i);
    const bool some[] = {true, i % 64 == 5, false, i % 2 == 0};
    return some[i / 64 % 4] ? large : small;
  });
  for (const Function& function : functions) {
    if (function.op != "sine" && function.op != "cosine" && function.op != "tan") continue;
    const Literal out = apply(function.op, {in});
    for (size_t i = 0; i < 4096; ++i)
      ASSERT_LE(ulps(out.data<float>()[i], function.exact(in.data<float>()[i])), 0.51)
          << fmt::format("{}({:a})", function.op, in.data<float>()[i]);
  }
}

// Pieces of 1 / pi are read where any lane of a vector needs them; these among the worst.
TEST(Math, LargeDoublesStandBesideSmallOnes) {
  Literal in = Literal::uninitialized(Shape::array(ElementType::F64, {4096}));
  const double worst[] = {0x1.6ac5b262ca1ffp+849, 0x1p24, 0x1.0000000000001p24,
                          std::numeric_limits<double>::max(), HUGE_VAL};
  for (size_t i = 0; i < 4096; ++i) {
    const double small = 0.001 * static_cast<double>(i);
    const double large = i % 16 < 5 ? worst[i % 16] : std::ldexp(1.1, static_cast<int>(i % 1000));
    const bool some[] = {true, i % 64 == 5, false, i % 2 == 0};
    in.mutable_data<double>()[i] = some[i / 64 % 4] ? large : small;
  }
  for (const Function& function : functions) {
    if (function.op != "sine" && function.op != "cosine" && function.op != "tan") continue;
    const Literal out = apply(function.op, {in});
    for (size_t i = 0; i < 4096; ++i) {
      const double x = in.data<double>()[i], found = out.data<double>()[i];
      const auto exact = static_cast<double>(function.longer(x));
      if (std::isnan(found) && std::isnan(exact)) continue;
      ASSERT_LE(std::abs(place(found) - place(exact)), 1)
          << fmt::format("{}({:a}) = {:a}, not {:a}", function.op, x, found, exact);
    }
  }
}

// Exponents of many bits stand in all lanes of a vector, one, none and every second one.
template <class T>
void expect_powers(ElementType type) {
  constexpr int64_t count = 4096 + 37;
  Literal base = Literal::uninitialized(Shape::array(type, {count})), exponent = base;
  std::mt19937_64 random(1);
  for (size_t i = 0; i < count; ++i) {
    const bool some[] = {true, i % 64 == 5, false, i % 2 == 0};
    base.mutable_data<T>()[i] = static_cast<T>(i % 3 ? random() : random() % 5 - 2);
    exponent.mutable_data<T>()[i] = static_cast<T>(some[i / 64 % 4] ? random() : random() % 8);
  }
  const Literal out = apply("power", {base, exponent});
  const T one = 1, minus_one = static_cast<T>(-1);
  for (size_t i = 0; i < count; ++i) {
    const T x = base.data<T>()[i], y = exponent.data<T>()[i];
    T power = one, factor = x;
    const auto times = [](T a, T c) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(c));
    };
    for (auto rest = static_cast<uint64_t>(y); rest; rest /= 2, factor = times(factor, factor))
      if (rest % 2) power = times(power, factor);
    if (y < 0) power = x == one ? one : x != minus_one ? T(0) : y % 2 ? minus_one : one;
    ASSERT_EQ(out.data<T>()[i], power) << +x << " to the power of " << +y;
  }
}

TEST(Math, PowersOfIntegers) {
  expect_powers<int8_t>(ElementType::S8);
  expect_powers<uint8_t>(ElementType::U8);
  expect_powers<int32_t>(ElementType::S32);
  expect_powers<uint32_t>(ElementType::U32);
  expect_powers<int64_t>(ElementType::S64);
  expect_powers<uint64_t>(ElementType::U64);
}

// Exactly C's: quotients of any number of bits, in all lanes of a vector, one, none and every
// second one; multiples, and numbers next to them.
template <class T>
void expect_remainders(ElementType type, int significand) {
  constexpr int64_t count = 16384 + 37;
  Literal x = Literal::uninitialized(Shape::array(type, {count})), y = x;
  std::mt19937_64 random(1);
  const auto least = static_cast<double>(std::numeric_limits<float>::min());
  for (size_t i = 0; i < count; ++i) {
    const bool some[] = {true, i % 64 == 5, false, i % 2 == 0};
    const auto any = [&] {
      const double whole = static_cast<double>(random() >> (64 - significand));
      return (random() % 2 ? -1 : 1) * whole;
    };
    const int far = some[i / 64 % 4] ? 240 : 16;
    const double of = std::ldexp(any(), -static_cast<int>(random() % 100));
    double number = std::ldexp(any(), static_cast<int>(random() % 240) % far - 100);
    if (i % 5 == 0) number = of * static_cast<double>(random() % 4);
    x.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(number));
    y.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(of));
    constexpr float edges[] = {0, -0.F, INFINITY, -INFINITY, NAN, 1, -3};
    if (i < 49) {
      x.mutable_data<T>()[i] = static_cast<T>(edges[i / 7]);
      y.mutable_data<T>()[i] = static_cast<T>(edges[i % 7]);
    }
  }
  const Literal out = apply("remainder", {x, y});
  for (size_t i = 0; i < count; ++i) {
    const double a = static_cast<float>(x.data<T>()[i]), c = static_cast<float>(y.data<T>()[i]);
    const double exact = std::fmod(a, c), found = static_cast<float>(out.data<T>()[i]);
    if (std::isnan(exact) && std::isnan(found)) continue;
    if (std::abs(exact) > 0 && std::abs(exact) < least) continue;
    ASSERT_EQ(found, exact) << fmt::format("remainder({:a}, {:a})", a, c);
    ASSERT_EQ(std::signbit(found), std::signbit(exact)) << fmt::format("{:a}, {:a}", a, c);
  }
}

TEST(Math, Remainders) {
  expect_remainders<float>(ElementType::F32, 24);
  expect_remainders<BF16>(ElementType::BF16, 8);
  expect_remainders<F16>(ElementType::F16, 11);
}

TEST(Math, Powers) { expect_near("power", std::pow); }
using Doubles = std::vector<std::pair<double, double>>;

Literal apply_to_pairs(std::string_view op, const Doubles& all) {
  const auto of = [&](auto member) {
    Literal out =
        Literal::uninitialized(Shape::array(ElementType::F64, {static_cast<int64_t>(all.size())}));
    for (size_t i = 0; i < all.size(); ++i) out.mutable_data<double>()[i] = all[i].*member;
    return out;
  };
  using Pair = Doubles::value_type;
  return apply(op, {of(&Pair::first), of(&Pair::second)});
}

void expect_within_two_units(std::string_view op, const Doubles& all,
                             long double (*exactly)(long double, long double)) {
  const Literal out = apply_to_pairs(op, all);
  for (size_t i = 0; i < all.size(); ++i) {
    const double x = flushed_f64(all[i].first), y = flushed_f64(all[i].second);
    const auto exact = flushed_f64(static_cast<double>(exactly(x, y)));
    const double found = out.data<double>()[i];
    if (std::isnan(found) && std::isnan(exact)) continue;
    ASSERT_LE(std::abs(place(found) - place(exact)), std::isfinite(exact) ? 2 : 0)
        << fmt::format("{}({:a}, {:a}) = {:a}, not {:a}", op, x, y, found, exact);
    ASSERT_EQ(std::signbit(found), std::signbit(exact)) << op << ": " << x << ", " << y;
  }
}

// Of sizes whose quotients are no numbers, too.
TEST(Math, AnglesOfDoubles) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Doubles all;
  for (const auto& [x, y] : pairs()) all.emplace_back(x, y);
  for (int i = 0; i < 60000; ++i) {
    const double size = normal(random), ratio = std::ldexp(1.0, i % 7 - 3);
    all.emplace_back(size, ratio * (i % 3 ? size * (1 + 1e-9 * normal(random)) : normal(random)));
    all.emplace_back(std::bit_cast<double>(random()), std::bit_cast<double>(random()));
    const double large = std::ldexp(normal(random), i % 2040 - 1020);
    all.emplace_back(large, large * normal(random));
  }
  expect_within_two_units("atan2", all, std::atan2);
}

// Of all sizes; next to 1 with large exponents, next to the largest result, next to the rows of the
// table of logarithms, whole numbers.
TEST(Math, PowersOfDoubles) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Doubles all;
  for (const auto& [x, y] : pairs()) all.emplace_back(x, y);
  for (int i = 0; i < 60000; ++i) {
    all.emplace_back(flushed_f64(std::bit_cast<double>(random())),
                     flushed_f64(std::bit_cast<double>(random())));
    const double x = std::ldexp(std::abs(normal(random)), i % 2000 - 1000);
    const double most = 709.7 / std::abs(std::log(x));
    all.emplace_back(x, most * std::sin(i));
    all.emplace_back(x, most * (1 + 2e-4 * normal(random)));
    const double near = 1 + std::ldexp(normal(random), -(i % 52));
    if (near > 0 && near != 1) all.emplace_back(near, 700 / std::log(near) * std::sin(i));
    const double row = (180 + i % 200) / 256.0;
    all.emplace_back(row * (1 + 1e-15 * normal(random)), 1000 * normal(random));
    all.emplace_back(std::round(100 * normal(random)), std::round(20 * normal(random)));
  }
  expect_within_two_units("power", all, std::pow);
}

// What is a double is found as it is.
TEST(Math, PowersThatAreDoubles) {
  Doubles all;
  for (int n = -1022; n < 1024; ++n) all.emplace_back(2, n);
  for (int x = -20; x <= 20; ++x)
    for (int n = 0; n <= 12; ++n) all.emplace_back(x, n);
  for (int i = 0; i < 1000; ++i) all.emplace_back(i * i / 1024.0, 0.5);
  const Literal out = apply_to_pairs("power", all);
  for (size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(out.data<double>()[i], std::pow(all[i].first, all[i].second))
        << all[i].first << " to the power of " << all[i].second;
}

// Exactly C's: quotients of few bits and of many in one vector, multiples and numbers next to them.
TEST(Math, RemaindersOfDoubles) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const double edges[] = {0, -0., HUGE_VAL, -HUGE_VAL, NAN, 1, -3, 0x1p-1022, 1.7e308};
  Doubles all;
  for (double x : edges)
    for (double y : edges) all.emplace_back(x, y);
  for (int i = 0; i < 60000; ++i) {
    const bool is_far[] = {true, i % 64 == 5, false, i % 2 == 0};
    const double y = std::ldexp(normal(random), static_cast<int>(random() % 200));
    const int bits = static_cast<int>(random() % 52);
    all.emplace_back(y * std::ldexp(normal(random), is_far[i / 64 % 4] ? 12 * bits : bits), y);
    const double multiple = y * static_cast<double>(random() % 1000);
    all.emplace_back(i % 3 ? multiple : std::nextafter(multiple, i % 2 ? 0 : HUGE_VAL), y);
  }
  const Literal out = apply_to_pairs("remainder", all);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto [x, y] = all[i];
    const double exact = std::fmod(x, y), found = out.data<double>()[i];
    if (std::isnan(exact) && std::isnan(found)) continue;
    ASSERT_EQ(flushed_f64(found), flushed_f64(exact)) << fmt::format("remainder({:a}, {:a})", x, y);
    ASSERT_EQ(std::signbit(found), std::signbit(exact)) << fmt::format("{:a}, {:a}", x, y);
  }
}

TEST(Math, Angles) { expect_near("atan2", std::atan2); }

}  // namespace
}  // namespace hilo::test
