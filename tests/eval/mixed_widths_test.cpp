// Ops that mix widths of floats, as in optimised modules of TPUs: what is computed in the widest
// and rounded once, by values that another order of rounding does not give.
#include "devices.h"

namespace hilo {
namespace {

using test::f32;
using test::Numbers;

const float small = 1.0F / 512;  // 1 + small is 1 in bf16, whose last bit of 1 is 1/128

Numbers run(const std::string& body, std::vector<Literal> arguments) {
  const auto rows =
      test::run_well("HloModule m\n" + std::string(test::add_f32) +
                         "larger {\n a = f32[] parameter(0)\n i = s32[] parameter(1)\n "
                         "b = f32[] parameter(2)\n j = s32[] parameter(3)\n c = pred[] "
                         "compare(a, b), direction=GE\n v = f32[] select(c, a, b)\n k = "
                         "s32[] select(c, i, j)\n ROOT t = (f32[], s32[]) tuple(v, k)\n}\n"
                         "ENTRY e {\n" +
                         body + "\n}\n",
                     {std::move(arguments)});
  return rows.empty() ? Numbers{} : rows[0];
}

TEST(MixedWidths, ASumIsRoundedOnceAndNotAtEachStep) {
  std::vector<float> terms(513, small);
  terms[0] = 1;  // the sum is 2; in bf16 each step would give 1 again
  EXPECT_EQ(
      run(" x = f32[513] parameter(0)\n z = f32[] constant(0)\n ROOT r = bf16[] reduce(x, z), "
          "dimensions={0}, to_apply=add",
          {f32({513}, terms)}),
      Numbers({2}));
}

TEST(MixedWidths, AResultThatIsWiderThanItsOperandsIsNotRoundedToThem) {
  EXPECT_EQ(
      run(" x = f32[2] parameter(0)\n n = bf16[2] convert(x)\n s = f32[] constant(0.001953125)\n "
          "b = bf16[] convert(s)\n m = bf16[2] broadcast(b), dimensions={}\n ROOT r = f32[2] "
          "add(n, m)",
          {f32({2}, {1, 3})}),
      Numbers({1 + small, 3 + small}));
}

TEST(MixedWidths, AnOperandThatIsWiderIsNotRoundedToTheOthers) {
  const std::string operands =
      " x = f32[2] parameter(0)\n o = f32[] constant(1)\n n = bf16[] convert(o)\n m = bf16[2] "
      "broadcast(n), dimensions={}\n";
  const std::vector<Literal> x = {f32({2}, {1 + small, 1 - small})};
  EXPECT_EQ(run(operands + " ROOT r = pred[2] compare(m, x), direction=LT", x), Numbers({1, 0}));
  EXPECT_EQ(run(operands + " ROOT r = f32[2] multiply(m, x)", x), Numbers({1 + small, 1 - small}));
  // 1 + small - 1 in f32 is small, which bf16 holds.
  EXPECT_EQ(run(operands + " ROOT r = bf16[2] subtract(x, m)", x), Numbers({small, -small}));
  EXPECT_EQ(run(operands + " ROOT r = bf16[2] maximum(x, m)", x), Numbers({1, 1}));
}

// bf16 has the range, f16 the digits: f32 holds both. 65536 is beyond f16, 1 + 1/1024 is not bf16.
TEST(MixedWidths, TwoFormatsOfOneWidthMeetInOneThatHoldsBoth) {
  EXPECT_EQ(
      run(" x = f32[] parameter(0)\n y = f32[] parameter(1)\n b = bf16[] convert(x)\n h = f16[] "
          "convert(y)\n ROOT r = f32[] multiply(b, h)",
          {f32({}, {65536}), f32({}, {1 + 1.0F / 1024})}),
      Numbers({65536 + 64}));
}

TEST(MixedWidths, MovesRoundWhatTheyMove) {
  const std::vector<Literal> x = {f32({3}, {1 + small, 2, 3})};
  const std::string begin =
      " x = f32[3] parameter(0)\n i = s32[] constant(1)\n n = bf16[1] "
      "constant({7})\n z = bf16[] constant(5)\n w = f32[1] constant({1.001953125})\n";
  EXPECT_EQ(run(begin + " ROOT r = bf16[3] copy(x)", x), Numbers({1, 2, 3}));
  EXPECT_EQ(run(begin + " ROOT r = bf16[1,3] reshape(x)", x), Numbers({1, 2, 3}));
  EXPECT_EQ(run(begin + " ROOT r = bf16[3] reverse(x), dimensions={0}", x), Numbers({3, 2, 1}));
  EXPECT_EQ(run(begin + " ROOT r = bf16[2] slice(x), slice={[0:2]}", x), Numbers({1, 2}));
  EXPECT_EQ(run(begin + " ROOT r = f32[4] pad(x, z), padding=0_1", x),
            Numbers({1 + small, 2, 3, 5}));
  EXPECT_EQ(run(begin + " ROOT r = f32[3] dynamic-update-slice(x, n, i)", x),
            Numbers({1 + small, 7, 3}));
  EXPECT_EQ(
      run(begin + " b = bf16[3] convert(x)\n ROOT r = bf16[3] dynamic-update-slice(b, w, i)", x),
      Numbers({1, 1, 3}));
  EXPECT_EQ(run(begin + " ROOT r = bf16[2] dynamic-slice(x, i), dynamic_slice_sizes={2}", x),
            Numbers({2, 3}));
  EXPECT_EQ(run(begin + " ROOT r = f32[4] concatenate(x, n), dimensions={0}", x),
            Numbers({1 + small, 2, 3, 7}));
  EXPECT_EQ(run(begin + " ROOT r = bf16[2,3] broadcast(x), dimensions={1}", x),
            Numbers({1, 2, 3, 1, 2, 3}));
}

// A move that rounds between elementwise ops rounds there too.
TEST(MixedWidths, MovesRoundAmongElementwiseOps) {
  EXPECT_EQ(
      run(" x = f32[2] parameter(0)\n n = f32[2] negate(x)\n c = bf16[2] copy(n)\n h = f32[2] "
          "reverse(c), dimensions={0}\n a = f32[2] add(h, x)\n ROOT r = f32[2] negate(a)",
          {f32({2}, {1 + small, 3})}),
      Numbers({2 - small, -2}));
}

TEST(MixedWidths, EachOfSeveralResultsHasItsOwnWidth) {
  EXPECT_EQ(
      run(" x = f32[3] parameter(0)\n i = s32[3] iota(), iota_dimension=0\n z = f32[] "
          "constant(-9)\n n = s32[] constant(0)\n ROOT r = (bf16[], s32[]) reduce(x, i, z, n), "
          "dimensions={0}, to_apply=larger",
          {f32({3}, {1, 1 + small, 1 - small})}),
      Numbers({1, 1}));
}

// Each device adds 1/4 of what one step of bf16 is; rounded before, nothing would be left.
TEST(MixedWidths, AnAllReduceAddsInTheWidest) {
  std::string body = test::add_f32;
  body +=
      "ENTRY e {\n x = f32[1] parameter(0)\n ROOT r = bf16[1] all-reduce(x), "
      "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, "
      "to_apply=add\n}\n";
  const auto x = [](float value) { return std::vector{f32({1}, {value})}; };
  const auto rows =
      test::run_well(test::partitioned(4, body), {x(1 + small), x(small), x(small), x(small)});
  ASSERT_EQ(rows.size(), 4u);
  for (const Numbers& row : rows) EXPECT_EQ(row, Numbers({1 + 4 * small}));
}

// The start adds in f32, and rounds what the done gives.
TEST(MixedWidths, StartsAndDones) {
  const std::string body =
      std::string(test::add_f32) +
      "ENTRY e {\n x = f32[1] parameter(0)\n s = bf16[1] all-reduce-start(x), channel_id=1, "
      "replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add\n d = bf16[1] "
      "all-reduce-done(s)\n g = (f32[1], bf16[2]) all-gather-start(x), channel_id=2, "
      "replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}\n h = bf16[2] "
      "all-gather-done(g)\n c = (bf16[1], f32[1], u32[]) copy-start(x)\n k = bf16[1] "
      "copy-done(c)\n "
      "ROOT t = (bf16[1], bf16[2], bf16[1]) tuple(d, h, k)\n}\n";
  const auto rows = test::run_well(test::partitioned(2, body),
                                   {{f32({1}, {1 + small})}, {f32({1}, {3 * small})}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], Numbers({1 + 4 * small, 1, 3 * small, 1}));
  EXPECT_EQ(rows[1], Numbers({1 + 4 * small, 1, 3 * small, 3 * small}));
}

// A reducer whose own op mixes widths.
TEST(MixedWidths, InsideOfCalledComputations) {
  const auto rows = test::run_well(
      "HloModule m\nsum {\n a = bf16[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] "
      "add(a, b)\n}\nENTRY e {\n x = f32[2] parameter(0)\n y = f32[2] parameter(1)\n ROOT r = "
      "f32[2] "
      "map(x, y), dimensions={0}, to_apply=sum\n}\n",
      {{f32({2}, {1 + small, 2}), f32({2}, {small, 1 + small})}});
  EXPECT_EQ(rows.at(0), Numbers({1 + small, 3 + small}));
}

}  // namespace
}  // namespace hilo
