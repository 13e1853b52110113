// Loops over elements whose instructions become vectors one by one, of types of all sizes, with
// values that are the same for all elements, places as values, tables and lines of two dimensions.
#include "both.h"

namespace hilo::test {
namespace {

// Choices by one number, by each element, of numbers that are converted.
std::string choices(std::string_view type, std::string_view dims) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1}] parameter(0)
  y = {0}[{1}] parameter(1)
  one = {0}[{1}] parameter(2)
  q = pred[] parameter(3)
  all = pred[{1}] broadcast(q), dimensions={{}}
  less = pred[{1}] compare(x, y), direction=LT
  a = {0}[{1}] select(less, x, one)
  b = {0}[{1}] select(all, a, y)
  c = f64[{1}] convert(b)
  d = f32[{1}] convert(x)
  e = f64[{1}] convert(d)
  ROOT t = ({0}[{1}], f64[{1}], pred[{1}]) tuple(b, e, less) }}
)",
                     type, dims);
}

// The place as a number: whole, its high bits, its low bits.
std::string places(std::string_view dims, int dimension) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  i = u64[{0}] iota(), iota_dimension={1}
  s = u64[] constant(4)
  n = u64[{0}] broadcast(s), dimensions={{}}
  high = u64[{0}] shift-right-logical(i, n)
  low = u8[{0}] convert(i)
  f = f32[{0}] convert(i)
  x = f32[{0}] parameter(0)
  y = f32[{0}] add(f, x)
  ROOT t = (u64[{0}], u8[{0}], f32[{0}]) tuple(high, low, y) }}
)",
                     dims, dimension);
}

std::string sines(int count, int size) {
  std::string out = fmt::format(
      "HloModule m\nENTRY e {{\n  x = f32[{0}] parameter(0)\n  v0 = f32[{0}] add(x, x)\n", size);
  for (int i = 1; i <= count; ++i)
    out += fmt::format("  s{0} = f32[{2}] sine(v{1})\n  v{0} = f32[{2}] add(s{0}, x)\n", i, i - 1,
                       size);
  return out + fmt::format("  ROOT r = f32[{1}] negate(v{0})\n}}\n", count, size);
}

// Lines of a matrix, read from another place than they are written to.
constexpr std::string_view moved_lines = R"(HloModule m
ENTRY e {
  x = f32[40,256] parameter(0)
  s = f32[20,192] slice(x), slice={[10:30],[33:225]}
  y = f32[192] parameter(1)
  b = f32[20,192] broadcast(y), dimensions={1}
  z = f32[20] parameter(2)
  c = f32[20,192] broadcast(z), dimensions={0}
  p = f32[20,192] multiply(s, b)
  ROOT r = f32[20,192] subtract(p, c) }
)";

// What is written over is not made a second time.
std::string squared_in_place(int size) {
  return fmt::format(R"(HloModule m
less {{
  k = f32[] parameter(0)
  l = f32[] parameter(1)
  ROOT m = pred[] compare(k, l), direction=LT
}}
ENTRY e {{
  x = f32[5,{0}] parameter(0)
  y = f32[{0}] parameter(1)
  s = f32[5,{0}] sort(x), dimensions={{1}}, to_apply=less
  b = f32[5,{0}] broadcast(y), dimensions={{1}}
  p = f32[5,{0}] multiply(s, b)
  q = f32[5,{0}] add(p, s)
  ROOT r = f32[5,{0}] sort(q), dimensions={{1}}, to_apply=less
}}
)",
                     size);
}

TEST(VectorizeLoops, EndWithElementsThatAreMadeTwice) {
  for (int size : {15, 16, 17, 31, 33, 100, 1001}) {
    expect_native(squared_in_place(size));
    for (std::string_view type : {"f32", "f64", "bf16", "s8", "u64"}) {
      expect_native(choices(type, fmt::format("20,{}", size)));
      expect_native(choices(type, fmt::format("{}", size)));
    }
    expect_native(places(fmt::format("12,{}", size), 1));
    expect_native(places(fmt::format("{},12", size), 0));
  }
}

TEST(VectorizeLoops, GiveTheSameValues) {
  for (std::string_view dims : {"64", "1024", "100", "9,64", "7,13"}) {
    for (std::string_view type : {"f32", "f64", "bf16", "f16", "s8", "u16", "s32", "u64"})
      expect_native(choices(type, dims));
    expect_native(places(dims, 0));
  }
  expect_native(places("12,128", 1));
  for (int size : {1, 3, 7, 17, 36, 100, 129, 4096}) expect_native(sines(3, size));
  expect_native(std::string(moved_lines));
}

// Rows of few elements, whole and a part of wider ones, each of which is the lane of a vector; the
// place of the largest one tells every element from the others.
std::string rows(std::string_view type, std::string_view rows, int size, int width) {
  const bool is_float = type[0] == 'f' || type[0] == 'b';
  return fmt::format(R"(HloModule m
choice {{
  a = {0}[] parameter(0)
  i = s32[] parameter(1)
  b = {0}[] parameter(2)
  k = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  same = pred[] compare(a, b), direction=EQ
  less = pred[] compare(i, k), direction=LT
  first = pred[] and(same, less)
  left = pred[] or(more, first)
  value = {0}[] select(left, a, b)
  number = s32[] select(left, i, k)
  ROOT t = ({0}[], s32[]) tuple(value, number) }}
sum {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] add(a, b) }}
ENTRY e {{
  w = {0}[{1},{3}] parameter(0)
  x = {0}[{1},{2}] slice(w), slice={{{4}[0:{2}]}}
  i = s32[{1},{2}] iota(), iota_dimension={5}
  least = {0}[] constant({6})
  zero = {0}[] constant(0)
  none = s32[] constant(2147483647)
  r = ({0}[{1}], s32[{1}]) reduce(x, i, least, none), dimensions={{{5}}}, to_apply=choice
  n = s32[{1}] get-tuple-element(r), index=1
  s = {0}[{1}] reduce(x, zero), dimensions={{{5}}}, to_apply=sum
  ROOT t = ({0}[{1}], s32[{1}]) tuple(s, n) }}
)",
                     type, rows, size, width,
                     rows.find(',') == rows.npos ? fmt::format("[0:{}],", rows) : "[0:6],[0:64],",
                     rows.find(',') == rows.npos ? 1 : 2, is_float ? "-inf" : "-100");
}

TEST(VectorizeLoops, ReadShortRowsAsVectors) {
  for (std::string_view type : {"f32", "f64", "bf16", "f16", "s8", "s32", "s64"})
    for (int size : {2, 3, 4, 6, 7, 8, 9, 10, 15, 16})
      for (std::string_view dims : {"64", "6,64"})
        for (int width : {size, 16})
          for (const std::string& processor : processors()) {
            if (processor != "native" && type != "f32") continue;
            const std::string text = rows(type, dims, size, width);
            expect_native(run_both(text, 3, 1, processor), text);
          }
}

// Rows less their greatest, backwards: parts of 16 bytes overlap where rows have no whole number.
std::string written_rows(std::string_view type, int size) {
  return fmt::format(R"(HloModule m
most {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] maximum(a, b) }}
ENTRY e {{
  x = {0}[192,{1}] parameter(0)
  y = {0}[192,{1}] parameter(1)
  s = {0}[192,{1}] add(x, y)
  least = {0}[] constant({2})
  m = {0}[192] reduce(s, least), dimensions={{1}}, to_apply=most
  b = {0}[192,{1}] broadcast(m), dimensions={{0}}
  d = {0}[192,{1}] subtract(b, s)
  ROOT r = {0}[192,{1}] reverse(d), dimensions={{1}} }}
)",
                     type, size, type[0] == 'f' || type[0] == 'b' ? "-inf" : "-100");
}

TEST(VectorizeLoops, WriteShortRowsAsVectors) {
  for (std::string_view type : {"f32", "f64", "bf16", "f16", "s8", "s32", "s64"})
    for (int size = 2; size <= 17; ++size)
      for (const std::string& processor : processors()) {
        const std::string text = written_rows(type, size);
        expect_native(run_both(text, 3, 1, processor), text);
      }
}

// The parts of the sum go where those of an operand stand.
TEST(VectorizeLoops, WritePartsOfComplexNumbersSideBySide) {
  for (std::string_view type : {"c64", "c128"})
    for (const std::string& processor : processors()) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[640] parameter(0)
  y = {0}[640] parameter(1)
  p = {0}[640] multiply(x, y)
  q = {0}[640] divide(p, y)
  c = {0}[640] add(q, x)
  s = {0}[320] slice(c), slice={{[0:320]}}
  t = {0}[320] slice(c), slice={{[320:640]}}
  u = {0}[320] subtract(t, s)
  ROOT r = ({0}[640], {0}[320]) tuple(c, u) }}
)",
                                           type);
      expect_native(run_both(text, 3, 1, processor), text);
    }
}

// Chains of steps, for which vectors are twice as wide where the number of elements allows.
TEST(VectorizeLoops, ComputeLongChainsInAnyNumberOfElements) {
  for (std::string_view type : {"f32", "f64", "bf16", "f16", "c64"})
    for (std::string_view dims : {"8", "16", "24", "40", "96", "100", "5,48", "3,200"})
      for (const std::string& processor : processors()) {
        const std::string text = fmt::format(
            "HloModule m\nENTRY e {{\n  x = {0}[{1}] parameter(0)\n  y = {0}[{1}] parameter(1)\n"
            "  t = {0}[{1}] tanh(x)\n  s = {0}[{1}] sine(y)\n  p = {0}[{1}] multiply(t, s)\n"
            "  ROOT r = {0}[{1}] exponential(p)\n}}\n",
            type, dims);
        const double tolerance = type == "f64"                    ? 1e-15
                                 : type == "f32" || type == "c64" ? 1e-6
                                                                  : 0.01;
        expect_native(run_both(text, 5, 1, processor), text, tolerance);
      }
}

// Two long results of which each lane takes one: all take the first, all the second, some, one.
TEST(VectorizeLoops, ComputeTheResultsThatLanesTake) {
  constexpr int terms = 24;
  for (const std::string_view type : {"f32", "f64"})
    for (const int count : {4096, 37}) {
      std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  i = s32[{1}] iota(), iota_dimension=0\n"
          "  x = {0}[{1}] parameter(0)\n  kind = s32[{1}] parameter(1)\n"
          "  first0 = {0}[{1}] multiply(x, x)\n  second0 = {0}[{1}] add(x, x)\n",
          type, count);
      for (int term = 0; term < terms; ++term)
        for (const std::string_view side : {"first", "second"})
          text += fmt::format(
              "  c{3}{2} = {0}[] constant(0.{4}{2})\n"
              "  d{3}{2} = {0}[{1}] broadcast(c{3}{2}), dimensions={{}}\n"
              "  p{3}{2} = {0}[{1}] multiply({3}{2}, x)\n"
              "  {3}{5} = {0}[{1}] subtract(d{3}{2}, p{3}{2})\n",
              type, count, term, side, side == "first" ? 3 : 7, term + 1);
      text += fmt::format(
          "  zero = s32[{1}] broadcast(s32[] constant(0)), dimensions={{}}\n"
          "  takes_first = pred[{1}] compare(kind, zero), direction=EQ\n"
          "  r = {0}[{1}] select(takes_first, first{2}, second{2})\n"
          "  more = {0}[{1}] select(takes_first, first{3}, x)\n"
          "  ROOT t = ({0}[{1}], {0}[{1}]) tuple(r, more)\n}}\n",
          type, count, terms, terms - 1);
      Literal kinds = Literal::uninitialized(Shape::array(ElementType::S32, {count}));
      for (int i = 0; i < count; ++i) {
        const int each[] = {0, 1, i % 2, i % 64 == 5};
        kinds.mutable_data<int32_t>()[i] = each[i / 64 % 4];
      }
      const Result<Module> module = parse(text);
      ASSERT_TRUE(module) << to_string(module.error());
      std::mt19937_64 random(1);
      const Literal x = random_value(module->shape((*module)[module->entry].parameters[0]), random);
      expect_native(run_both_on(text, {x, kinds}), text);
    }
}

// Largest and added columns, of any number: tiles that are no whole vectors are read and written
// over, and have a rest.
std::string columns(std::string_view type, std::string_view combine, int lines, int count) {
  return fmt::format(R"(HloModule m
combine {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] {1}(a, b) }}
ENTRY e {{
  x = {0}[{2},{3}] parameter(0)
  y = {0}[{3}] parameter(1)
  first = {0}[] constant(-3)
  r = {0}[{3}] reduce(x, first), dimensions={{0}}, to_apply=combine
  ROOT s = {0}[{3}] {1}(r, y) }}
)",
                     type, combine, lines, count);
}

TEST(VectorizeLoops, EndWithARest) {
  uint64_t seed = 0;
  for (const int count : {17, 24, 31, 33, 47, 63, 65, 100, 255, 300, 1000, 1025})
    for (const std::string_view combine : {"maximum", "add"})
      for (const std::string_view type : {"f32", "f64", "bf16", "s8", "s32", "f16"}) {
        if (++seed % 3 != 0) continue;
        const std::string text = columns(type, combine, 24 + count % 3, count);
        const double tolerance = combine == "maximum" || type[0] == 's' ? 0
                                 : type.ends_with("16")                 ? 1e-2
                                                                        : 1e-5;
        expect_native_on_threads(text, tolerance, processors()[seed / 3 % processors().size()]);
      }
}

// Its loops have this mark.
TEST(VectorizeLoops, LeaveNothingToLoopVectorize) {
  for (const std::string& text :
       {sines(4, 4096), choices("f32", "1024"), places("1024", 0), std::string(moved_lines),
        columns("f32", "maximum", 256, 1024), columns("f32", "maximum", 256, 1000)}) {
    CompileOptions options;
    std::string code;
    options.emit.see_code = [&](std::string_view ir, std::string_view) { code += ir; };
    EXPECT_TRUE(compile(*parse(text), cpu_target(), options));
    EXPECT_TRUE(code.contains(" x float> "));
    EXPECT_FALSE(code.contains("llvm.loop.unroll.runtime.disable")) << text;
  }
}

}  // namespace
}  // namespace hilo::test
