#include "expect.h"

namespace hilo {
namespace {

TEST(VerifyCalls, SoundModules) {
  EXPECT_EQ(mistakes_of(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
less { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
double { x = f32[8] parameter(0)
  ROOT y = f32[8] add(x, x) }
ENTRY main {
  p = f32[4,8] parameter(0)
  i = s32[8] parameter(1)
  zero = f32[] constant(0)
  r = f32[8] reduce(p, zero), dimensions={0}, to_apply=add
  s = s32[8] sort(i), dimensions={0}, to_apply=less
  f = f32[8] fusion(r), kind=kLoop, calls=double
  ROOT t = (f32[8], s32[8]) tuple(f, s)
})"),
            "");
}

TEST(VerifyCalls, Mistakes) {
  const Mistake mistakes[] = {
      {R"(HloModule m
callee { ROOT a = f32[4] parameter(0) }
ENTRY main { p = f32[8] parameter(0)
  ROOT c = f32[4] call(p), to_apply=callee })",
       "expected parameter 0 of to_apply=callee to be f32[8], found f32[4]", "c"},
      {R"(HloModule m
callee { ROOT a = f32[4] parameter(0) }
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[4] call(p, p), to_apply=callee })",
       "expected to_apply=callee to take 2 parameters, found 1", "c"},
      {R"(HloModule m
callee { ROOT a = f32[4] parameter(0) }
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[5] call(p), to_apply=callee })",
       "expected a result of f32[4], found f32[5]", "c"},
      {R"(HloModule m
cond { a = s32[] parameter(0)
  ROOT b = s32[] add(a, a) }
body { ROOT a = s32[] parameter(0) }
ENTRY main { p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=cond, body=body })",
       "expected condition=cond to give pred[], found s32[]", "w"},
      {R"(HloModule m
cond { a = s32[] parameter(0)
  ROOT b = pred[] compare(a, a), direction=EQ }
body { a = s32[] parameter(0)
  ROOT b = f32[] convert(a) }
ENTRY main { p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=cond, body=body })",
       "expected body=body to give s32[], found f32[]", "w"},
      {R"(HloModule m
cond { a = f32[] parameter(0)
  ROOT b = pred[] compare(a, a), direction=EQ }
body { ROOT a = s32[] parameter(0) }
ENTRY main { p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=cond, body=body })",
       "expected parameter 0 of condition=cond to be s32[], found f32[]", "w"},
      {R"(HloModule m
one { ROOT a = f32[] parameter(0) }
two { a = f32[] parameter(0)
  ROOT b = f64[] convert(a) }
ENTRY main { p = pred[] parameter(0)
  x = f32[] parameter(1)
  ROOT c = f32[] conditional(p, x, x), true_computation=one, false_computation=two })",
       "to give f32[], found f64[]", "c"},
      {R"(HloModule m
one { ROOT a = f32[] parameter(0) }
ENTRY main { p = pred[] parameter(0)
  x = f32[] parameter(1)
  ROOT c = f32[] conditional(p, x, x, x), branch_computations={one, one, one} })",
       "does not choose among 3 branches", "c"},
      {R"(HloModule m
one { ROOT a = f32[] parameter(0) }
ENTRY main { p = f32[] parameter(0)
  ROOT c = f32[] conditional(p, p, p), branch_computations={one, one} })",
       "expected pred[] or s32[] as operand 0, found f32[]", "c"},
      {R"(HloModule m
one { ROOT a = f32[] parameter(0) }
ENTRY main { p = s32[] parameter(0)
  x = f32[] parameter(1)
  ROOT c = f32[] conditional(p, x), branch_computations={one, one} })",
       "expected 3 operands for 2 branches, found 2", "c"},
      {R"(HloModule m
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="f", operand_layout_constraints={f32[5]{0}} })",
       "expected operand_layout_constraints 0 of f32[4], found f32[5]", "c"},
      {R"(HloModule m
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="f", operand_layout_constraints={} })",
       "expected 1 operand_layout_constraints, found 0", "c"},
      {R"(HloModule m
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (1, {})} })",
       "output_to_operand_aliasing: no operand 1", "c"},
      {R"(HloModule m
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="f", output_to_operand_aliasing={{0}: (0, {})} })",
       "output_to_operand_aliasing: no output {0} in f32[4]", "c"},
      {R"(HloModule m
ENTRY main { p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {2})} })",
       "output_to_operand_aliasing: no part {2} in operand 0", "c"},
      {R"(HloModule m
ENTRY main { p = f32[5] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})} })",
       "output {} is f32[4]{0} of 16 bytes, operand 0 {} is f32[5]{0} of 20 bytes", "c"},
      {R"(HloModule m
ENTRY main { p = pred[8]{0:T(256)} parameter(0)
  ROOT c = pred[512]{0:T(512)} custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})} })",
       "is pred[512]{0:T(512)} of 512 bytes, operand 0 {} is pred[8]{0:T(256)} of 256 bytes", "c"},
  };
  for (const Mistake& mistake : mistakes) expect_mistake(mistake);
}

// As many bytes in memory, padding included, whatever lies in them.
TEST(VerifyCalls, AliasesOfAsManyBytes) {
  const auto module = parse(R"(HloModule m
ENTRY main { p = pred[1030]{0:T(512)(128)(4,1)} parameter(0)
  ROOT c = u32[3,40]{1,0:T(1,128)S(1)} custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})} })");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto errors = verify(*module);
  EXPECT_TRUE(errors.empty()) << to_string(errors[0]);
}

TEST(VerifyFusion, Mistakes) {
  const Mistake mistakes[] = {
      {R"(HloModule m
fused { ROOT a = f32[4] parameter(0) }
ENTRY main { p = f32[4] parameter(0)
  ROOT f = f32[4] fusion(p, p), kind=kLoop, calls=fused })",
       "expected calls=fused to take 2 parameters, found 1", "f"},
      {R"(HloModule m
fused { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[8] parameter(0)
  ROOT f = f32[4] fusion(p), kind=kLoop, calls=fused })",
       "expected parameter 0 of calls=fused to be f32[8], found f32[4]", "f"},
      {R"(HloModule m
fused { a = f32[4] parameter(0)
  unused = f32[4] exponential(a)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  ROOT f = f32[4] fusion(p), kind=kLoop, calls=fused })",
       "the fused instruction is not used", "unused"},
      {R"(HloModule m
fused { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
  c = f32[4] exponential(b) }
ENTRY main { p = f32[4] parameter(0)
  ROOT f = f32[4] fusion(p), kind=kLoop, calls=fused })",
       "the fused instruction is not used", "c"},
      {R"(HloModule m
fused { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  ROOT f = f32[5] fusion(p), kind=kLoop, calls=fused })",
       "expected a result of f32[4], found f32[5]", "f"},
  };
  for (const Mistake& mistake : mistakes) expect_mistake(mistake);
}

}  // namespace
}  // namespace hilo
