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
void expect_cut_result(std::string_view root, std::string_view passes) {
  const Module before = parsed(fmt::format(R"(HloModule m, num_partitions=2
f {{ p = f32[4] parameter(0)
 ROOT q = f32[4] copy(p) }}
g {{ ROOT p = f32[4] parameter(0) }}
ENTRY e {{ x = f32[4] parameter(0), sharding={{replicated}}
 c = pred[] constant(false)
 ROOT r = f32[4] {}, sharding={{devices=[2]<=[2]}} }})",
                                           root));
  const Module after = after_passes(before, passes);
  EXPECT_EQ(count_op(after, Op::Call) + count_op(after, Op::Conditional), 0) << print(after);
  const auto& said = after.extra(after[after[after.entry].root]).sharding;
  ASSERT_TRUE(said) << print(after);
  EXPECT_EQ(said->tile_dims, (Dims{2})) << print(after);
}
TEST(InlinedCalls, TheResultKeepsItsSharding) {
  expect_cut_result("call(x), to_apply=g", "call-inliner, cse, dce, algebraic-simplifier");
  expect_cut_result("conditional(c, x, x), true_computation=f, false_computation=g",
                    "conditional-simplifier, cse, dce");
}

}  // namespace
}  // namespace hilo
