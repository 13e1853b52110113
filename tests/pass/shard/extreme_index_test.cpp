// The greatest value and its index, over dimensions that are cut.
#include "partition_judge.h"

namespace hilo::test {
namespace {

// As JAX writes argmax and argmin; `first` is how a NaN counts beside what is better.
std::string chooser(std::string_view direction, std::string_view first = "or(better, odd)") {
  return fmt::format(R"(
choose {{
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  better = pred[] compare(a, b), direction={}
  odd = pred[] compare(a, a), direction=NE
  first = pred[] {}
  v = f32[] select(first, a, b)
  equal = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, before)
  left = pred[] or(first, tie)
  k = s32[] select(left, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}}
max {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}}
)",
                     direction, first);
}

// Over the second dimension of q, which is cut into tiles, the last of them with padding.
Module program(const std::string& computations, std::string_view q, std::string_view result,
               std::string_view initial = "-inf") {
  return parsed(fmt::format(R"(HloModule m, num_partitions=4
{}
ENTRY e {{
  p = f32[6,10] parameter(0), sharding={{devices=[1,4]<=[4]}}
  q = f32[6,10] {}, sharding={{devices=[1,4]<=[4]}}
  i = s32[6,10] iota(), iota_dimension=1
  v0 = f32[] constant({})
  i0 = s32[] constant(0)
  r = (f32[6], s32[6]) reduce(q, i, v0, i0), dimensions={{1}}, to_apply=choose
  {}
}}
)",
                            computations, q, initial, result));
}

constexpr std::string_view index_alone = "ROOT k = s32[6] get-tuple-element(r), index=1";
constexpr std::string_view both = "ROOT t = (f32[6], s32[6]) copy(r)";

bool has(const Module& module, std::string_view text) {
  return print(module).find(text) != std::string::npos;
}

// Small numbers are equal often, so that indices decide.
TEST(ExtremeIndex, TheFirstOfEqualOnes) {
  for (const auto& [direction, initial] : {std::pair{"GT", "-inf"}, {"LT", "inf"}})
    for (std::string_view result : {index_alone, both}) {
      const Module module = program(chooser(direction), "floor(p)", result, initial);
      EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "") << direction;
      const auto after = partitioned(module, "spmd-partitioner");
      ASSERT_TRUE(after.has_value());
      EXPECT_EQ(count_collectives(*after).count, 2) << direction;
      EXPECT_FALSE(has(*after, " all-gather(")) << direction;
    }
}

TEST(ExtremeIndex, TheFirstNaN) {
  EXPECT_EQ(fault_of(program(chooser("GT"), "sqrt(p)", index_alone), 1, "spmd-partitioner"), "");
}

// Elsewhere it is not known what devices would tell each other: what each has found is gathered.
TEST(ExtremeIndex, OtherComputations) {
  for (const std::string& choose : {chooser("GT", "and(better, better)"), chooser("GE")}) {
    const Module module = program(choose, "floor(p)", index_alone);
    EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "") << choose;
    const auto after = partitioned(module, "spmd-partitioner");
    ASSERT_TRUE(after.has_value());
    EXPECT_TRUE(has(*after, " all-gather(")) << choose;
  }
}

// A maximum that is there is found once.
TEST(ExtremeIndex, BesideTheMaximumOfTheSame) {
  const std::string_view result = R"(k = s32[6] get-tuple-element(r), index=1
  m = f32[6] reduce(q, v0), dimensions={1}, to_apply=max
  ROOT t = (s32[6], f32[6]) tuple(k, m))";
  const Module module = program(chooser("GT"), "floor(p)", result);
  EXPECT_EQ(fault_of(module, 1, "spmd-tiles"), "");
  const auto after = partitioned(module, "spmd-tiles");
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(count_collectives(*after).count, 2);
}

}  // namespace
}  // namespace hilo::test
