#include "expect.h"

namespace hilo {
namespace {

TEST(VerifyReducers, Mistakes) {
  const Mistake mistakes[] = {
      {R"(HloModule m
add3 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  ROOT d = f32[] add(a, b) }
ENTRY main { p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[8] reduce(p, z), dimensions={0}, to_apply=add3 })",
       "expected to_apply=add3 to take 2 parameters, found 3", "r"},
      {R"(HloModule m
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT d = s32[] add(a, b) }
ENTRY main { p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = s32[8] reduce(p, z), dimensions={0}, to_apply=add })",
       "expected parameter 0 of to_apply=add to be f32[], found s32[]", "r"},
      {R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT d = pred[] compare(a, b), direction=LT }
ENTRY main { p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = pred[8] reduce(p, z), dimensions={0}, to_apply=less })",
       "expected to_apply=less to give f32[], found pred[]", "r"},
      {R"(HloModule m
add { a = f32[] parameter(0)
  b = s32[] parameter(1)
  ROOT d = f32[] add(a, a) }
ENTRY main { p = f32[8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[4] reduce-window(p, z), window={size=2 stride=2}, to_apply=add })",
       "expected parameter 1 of to_apply=add to be f32[], found s32[]", "r"},
      {R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT d = f32[] add(a, b) }
ENTRY main { p = f32[4] parameter(0)
  ROOT r = f32[4] sort(p), dimensions={0}, to_apply=add })",
       "expected to_apply=add to give pred[], found f32[]", "r"},
      {R"(HloModule m
f { a = f32[] parameter(0)
  b = f32[3] parameter(1)
  c = f32[3] broadcast(a), dimensions={}
  ROOT t = (f32[3], f32[3]) tuple(c, b) }
ENTRY main { p = f32[4,3] parameter(0)
  z = f32[3] parameter(1)
  ROOT r = (f32[4,3], f32[3]) scan(p, z), dimensions={0}, num_carries=1, to_apply=f })",
       "expected parameter 0 of to_apply=f to be f32[3], found f32[]", "r"},
      {R"(HloModule m
f { a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  c = f32[1] slice(a), slice={[0:1]}
  ROOT t = (f32[3], f32[1]) tuple(a, c) }
ENTRY main { p = f32[4,3] parameter(0)
  z = f32[3] parameter(1)
  ROOT r = (f32[4,3], f32[1]) scan(p, z), dimensions={0}, num_carries=1, to_apply=f })",
       "expected to_apply=f to give (f32[3], f32[3]), found (f32[3], f32[1])", "r"},
      {R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT d = pred[] compare(a, b), direction=LT }
ENTRY main { p = f32[4] parameter(0)
  ROOT r = (f32[4], f32[4]) sort(p, p), dimensions={0}, to_apply=less })",
       "expected to_apply=less to take 4 parameters, found 2", "r"},
      {R"(HloModule m
neg { a = f32[2] parameter(0)
  b = f32[] constant(1)
  ROOT d = f32[] negate(b) }
ENTRY main { p = f32[4] parameter(0)
  ROOT r = f32[4] map(p), dimensions={0}, to_apply=neg })",
       "expected parameter 0 of to_apply=neg to be f32[], found f32[2]", "r"},
      {R"(HloModule m
add { a = f32[] parameter(0)
  ROOT d = f32[] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  i = s32[1] parameter(1)
  u = f32[1] parameter(2)
  ROOT r = f32[4] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add })",
       "expected to_apply=add to take 2 parameters, found 1", "r"},
      {R"(HloModule m
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT d = pred[] compare(a, b), direction=GE }
ENTRY main { p = f32[4] parameter(0)
  s = f32[2] parameter(1)
  z = f32[] constant(0)
  ROOT r = f32[4] select-and-scatter(p, s, z), window={size=2 stride=2}, select=ge, scatter=ge })",
       "expected scatter=ge to give f32[], found pred[]", "r"},
      {R"(HloModule m
body { a = f32[] parameter(0)
  ROOT t = (f32[], f32[]) tuple(a, a) }
ENTRY main { p = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = (f32[4], f32[]) scan(p, z), dimensions={0}, num_carries=1, to_apply=body })",
       "expected to_apply=body to take 2 parameters, found 1", "r"},
      {R"(HloModule m
neg { a = f32[] parameter(0)
  ROOT d = f32[] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=neg })",
       "expected to_apply=neg to take 2 parameters, found 1", "r"},
      {R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT d = pred[] compare(a, b), direction=LT }
ENTRY main { p = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=less })",
       "expected to_apply=less to take two scalars and give one", "r"},
  };
  for (const Mistake& mistake : mistakes) expect_mistake(mistake);
}

}  // namespace
}  // namespace hilo
