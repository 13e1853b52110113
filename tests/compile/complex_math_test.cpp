// Functions of c64 against those of the evaluator, which are libm's of complex doubles: within a
// unit of the last place of the result's length, and of edges the same infinities and NaN.
#include <complex>

#include "both.h"

namespace hilo::test {
namespace {

using C = std::complex<float>;

// Pairs of all edges, numbers of all sizes, and such near to the unit circle and to -1.
std::vector<C> numbers() {
  const float edges[] = {0.0F,       -0.0F,      1.0F,       -1.0F,  0.5F,   -2.0F,
                         3.1415927F, 1.5707964F, -20.0F,     90.0F,  -90.F,  800.F,
                         -800.0F,    HUGE_VALF,  -HUGE_VALF, NAN,    1e-30F, -1e-3F,
                         1e18F,      2e30F,      16777216.F, 3.4e38F};
  std::vector<C> out;
  for (const float a : edges)
    for (const float b : edges) out.emplace_back(a, b);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto sized = [&](float size) { return normal(random) * std::exp(size * normal(random)); };
  for (int i = 0; i < 5000; ++i) {
    out.emplace_back(3 * normal(random), 3 * normal(random));
    out.emplace_back(sized(5), sized(5));
    const float angle = 3 * normal(random);
    out.emplace_back(std::cos(angle), std::sin(angle));
    out.emplace_back(std::cos(angle) - 1, std::sin(angle));
    out.emplace_back(sized(3), 3.1415927F * std::round(3 * normal(random)));
  }
  return out;
}

Literal literal_of(const std::vector<C>& numbers) {
  Literal out = Literal::uninitialized(
      Shape::array(ElementType::C64, {static_cast<int64_t>(numbers.size())}));
  std::ranges::copy(numbers, out.mutable_data<C>().begin());
  return out;
}

bool is_same_kind(float found, float expected) {
  if (std::isnan(expected)) return std::isnan(found);
  return std::isinf(expected) ? found == expected : std::isfinite(found);
}

// Where the larger part is nearly infinite, it may be so in one of both.
bool is_near(C found, C expected) {
  const auto is_finite = [](C x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); };
  const std::complex<double> x = found, y = expected;
  if (is_finite(found) && is_finite(expected)) return std::abs(x - y) <= 0x1.1p-23 * std::abs(y);
  return is_same_kind(found.real(), expected.real()) && is_same_kind(found.imag(), expected.imag());
}

class ComplexMath : public testing::TestWithParam<const char*> {};

TEST_P(ComplexMath, IsNearLibm) {
  const std::vector<C> in = numbers();
  const auto both = run_both_on(fmt::format("HloModule m\nENTRY e {{\n  p = c64[{0}] parameter(0)\n"
                                            "  ROOT r = c64[{0}] {1}(p)\n}}\n",
                                            in.size(), GetParam()),
                                {literal_of(in)});
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_TRUE(both->report.evaluated.empty());
  int shown = 0;
  for (size_t i = 0; i < in.size() && shown < 10; ++i) {
    const C found = both->compiled.data<C>()[i], expected = both->evaluated.data<C>()[i];
    const bool near = is_near(found, expected);
    if (!near) ++shown;
    EXPECT_TRUE(near) << fmt::format("{}({:a}, {:a}) = ({:a}, {:a}), not ({:a}, {:a})", GetParam(),
                                     in[i].real(), in[i].imag(), found.real(), found.imag(),
                                     expected.real(), expected.imag());
  }
}

INSTANTIATE_TEST_SUITE_P(Compile, ComplexMath,
                         testing::Values("exponential", "exponential-minus-one", "log",
                                         "log-plus-one", "logistic", "sqrt", "rsqrt", "sine",
                                         "cosine", "tan", "sinh", "cosh", "tanh"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Angles are multiplied by the exponent, and so is what they lack.
TEST(ComplexMath, Powers) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<C> bases, exponents;
  for (int i = 0; i < 10000; ++i) {
    bases.emplace_back(std::exp(normal(random)) * normal(random), normal(random));
    exponents.emplace_back(5 * normal(random), i % 3 ? 3 * normal(random) : 0.0F);
  }
  bases[0] = bases[1] = exponents[1] = exponents[2] = {0, 0};
  bases[3] = {-1, 0}, exponents[3] = {1000, 0};
  const auto both = run_both_on(
      "HloModule m\nENTRY e {\n  p = c64[10000] parameter(0)\n  q = c64[10000] parameter(1)\n"
      "  ROOT r = c64[10000] power(p, q)\n}\n",
      {literal_of(bases), literal_of(exponents)});
  ASSERT_TRUE(both) << to_string(both.error());
  for (size_t i = 0; i < bases.size(); ++i) {
    const C found = both->compiled.data<C>()[i], expected = both->evaluated.data<C>()[i];
    ASSERT_TRUE(is_near(found, expected))
        << bases[i] << "^" << exponents[i] << " = " << found << ", not " << expected;
  }
}

// Of edges the same kinds; of zero, as XLA, only positive real powers are numbers.
TEST(ComplexMath, PowersOfEdges) {
  const float edges[] = {0, -0.0F, 1, -2, 0.5F, HUGE_VALF, -HUGE_VALF, NAN};
  std::vector<C> all, bases, exponents;
  for (const float a : edges)
    for (const float b : edges) all.emplace_back(a, b);
  for (const C& base : all)
    for (const C& exponent : all) bases.push_back(base), exponents.push_back(exponent);
  const auto both = run_both_on(fmt::format("HloModule m\nENTRY e {{\n  p = c64[{0}] parameter(0)\n"
                                            "  q = c64[{0}] parameter(1)\n"
                                            "  ROOT r = c64[{0}] power(p, q)\n}}\n",
                                            bases.size()),
                                {literal_of(bases), literal_of(exponents)});
  ASSERT_TRUE(both) << to_string(both.error());
  for (size_t i = 0; i < bases.size(); ++i) {
    const C found = both->compiled.data<C>()[i], expected = both->evaluated.data<C>()[i];
    ASSERT_TRUE(is_same_kind(found.real(), expected.real()) &&
                is_same_kind(found.imag(), expected.imag()))
        << bases[i] << "^" << exponents[i] << " = " << found << ", not " << expected;
    if (bases[i] != C(0) || exponents[i] == C(0)) continue;
    const bool is_number = exponents[i].real() > 0 && exponents[i].imag() == 0;
    ASSERT_EQ(found == C(0), is_number) << exponents[i];
    ASSERT_EQ(std::isnan(found.real()) && std::isnan(found.imag()), !is_number) << exponents[i];
  }
}

}  // namespace
}  // namespace hilo::test
