// Bitcasts between layouts: the same bytes under tiles, padding and other orders.
#include "both.h"

namespace hilo::test {
namespace {

std::string bitcast_of(const char* from, const char* to) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {} parameter(0)\n  ROOT b = {} bitcast(x)\n}}\n", from, to);
}

TEST(Bitcast, BetweenLayouts) {
  const std::pair<const char*, const char*> rows[] = {
      {"f32[3,5]{0,1}", "f32[5,3]{1,0}"},
      {"f32[48,64]{1,0:T(8,128)}", "f32[48,64]{1,0:T(8,128)S(1)}"},
      {"f32[48,64]{1,0:T(8,128)}", "f32[48,64,1]{1,0,2:T(8,128)}"},
      {"f32[8,1024]{1,0:T(8,128)}", "f32[8,8,128]{2,0,1:T(8,128)}"},
      {"s32[1,1]{1,0:T(1,128)}", "s32[]{:T(128)}"},
      {"bf16[6,130]{1,0:T(8,128)(2,1)}", "bf16[2,3,130]{2,1,0:T(8,128)(2,1)}"},
      {"bf16[14,4,8,4,64]{4,2,1,3,0:T(8,128)(2,1)}", "bf16[14,32,4,64]{3,1,2,0:T(8,128)(2,1)}"},
      {"f32[3,300]{1,0:T(4,128)}", "f32[12,128]{1,0:T(4,128)}"},
      {"u8[5,7]{1,0:T(*,8)}", "u8[35]{0:T(8)}"},
      {"f32[4,6]{0,1}", "u32[6,4]{1,0}"}};
  for (const auto& [from, to] : rows) expect_native(bitcast_of(from, to));
}

TEST(Bitcast, ToWiderAndNarrowerElements) {
  for (const char* text : {"f32[4,6]{0,1}|u16[6,4,2]{2,1,0}", "u16[6,4,2]{2,1,0}|f32[4,6]{0,1}"}) {
    const std::string row = text;
    const size_t bar = row.find('|');
    const auto both = run_both(bitcast_of(row.substr(0, bar).c_str(), row.substr(bar + 1).c_str()));
    ASSERT_TRUE(both) << to_string(both.error()) << text;
    EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0) << text;
  }
}

// Bits that are taken for another type in one loop with what joins, turns and reduces them.
TEST(Bitcast, ConvertsInLoops) {
  const auto both = run_both(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
ENTRY e {
  x = u32[33,20] parameter(0)
  y = u32[31,20] parameter(1)
  h = bf16[64,20] parameter(2)
  d = f64[20,64] parameter(3)
  nine = u32[] constant(9)
  nines = u32[64,20] broadcast(nine), dimensions={}
  one = u32[] constant(1065353216)
  ones = u32[64,20] broadcast(one), dimensions={}
  j = u32[64,20] concatenate(x, y), dimensions={0}
  s = u32[64,20] shift-right-logical(j, nines)
  o = u32[64,20] or(s, ones)
  f = f32[64,20] bitcast-convert(o)
  t = f32[20,64] transpose(f), dimensions={1,0}
  q = f32[20,64] multiply(t, t)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[64] reduce(f, low), dimensions={1}, to_apply=max
  mi = s32[64] bitcast-convert(m)
  mb = s32[64,20] broadcast(mi), dimensions={0}
  mf = f32[64,20] bitcast-convert(mb)
  g = f32[64,20] subtract(f, mf)
  p = f32[64,20] exponential(g)
  z = f32[64] reduce(p, zero), dimensions={1}, to_apply=add
  zb = f32[64,20] broadcast(z), dimensions={0}
  w = f32[64,20] divide(p, zb)
  i = s16[64,20] bitcast-convert(h)
  k = s16[64,20] not(i)
  n = f16[64,20] bitcast-convert(k)
  is_n = pred[64,20] compare(n, n), direction=EQ
  nz = f16[] constant(0)
  nzb = f16[64,20] broadcast(nz), dimensions={}
  c = f16[64,20] select(is_n, n, nzb)
  l = u64[20,64] bitcast-convert(d)
  v = u64[20,64] add(l, l)
  ROOT r = (f32[20,64], f32[64,20], f16[64,20], u64[20,64]) tuple(q, w, c, v)
}
)");
  expect_native(both, "", 1e-6);
}

// Pieces of elements and elements of pieces, in code, beside ops that read and are read.
TEST(Bitcast, ConvertsBetweenWidthsWithoutSteps) {
  expect_native(R"(HloModule m
sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }
ENTRY e {
  x = f32[7,5] parameter(0)
  bytes = u8[7,5,4] bitcast-convert(x)
  other = u8[7,5,4] parameter(1)
  changed = u8[7,5,4] xor(bytes, other)
  words = u32[7,5] bitcast-convert(changed)
  twice = u32[7,5] add(words, words)
  halves = s16[7,5,2] bitcast-convert(x)
  wide = s32[7,5,2] convert(halves)
  zero = s32[] constant(0)
  total = s32[7,5] reduce(wide, zero), dimensions={2}, to_apply=sum
  y = bf16[9,2] parameter(2)
  f = f32[9] bitcast-convert(y)
  z = u8[33] parameter(3)
  q = s4[33,2] bitcast-convert(z)
  back = u8[33] bitcast-convert(q)
  d = f64[3] parameter(4)
  w = u16[3,4] bitcast-convert(d)
  one = f32[] parameter(5)
  four = u8[4] bitcast-convert(one)
  g = u32[9] bitcast-convert(f)
  ROOT t = (u8[7,5,4], u32[7,5], s32[7,5], u32[9], s4[33,2], u8[33], u16[3,4], u8[4]) tuple(bytes, twice, total, g, q, back, w, four)
}
)");
}

TEST(Bitcast, OfABitcast) {
  expect_native(R"(HloModule m
f { p = f32[48,64]{1,0:T(8,128)} parameter(0)
  a = f32[48,64,1]{1,0,2:T(8,128)} bitcast(p)
  b = f32[48,64,1]{1,0,2:T(8,128)S(1)} bitcast(a)
  ROOT n = f32[48,64,1]{1,0,2:T(8,128)} negate(b)
}
ENTRY e {
  x = f32[48,64]{1,0:T(8,128)} parameter(0)
  ROOT f = f32[48,64,1]{1,0,2:T(8,128)} fusion(x), kind=kLoop, calls=f
}
)");
}

}  // namespace
}  // namespace hilo::test
