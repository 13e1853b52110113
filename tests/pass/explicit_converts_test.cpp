// Ops that mix widths of floats get converts, and compute the same bits.
#include "judge.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

constexpr const char* computations = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
larger { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  v = f32[] select(c, a, b)
  k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
narrow { x = f32[4] parameter(0)
  ROOT r = bf16[4] multiply(x, x)
}
)";

// The module after the pass, which has so many converts.
Module expect_explicit(const std::string& entry, int converts) {
  const Module before = parsed(std::string(computations) + "ENTRY e {\n" + entry + "}\n");
  EXPECT_FALSE(find_mixed_widths(before).empty()) << entry;
  Module after = after_passes(before, "explicit-converts");
  for (const Error& error : verify(after)) ADD_FAILURE() << to_string(error) << print(after);
  EXPECT_TRUE(find_mixed_widths(after).empty()) << print(after);
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  EXPECT_EQ(count_op(after, Op::Convert), converts) << print(after);
  return after;
}

TEST(ExplicitConverts, ArithmeticInTheWidest) {
  expect_explicit(
      "x = f32[4] parameter(0)\n y = bf16[4] parameter(1)\n ROOT r = bf16[4] add(x, y)\n", 2);
  expect_explicit("y = bf16[4] parameter(0)\n ROOT r = f32[4] multiply(y, y)\n", 2);
  expect_explicit(
      "x = f32[4] parameter(0)\n r = bf16[4] negate(x)\n ROOT t = (bf16[4], bf16[4]) "
      "tuple(r, r)\n",
      1);
  expect_explicit(
      "x = f32[4] parameter(0)\n ROOT r = bf16[4] fusion(x), kind=kLoop, calls=narrow\n", 1);
}

// What is updated in place is not converted there and back.
TEST(ExplicitConverts, MovesInTheTypeOfTheResult) {
  const Module after = expect_explicit(
      "x = bf16[4] parameter(0)\n u = f32[2] parameter(1)\n i = s32[] parameter(2)\n ROOT r = "
      "bf16[4] dynamic-update-slice(x, u, i)\n",
      1);
  EXPECT_EQ(after[after[after.entry].root].op, Op::DynamicUpdateSlice);
  expect_explicit(
      "x = f32[4] parameter(0)\n z = bf16[] parameter(1)\n ROOT r = bf16[6] pad(x, z), "
      "padding=1_1\n",
      1);
}

TEST(ExplicitConverts, ResultsOfATuple) {
  expect_explicit(
      "x = f32[4] parameter(0)\n i = s32[4] iota(), iota_dimension=0\n z = f32[] "
      "constant(-9)\n n = s32[] constant(0)\n r = (bf16[], s32[]) reduce(x, i, z, n), "
      "dimensions={0}, to_apply=larger\n v = bf16[] get-tuple-element(r), index=0\n "
      "ROOT t = ((bf16[], s32[]), bf16[]) tuple(r, v)\n",
      1);
}

TEST(ExplicitConverts, ControlPredecessorsStay) {
  const Module after = expect_explicit(
      "x = f32[4] parameter(0)\n y = f32[4] negate(x)\n r = bf16[4] abs(x), "
      "control-predecessors={y}\n ROOT t = (f32[4], bf16[4]) tuple(y, r)\n",
      1);
  const InstructionId abs = after.find(after.entry, "r");
  ASSERT_TRUE(abs);
  EXPECT_EQ(after[abs].op, Op::Abs);
  EXPECT_EQ(after.extra(after[abs]).control_predecessors.size(), 1u);
}

// A start and its done are a pair; synchronous, it is as any other op.
TEST(ExplicitConverts, AsynchronousFormsAreMadeSynchronousFirst) {
  const Module before =
      parsed(std::string(computations) +
             "ENTRY e {\n x = f32[4] parameter(0)\n s = bf16[4] "
             "all-reduce-start(x), replica_groups={}, to_apply=add\n d = bf16[4] "
             "all-reduce-done(s)\n c = (bf16[4], f32[4], u32[]) copy-start(x)\n k "
             "= bf16[4] copy-done(c)\n ROOT t = (bf16[4], bf16[4]) tuple(d, k)\n}\n");
  EXPECT_EQ(count_op(after_passes(before, "explicit-converts"), Op::AllReduceStart), 1);
  const Module after = after_passes(before, "async-to-sync, explicit-converts");
  for (const Error& error : verify(after)) ADD_FAILURE() << to_string(error) << print(after);
  EXPECT_TRUE(find_mixed_widths(after).empty()) << print(after);
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
}

TEST(ExplicitConverts, LeavesOneWidthAsItIs) {
  const Module before = parsed(
      "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n y = bf16[4] convert(x)\n ROOT "
      "d = f32[] dot(y, y), lhs_contracting_dims={0}, "
      "rhs_contracting_dims={0}\n}\n");
  EXPECT_EQ(difference(before, after_passes(before, "explicit-converts")), "");
}

}  // namespace
}  // namespace hilo
