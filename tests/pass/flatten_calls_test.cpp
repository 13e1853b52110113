// Every computation that is run gets one caller, and the module computes what it did.
#include "same_program.h"

namespace hilo::test {
namespace {

// How often control flow calls each computation.
std::map<std::string, int> callers(const Module& module) {
  std::map<std::string, int> out;
  for (ComputationId computation : module.post_order())
    for (InstructionId id : module[computation].instructions) {
      const Op op = module[id].op;
      if (op != Op::Call && op != Op::While && op != Op::Conditional && op != Op::AsyncStart)
        continue;
      for (ComputationId callee : module.called(module[id]))
        ++out[std::string(module[callee].name)];
    }
  return out;
}

// The module with calls of their own, which is expected to compute the same.
Module flattened(std::string_view text, bool expected_change = true) {
  const Module original = sound_module(text);
  Module module = original;
  const auto changed = flatten_calls(module, {.machine = find_machine("cpu")});
  EXPECT_TRUE(changed) << (changed ? "" : to_string(changed.error()));
  EXPECT_EQ(changed.value_or(!expected_change), expected_change);
  expect_same_program(original, module);
  for (const auto& [name, count] : callers(module)) EXPECT_EQ(count, 1) << name;
  return module;
}

constexpr std::string_view twice = R"(HloModule m
inner { p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p) }
outer { p = f32[4] parameter(0)
  s = f32[4] sine(p)
  c = f32[4] call(s), to_apply=inner, control-predecessors={s}
  ROOT r = f32[4] add(c, p) }
ENTRY e { p = f32[4] parameter(0)
  a = f32[4] call(p), to_apply=outer
  b = f32[4] call(a), to_apply=outer
  ROOT c = f32[4] call(b), to_apply=inner }
)";

TEST(FlattenCalls, EachCallHasItsOwn) {
  const Module module = flattened(twice);
  EXPECT_EQ(callers(module).size(), 5u);  // two outer, three inner
}

TEST(FlattenCalls, ClonesKeepTheirControlDependences) {
  const Module module = flattened(twice);
  int with = 0;
  for (ComputationId computation : module.post_order())
    for (InstructionId id : module[computation].instructions)
      for (InstructionId other : module.extra(module[id]).control_predecessors) {
        ++with;
        EXPECT_EQ(module[other].computation, computation);
        EXPECT_EQ(module[other].op, Op::Sine);
      }
  EXPECT_EQ(with, 2);
}

TEST(FlattenCalls, LeavesAFlatModuleAlone) {
  flattened(R"(HloModule m
inner { p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p) }
ENTRY e { p = f32[4] parameter(0)
  ROOT a = f32[4] call(p), to_apply=inner }
)",
            false);
}

TEST(FlattenCalls, LoopsAndBranchesOfOneComputation) {
  const Module module = flattened(R"(HloModule m
step { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] sine(x)
  ROOT t = (s32[], f32[4]) tuple(j, y) }
test { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT l = pred[] compare(i, three), direction=LT }
ENTRY e { p = f32[4] parameter(0)
  zero = s32[] constant(0)
  yes = pred[] constant(true)
  init = (s32[], f32[4]) tuple(zero, p)
  once = (s32[], f32[4]) while(init), condition=test, body=step
  again = (s32[], f32[4]) while(init), condition=test, body=step
  ROOT r = (s32[], f32[4]) conditional(yes, once, again), true_computation=step, false_computation=step }
)");
  EXPECT_EQ(callers(module).size(), 6u);
}

// What is applied to elements keeps its computation; the call gets another.
TEST(FlattenCalls, PartsWhatIsCalledFromWhatIsApplied) {
  const Module module = flattened(R"(HloModule m
plus { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y) }
ENTRY e { p = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(p, zero), dimensions={0}, to_apply=plus
  ROOT c = f32[] call(sum, sum), to_apply=plus }
)");
  EXPECT_EQ(callers(module).count("plus"), 0u);
  EXPECT_TRUE(find_aliases(module));
}

TEST(FlattenCalls, AStepAndItsDoneNameTheSame) {
  const Module module = flattened(R"(HloModule m
work { p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p) }
ENTRY e { p = f32[4] parameter(0)
  a = ((f32[4]), f32[4], s32[]) async-start(p), calls=work
  b = ((f32[4]), f32[4], s32[]) async-start(p), calls=work
  u = ((f32[4]), f32[4], s32[]) async-update(b), calls=work
  x = f32[4] async-done(a), calls=work
  y = f32[4] async-done(u), calls=work
  ROOT s = f32[4] add(x, y) }
)");
  EXPECT_EQ(callers(module).size(), 2u);
}

}  // namespace
}  // namespace hilo::test
