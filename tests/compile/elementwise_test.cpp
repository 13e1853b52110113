// Elementwise ops, each of every element type that it takes, against the evaluator.
#include <algorithm>
#include <complex>

#include "both.h"

namespace hilo::test {
namespace {

uint8_t mask_of(ElementType type) {
  if (type == ElementType::Pred) return MaskPred;
  if (is_complex(type)) return MaskComplex;
  if (is_floating(type)) return MaskFloat;
  return is_signed(type) ? MaskSigned : MaskUnsigned;
}

constexpr ElementType types[] = {ElementType::Pred,       ElementType::S4,
                                 ElementType::U4,         ElementType::S8,
                                 ElementType::U8,         ElementType::S16,
                                 ElementType::U16,        ElementType::S32,
                                 ElementType::U32,        ElementType::S64,
                                 ElementType::U64,        ElementType::F16,
                                 ElementType::BF16,       ElementType::F32,
                                 ElementType::F64,        ElementType::F4E2M1FN,
                                 ElementType::F6E2M3FN,   ElementType::F6E3M2FN,
                                 ElementType::F8E3M4,     ElementType::F8E4M3,
                                 ElementType::F8E4M3FN,   ElementType::F8E4M3B11FNUZ,
                                 ElementType::F8E4M3FNUZ, ElementType::F8E5M2,
                                 ElementType::F8E5M2FNUZ, ElementType::F8E8M0FNU};

// Ops with a typing of their own, tested below.
bool is_plain_op(Op op) {
  return op != Op::Convert && op != Op::Compare && op != Op::Select && op != Op::Clamp &&
         op != Op::StochasticConvert && op != Op::ReducePrecision && op != Op::Complex &&
         op != Op::IsFinite;
}

// Ops that take complex numbers as they are typed, and that nothing gives a meaning.
bool has_no_complex_kernel(Op op) {
  return op == Op::Maximum || op == Op::Minimum || op == Op::Remainder;
}

// One module with every plain op that takes the type; how many there are.
std::string module_of(ElementType type, int& count) {
  const std::string array = fmt::format("{}[67]", text_of(type));
  std::string body, shapes, results;
  for (int i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (!is_elementwise(op) || !is_plain_op(op) || !(info(op).types & mask_of(type))) continue;
    body += fmt::format("  r{} = {} {}({})\n", i, array, text_of(op),
                        info(op).operands == 1 ? "p" : "p, q");
    shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", array);
    results += fmt::format("{}r{}", results.empty() ? "" : ", ", i);
    ++count;
  }
  return fmt::format(
      "HloModule m\nENTRY e {{\n  p = {0} parameter(0)\n  q = {0} parameter(1)\n{1}"
      "  ROOT t = ({2}) tuple({3})\n}}\n",
      array, body, shapes, results);
}

TEST(Elementwise, EveryOpOfEveryTypeIsNativeAndEqual) {
  int ops = 0;
  for (ElementType type : types) {
    const std::string text = module_of(type, ops);
    expect_native(text, is_floating(type) ? 1e-7 : 0);
  }
  EXPECT_GT(ops, 250);
}

TEST(Elementwise, ComplexNumbers) {
  int ops = 0;
  for (ElementType type : {ElementType::C64, ElementType::C128}) {
    const std::string_view name = text_of(type), part = text_of(real_type_of(type));
    std::string body, shapes, results;
    for (int i = 0; i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      if (!is_elementwise(op) || !is_plain_op(op) || !(info(op).types & MaskComplex) ||
          has_no_complex_kernel(op))
        continue;
      const bool is_real = op == Op::Abs || op == Op::Real || op == Op::Imag;
      body += fmt::format("  r{} = {}[67] {}({})\n", i, is_real ? part : name, text_of(op),
                          info(op).operands == 1 ? "p" : "p, q");
      shapes += fmt::format("{}[67], ", is_real ? part : name);
      results += fmt::format("r{}, ", i);
      ++ops;
    }
    expect_native(
        fmt::format(
            "HloModule m\nENTRY e {{\n  p = {0}[67] parameter(0)\n  q = {0}[67] parameter(1)\n"
            "  b = {1}[67] parameter(2)\n{2}  eq = pred[67] compare(p, q), direction=EQ\n"
            "  ne = pred[67] compare(p, q), direction=NE\n  s = {0}[67] select(eq, q, p)\n"
            "  j = {0}[67] complex(b, b)\n  f = c64[67] convert(p)\n  d = c128[67] convert(q)\n"
            "  h = bf16[67] convert(p)\n  c = {0}[67] convert(b)\n"
            "  ROOT t = ({3}pred[67], pred[67], {0}[67], {0}[67], c64[67], c128[67], bf16[67], "
            "{0}[67]) tuple({4}eq, ne, s, j, f, d, h, c)\n}}\n",
            name, part, body, shapes, results),
        type == ElementType::C64 ? 1e-7 : 1e-15);
  }
  EXPECT_GT(ops, 40);
}

TEST(Elementwise, ComplexProductsAndQuotientsOfAllKindsOfNumbers) {
  const std::string_view parts[] = {"0", "-0", "1", "-2", "inf", "-inf", "nan", "1e30", "1e-30"};
  std::string xs, ys;
  for (size_t i = 0; i < 6561; ++i) {
    const std::string_view comma = i ? "," : "";
    xs += fmt::format("{}({},{})", comma, parts[i / 729], parts[i / 81 % 9]);
    ys += fmt::format("{}({},{})", comma, parts[i / 9 % 9], parts[i % 9]);
  }
  expect_native(fmt::format(
      "HloModule m\nENTRY e {{\n  i = s32[6561] iota(), iota_dimension=0\n  x = c64[6561] "
      "constant({{{}}})\n  y = c64[6561] constant({{{}}})\n  z = s32[6561] parameter(0)\n"
      "  o = pred[6561] compare(z, i), direction=LT\n  u = c64[6561] select(o, x, y)\n"
      "  v = c64[6561] select(o, y, x)\n  m = c64[6561] multiply(u, v)\n"
      "  d = c64[6561] divide(u, v)\n  rm = f32[6561] real(m)\n  im = f32[6561] imag(m)\n"
      "  rd = f32[6561] real(d)\n  id = f32[6561] imag(d)\n  a = f32[6561] abs(u)\n"
      "  ROOT t = (f32[6561], f32[6561], f32[6561], f32[6561], f32[6561]) "
      "tuple(rm, im, rd, id, a)\n}}\n",
      xs, ys));
}

TEST(Elementwise, ComplexNumbersTimesTheirConjugates) {
  const std::string_view parts[] = {"0",   "-0",   "1",     "-2.1",  "inf",   "-inf",
                                    "nan", "1e30", "1e-30", "-3e38", "0.333", "16777215"};
  const size_t count = std::size(parts), all = count * count;
  std::string xs;
  for (size_t i = 0; i < all; ++i)
    xs += fmt::format("{}({},{})", i ? "," : "", parts[i / count], parts[i % count]);
  for (const std::string_view product : {"multiply(x, turned)", "multiply(turned, x)"})
    expect_native(fmt::format(
        "HloModule m\nENTRY e {{\n  i = s32[{0}] iota(), iota_dimension=0\n  z = s32[{0}] "
        "parameter(0)\n  o = pred[{0}] compare(z, i), direction=LT\n  y = c64[{0}] "
        "constant({{{1}}})\n  w = c64[{0}] negate(y)\n  x = c64[{0}] select(o, y, w)\n"
        "  real = f32[{0}] real(x)\n  imaginary = f32[{0}] imag(x)\n"
        "  minus = f32[{0}] negate(imaginary)\n  turned = c64[{0}] complex(real, minus)\n"
        "  m = c64[{0}] {2}\n  rm = f32[{0}] real(m)\n  im = f32[{0}] imag(m)\n"
        "  ones = f32[{0}] broadcast(f32[] constant(1)), dimensions={{}}\n"
        "  s = f32[{0}] divide(ones, im)\n  ROOT t = (f32[{0}], f32[{0}], f32[{0}]) "
        "tuple(rm, im, s)\n}}\n",
        all, xs, product));
}

// Functions have cuts along the axes: the signs of zeros say on which side a quotient lies.
TEST(Elementwise, ZerosOfComplexQuotientsHaveSigns) {
  const std::string_view parts[] = {"0", "-0", "1", "-1", "2", "-2", "inf", "-inf"};
  const size_t count = std::size(parts), all = count * count * count * count;
  std::string xs, ys;
  for (size_t i = 0; i < all; ++i) {
    const auto part = [&](size_t step) { return parts[i / step % count]; };
    const std::string_view comma = i ? "," : "";
    xs += fmt::format("{}({},{})", comma, part(count * count * count), part(count * count));
    ys += fmt::format("{}({},{})", comma, part(count), part(1));
  }
  for (ElementType type : {ElementType::C64, ElementType::C128}) {
    const std::string_view name = text_of(type), real = text_of(real_type_of(type));
    expect_native(fmt::format(
        "HloModule m\nENTRY e {{\n  i = s32[{4}] iota(), iota_dimension=0\n  x = {0}[{4}] "
        "constant({{{2}}})\n  y = {0}[{4}] constant({{{3}}})\n  z = s32[{4}] parameter(0)\n"
        "  o = pred[{4}] compare(z, i), direction=LT\n  u = {0}[{4}] select(o, x, y)\n"
        "  v = {0}[{4}] select(o, y, x)\n  d = {0}[{4}] divide(u, v)\n"
        "  re = {1}[{4}] real(d)\n  im = {1}[{4}] imag(d)\n  one = {1}[] constant(1)\n"
        "  ones = {1}[{4}] broadcast(one), dimensions={{}}\n  r = {1}[{4}] divide(ones, re)\n"
        "  s = {1}[{4}] divide(ones, im)\n  ROOT t = ({1}[{4}], {1}[{4}]) tuple(r, s)\n}}\n",
        name, real, xs, ys, all));
  }
}

// Of usual sizes and of all sizes, in all lanes of a vector, one, none and every second one.
TEST(Elementwise, QuotientsOfComplexDoubles) {
  constexpr int64_t count = 16384 + 37;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto part = [&](bool is_far) {
    const double edges[] = {0.0, -0.0, 0x1p-1022, 1.7e308, 0x1p-53, HUGE_VAL, std::nan("")};
    if (random() % 16 == 0) return edges[is_far ? random() % std::size(edges) : random() % 2];
    return std::ldexp(normal(random), is_far ? static_cast<int>(random() % 2000) - 1000 : 0);
  };
  std::vector<Literal> in(2, Literal::uninitialized(Shape::array(ElementType::C128, {count})));
  for (Literal& numbers : in)
    for (int64_t i = 0; i < count; ++i) {
      const bool is_far[] = {true, i % 64 == 5, false, i % 2 == 0};
      const double real = part(is_far[i / 64 % 4]), imaginary = part(is_far[i / 64 % 4]);
      numbers.mutable_data<std::complex<double>>()[i] = {real, imaginary};
    }
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  x = c128[{0}] parameter(0)\n  y = c128[{0}] parameter(1)\n"
      "  d = c128[{0}] divide(x, y)\n  real = f64[{0}] real(d)\n  imaginary = f64[{0}] imag(d)\n"
      "  ROOT t = (f64[{0}], f64[{0}]) tuple(real, imaginary)\n}}\n",
      count);
  const auto both = run_both_on(text, in);
  expect_native(both, text);
}

// Squares of the parts would overflow or vanish.
TEST(Elementwise, LengthsOfComplexDoubles) {
  const double inf = HUGE_VAL, nan = std::nan("");
  const std::vector<std::complex<double>> numbers = {
      {3, -4},       {1e300, 1e300}, {1e-200, -2e-200}, {1.7e308, 1e307}, {-1.5e308, 1.5e308},
      {0, 0},        {-0.0, 5e-300}, {inf, nan},        {nan, -inf},      {nan, 1},
      {1e-307, 1e3}, {2.3e-308, 0},  {1e200, 1e-200}};
  Literal in = Literal::uninitialized(
      Shape::array(ElementType::C128, {static_cast<int64_t>(numbers.size())}));
  std::ranges::copy(numbers, in.mutable_data<std::complex<double>>().begin());
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  p = c128[{0}] parameter(0)\n  ROOT r = f64[{0}] abs(p)\n}}\n",
      numbers.size());
  expect_native(run_both_on(text, {in}), text, 1e-15);
  const auto both = run_both_on(text, {in});
  ASSERT_TRUE(both);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double exact = std::hypot(numbers[i].real(), numbers[i].imag());
    const double found = both->compiled.data<double>()[i];
    EXPECT_TRUE(found == exact || std::fabs(found / exact - 1) < 5e-16 ||
                (std::isnan(found) && std::isnan(exact)))
        << i << " " << found << " " << exact;
  }
}

// Within a unit of the last place, of all magnitudes.
TEST(Elementwise, LengthsOfComplexSingles) {
  constexpr int64_t count = 1 << 16;
  Literal in = Literal::uninitialized(Shape::array(ElementType::C64, {count}));
  const auto numbers = in.mutable_data<std::complex<float>>();
  std::mt19937_64 random(4);
  for (auto& number : numbers) {
    const uint64_t bits = random();
    float x = std::bit_cast<float>(static_cast<uint32_t>(bits)),
          y = std::bit_cast<float>(static_cast<uint32_t>(bits >> 32));
    if (bits % 4 > 0 && std::isfinite(x)) y = std::ldexp(x, static_cast<int>(bits % 7) - 3) * 0.7F;
    number = {x, y};
  }
  numbers[0] = {HUGE_VALF, NAN}, numbers[1] = {NAN, -HUGE_VALF}, numbers[2] = {-0.0F, 0.0F};
  numbers[3] = {0x1.fffffep127F, 0x1p127F}, numbers[4] = {0x1p-126F, 0x1p-126F};
  numbers[5] = {1e-40F, 0}, numbers[6] = {0, -0x1.fffffep127F};
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  p = c64[{0}] parameter(0)\n  ROOT r = f32[{0}] abs(p)\n}}\n",
      count);
  for (const std::string& processor : processors()) {
    const auto both = run_both_on(text, {in}, 1, processor);
    ASSERT_TRUE(both);
    for (int64_t i = 0; i < count; ++i) {
      const auto flushed = [](double x) { return std::fabs(x) < 0x1p-126 ? 0 : x; };
      const double x = flushed(numbers[i].real()), y = flushed(numbers[i].imag());
      const double exact = std::hypot(x, y), found = both->compiled.data<float>()[i];
      const double unit = std::ldexp(1, std::max(std::ilogb(exact), -126) - 23);
      EXPECT_TRUE(std::isnan(exact) ? std::isnan(found)
                                    : found == exact || found == static_cast<float>(exact) ||
                                          std::fabs(found - exact) < unit)
          << x << " " << y << " " << found << " " << exact;
    }
  }
}

TEST(Elementwise, ConversionsBetweenAllTypes) {
  for (ElementType from : types) {
    std::string body, results, shapes;
    for (ElementType to : types) {
      const std::string_view name = text_of(to);
      body += fmt::format("  c{0} = {0}[67] convert(p)\n", name);
      results += fmt::format("{}c{}", results.empty() ? "" : ", ", name);
      shapes += fmt::format("{}{}[67]", shapes.empty() ? "" : ", ", name);
    }
    expect_native(
        fmt::format("HloModule m\nENTRY e {{\n  p = {}[67] parameter(0)\n{}"
                    "  ROOT r = ({}) tuple({})\n}}\n",
                    text_of(from), body, shapes, results));
  }
}

TEST(Elementwise, IntegersDivideByZeroAndShiftBeyondTheWidth) {
  expect_native(R"(HloModule m
ENTRY e {
  a = s32[5] constant({7, -2147483648, -7, 0, 5})
  z = s32[5] constant({0, -1, 2, 0, 40})
  u = u32[5] constant({7, 8, 9, 0, 5})
  v = u32[5] constant({0, 1, 2, 0, 40})
  d = s32[5] divide(a, z)
  m = s32[5] remainder(a, z)
  l = s32[5] shift-left(a, z)
  r = s32[5] shift-right-arithmetic(a, z)
  g = s32[5] shift-right-logical(a, z)
  ud = u32[5] divide(u, v)
  um = u32[5] remainder(u, v)
  w = s32[5] power(a, z)
  ROOT t = (s32[5], s32[5], s32[5], s32[5], s32[5], u32[5], u32[5], s32[5]) tuple(d, m, l, r, g, ud, um, w)
}
)");
}

// Quotients that are just integers, just less and just more, of all magnitudes; of the narrow types
// all pairs there are.
TEST(Elementwise, IntegersDivideAtWholeQuotients) {
  for (std::string_view type : {"s8", "u8", "s16", "u16", "s32", "u32"}) {
    const int bits = type.substr(1) == "8" ? 8 : type.substr(1) == "16" ? 16 : 32;
    const std::string pairs = fmt::format(R"(  high = u32[65536] shift-right-logical(i, eights)
  n = {0}[65536] convert(high)
  d = {0}[65536] convert(i)
)",
                                          type);
    const std::string near_wholes = fmt::format(R"(  odd = u32[] constant(2654435761)
  odds = u32[65536] broadcast(odd), dimensions={{}}
  h = u32[65536] multiply(i, odds)
  high = u32[65536] shift-right-logical(h, eights)
  g = u32[65536] multiply(high, odds)
  most = u32[] constant({1})
  mask = u32[65536] broadcast(most), dimensions={{}}
  by = u32[65536] and(high, mask)
  d0 = {0}[65536] convert(g)
  shift = {0}[65536] convert(by)
  d = {0}[65536] shift-right-arithmetic(d0, shift)
  q0 = {0}[65536] convert(h)
  more = {0}[65536] subtract(bits, shift)
  q = {0}[65536] shift-right-arithmetic(q0, more)
  whole = {0}[65536] multiply(q, d)
  three = u32[] constant(3)
  threes = u32[65536] broadcast(three), dimensions={{}}
  near = u32[65536] remainder(i, threes)
  beside = {0}[65536] convert(near)
  one = {0}[] constant(1)
  ones = {0}[65536] broadcast(one), dimensions={{}}
  n1 = {0}[65536] add(whole, beside)
  n = {0}[65536] subtract(n1, ones)
)",
                                                type, bits - 1);
    expect_native(fmt::format(R"(HloModule m
ENTRY e {{
  i = u32[65536] iota(), iota_dimension=0
  eight = u32[] constant(8)
  eights = u32[65536] broadcast(eight), dimensions={{}}
  width = {0}[] constant({1})
  bits = {0}[65536] broadcast(width), dimensions={{}}
  s = {0}[] parameter(0)
  same = {0}[65536] broadcast(s), dimensions={{}}
{2}  divided = {0}[65536] divide(n, d)
  rest = {0}[65536] remainder(n, d)
  parts = {0}[65536] divide(n, same)
  left = {0}[65536] remainder(n, same)
  ROOT t = ({0}[65536], {0}[65536], {0}[65536], {0}[65536]) tuple(divided, rest, parts, left)
}}
)",
                              type, bits - 1, bits == 8 ? pairs : near_wholes));
  }
}

// A remainder by 1 is what of a coordinate wraps around: all bits of all numbers of 16 bits, and as
// many others spread over the wider types.
TEST(Elementwise, RemaindersByPowersOfTwo) {
  for (const std::string_view type : {"f16", "bf16", "f32", "f64"}) {
    const int bits = type.ends_with("16") ? 16 : type == "f32" ? 32 : 64;
    const double least = 0x1p-124;  // subnormal numbers are zeros in code
    for (const double power : {1.0, -2.0, 1024.0, 0.5, 1e30, 3.0}) {
      if (type == "f16" && power > 6e4) continue;
      expect_native(fmt::format(R"(HloModule m
ENTRY e {{
  i = u{1}[65536] iota(), iota_dimension=0
  up = u{1}[] constant({2})
  ups = u{1}[65536] broadcast(up), dimensions={{}}
  all = u{1}[65536] shift-left(i, ups)
  rest = u{1}[65536] add(all, i)
  x = {0}[65536] bitcast-convert(rest)
  one = {0}[] constant({3})
  ones = {0}[65536] broadcast(one), dimensions={{}}
  ROOT r = {0}[65536] remainder(x, ones)
}}
)",
                                type, bits, bits == 16 ? 16 : bits - 16, power),
                    least);
    }
  }
}

TEST(Elementwise, ConversionsSaturate) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[6] constant({nan, inf, -inf, 3e9, -3e9, 255.9})
  a = s32[6] convert(x)
  b = u8[6] convert(x)
  c = s4[6] convert(x)
  d = u64[6] convert(x)
  e = pred[6] convert(x)
  f = bf16[6] convert(x)
  ROOT t = (s32[6], u8[6], s4[6], u64[6], pred[6], bf16[6]) tuple(a, b, c, d, e, f)
}
)");
}

// Vectors and what is left of them, of numbers that are not known when code is made.
TEST(Elementwise, ConversionsOfVectorsSaturate) {
  const std::vector<double> numbers = {NAN,          HUGE_VAL, -HUGE_VAL, 3e9,    -3e9,
                                       255.9,        -0.9,     1e20,      -1e20,  2147483648.,
                                       -2147483648., 127.5,    -128.5,    65536., 7.,
                                       4294967296.,  -1.,      32768.,    9.3e18, 1.9e19};
  for (const char* type : {"f32", "f64", "bf16", "f16"}) {
    std::string text = fmt::format(
        "HloModule m\nENTRY e {{\n  y = f64[80] parameter(0)\n"
        "  x = {}[80] convert(y)\n",
        type);
    std::string shapes, values;
    for (const char* to : {"s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
      text += fmt::format("  r{0} = {0}[80] convert(x)\n", to);
      shapes += fmt::format("{}{}[80]", shapes.empty() ? "" : ", ", to);
      values += fmt::format("{}r{}", values.empty() ? "" : ", ", to);
    }
    text += fmt::format("  ROOT t = ({}) tuple({})\n}}\n", shapes, values);
    std::vector<double> given;
    while (given.size() < 80) given.insert(given.end(), numbers.begin(), numbers.end());
    for (const std::string& processor : processors()) {
      const auto both = run_both_on(text, {Literal::from<double>({80}, given)}, 1, processor);
      expect_native(both, text);
      EXPECT_EQ(both->compiled.elements()[6].data<int32_t>()[0], 0);
      EXPECT_EQ(both->compiled.elements()[6].data<int32_t>()[1], INT32_MAX);
      EXPECT_EQ(both->compiled.elements()[6].data<int32_t>()[2], INT32_MIN);
    }
  }
}

TEST(Elementwise, ComparisonsOfNumbersAndNan) {
  for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"})
    for (const char* order : {"", ", type=TOTALORDER"})
      expect_native(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[6] constant({{nan, 0, -0, 1, -inf, -nan}})
  y = f32[6] constant({{1, -0, 0, 1, nan, nan}})
  ROOT r = pred[6] compare(x, y), direction={}{}
}}
)",
                                direction, order));
}

TEST(Elementwise, ASelectToANarrowerTypeRounds) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[99] parameter(0)
  p = pred[99] parameter(1)
  k = f32[] constant(1.0061)
  b = f32[99] broadcast(k), dimensions={}
  y = f32[99] multiply(x, b)
  ROOT s = bf16[99] select(p, y, b)
}
)");
}

TEST(Elementwise, ClampsSelectsAndReducesPrecision) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[33] parameter(0)
  p = pred[33] parameter(1)
  low = f32[] constant(-1)
  high = f32[] constant(1.5)
  c = f32[33] clamp(low, x, high)
  s = f32[33] select(p, x, c)
  q = f32[33] reduce-precision(x), exponent_bits=3, mantissa_bits=2
  f = pred[33] is-finite(x)
  ROOT t = (f32[33], f32[33], f32[33], pred[33]) tuple(c, s, q, f)
}
)");
}

// Cheap numbers of rows are made where the rows are.
TEST(Elementwise, NumbersOfRowsAreNotStored) {
  for (const char* dims : {"500,32", "500,33", "90,7,35", "40,300"}) {
    const std::string all(dims), lines = all.substr(0, all.rfind(','));
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  s = f32[{0}] parameter(0)
  x = f32[{1}] parameter(1)
  a = f32[{0}] abs(s)
  m = f32[{0}] multiply(a, s)
  p = pred[{0}] compare(m, a), direction=LT
  w = f32[{1}] broadcast(m), dimensions={{{2}}}
  q = pred[{1}] broadcast(p), dimensions={{{2}}}
  d = f32[{1}] subtract(x, w)
  ROOT r = f32[{1}] select(q, d, x)
}}
)",
                                         lines, all, lines.contains(',') ? "0,1" : "0");
    const auto both = run_both(text);
    expect_native(both, text);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->report.temp_bytes, 0) << text;
  }
}

// Loops over whole numbers of vectors are written without a rest.
TEST(Elementwise, EveryElementOfAnyNumberIsWritten) {
  for (const char* type : {"f32", "bf16", "f64", "s8"})
    for (int64_t count : {0, 16, 63, 64, 96, 300064})
      expect_native(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1}] parameter(0)
  y = {0}[{1}] parameter(1)
  z = {0}[{1}] multiply(x, y)
  a = {0}[{1}] abs(z)
  ROOT s = {0}[{1}] add(a, x)
}}
)",
                                type, count));
}

}  // namespace
}  // namespace hilo::test
