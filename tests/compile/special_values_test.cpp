// NaN, infinities, zeros with their signs and subnormal numbers: compiled bit by bit as evaluated.
#include "both.h"

namespace hilo::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float small = std::numeric_limits<float>::denorm_min();
constexpr float normal = std::numeric_limits<float>::min();

// Each of `values` beside each other one, and so many ordinary ones behind that vectors have tails.
template <class T>
std::vector<Literal> pairs(ElementType type, const std::vector<T>& values) {
  const auto n = std::ssize(values), count = n * n + 5;
  const Shape shape = Shape::array(type, {count});
  std::vector<Literal> out = {Literal::zeros(shape), Literal::zeros(shape)};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = i < n * n ? i / n : 0, second = i < n * n ? i % n : 0;
    out[0].mutable_data<T>()[static_cast<size_t>(i)] = values[static_cast<size_t>(first)];
    out[1].mutable_data<T>()[static_cast<size_t>(i)] = values[static_cast<size_t>(second)];
  }
  return out;
}

std::string binary(std::string_view op, std::string_view type, int64_t count) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {0}[{1}] parameter(0)\n  y = {0}[{1}] parameter(1)\n"
      "  ROOT r = {0}[{1}] {2}(x, y)\n}}\n",
      type, count, op);
}
std::string unary(std::string_view op, std::string_view type, int64_t count) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {0}[{1}] parameter(0)\n  y = {0}[{1}] parameter(1)\n"
      "  ROOT r = {0}[{1}] {2}(x)\n}}\n",
      type, count, op);
}

// Both are NaN, or equal with their signs.
bool is_same(float a, float b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}
bool is_same(std::complex<float> a, std::complex<float> b) {
  return is_same(a.real(), b.real()) && is_same(a.imag(), b.imag());
}

template <class T>
void expect_same(const std::string& text, const std::vector<Literal>& arguments) {
  for (const std::string& processor : processors()) {
    const Result<Both> both = run_both_on(text, arguments, 1, processor);
    ASSERT_TRUE(both) << to_string(both.error()) << text;
    for (int64_t i = 0; i < both->compiled.count(); ++i) {
      const T a = both->compiled.data<T>()[static_cast<size_t>(i)];
      const T b = both->evaluated.data<T>()[static_cast<size_t>(i)];
      EXPECT_TRUE(is_same(a, b)) << processor << " " << i << ": " << a << ", evaluated " << b
                                 << text;
    }
  }
}

TEST(SpecialValues, ZerosAndNansOfExtremes) {
  const std::vector<float> values = {nan, inf, -inf, 0.0F, -0.0F, small, -small, normal, 1.0F};
  const auto arguments = pairs(ElementType::F32, values);
  for (const char* op : {"maximum", "minimum"}) {
    const std::string text = binary(op, "f32", arguments[0].count());
    expect_same<float>(text, arguments);
    const Result<Both> both = run_both_on(text, arguments);
    ASSERT_TRUE(both) << to_string(both.error());
    const bool is_maximum = std::string_view(op) == "maximum";
    for (size_t i = 0; i < values.size() * values.size(); ++i) {
      const float a = arguments[0].data<float>()[i], b = arguments[1].data<float>()[i];
      const float found = both->compiled.data<float>()[i];
      if (a != a || b != b) EXPECT_TRUE(found != found) << op << a << b;
      if (a == 0 && b == 0) {
        const bool is_negative =
            is_maximum ? std::signbit(a) && std::signbit(b) : std::signbit(a) || std::signbit(b);
        EXPECT_EQ(std::signbit(found), is_negative) << op << a << " " << b;
      }
    }
  }
}

TEST(SpecialValues, MaximumWithAConstantZero) {
  const auto arguments = pairs(ElementType::F32, std::vector<float>{nan, -0.0F, small, -inf, 2.0F});
  const int64_t count = arguments[0].count();
  for (const char* zero : {"0", "-0"})
    for (const char* op : {"maximum", "minimum"}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  x = f32[{0}] parameter(0)\n  y = f32[{0}] parameter(1)\n"
          "  c = f32[] constant({1})\n  z = f32[{0}] broadcast(c), dimensions={{}}\n"
          "  a = f32[{0}] {2}(x, z)\n  b = f32[{0}] {2}(z, y)\n  ROOT r = f32[{0}] add(a, b)\n}}\n",
          count, zero, op);
      expect_same<float>(text, arguments);
    }
}

// Of bits that LLVM sees too, as those of a bf16 and of a bitcast.
TEST(SpecialValues, SubnormalBitsEqualZero) {
  for (const char* type : {"u16", "u32", "u64"}) {
    const std::string of(type + 1), real = of == "16" ? "bf16" : "f" + of;
    for (const char* last : {"compare(x, z), direction=NE", "compare(z, x), direction=EQ",
                             "compare(x, z), direction=GT", "convert(x)"}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  b = {0}[4] parameter(0)\n  x = {1}[4] bitcast-convert(b)\n"
          "  c = {1}[] constant(0)\n  z = {1}[4] broadcast(c), dimensions={{}}\n"
          "  ROOT r = pred[4] {2}\n}}\n",
          type, real, last);
      Literal bits = Literal::zeros(Shape::array(*element_type_of(type), {4}));
      const uint64_t negative = 1 + (uint64_t{1} << (std::stoi(of) - 1)), one = 0x3f80;
      const auto fill = [&](auto values) {
        values[0] = 1,
        values[1] = static_cast<std::remove_reference_t<decltype(values[1])>>(negative);
        values[2] =
            static_cast<std::remove_reference_t<decltype(values[2])>>(one << (std::stoi(of) - 16));
      };
      if (of == "16") fill(bits.mutable_data<uint16_t>());
      if (of == "32") fill(bits.mutable_data<uint32_t>());
      if (of == "64") fill(bits.mutable_data<uint64_t>());
      expect_same<bool>(text, {bits});
    }
  }
}

TEST(SpecialValues, FunctionsTakeSubnormalsForZeros) {
  const auto arguments =
      pairs(ElementType::F32, std::vector<float>{small, -small, normal, -normal});
  for (const char* op : {"sine", "log", "cbrt", "sign", "tanh", "exponential-minus-one", "sqrt"})
    expect_same<float>(unary(op, "f32", arguments[0].count()), arguments);
}

TEST(SpecialValues, ComplexFunctionsFollowAnnexG) {
  std::vector<std::complex<float>> values;
  for (const float a : {nan, inf, -inf, 0.0F, -0.0F, small, 1.0F, -2.5F})
    for (const float b : {nan, inf, -inf, 0.0F, -0.0F, -small, 3.0F}) values.emplace_back(a, b);
  const Shape shape = Shape::array(ElementType::C64, {std::ssize(values)});
  Literal x = Literal::zeros(shape);
  std::ranges::copy(values, x.mutable_data<std::complex<float>>().begin());
  for (const char* op : {"negate", "sign", "rsqrt"})
    expect_same<std::complex<float>>(unary(op, "c64", x.count()), {x, x});
  // Of functions the kinds of the parts: NaN, infinite, zero and of which sign.
  const auto kind = [](float part) { return std::isfinite(part) && part != 0 ? 1.0F : part; };
  for (const char* op : {"exponential", "cosine", "sine", "sinh", "cosh", "tan", "tanh", "logistic",
                         "exponential-minus-one", "log", "sqrt"}) {
    const std::string text = unary(op, "c64", x.count());
    const Result<Both> both = run_both_on(text, {x, x});
    ASSERT_TRUE(both) << to_string(both.error());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto a = both->compiled.data<std::complex<float>>()[i];
      const auto b = both->evaluated.data<std::complex<float>>()[i];
      EXPECT_TRUE(is_same(kind(a.real()), kind(b.real())) &&
                  is_same(kind(a.imag()), kind(b.imag())))
          << op << values[i] << ": " << a << ", evaluated " << b;
    }
  }
}

// 2^-127 is a subnormal f32: what moves it keeps it, and arithmetic takes it for zero.
TEST(SpecialValues, SmallestPowerOfTwoMoves) {
  Literal x = Literal::zeros(Shape::array(ElementType::F8E8M0FNU, {256}));
  for (size_t i = 0; i < 256; ++i)
    x.mutable_data<F8E8M0FNU>()[i] = F8E8M0FNU::from_bits(static_cast<uint8_t>(i));
  Literal choice = Literal::zeros(Shape::array(ElementType::Pred, {256}));
  for (size_t i = 0; i < 256; ++i) choice.mutable_data<bool>()[i] = i % 3 == 0;
  const std::string text = R"(HloModule m
ENTRY e {
  x = f8e8m0fnu[256] parameter(0)
  p = pred[256] parameter(1)
  v = f8e8m0fnu[256] reverse(x), dimensions={0}
  w = f8e8m0fnu[256] reverse(v), dimensions={0}
  a = f8e8m0fnu[256] abs(w)
  ROOT r = f8e8m0fnu[256] select(p, a, x)
}
)";
  const Result<Both> both = run_both_on(text, {x, choice});
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_TRUE(same_bits(both->evaluated, x));
  EXPECT_TRUE(same_bits(both->compiled, x));
}

TEST(SpecialValues, BytesBecomeWhatEvaluationSays) {
  for (const ElementType from :
       {ElementType::F8E8M0FNU, ElementType::F8E5M2, ElementType::F8E4M3}) {
    const Shape shape = Shape::array(from, {256});
    Literal x = Literal::zeros(shape);
    for (size_t i = 0; i < 256; ++i) x.mutable_raw()[i] = static_cast<std::byte>(i);
    for (const char* to : {"f64", "s1", "u2", "pred"}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  x = {0}[256] parameter(0)\n"
          "  v = {0}[256] reverse(x), dimensions={{0}}\n  ROOT r = {1}[256] convert(v)\n}}\n",
          text_of(from), to);
      const Result<Both> both = run_both_on(text, {x});
      ASSERT_TRUE(both) << to_string(both.error());
      EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0) << text;
      const auto zero_of_s1 = [&](int64_t i) { return both->compiled.number_at(i) == 0; };
      if (std::string_view(to) == "s1" && from == ElementType::F8E8M0FNU)  // no negative numbers
        for (int64_t i = 0; i < 256; ++i) EXPECT_TRUE(zero_of_s1(i)) << i;
    }
    const std::string moved = fmt::format(
        "HloModule m\nENTRY e {{\n  x = {0}[256] parameter(0)\n  p = pred[256] parameter(1)\n"
        "  v = {0}[256] reverse(x), dimensions={{0}}\n  w = {0}[256] reverse(v), dimensions={{0}}\n"
        "  ROOT r = {0}[256] select(p, w, x)\n}}\n",
        text_of(from));
    Literal choice = Literal::zeros(Shape::array(ElementType::Pred, {256}));
    for (size_t i = 0; i < 256; i += 2) choice.mutable_data<bool>()[i] = true;
    const Result<Both> both = run_both_on(moved, {x, choice});
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_TRUE(same_bits(both->compiled, x)) << text_of(from);
    EXPECT_TRUE(same_bits(both->evaluated, x)) << text_of(from);
  }
}

// (1 + 0i) (0 + 1i) (inf + 0i), in that order, has a NaN and an infinity.
TEST(SpecialValues, ComplexProductsStartWithTheInitialValue) {
  const std::string text = R"(HloModule m
product { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT r = c64[] multiply(a, b) }
ENTRY e {
  x = c64[20,2] parameter(0)
  one = c64[] parameter(1)
  ROOT r = c64[20] reduce(x, one), dimensions={1}, to_apply=product
}
)";
  Literal x = Literal::zeros(Shape::array(ElementType::C64, {20, 2}));
  for (size_t i = 0; i < 20; ++i) {
    x.mutable_data<std::complex<float>>()[2 * i] = {0, 1};
    x.mutable_data<std::complex<float>>()[2 * i + 1] = {inf, 0};
  }
  Literal one = Literal::zeros(Shape::array(ElementType::C64, {}));
  one.mutable_data<std::complex<float>>()[0] = 1;
  expect_same<std::complex<float>>(text, {x, one});
}

}  // namespace
}  // namespace hilo::test
