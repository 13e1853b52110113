// Calls whose tuples are taken apart where their bodies are put in their places.
#include "judge.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

// Who reads an element waits for nothing else of what was passed or returned.
TEST(InlinedCalls, TuplesAreNotWaitedFor) {
  const Module before = parsed(R"(HloModule m
f { p = (f32[4], f32[4]) parameter(0)
 x = f32[4] get-tuple-element(p), index=0
 y = f32[4] get-tuple-element(p), index=1
 s = f32[4] sine(x)
 c = f32[4] cosine(y)
 ROOT t = (f32[4], f32[4]) tuple(s, c) }
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] parameter(1)
 p = (f32[4], f32[4]) tuple(y, x)
 a = (f32[4], f32[4]) call(p), to_apply=f
 b = f32[4] get-tuple-element(a), index=0
 c = f32[4] get-tuple-element(a), index=1
 n = f32[4] negate(b)
 ROOT r = f32[4] multiply(n, c) })");
  const Module after = after_passes(before, "call-inliner");
  EXPECT_EQ(count_op(after, Op::Call), 0);
  EXPECT_EQ(count_op(after, Op::GetTupleElement), 0);
  EXPECT_EQ(count_op(after, Op::Tuple), 0);
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
}

// What a parameter says of itself does not become what the program says of its result.
TEST(InlinedCalls, TheResultKeepsItsSharding) {
  const Module before = parsed(R"(HloModule m, num_partitions=2
f { p = f32[4] parameter(0)
 ROOT q = f32[4] parameter(1) }
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] parameter(1), sharding={replicated}
 ROOT r = f32[4] call(x, y), to_apply=f, sharding={devices=[2]<=[2]} })");
  const Module after = after_passes(before, "call-inliner, cse, dce, algebraic-simplifier");
  EXPECT_EQ(count_op(after, Op::Call), 0);
  const auto& said = after.extra(after[after[after.entry].root]).sharding;
  ASSERT_TRUE(said);
  EXPECT_EQ(said->tile_dims, (Dims{2}));
}

}  // namespace
}  // namespace hilo
