// Rows of a few elements that come from several places, written without loops.
#include "both.h"

namespace hilo::test {
namespace {

// What is moved, what it is combined with, and what is repeated.
std::string rows(std::string_view type, int64_t count, int64_t size) {
  const std::string_view sum = type == "pred" ? "xor" : "add";
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1},{2}] parameter(0)
  y = {0}[{1},{2}] parameter(1)
  one = {0}[] parameter(2)
  reversed = {0}[{1},{2}] reverse(x), dimensions={{1}}
  high = {0}[{1},{3}] slice(x), slice={{[0:{1}], [2:{2}]}}
  low = {0}[{1},2] slice(x), slice={{[0:{1}], [0:2]}}
  turned = {0}[{1},{2}] concatenate(high, low), dimensions={{1}}
  padded = {0}[{1},{4}] pad(x, one), padding=0_0x2_1
  apart = {0}[{1},{5}] pad(x, one), padding=0_0x0_0_1
  before = {0}[{1},{6}] slice(x), slice={{[0:{1}], [0:{6}]}}
  behind = {0}[{1},{6}] slice(y), slice={{[0:{1}], [1:{2}]}}
  sum = {0}[{1},{6}] {7}(before, behind)
  steps = {0}[{1},{8}] slice(y), slice={{[0:{1}], [0:{2}:2]}}
  thrice = {0}[{1},3,{2}] broadcast(turned), dimensions={{0,2}}
  tiled = {0}[{1},{9}] reshape(thrice)
  ROOT t = ({0}[{1},{2}], {0}[{1},{2}], {0}[{1},{4}], {0}[{1},{5}], {0}[{1},{6}], {0}[{1},{8}],
    {0}[{1},{9}]) tuple(reversed, turned, padded, apart, sum, steps, tiled) }}
)",
                     type, count, size, size - 2, size + 3, 2 * size - 1, size - 1, sum,
                     (size + 1) / 2, 3 * size);
}

TEST(StraightRows, AgreeWithTheEvaluator) {
  for (int64_t size : {8, 9, 10, 13, 15, 16, 17, 20, 31, 32, 33})
    for (std::string_view type : {"f32", "bf16", "s8", "pred", "f64", "c64"}) {
      const std::string text = rows(type, 131, size);
      const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
      ASSERT_TRUE(one && seven) << text;
      EXPECT_TRUE(same_bits(one->compiled, one->evaluated)) << text;
      EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      EXPECT_TRUE(one->report.evaluated.empty()) << text;
    }
}

// A loop over a row would choose between the parts by branches.
TEST(StraightRows, OfWholeVectorsThatComeFromParts) {
  for (std::string_view type : {"f32", "f16", "s16", "f64"})
    for (std::string_view op : {"negate", "abs", "sign"}) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[3000,4] parameter(0)
  b = {0}[3000,2,4] broadcast(x), dimensions={{0,2}}
  d = {0}[3000,8] reshape(b)
  y = {0}[3000,8] add(d, d)
  c = {0}[3000,16] concatenate(d, y), dimensions={{1}}
  ROOT z = {0}[3000,16] {1}(c) }}
)",
                                           type, op);
      const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
      ASSERT_TRUE(one && seven) << text;
      EXPECT_TRUE(same_bits(one->compiled, one->evaluated)) << text;
      EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
    }
}

}  // namespace
}  // namespace hilo::test
