// Functions of one float of 16 bits, which are read from tables of all their values.
#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

constexpr std::pair<ElementType, std::string_view> types[] = {{ElementType::BF16, "bf16"},
                                                              {ElementType::F16, "f16"}};

constexpr size_t values = 1 << 16;

// All values, again and again.
Literal all_values(ElementType type, const Dims& dims) {
  Literal out = Literal::uninitialized(Shape::array(type, dims));
  const std::span<std::byte> bytes = out.mutable_raw();
  for (size_t i = 0; i < bytes.size() / 2; ++i) {
    const auto bits = static_cast<uint16_t>(i * 40503);  // neighbours are far apart
    std::memcpy(&bytes[2 * i], &bits, 2);
  }
  return out;
}

// How many lookups the compiler makes of it.
int64_t count_lookups(std::string_view text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module) << text;
  EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
  return std::ranges::count_if(module->instructions, [](const Instruction& instruction) {
    return !instruction.removed && instruction.op == Op::Gather;
  });
}

// `$`: the array's shape, `#`: its element type, `@`: its dimensions.
std::string entry(std::string_view type, std::string_view dims, std::string_view body) {
  std::string out = "HloModule m\nENTRY e {\n  x = $ parameter(0)\n";
  out += body;
  out += "}\n";
  const auto put = [&](char mark, const std::string& text) {
    for (size_t at = 0; (at = out.find(mark, at)) != std::string::npos; at += text.size())
      out.replace(at, 1, text);
  };
  put('$', fmt::format("{}[{}]", type, dims));
  put('#', std::string(type));
  put('@', std::string(dims));
  return out;
}

constexpr std::string_view silu = "  l = $ logistic(x)\n  ROOT m = $ multiply(x, l)\n";
constexpr std::string_view of_f32 = R"(  w = f32[@] convert(x)
  h = f32[@] tanh(w)
  ROOT m = $ convert(h)
)";
constexpr std::string_view cubic = R"(  c = #[] constant(3)
  b = $ broadcast(c), dimensions={}
  s = $ multiply(x, x)
  t = $ subtract(s, b)
  u = $ multiply(t, x)
  v = $ add(u, b)
  p = pred[@] compare(x, b), direction=LT
  n = $ negate(x)
  ROOT m = $ select(p, v, n)
)";

TEST(FunctionTables, AllValues) {
  for (const auto& [type, name] : types)
    for (std::string_view body : {silu, of_f32, cubic})
      for (const auto& [dims, text_of_dims] :
           {std::pair(Dims{512, 512}, "512,512"), std::pair(Dims{29131, 9}, "29131,9"),
            std::pair(Dims{131073}, "131073")})
        for (const std::string processor : {"native", "x86-64"}) {
          const std::string text = entry(name, text_of_dims, body);
          EXPECT_EQ(count_lookups(text), 1) << text;
          const std::vector<Literal> arguments = {all_values(type, dims)};
          const auto one = run_both_on(text, arguments, 1, processor),
                     three = run_both_on(text, arguments, 3, processor);
          // The evaluator's functions of f16 are f32 that are rounded again.
          expect_native(one, text, type == ElementType::F16 ? 1e-8 : 0);
          ASSERT_TRUE(one && three) << text;
          EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
          EXPECT_EQ(one->report.temp_bytes, 0) << text;
        }
}

// Against libm in double, which is rounded once.
template <class T>
void expect_rounded_once(std::string_view op, double (*function)(double)) {
  const ElementType type = element_type<T>;
  const Literal x = all_values(type, {256, 1024});
  const std::string text = entry(type == ElementType::F16 ? "f16" : "bf16", "256,1024",
                                 fmt::format("  ROOT r = $ {}(x)\n", op));
  ASSERT_EQ(count_lookups(text), 1) << text;
  const auto both = run_both_on(text, {x});
  ASSERT_TRUE(both) << text;
  const auto in = x.data<T>(), out = both->compiled.data<T>();
  // Subnormal floats are taken for zero.
  const auto is_subnormal = [](float number) {
    return number != 0 && std::fabs(number) < std::numeric_limits<float>::min();
  };
  for (size_t i = 0; i < values; ++i) {
    const float given = in[i], got = out[i], expected = T(function(given));
    if (is_subnormal(given) || is_subnormal(expected)) continue;
    if (got != expected && (got == got || expected == expected))
      ADD_FAILURE() << op << " of " << given << ": " << got << ", not " << expected;
  }
}

TEST(FunctionTables, AreRoundedOnce) {
  using Row = std::pair<std::string_view, double (*)(double)>;
  for (const auto& [op, function] :
       {Row{"exponential", &std::exp}, Row{"log", &std::log}, Row{"log-plus-one", &std::log1p},
        Row{"sine", &std::sin}, Row{"tanh", &std::tanh}, Row{"erf", &std::erf},
        Row{"cbrt", &std::cbrt}, Row{"exponential-minus-one", &std::expm1}}) {
    expect_rounded_once<F16>(op, function);
    expect_rounded_once<BF16>(op, function);
  }
}

// What reads a function's values reads them where it needs them, and stores none.
TEST(FunctionTables, Readers) {
  constexpr std::string_view readers[] = {
      "ROOT r = #[512,384] transpose(m), dimensions={1,0}",
      "ROOT r = #[384,1024] concatenate(m, x), dimensions={1}",
      "ROOT r = #[384,512] reverse(m), dimensions={1}",
      "z = #[] constant(0)\n  ROOT r = #[386,518] pad(m, z), padding=1_1x3_3",
      "ROOT r = #[384,171] slice(m), slice={[0:384],[0:512:3]}",
      "z = #[] constant(-inf)\n  ROOT r = #[384] reduce(m, z), dimensions={1}, to_apply=max",
      "z = #[] constant(-inf)\n  ROOT r = #[512] reduce(m, z), dimensions={0}, to_apply=max",
      "n = $ negate(m)\n  ROOT r = ($, $) tuple(m, n)"};
  for (const auto& [type, name] : types)
    for (std::string_view reader : readers) {
      std::string body = fmt::format("  l = $ logistic(x)\n  m = $ multiply(x, l)\n  {}\n", reader);
      std::string text = entry(name, "384,512", body);
      text.insert(text.find("ENTRY"),
                  fmt::format("max {{ a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n"
                              "  ROOT r = {0}[] maximum(a, b) }}\n",
                              name));
      EXPECT_EQ(count_lookups(text), 1) << text;
      const auto both = run_both(text);
      expect_native(both, text);
      ASSERT_TRUE(both);
      EXPECT_LE(both->report.temp_bytes, 32768) << text;  // parts of columns
    }
}

// Values that the loop itself makes: a sum that is rounded, of rows that are whole vectors and of
// such that are not; rows that are reduced, and then functions of these.
TEST(FunctionTables, OfComputedValues) {
  for (const auto& [type, name] : types)
    for (std::string_view dims : {"512,512", "29131,9", "133,1000"})
      for (const std::string processor : {"native", "x86-64"}) {
        const auto size = dims.substr(dims.find(',') + 1);
        const std::string text = entry(name, dims,
                                       fmt::format(R"(  y = #[{}] parameter(1)
  b = $ broadcast(y), dimensions={{1}}
  s = $ add(x, b)
  l = $ logistic(s)
  m = $ multiply(s, l)
  ROOT r = $ multiply(m, x)
)",
                                                   size));
        EXPECT_EQ(count_lookups(text), 1) << text;
        expect_native(run_both(text, 1, 1, processor), text);
      }
}

TEST(FunctionTables, InRowsThatAreReduced) {
  const std::string text = R"(HloModule m
max { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] maximum(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = bf16[256,1024] parameter(0)
  i = bf16[] constant(-inf)
  z = f32[] constant(0)
  h = bf16[256] reduce(x, i), dimensions={1}, to_apply=max
  b = bf16[256,1024] broadcast(h), dimensions={0}
  d = bf16[256,1024] subtract(x, b)
  t = bf16[256,1024] tanh(d)
  e = bf16[256,1024] exponential(t)
  w = f32[256,1024] convert(e)
  s = f32[256] reduce(w, z), dimensions={1}, to_apply=add
  c = f32[256,1024] broadcast(s), dimensions={0}
  ROOT q = f32[256,1024] divide(w, c) }
)";
  EXPECT_EQ(count_lookups(text), 1);
  const auto both = run_both(text);
  expect_native(both, text, 1e-6);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->report.temp_bytes, 0);
}

// What takes more than a little arithmetic on the other function's values has another table.
TEST(FunctionTables, OfOneValueSeveral) {
  const std::string text = entry("bf16", "512,512", R"(  g = $ parameter(1)
  l = $ logistic(x)
  o = #[] constant(1)
  b = $ broadcast(o), dimensions={}
  u = $ subtract(b, l)
  d = $ multiply(l, u)
  h = $ tanh(d)
  v = $ multiply(h, g)
  w = $ multiply(l, g)
  y = $ multiply(d, w)
  ROOT r = ($, $, $) tuple(v, w, y)
)");
  EXPECT_EQ(count_lookups(text), 2);
  expect_native_on_threads(text);
}

// Few elements, cheap functions, functions of two values or of a number that is no constant.
TEST(FunctionTables, NotWhereComputingIsCheaper) {
  EXPECT_EQ(count_lookups(entry("bf16", "64,64", silu)), 0);
  EXPECT_EQ(count_lookups(entry("bf16", "512,512", "  ROOT n = $ negate(x)\n")), 0);
  EXPECT_EQ(count_lookups(entry("f32", "512,512", silu)), 0);
  EXPECT_EQ(count_lookups(entry("bf16", "512,512",
                                "  y = $ parameter(1)\n  m = $ add(x, y)\n"
                                "  ROOT l = $ exponential(m)\n")),
            0);
  EXPECT_EQ(count_lookups(entry("bf16", "512,512",
                                "  y = #[] parameter(1)\n"
                                "  b = $ broadcast(y), dimensions={}\n"
                                "  ROOT l = $ atan2(x, b)\n")),
            0);
}

}  // namespace
}  // namespace hilo::test
