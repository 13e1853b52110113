// Reductions of small slabs: several columns, or slabs, side by side. Numbers are small multiples
// of 1 / 8, so that sums are exact in any order.
#include "both.h"

namespace hilo::test {
namespace {

// The sum, the place of the largest (the last of equals) and whether one is large, of the lines of
// each column; of what is read and of what is padded.
std::string slabs(std::string_view type, int outer, int lines, int columns) {
  return fmt::format(R"(HloModule m
add {{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT s = {0}[] add(a, b) }}
any {{ a = pred[] parameter(0)
 b = pred[] parameter(1)
 ROOT s = pred[] or(a, b) }}
largest {{ a = {0}[] parameter(0)
 i = s64[] parameter(1)
 b = {0}[] parameter(2)
 j = s64[] parameter(3)
 more = pred[] compare(a, b), direction=GT
 nan = pred[] compare(a, a), direction=NE
 first = pred[] or(more, nan)
 equal = pred[] compare(a, b), direction=EQ
 before = pred[] compare(i, j), direction=LT
 both = pred[] and(equal, before)
 take = pred[] or(first, both)
 value = {0}[] select(first, a, b)
 place = s64[] select(take, i, j)
 ROOT t = ({0}[], s64[]) tuple(value, place) }}
ENTRY e {{
  x = {0}[{1},{2},{3}] parameter(0)
  zero = {0}[] constant(0)
  least = {0}[] constant({5})
  one = {0}[] constant(1)
  false = pred[] constant(false)
  none = s64[] constant(0)
  y = {0}[{1},{2},{4}] pad(x, zero), padding=0_0x0_0x2_0
  i = s64[{1},{2},{4}] iota(), iota_dimension=1
  ones = {0}[{1},{2},{3}] broadcast(one), dimensions={{}}
  large = pred[{1},{2},{3}] compare(x, ones), direction=GE
  sum = {0}[{1},{3}] reduce(x, zero), dimensions={{1}}, to_apply=add
  larger = {0}[{1},{2},{4}] maximum(y, y)
  padded = {0}[{1},{4}] reduce(larger, one), dimensions={{1}}, to_apply=add
  places = ({0}[{1},{4}], s64[{1},{4}]) reduce(y, i, least, none), dimensions={{1}}, to_apply=largest
  value = {0}[{1},{4}] get-tuple-element(places), index=0
  place = s64[{1},{4}] get-tuple-element(places), index=1
  some = pred[{1},{3}] reduce(large, false), dimensions={{1}}, to_apply=any
  ROOT t = ({0}[{1},{3}], {0}[{1},{4}], {0}[{1},{4}], s64[{1},{4}], pred[{1},{3}])
    tuple(sum, padded, value, place, some)
}}
)",
                     type, outer, lines, columns, columns + 2, type[0] == 'u' ? 0 : -9);
}

TEST(ReduceSlabs, ColumnsOfAllWidths) {
  for (int columns = 1; columns <= 18; ++columns)
    for (const int lines : {2, 8, 9, 21}) {
      const auto seed = static_cast<uint64_t>(columns);
      const std::string text = slabs("f32", 67, lines, columns);
      expect_native(run_both(text, seed, 1, processor_of(seed)), text);
    }
}

TEST(ReduceSlabs, OfAllTypes) {
  for (const std::string_view type : {"f64", "bf16", "f16", "s8", "u16", "s32", "u64"})
    for (const int columns : {2, 3, 6, 8, 13})
      for (const int lines : {5, 12}) expect_native(slabs(type, 100, lines, columns));
}

// Around as many as are side by side, and around as many as are worth it.
TEST(ReduceSlabs, AnyNumberOfSlabs) {
  for (const int outer : {1, 2, 63, 64, 65, 71, 72, 80, 129})
    for (const int columns : {2, 5, 11}) expect_native(slabs("f32", outer, 10, columns));
}

// Several dimensions are reduced, or kept behind them.
TEST(ReduceSlabs, OfSeveralDimensions) {
  for (const std::string_view kept : {"0", "0,3", "0,3,4", "0,1,4", "1,2"}) {
    std::string reduced, dims;
    constexpr int sizes[] = {80, 3, 4, 3, 5};
    for (int d = 0; d < 5; ++d) {
      std::string& to = kept.contains(static_cast<char>('0' + d)) ? dims : reduced;
      to += fmt::format("{}{}", to.empty() ? "" : ",", &to == &dims ? sizes[d] : d);
    }
    expect_native(fmt::format(R"(HloModule m
largest {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] maximum(a, b) }}
ENTRY e {{
  x = f32[80,3,4,3,5] parameter(0)
  least = f32[] constant(-9)
  square = f32[80,3,4,3,5] multiply(x, x)
  ROOT y = f32[{}] reduce(square, least), dimensions={{{}}}, to_apply=largest
}}
)",
                              dims, reduced));
  }
}

// The first that is no number is the place of an extremum.
TEST(ReduceSlabs, NotANumber) {
  std::string text = slabs("f32", 70, 9, 3);
  const size_t at = text.find("pad(x, zero)");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 12, "pad(s, zero)");
  const size_t line = text.find("  y = ");
  text.insert(line, "  s = f32[70,9,3] sqrt(x)\n");
  expect_native(text);
}

}  // namespace
}  // namespace hilo::test
