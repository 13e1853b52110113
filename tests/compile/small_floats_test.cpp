// Floats of 8 and fewer bits: every number, and every place where rounding turns, as evaluated.
#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

constexpr ElementType small_types[] = {
    ElementType::F4E2M1FN,   ElementType::F6E2M3FN,      ElementType::F6E3M2FN,
    ElementType::F8E3M4,     ElementType::F8E4M3,        ElementType::F8E4M3FN,
    ElementType::F8E5M2,     ElementType::F8E4M3B11FNUZ, ElementType::F8E4M3FNUZ,
    ElementType::F8E5M2FNUZ, ElementType::F8E8M0FNU};
constexpr ElementType other_types[] = {ElementType::Pred, ElementType::S4,  ElementType::U8,
                                       ElementType::S32,  ElementType::U64, ElementType::F16,
                                       ElementType::BF16, ElementType::F32, ElementType::F64};

// All bit patterns of the type.
Literal all_patterns(ElementType type) {
  const int64_t count = int64_t{1} << bits_of(type);
  Literal out = Literal::uninitialized(Shape::array(type, {count}));
  auto bytes = out.mutable_raw();
  for (int64_t i = 0; i < count; ++i) bytes[static_cast<size_t>(i)] = static_cast<std::byte>(i);
  return out;
}

// The numbers of the type, the middles of neighbours, the next numbers of T to both, and what is
// far outside, with both signs.
template <class T>
std::vector<T> turning_points(ElementType type) {
  std::vector<double> numbers;
  const Literal all = all_patterns(type);
  for (int64_t i = 0; i < all.count(); ++i)
    if (const double x = all.number_at(i); x >= 0 && std::isfinite(x)) numbers.push_back(x);
  std::ranges::sort(numbers);
  std::vector<double> places = numbers;
  for (size_t i = 1; i < numbers.size(); ++i) places.push_back((numbers[i - 1] + numbers[i]) / 2);
  const double most = numbers.back(), step = most - numbers[numbers.size() - 2];
  for (double more : {step / 2, step, 2 * step, 3 * most}) places.push_back(most + more);
  for (double x : {HUGE_VAL, 3e38, 1e-40, double(NAN)}) places.push_back(x);
  std::vector<T> out;
  for (double place : places) {
    const T x = static_cast<T>(place);
    for (T y : {x, std::nextafter(x, T(0)), std::nextafter(x, std::numeric_limits<T>::infinity())})
      out.push_back(y), out.push_back(-y);
  }
  return out;
}

template <class T>
void expect_rounded(ElementType type, ElementType from) {
  const std::vector<T> points = turning_points<T>(type);
  const auto count = static_cast<int64_t>(points.size());
  Literal argument = Literal::uninitialized(Shape::array(from, {count}));
  std::ranges::copy(points, argument.mutable_data<T>().begin());
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  p = {0}[{1}] parameter(0)\n  c = {2}[{1}] convert(p)\n"
      "  r = {2}[{1}] reverse(c), dimensions={{0}}\n  w = f32[{1}] convert(c)\n"
      "  ROOT t = ({2}[{1}], {2}[{1}], f32[{1}]) tuple(c, r, w)\n}}\n",
      text_of(from), count, text_of(type));
  const auto both = run_both_on(text, {argument});
  expect_native(both, text);
  ASSERT_TRUE(both);
  // NaN and zeros too.
  for (size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(
        std::ranges::equal(both->compiled.elements()[i].raw(), both->evaluated.elements()[i].raw()))
        << text;
}

TEST(SmallFloats, RoundWhereTheEvaluatorRounds) {
  for (ElementType type : small_types) {
    expect_rounded<float>(type, ElementType::F32);
    expect_rounded<double>(type, ElementType::F64);
  }
}

TEST(SmallFloats, EveryPatternBecomesEveryType) {
  for (ElementType type : small_types) {
    std::string body, shapes, results;
    const int count = 1 << bits_of(type);
    const auto add = [&](ElementType to) {
      const std::string_view name = text_of(to);
      body += fmt::format("  c{0} = {0}[{1}] convert(p)\n", name, count);
      shapes += fmt::format("{}[{}], ", name, count);
      results += fmt::format("c{}, ", name);
    };
    for (ElementType to : small_types)
      if (to != type) add(to);
    for (ElementType to : other_types) add(to);
    const std::string text = fmt::format(
        "HloModule m\nENTRY e {{\n  p = {0}[{1}] parameter(0)\n{2}"
        "  r = {0}[{1}] reverse(p), dimensions={{0}}\n  ROOT t = ({3}{0}[{1}]) tuple({4}r)\n}}\n",
        text_of(type), count, body, shapes, results);
    const auto both = run_both_on(text, {all_patterns(type)});
    expect_native(both, text);
    ASSERT_TRUE(both);
    // What only moves keeps its bits.
    EXPECT_TRUE(std::ranges::equal(both->compiled.elements().back().raw(),
                                   both->evaluated.elements().back().raw()))
        << text;
  }
}

TEST(SmallFloats, FunctionsOfEveryNumber) {
  for (ElementType type : small_types) {
    const std::string array = fmt::format("{}[{}]", text_of(type), 1 << bits_of(type));
    std::string body, shapes, results;
    for (int i = 0; i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      if (!is_elementwise(op) || info(op).operands != 1 || !(info(op).types & MaskFloat) ||
          op == Op::Convert || op == Op::IsFinite || op == Op::ReducePrecision ||
          op == Op::BitcastConvert)
        continue;
      body += fmt::format("  r{} = {} {}(p)\n", i, array, text_of(op));
      shapes += array + ", ";
      results += fmt::format("r{}, ", i);
    }
    const std::string text = fmt::format(
        "HloModule m\nENTRY e {{\n  p = {0} parameter(0)\n{1}  ROOT t = ({2}{0}) tuple({3}p)\n}}\n",
        array, body, shapes, results);
    Literal numbers = all_patterns(type);
    // Sines of the least f32 lie just below it, where it is told apart from 0 or not.
    if (type == ElementType::F8E8M0FNU) std::fill_n(numbers.mutable_raw().begin(), 2, std::byte{2});
    expect_native(run_both_on(text, {numbers}), text);
  }
}

TEST(SmallFloats, BitsAreCastBothWays) {
  for (ElementType type : small_types) {
    if (bits_of(type) != 8) continue;
    const std::string text = fmt::format(
        "HloModule m\nENTRY e {{\n  p = u8[256] parameter(0)\n"
        "  f = {0}[256] bitcast-convert(p)\n  w = f32[256] convert(f)\n"
        "  q = {0}[256] parameter(1)\n  b = u8[256] bitcast-convert(q)\n"
        "  ROOT t = ({0}[256], f32[256], u8[256]) tuple(f, w, b)\n}}\n",
        text_of(type));
    expect_native(run_both_on(text, {all_patterns(ElementType::U8), all_patterns(type)}), text);
  }
}

TEST(SmallFloats, ProductsReductionsAndLoops) {
  for (ElementType type : small_types)
    for (const char* sizes : {"3, 5", "70, 130"}) {
      const std::string text = fmt::format(
          R"(HloModule m
add {{
  a = {0}[] parameter(0)
  c = {0}[] parameter(1)
  ROOT s = {0}[] add(a, c)
}}
ENTRY e {{
  x = f32[{1}] parameter(0)
  w = f32[{1}] parameter(1)
  a = {0}[{1}] convert(x)
  c = {0}[{1}] convert(w)
  d = f32[{2},{2}] dot(a, c), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  n = bf16[{2},{2}] dot(a, c), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  m = {0}[{3},{3}] dot(a, c), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  k = f32[] constant(1)
  zero = {0}[] convert(k)
  r = {0}[{2}] reduce(a, zero), dimensions={{1}}, to_apply=add
  t = {0}[{3},{2}] transpose(a), dimensions={{1,0}}
  g = {0}[2,{3}] slice(a), slice={{[1:3], [0:{3}]}}
  ROOT o = (f32[{2},{2}], bf16[{2},{2}], {0}[{3},{3}], {0}[{2}], {0}[{3},{2}], {0}[2,{3}]) tuple(d, n, m, r, t, g)
}}
)",
          text_of(type), sizes, std::string_view(sizes).substr(0, sizes[1] == ',' ? 1 : 2),
          std::string_view(sizes).substr(sizes[1] == ',' ? 3 : 4));
      const auto both = run_both(text);
      ASSERT_TRUE(both) << to_string(both.error()) << text;
      EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << text;
      EXPECT_TRUE(both->report.evaluated.empty()) << both->report.evaluated[0].reason << text;
    }
}

}  // namespace
}  // namespace hilo::test
