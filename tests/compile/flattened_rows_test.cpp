// Short rows of costly elements, in flat loops whose places are looked up in tables.
#include "both.h"

namespace hilo::test {
namespace {

// Of rows that are read in their order, backwards, in part, repeated and by other dimensions.
std::string rows(std::string_view type, std::string_view outer, int64_t size) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1},{2}] parameter(0)
  row = {0}[{2}] parameter(1)
  pairs = {0}[{1},{2},2] parameter(2)
  wide = {0}[{1},{3}] parameter(3)
  each = {0}[{1}] parameter(4)
  rows = {0}[{1},{2}] broadcast(row), dimensions={{{4}}}
  sum = {0}[{1},{2}] add(x, rows)
  a = {0}[{1},{2}] tanh(sum)
  reversed = {0}[{1},{2}] reverse(x), dimensions={{{4}}}
  firsts = {0}[{1},{2},2] broadcast(reversed), dimensions={{{5}}}
  both = {0}[{1},{2},2] multiply(pairs, firsts)
  flat = {0}[{1},{6}] reshape(both)
  b = {0}[{1},{6}] cosine(flat)
  part = {0}[{1},{2}] slice(wide), slice={{{7}, [3:{3}]}}
  spread = {0}[{1},{2}] broadcast(each), dimensions={{{8}}}
  product = {0}[{1},{2}] multiply(part, spread)
  number = {0}[{1},{2}] iota(), iota_dimension={4}
  numbered = {0}[{1},{2}] add(product, number)
  c = {0}[{1},{2}] sine(numbered)
  ROOT t = ({0}[{1},{2}], {0}[{1},{6}], {0}[{1},{2}]) tuple(a, b, c) }}
)",
                     type, outer, size, size + 3, outer.contains(',') ? 2 : 1,
                     outer.contains(',') ? "0,1,2" : "0,1", 2 * size,
                     outer.contains(',') ? fmt::format("[0:3], [0:{}]", outer.substr(2))
                                         : fmt::format("[0:{}]", outer),
                     outer.contains(',') ? "0,1" : "0");
}

double tolerance(std::string_view type) {
  return type == "f64" ? 1e-15 : type == "f32" ? 5e-7 : type == "f16" ? 2e-3 : 2e-2;
}

TEST(FlattenedRows, AgreeWithTheEvaluator) {
  uint64_t seed = 0;
  for (const int64_t size : {3, 5, 8, 9, 13, 18, 31, 33, 63, 100, 127})
    for (const std::string_view outer : {"256", "301", "3,96", "3,101"})
      for (const std::string_view type : {"f32", "bf16", "f64", "f16"}) {
        if (++seed % 3 != 0) continue;
        const std::string text = rows(type, outer, size);
        expect_native_on_threads(text, tolerance(type), processor_of(seed));
      }
}

// What is read is written: whole blocks may be, in their order.
TEST(FlattenedRows, InPlace) {
  for (const int64_t count : {256, 301})
    for (const int64_t size : {9, 50}) {
      const std::string text =
          fmt::format(R"(HloModule m, input_output_alias={{ {{}}: (0, {{}}, must-alias) }}
ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  row = f32[{1}] parameter(1)
  rows = f32[{0},{1}] broadcast(row), dimensions={{1}}
  sum = f32[{0},{1}] add(x, rows)
  ROOT a = f32[{0},{1}] tanh(sum) }}
)",
                      count, size);
      expect_native_on_threads(text, 5e-7);
    }
}

// Positions beside the sines and cosines of their multiples, as models of images and of time have.
TEST(FlattenedRows, JoinedToOthers) {
  for (const std::string_view outer : {"128,32", "3,37", "500", "301"})
    for (const int64_t each : {3, 4, 10}) {
      const bool has_lines = outer.contains(',');
      const std::string text = fmt::format(
          R"(HloModule m
ENTRY e {{
  x = f32[{0},3] parameter(0)
  c = f32[{1}] parameter(1)
  a = f32[{0},{1},3] broadcast(x), dimensions={{{2}}}
  b = f32[{0},{1},3] broadcast(c), dimensions={{{3}}}
  p = f32[{0},{1},3] multiply(a, b)
  s = f32[{0},{1},3] sine(p)
  k = f32[{0},{1},3] cosine(p)
  sines = f32[{0},{4}] reshape(s)
  cosines = f32[{0},{4}] reshape(k)
  twice = f32[{0},3] add(x, x)
  ROOT o = f32[{0},{5}] concatenate(x, sines, cosines, twice), dimensions={{{3}}} }}
)",
          outer, each, has_lines ? "0,1,3" : "0,2", has_lines ? 2 : 1, 3 * each, 6 * each + 6);
      for (const uint64_t seed : {1, 2}) expect_native_on_threads(text, 5e-7, processor_of(seed));
    }
}

// One of them is there, with as many elements as those that are computed.
TEST(FlattenedRows, JoinedToAnArrayOfTheirLength) {
  for (const int64_t count : {512, 301}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[{0},18] parameter(0)
  row = f32[18] parameter(1)
  rows = f32[{0},18] broadcast(row), dimensions={{1}}
  p = f32[{0},18] multiply(x, rows)
  s = f32[{0},18] sine(p)
  k = f32[{0},18] cosine(p)
  ROOT o = f32[{0},54] concatenate(x, s, k), dimensions={{1}} }}
)",
                                         count);
    for (const uint64_t seed : {1, 2}) expect_native_on_threads(text, 5e-7, processor_of(seed));
  }
}

}  // namespace
}  // namespace hilo::test
