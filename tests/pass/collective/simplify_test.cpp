// Collectives that do nothing, what another has done, or what can be done before another.
#include "devices.h"

namespace hilo::test {
namespace {

const std::string over_x = "channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true";
const std::string over_y = "channel_id=2, replica_groups={{0,2},{1,3}}, use_global_device_ids=true";
const std::string ring = "channel_id=3, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}";
const std::string back = "channel_id=4, source_target_pairs={{1,0},{2,1},{3,2},{0,3}}";
const std::string shift = "channel_id=5, source_target_pairs={{0,1},{1,2},{2,3}}";

Rewritten done(const std::string& lines, std::string_view passes, Keeps keeps = Keeps::Reals) {
  PipelineOptions options;
  options.pass.rewrite.keeps = keeps;
  return rewritten(module_text(4, lines), passes, 4, options);
}
Rewritten simplified(const std::string& lines, Keeps keeps = Keeps::Reals) {
  return done(lines, "(collective-simplifier, dce)*", keeps);
}
Rewritten reassociated(const std::string& lines, Keeps keeps = Keeps::Reals) {
  return done(lines, "(collective-reassociator, collective-simplifier, dce)*", keeps);
}

TEST(SimplifyCollectives, PermutesThereAndBack) {
  const Rewritten one =
      simplified("  x = f32[8] parameter(0)\n  a = f32[8] collective-permute(x), " + ring +
                 "\n  ROOT b = f32[8] collective-permute(a), " + back + "\n");
  EXPECT_EQ(one.bytes_after, 0) << print(one.after);
}

TEST(SimplifyCollectives, PermutesCompose) {
  for (const std::string& second : {ring, shift}) {
    const Rewritten one =
        simplified("  x = f32[8] parameter(0)\n  a = f32[8] collective-permute(x), " + shift +
                   "\n  ROOT b = f32[8] collective-permute(a), " + second + "\n");
    EXPECT_EQ(count_op(one.after, Op::CollectivePermute), 1);
  }
}

TEST(SimplifyCollectives, PermuteToNobodyIsZero) {
  const Rewritten one = simplified(
      "  x = f32[8] parameter(0)\n  ROOT a = f32[8] collective-permute(x), channel_id=1, "
      "source_target_pairs={}\n");
  EXPECT_EQ(count_op(one.after, Op::CollectivePermute), 0);
}

TEST(SimplifyCollectives, ReductionsOfReductions) {
  const std::string lines = "  x = f32[8] parameter(0)\n  a = f32[8] all-reduce(x), " + over_x +
                            ", to_apply=add\n  ROOT b = f32[8] all-reduce(a), " + over_y +
                            ", to_apply=add\n";
  const Rewritten one = simplified(lines);
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 1);
  EXPECT_EQ(one.bytes_after, 48);
  EXPECT_EQ(count_op(simplified(lines, Keeps::Bits).after, Op::AllReduce), 2);
}

TEST(SimplifyCollectives, SumsOfOneGroupTwiceStay) {
  const Rewritten one =
      simplified("  x = f32[8] parameter(0)\n  a = f32[8] all-reduce(x), " + over_x +
                 ", to_apply=add\n  ROOT b = f32[8] all-reduce(a), " + over_x + ", to_apply=add\n");
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 2);
}

TEST(SimplifyCollectives, LargestOfOneGroupTwiceIsOnce) {
  const Rewritten one = simplified(
      "  x = f32[8] parameter(0)\n  a = f32[8] all-reduce(x), " + over_x +
      ", to_apply=largest\n  ROOT b = f32[8] all-reduce(a), " + over_x + ", to_apply=largest\n");
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 1);
}

TEST(SimplifyCollectives, EqualOnesAreOne) {
  const Rewritten one = simplified(
      "  x = f32[8] parameter(0)\n  a = f32[8] all-reduce(x), " + over_x +
      ", to_apply=add\n  b = f32[8] all-reduce(x), channel_id=9, replica_groups=[2,2]<=[4], "
      "use_global_device_ids=true, to_apply=add\n  c = f32[8] all-reduce(x), " +
      over_y + ", to_apply=add\n  ROOT t = (f32[8], f32[8], f32[8]) tuple(a, b, c)\n");
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 2);
}

TEST(SimplifyCollectives, UnusedOnesGo) {
  const Rewritten one = simplified("  x = f32[8] parameter(0)\n  a = f32[8] all-reduce(x), " +
                                   over_x + ", to_apply=add\n  ROOT b = f32[8] negate(x)\n");
  EXPECT_EQ(one.bytes_after, 0);
}

TEST(SimplifyCollectives, GroupsOfOne) {
  const Rewritten one = simplified(
      "  x = f32[8] parameter(0)\n  ROOT a = f32[8] all-reduce(x), channel_id=1, "
      "replica_groups={{0},{1},{2},{3}}, use_global_device_ids=true, to_apply=add\n");
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 0);
}

TEST(ReassociateCollectives, SumOfSums) {
  const std::string lines =
      "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
      "  a = f32[8] all-reduce(x), " +
      over_x +
      ", to_apply=add\n"
      "  b = f32[8] all-reduce(y), " +
      over_x +
      ", to_apply=add\n"
      "  ROOT s = f32[8] subtract(a, b)\n";
  const Rewritten one = reassociated(lines);
  EXPECT_EQ(one.bytes_after * 2, one.bytes_before);
  EXPECT_EQ(reassociated(lines, Keeps::Bits).bytes_after, one.bytes_before);
}

TEST(ReassociateCollectives, NotWhereOneIsUsedElsewhere) {
  const Rewritten one = reassociated(
      "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  a = f32[8] all-reduce(x), " +
      over_x + ", to_apply=add\n  b = f32[8] all-reduce(y), " + over_x +
      ", to_apply=add\n  s = f32[8] add(a, b)\n  ROOT t = (f32[8], f32[8]) tuple(s, a)\n");
  EXPECT_EQ(one.bytes_after, one.bytes_before);
}

TEST(ReassociateCollectives, NotAProductOfSums) {
  const Rewritten one = reassociated(
      "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  a = f32[8] all-reduce(x), " +
      over_x + ", to_apply=add\n  b = f32[8] all-reduce(y), " + over_x +
      ", to_apply=add\n  ROOT s = f32[8] multiply(a, b)\n");
  EXPECT_EQ(one.bytes_after, one.bytes_before);
}

TEST(ReassociateCollectives, GatheredOperands) {
  const Rewritten one = reassociated(
      "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  c = f32[] constant(3)\n"
      "  d = f32[16] broadcast(c), dimensions={}\n  a = f32[16] all-gather(x), " +
      over_x + ", dimensions={0}\n  b = f32[16] all-gather(y), " + over_x +
      ", dimensions={0}\n  ROOT s = f32[16] clamp(a, b, d)\n");
  EXPECT_EQ(one.bytes_after * 2, one.bytes_before) << print(one.after);
}

TEST(ReassociateCollectives, NarrowTypesTravel) {
  const Rewritten behind =
      reassociated("  x = f32[8] parameter(0)\n  a = f32[16] all-gather(x), " + over_x +
                       ", dimensions={0}\n  ROOT s = bf16[16] convert(a)\n",
                   Keeps::Bits);
  EXPECT_EQ(behind.bytes_after * 2, behind.bytes_before);
  const Rewritten before = reassociated(
      "  x = bf16[8] parameter(0)\n  w = f32[8] convert(x)\n  ROOT a = f32[8] "
      "collective-permute(w), " +
          shift + "\n",
      Keeps::Bits);
  EXPECT_EQ(before.bytes_after * 2, before.bytes_before);
}

// A device that is sent nothing has zeros, which exp would make ones.
TEST(ReassociateCollectives, NotBeforePermutesThatLeaveZeros) {
  const Rewritten one =
      reassociated("  x = f32[8] parameter(0)\n  a = f32[8] collective-permute(x), " + shift +
                   "\n  e = f32[8] exponential(a)\n"
                   "  ROOT s = bf16[8] convert(e)\n");
  EXPECT_EQ(one.bytes_after, one.bytes_before);
}

}  // namespace
}  // namespace hilo::test
