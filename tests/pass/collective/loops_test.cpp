// Collectives of loops.
#include "devices.h"

namespace hilo::test {
namespace {

const std::string all = "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true";

// A loop over (counter, p, q) of six elements each; `lines` make p2 and q2 of p and q.
std::string loop(const std::string& lines, int rounds, const std::string& root,
                 const char* type = "f32") {
  const std::string array = fmt::format("{}[6]", type);
  const std::string state = fmt::format("(s32[], {}, {})", array, array);
  return module_text(
      4,
      fmt::format("  zero = s32[] constant(0)\n  x = {0} parameter(0)\n  y = {0} parameter(1)\n"
                  "  t = {1} tuple(zero, x, y)\n"
                  "  w = {1} while(t), condition=cond, body=body\n"
                  "  p = {0} get-tuple-element(w), index=1\n"
                  "  q = {0} get-tuple-element(w), index=2\n{2}",
                  array, state, root),
      fmt::format("body {{\n  s = {1} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
                  "  p = {0} get-tuple-element(s), index=1\n"
                  "  q = {0} get-tuple-element(s), index=2\n"
                  "  one = s32[] constant(1)\n  n = s32[] add(i, one)\n{2}"
                  "  ROOT t = {1} tuple(n, p2, q2)\n}}\n"
                  "cond {{\n  s = {1} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
                  "  last = s32[] constant({3})\n"
                  "  ROOT c = pred[] compare(i, last), direction=LT\n}}\n",
                  array, state, lines, rounds));
}

constexpr std::string_view peel = "dce, last-round-peeler, (collective-simplifier, dce)*";
const std::string ring_step =
    "  p2 = f32[6] collective-permute(p), channel_id=1, "
    "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n  q2 = f32[6] add(q, p)\n";

TEST(PeelLastRound, OfARing) {
  const Rewritten one = rewritten(loop(ring_step, 4, "  ROOT r = f32[6] negate(q)\n"), peel, 4);
  EXPECT_EQ(one.bytes_before, 96);
  EXPECT_EQ(one.bytes_after, 72);
}

TEST(PeelLastRound, NotWhereAllIsUsed) {
  const Rewritten one = rewritten(loop(ring_step, 4, "  ROOT r = f32[6] add(p, q)\n"), peel, 4);
  EXPECT_EQ(one.bytes_after, 96);
}

TEST(PeelLastRound, NotOfOneRound) {
  const Rewritten one = rewritten(loop(ring_step, 1, "  ROOT r = f32[6] negate(q)\n"), peel, 4);
  EXPECT_EQ(one.bytes_after, 24);
}

constexpr std::string_view hoist = "collective-hoister, dce";
const std::string gather_p =
    "  g = f32[24] all-gather(e), " + all +
    ", dimensions={0}\n"
    "  zero = f32[] constant(0)\n  r = f32[] reduce(g, zero), dimensions={0}, to_apply=add\n"
    "  b = f32[6] broadcast(r), dimensions={}\n  q2 = f32[6] add(q, b)\n";

TEST(HoistCollectives, Invariant) {
  const Rewritten one = rewritten(
      loop("  p2 = f32[6] get-tuple-element(s), index=1\n  e = f32[6] tanh(p)\n" + gather_p, 3,
           "  ROOT r = f32[6] negate(q)\n"),
      hoist, 4);
  EXPECT_EQ(one.bytes_after * 3, one.bytes_before) << print(one.after);
}

TEST(HoistCollectives, NotWhatChanges) {
  const Rewritten one = rewritten(loop("  p2 = f32[6] negate(p)\n  e = f32[6] tanh(p)\n" + gather_p,
                                       3, "  ROOT r = f32[6] negate(q)\n"),
                                  hoist, 4);
  EXPECT_EQ(one.bytes_after, one.bytes_before);
}

constexpr std::string_view sink = "all-reduce-sinker, dce";

TEST(SinkAllReduces, WhatIsOnlyAddedUp) {
  const Rewritten one = rewritten(loop("  p2 = f32[6] negate(p)\n  e = f32[6] tanh(p)\n"
                                       "  a = f32[6] all-reduce(e), " +
                                           all + ", to_apply=add\n  q2 = f32[6] add(a, q)\n",
                                       4, "  ROOT r = f32[6] add(p, q)\n"),
                                  sink, 4);
  EXPECT_EQ(one.bytes_after * 4, one.bytes_before);
}

TEST(SinkAllReduces, IntegersExactly) {
  PipelineOptions options;
  options.pass.rewrite.keeps = Keeps::Bits;
  const Rewritten one = rewritten(loop("  p2 = s32[6] negate(p)\n  a = s32[6] all-reduce(p), " +
                                           all + ", to_apply=addi\n  q2 = s32[6] add(q, a)\n",
                                       5, "  ROOT r = s32[6] add(p, q)\n", "s32"),
                                  sink, 4, options);
  EXPECT_EQ(one.bytes_after * 5, one.bytes_before);
}

TEST(SinkAllReduces, NotWhereTheSumIsRead) {
  const Rewritten one = rewritten(loop("  p2 = f32[6] tanh(q)\n  a = f32[6] all-reduce(p), " + all +
                                           ", to_apply=add\n  q2 = f32[6] add(q, a)\n",
                                       4, "  ROOT r = f32[6] add(p, q)\n"),
                                  sink, 4);
  EXPECT_EQ(one.bytes_after, one.bytes_before);
}

}  // namespace
}  // namespace hilo::test
