// Which results may be written where an operand lay.
#include "parsed.h"

namespace hilo {
namespace {

using testing_analysis::Parsed;

TEST(MayShare, ElementwiseOpsOfOneShape) {
  const Parsed m(R"(HloModule m
ENTRY e { p = f32[4] parameter(0)
  q = f32[4,4] parameter(1)
  k = f32[4] constant({1,2,3,4})
  a = f32[4] add(p, k)
  b = f32[4,4] broadcast(p), dimensions={0}
  c = s32[4] bitcast-convert(p)
  d = f32[4,4] transpose(q), dimensions={1,0}
  copied = f32[4] copy(p)
  f = f32[4,4] dot(q, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[4], f32[4,4], s32[4], f32[4,4], f32[4,4]) tuple(a, b, c, d, f) }
)");
  EXPECT_TRUE(m.may_share("p", "a"));
  EXPECT_FALSE(m.may_share("k", "a"));
  EXPECT_FALSE(m.may_share("p", "b"));
  EXPECT_FALSE(m.may_share("p", "c"));
  EXPECT_FALSE(m.may_share("q", "d"));
  EXPECT_FALSE(m.may_share("p", "copied"));
  EXPECT_FALSE(m.may_share("q", "f"));
}

TEST(MayShare, FusionsByWhatTheyDoInside) {
  const Parsed m(R"(HloModule m
loop { a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  turned = f32[4,4] transpose(b), dimensions={1,0}
  s = f32[4,4] add(a, turned)
  n = f32[4,4] negate(a)
  ROOT t = (f32[4,4], f32[4,4]) tuple(s, n) }
product { x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  d = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s2 = f32[4,4] add(d, y) }
ENTRY e { p = f32[4,4] parameter(0)
  q = f32[4,4] parameter(1)
  f = (f32[4,4], f32[4,4]) fusion(p, q), kind=kLoop, calls=loop
  twice = (f32[4,4], f32[4,4]) fusion(p, p), kind=kLoop, calls=loop
  g = f32[4,4] fusion(p, q), kind=kOutput, calls=product
  custom = f32[4,4] fusion(p, q), kind=kCustom, calls=product
  ROOT r = (f32[4,4], f32[4,4]) tuple(g, custom) }
)");
  EXPECT_TRUE(m.may_share("p", "f", {0}));
  EXPECT_TRUE(m.may_share("p", "f", {1}));
  EXPECT_FALSE(m.may_share("q", "f", {0}));
  EXPECT_FALSE(m.may_share("p", "twice", {0}));
  EXPECT_TRUE(m.may_share("q", "g"));
  EXPECT_FALSE(m.may_share("p", "g"));
  EXPECT_FALSE(m.may_share("q", "custom"));
}

TEST(MayShare, ScalarsThatAreReadForEveryElement) {
  const Parsed m(R"(HloModule m
loop { low = f32[] parameter(0)
  x = f32[4] parameter(1)
  one = f32[] constant(1)
  n = f32[] add(low, one)
  c = f32[4] clamp(low, x, one)
  ROOT t = (f32[4], f32[]) tuple(c, n) }
ENTRY e { p = f32[] parameter(0)
  q = f32[4] parameter(1)
  ROOT f = (f32[4], f32[]) fusion(p, q), kind=kLoop, calls=loop }
)");
  EXPECT_FALSE(m.may_share("p", "f", {1}));
  EXPECT_TRUE(m.may_share("q", "f", {0}));
}

TEST(MayShare, WhatTpusDeclare) {
  const Parsed m(R"(HloModule m
f { a = f32[8,128] parameter(0)
  b = f32[8,128] parameter(1)
  n = f32[8,128] reverse(a), dimensions={0}
  k = f32[8,128] reverse(b), dimensions={0}
  ROOT t = (f32[8,128], f32[8,128]) tuple(n, k) }
ENTRY e { p = f32[8,128] parameter(0)
  q = f32[8,128] parameter(1)
  ROOT r = (f32[8,128], f32[8,128]) fusion(p, q), kind=kLoop, calls=f,
    backend_config={"aliasing_operands":{"lists":[{"indices":["1","2"]},{"indices":["0"]}]},"flag_configs":[{"3":["0"]}]} }
)");
  EXPECT_TRUE(m.may_share("q", "r", {0}));
  EXPECT_FALSE(m.may_share("q", "r", {1}));
  EXPECT_FALSE(m.may_share("p", "r", {0}));
  EXPECT_FALSE(m.may_share("p", "r", {1}));
}

TEST(MayShare, UpdatesAndSorts) {
  const Parsed m(R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT }
ENTRY e { p = f32[8] parameter(0)
  i = s32[] parameter(1)
  keys = f32[8] negate(p)
  values = s32[8] iota(), iota_dimension=0
  u = f32[8] dynamic-update-slice(p, keys, i)
  s = (f32[8], s32[8]) sort(u, values), dimensions={0}, to_apply=less
  ROOT r = ((f32[8], s32[8]), f32[8]) tuple(s, keys) }
)");
  EXPECT_TRUE(m.may_share("p", "u"));
  EXPECT_FALSE(m.may_share("keys", "u"));
  EXPECT_TRUE(m.may_share("u", "s", {0}));
  EXPECT_FALSE(m.may_share("u", "s", {1}));
  EXPECT_TRUE(m.may_share("values", "s", {1}));
}

TEST(MayShare, CallsWhoseRootIsElementwise) {
  const Parsed m(R"(HloModule m
f { a = f32[4] parameter(0)
  ROOT n = f32[4] negate(a) }
g { b = f32[4] parameter(0)
  n2 = f32[4] negate(b)
  ROOT s = f32[4] add(n2, b) }
ENTRY e { p = f32[4] parameter(0)
  x = f32[4] call(p), to_apply=f
  ROOT y = f32[4] call(x), to_apply=g }
)");
  EXPECT_TRUE(m.may_share("p", "x"));
  EXPECT_FALSE(m.may_share("x", "y"));
}

}  // namespace
}  // namespace hilo
