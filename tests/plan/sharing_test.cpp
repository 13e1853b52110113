// Values that share a buffer, in modules where it is easy to let one write over another.
#include "planned.h"

namespace hilo::test {
namespace {

// A call that is given what was written over before, and does not look at it.
constexpr std::string_view ignoring_call = R"(HloModule m
ignore {
  old = f32[16] parameter(0)
  new = f32[16] parameter(1)
  ROOT n = f32[16] negate(new)
}
ENTRY e {
  p = f32[16] parameter(0)
  s = f32[16] sine(p)
  q = f32[4] slice(p), slice={[0:4]}
  i = s32[] constant(3)
  r = f32[16] reverse(s), dimensions={0}
  far = f32[256] concatenate(s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s), dimensions={0}
  u = f32[16] dynamic-update-slice(s, q, i)
  c = f32[16] call(s, u), to_apply=ignore
  ROOT t = (f32[16], f32[16], f32[256]) tuple(c, r, far)
}
)";

TEST(Sharing, ReadersComeFirstWhereACallIgnoresTheOldValue) {
  const Planned planned = sound_plan(ignoring_call);
  EXPECT_LT(place_in_order(planned, "r"), place_in_order(planned, "u"));
  EXPECT_LT(place_in_order(planned, "far"), place_in_order(planned, "u"));
}

// The fusion's second result lies over `c`, though nobody reads it: the first one may not.
constexpr std::string_view unread_result_in_place = R"(HloModule m
f {
  a = f32[16] parameter(0)
  b = f32[16] parameter(1)
  s = f32[16] add(a, b)
  p = f32[16] multiply(a, b)
  ROOT t = (f32[16], f32[16]) tuple(s, p)
}
ENTRY e {
  x = f32[16] parameter(0)
  y = f32[16] parameter(1)
  c = f32[16] negate(x)
  two = (f32[16], f32[16]) fusion(c, y), kind=kLoop, output_to_operand_aliasing={{1}: (0, {})}, calls=f
  s = f32[16] get-tuple-element(two), index=0
  ROOT r = f32[16] multiply(s, y)
}
)";

TEST(Sharing, OneResultLiesOverAnOperand) { sound_plan(unread_result_in_place); }

// The call writes over what it is given, inside, and hands nothing of it out.
constexpr std::string_view hidden_loop = R"(HloModule m
body {
  state = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[64] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[64] add(x, x)
  ROOT out = (s32[], f32[64]) tuple(next, y)
}
condition {
  state = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(i, three), direction=LT
}
hidden {
  given = f32[64] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[64]) tuple(zero, given)
  loop = (s32[], f32[64]) while(init), condition=condition, body=body
  last = f32[64] get-tuple-element(loop), index=1
  much = f32[512] concatenate(last, last, last, last, last, last, last, last), dimensions={0}
  most = f32[512] negate(much)
  ROOT some = f32[64] slice(most), slice={[0:64]}
}
ENTRY e {
  p = f32[64] parameter(0)
  s = f32[64] sine(p)
  wide = f32[512] concatenate(s, s, s, s, s, s, s, s), dimensions={0}
  c = f32[64] call(s), to_apply=hidden
  part = f32[64] slice(wide), slice={[64:128]}
  ROOT t = f32[64] add(c, part)
}
)";

TEST(Sharing, ReadersComeBeforeACallThatWritesOverItInside) {
  const Planned planned = sound_plan(hidden_loop);
  EXPECT_LT(place_in_order(planned, "wide"), place_in_order(planned, "c"));
}

// The body gives every loop what it got, but through phis that see each other: element 2 of the
// outer loop is one value, and nothing else may lie in its buffer while it is read.
constexpr std::string_view rotating = R"(HloModule m
still {
  state = (s32[], f32[16], f32[16], f32[16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[16] get-tuple-element(state), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT out = (s32[], f32[16], f32[16], f32[16]) tuple(next, x, x, x)
}
inner_test {
  state = (s32[], f32[16], f32[16], f32[16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  two = s32[] constant(2)
  ROOT more = pred[] compare(i, two), direction=LT
}
body {
  state = (s32[], f32[16], f32[16], f32[16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  a = f32[16] get-tuple-element(state), index=1
  b = f32[16] get-tuple-element(state), index=2
  c = f32[16] get-tuple-element(state), index=3
  zero = s32[] constant(0)
  init = (s32[], f32[16], f32[16], f32[16]) tuple(zero, c, b, b)
  loop = (s32[], f32[16], f32[16], f32[16]) while(init), condition=inner_test, body=still
  third = f32[16] get-tuple-element(loop), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT out = (s32[], f32[16], f32[16], f32[16]) tuple(next, a, third, c)
}
test {
  state = (s32[], f32[16], f32[16], f32[16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(i, three), direction=LT
}
ENTRY e {
  p = f32[16] parameter(0)
  x = f32[16] sine(p)
  y = f32[16] negate(p)
  z = f32[16] cosine(p)
  zero = s32[] constant(0)
  init = (s32[], f32[16], f32[16], f32[16]) tuple(zero, x, y, z)
  outer = (s32[], f32[16], f32[16], f32[16]) while(init), condition=test, body=body
  second = f32[16] get-tuple-element(outer), index=2
  last = f32[16] get-tuple-element(outer), index=3
  again = f32[16] add(y, second)
  ROOT t = (f32[16], f32[16]) tuple(again, last)
}
)";

TEST(Sharing, WhatNoLoopChangesIsOneValue) {
  const Planned planned = sound_plan(rotating);
  const Aliases& aliases = planned.plan.aliases;
  const auto result = aliases.at(instruction(planned.module, "outer"), {2});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_FALSE(aliases[result[0]].is_phi);
}

// The condition writes over a part of the state, which the body and the result still need.
constexpr std::string_view writing_condition = R"(HloModule m, is_scheduled=true
body {
  state = (s32[], f32[16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[16] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[16] add(x, x)
  ROOT out = (s32[], f32[16]) tuple(next, y)
}
test {
  state = (s32[], f32[16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[16] get-tuple-element(state), index=1
  zero = f32[] constant(0)
  none = f32[4] broadcast(zero), dimensions={}
  at = s32[] constant(5)
  u = f32[16] dynamic-update-slice(x, none, at)
  part = f32[1] slice(u), slice={[5:6]}
  first = f32[] reshape(part)
  low = pred[] compare(first, zero), direction=LE
  three = s32[] constant(3)
  less = pred[] compare(i, three), direction=LT
  ROOT more = pred[] and(low, less)
}
ENTRY e {
  p = f32[16] parameter(0)
  x = f32[16] sine(p)
  zero = s32[] constant(0)
  init = (s32[], f32[16]) tuple(zero, x)
  loop = (s32[], f32[16]) while(init), condition=test, body=body
  ROOT last = f32[16] get-tuple-element(loop), index=1
}
)";

TEST(Sharing, TheStateOutlivesTheCondition) { sound_plan(writing_condition); }

TEST(Sharing, TheCheckerSeesAConditionThatWritesOverTheState) {
  Module module = *parse(writing_condition);
  ASSERT_TRUE(flatten_calls(module, {.machine = &cpu()}));
  const auto made = plan(module, cpu());  // without copies
  ASSERT_TRUE(made);
  EXPECT_NE(faults_of(module, *made)
                .find("u{} lies over state{1} while both are alive; they share "
                      "a buffer"),
            std::string::npos)
      << faults_of(module, *made);
}

// A temporary of the condition in the place of what the body reads.
TEST(Sharing, TheCheckerSeesATemporaryOverTheState) {
  Planned planned = sound_plan(writing_condition);
  const auto where = [&](std::string_view name, const Dims& index = {}) {
    const InstructionId id = instruction(planned.module, name);
    return planned.plan.where[planned.plan.aliases.at(id, index)[0].value];
  };
  const auto [from, slot] = where("none");
  const auto [to, target] = where("loop", {1});
  Allocation& into = planned.plan.allocations[to];
  Slot moved = planned.plan.allocations[from].slots[slot];
  moved.offset = into.slots[target].offset;
  into.slots.push_back(moved);
  planned.plan.where[moved.value.value] = {to, static_cast<uint32_t>(into.slots.size() - 1)};
  EXPECT_NE(difference_inside(planned, 1), "");
  EXPECT_NE(faults_of(planned.module, planned.plan).find("while both are alive"),
            std::string::npos);
}

// What runs asynchronously begins with its last operand, and may be written over x then.
constexpr std::string_view late_operand =
    R"(HloModule m, input_output_alias={ {0}: (0, {}, must-alias) }
work {
  a = f32[16] parameter(0)
  b = f32[16] parameter(1)
  ROOT s = f32[16] add(a, b)
}
ENTRY e {
  x = f32[16] parameter(0)
  y = f32[16] parameter(1)
  start = ((f32[16]), f32[16], u32[]) async-start(y), calls=work
  far = f32[256] concatenate(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x), dimensions={0}
  update = ((f32[16], f32[16]), f32[16], u32[]) async-update(start, y)
  done = f32[16] async-done(update)
  ROOT t = (f32[16], f32[256]) tuple(done, far)
}
)";

TEST(Sharing, ReadersComeBeforeTheLastOperandOfWhatRunsAsynchronously) {
  const Planned planned = sound_plan(late_operand);
  EXPECT_LT(place_in_order(planned, "far"), place_in_order(planned, "update"));
}

// What runs inside of what runs asynchronously may do so until both are done.
constexpr std::string_view nested_steps = R"(HloModule m, is_scheduled=true
inner {
  a = f32[16] parameter(0)
  b = f32[16] sine(a)
  ROOT c = f32[16] negate(b)
}
outer {
  p = f32[16] parameter(0)
  start = ((f32[16]), f32[16], u32[]) async-start(p), calls=inner
  done = f32[16] async-done(start)
  ROOT n = f32[16] reverse(done), dimensions={0}
}
ENTRY e {
  x = f32[16] parameter(0)
  begun = ((f32[16]), f32[16], u32[]) async-start(x), calls=outer
  y = f32[16] cosine(x)
  z = f32[16] reverse(y), dimensions={0}
  ended = f32[16] async-done(begun)
  ROOT t = f32[16] add(z, ended)
}
)";

TEST(Sharing, StepsInStepsLiveUntilAllAreDone) {
  const Planned planned = sound_plan(nested_steps);
  const Liveness& liveness = planned.plan.liveness;
  const ValueId b = planned.plan.aliases.at(instruction(planned.module, "b"))[0];
  EXPECT_GE(liveness.ranges[b.value].end,
            liveness.moments[instruction(planned.module, "ended").value]);
}

// What no result may be written over, so that neighbours of the chain lie in two places by turns.
constexpr std::string_view chain_of_turns = R"(HloModule m
ENTRY e {
  p = f32[16] parameter(0)
  a = f32[16] reverse(p), dimensions={0}
  b = f32[16] reverse(a), dimensions={0}
  c = f32[16] reverse(b), dimensions={0}
  ROOT r = f32[16] reverse(c), dimensions={0}
}
)";

TEST(Sharing, ATemporaryBetweenTwoLiesWhereTheOutputWillBe) {
  EXPECT_EQ(sound_plan(chain_of_turns).plan.spaces[0].temp_bytes, 16 * 4);
}

// `sum` over `turned` would leave no room for `half` beside `both` but a third place.
constexpr std::string_view output_over_operand = R"(HloModule m
ENTRY e {
  p = f32[16] parameter(0)
  both = f32[32] concatenate(p, p), dimensions={0}
  half = f32[16] slice(both), slice={[0:32:2]}
  turned = f32[16] reverse(half), dimensions={0}
  ROOT sum = f32[16] add(turned, p)
}
)";

TEST(Sharing, AnOutputLiesApartFromItsOperandWhereThatTakesLess) {
  EXPECT_EQ(sound_plan(output_over_operand).plan.spaces[0].temp_bytes, 32 * 4);
}

}  // namespace
}  // namespace hilo::test
