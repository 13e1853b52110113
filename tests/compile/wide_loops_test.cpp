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

std::string sines(int count) {
  std::string out =
      "HloModule m\nENTRY e {\n  x = f32[4096] parameter(0)\n  v0 = f32[4096] add(x, x)\n";
  for (int i = 1; i <= count; ++i)
    out +=
        fmt::format("  s{0} = f32[4096] sine(v{1})\n  v{0} = f32[4096] add(s{0}, x)\n", i, i - 1);
  return out + fmt::format("  ROOT r = f32[4096] negate(v{})\n}}\n", count);
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

TEST(WideLoops, GiveTheSameValues) {
  for (std::string_view dims : {"64", "1024", "100", "9,64", "7,13"}) {
    for (std::string_view type : {"f32", "f64", "bf16", "f16", "s8", "u16", "s32", "u64"})
      expect_native(choices(type, dims));
    expect_native(places(dims, 0));
  }
  expect_native(places("12,128", 1));
  expect_native(sines(3));
  expect_native(std::string(moved_lines));
}

// Its loops have this mark.
TEST(WideLoops, LeaveNothingToLoopVectorize) {
  for (const std::string& text :
       {sines(4), choices("f32", "1024"), places("1024", 0), std::string(moved_lines)}) {
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
