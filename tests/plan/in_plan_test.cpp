// Evaluation inside a plan gives the same bits as outside, and a wrong plan shows.
#include <gtest/gtest.h>

#include "eval/eval.h"
#include "plan/plan.h"
#include "text/text.h"

namespace hilo {
namespace {

constexpr std::string_view loop = R"(HloModule loop, is_scheduled=true
body {
  carry = (s32[], f32[64], f32[4,64]) parameter(0)
  i = s32[] get-tuple-element(carry), index=0
  x = f32[64] get-tuple-element(carry), index=1
  rows = f32[4,64] get-tuple-element(carry), index=2
  doubled = f32[64] add(x, x)
  row = f32[1,64] reshape(doubled)
  zero = s32[] constant(0)
  updated = f32[4,64] dynamic-update-slice(rows, row, i, zero)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT out = (s32[], f32[64], f32[4,64]) tuple(next, doubled, updated)
}
condition {
  carry = (s32[], f32[64], f32[4,64]) parameter(0)
  i = s32[] get-tuple-element(carry), index=0
  four = s32[] constant(4)
  ROOT more = pred[] compare(i, four), direction=LT
}
ENTRY e {
  p = f32[64] parameter(0)
  start = s32[] constant(0)
  i = s32[] copy(start)
  x = f32[64] sine(p)
  y = f32[64] cosine(p)
  none = f32[] constant(0)
  rows = f32[4,64] broadcast(none), dimensions={}
  init = (s32[], f32[64], f32[4,64]) tuple(i, x, rows)
  w = (s32[], f32[64], f32[4,64]) while(init), condition=condition, body=body
  last = f32[64] get-tuple-element(w), index=1
  filled = f32[4,64] get-tuple-element(w), index=2
  z = f32[64] multiply(last, y)
  ROOT result = (f32[64], f32[4,64]) tuple(z, filled)
}
)";

Literal input() {
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.1f * static_cast<float>(i);
  return Literal::from<float>({64}, values);
}

Literal run(const Module& module, const Plan* plan) {
  EvalOptions options;
  options.threads = 1;
  if (plan) options.place = bind_in_arena(module, *plan, 1);
  auto out = evaluate(module, {{{input()}}}, options);
  EXPECT_TRUE(out) << (out ? "" : to_string(out.error()));
  return out ? out->devices[0] : Literal();
}

Plan plan_of(const Module& module) {
  const Machine* cpu = find_machine("cpu");
  auto made = plan(module, *cpu);
  EXPECT_TRUE(made) << (made ? "" : to_string(made.error()));
  for (const Error& error : check_plan(module, *cpu, *made)) ADD_FAILURE() << to_string(error);
  return *std::move(made);
}

TEST(InPlan, GivesTheSameBits) {
  const Module module = *parse(loop);
  const Plan made = plan_of(module);
  EXPECT_TRUE(same_bits(run(module, nullptr), run(module, &made)));
}

TEST(InPlan, AWrongOverlapGivesWrongNumbers) {
  const Module module = *parse(loop);
  Plan wrong = plan_of(module);
  const auto slot_of = [&](std::string_view name) -> std::pair<uint32_t, uint32_t> {
    const InstructionId id = module.find(module.entry, name);
    return wrong.where[wrong.aliases.at(id)[0].value];
  };
  // y is alive while the loop runs: put it where the rows are.
  const auto [from, slot] = slot_of("y");
  const auto [to, target] = slot_of("rows");
  const ValueId y = wrong.allocations[from].slots[slot].value;
  wrong.allocations[to].slots.push_back(
      {y, wrong.allocations[to].slots[target].offset, wrong.allocations[from].slots[slot].bytes});
  wrong.where[y.value] = {to, static_cast<uint32_t>(wrong.allocations[to].slots.size() - 1)};
  EXPECT_FALSE(same_bits(run(module, nullptr), run(module, &wrong)));
  EXPECT_FALSE(check_plan(module, *find_machine("cpu"), wrong).empty());
}

// Device 0 sends and goes on at once, writing over what it sent; device 1 comes late to take it.
constexpr std::string_view late_taker = R"(HloModule late, is_scheduled=true, num_partitions=2
body {
  state = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(state), index=0
  limit = u32[] get-tuple-element(state), index=1
  one = u32[] constant(1)
  next = u32[] add(i, one)
  ROOT out = (u32[], u32[]) tuple(next, limit)
}
condition {
  state = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(state), index=0
  limit = u32[] get-tuple-element(state), index=1
  ROOT more = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  p = f32[64] parameter(0)
  id = u32[] partition-id()
  many = u32[] constant(20000)
  limit = u32[] multiply(id, many)
  zero = u32[] constant(0)
  i = u32[] copy(zero)
  init = (u32[], u32[]) tuple(i, limit)
  wait = (u32[], u32[]) while(init), condition=condition, body=body
  sent = f32[64] sine(p)
  got = f32[64] collective-permute(sent), channel_id=1, source_target_pairs={{0,1}}, control-predecessors={wait}
  over = f32[64] cosine(p)
  turned = f32[64] reverse(over), dimensions={0}
  ROOT sum = f32[64] add(got, turned)
}
)";

TEST(InPlan, WhatIsSentStaysAsItWas) {
  const Module module = *parse(late_taker);
  const Plan made = plan_of(module);
  const auto place = [&](std::string_view name) {
    const auto [allocation, slot] =
        made.where[made.aliases.at(module.find(module.entry, name))[0].value];
    return std::pair(allocation, made.allocations[allocation].slots[slot].offset);
  };
  EXPECT_EQ(place("sent"), place("over"));
  EvalOptions outside, inside;
  outside.threads = inside.threads = 2;
  inside.place = bind_in_arena(module, made, 2);
  const auto want = evaluate(module, {{{input()}, {input()}}}, outside);
  const auto got = evaluate(module, {{{input()}, {input()}}}, inside);
  ASSERT_TRUE(want && got) << to_string((want ? got : want).error());
  for (int device = 0; device < 2; ++device)
    EXPECT_TRUE(same_bits(want->devices[device], got->devices[device])) << device;
}

}  // namespace
}  // namespace hilo
