// Padding that loops over elements meet: edges and interiors along and across the loop, seen
// through what moves places, in groups of elements and in ranges that threads share.
#include "both.h"

namespace hilo::test {
namespace {

// The same bits from the compiler with any number of threads and from the evaluator.
void expect_same(const std::string& text) {
  const auto one = expect_native_on_threads(text);
  EXPECT_TRUE(one && same_bits(one->compiled, one->evaluated)) << text;
}

// Neighbours of a place: the partition points of all of them, and of values of one loop.
TEST(Pad, Neighbours) {
  for (std::string_view type : {"f32", "bf16", "s8", "c64"})
    expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[37,130] parameter(0)
  z = {0}[] parameter(1)
  p = {0}[41,134] pad(x, z), padding=2_2x2_2
  a = {0}[37,130] slice(p), slice={{[0:37], [0:130]}}
  b = {0}[37,130] slice(p), slice={{[4:41], [4:134]}}
  c = {0}[37,130] slice(p), slice={{[1:38], [3:133]}}
  ab = {0}[37,130] add(a, b)
  abc = {0}[37,130] subtract(ab, c)
  xx = {0}[37,130] add(x, abc)
  ROOT t = ({0}[37,130], {0}[37,130]) tuple(abc, xx)
}}
)",
                            type));
}

// Neighbours along each dimension, transposed when they are added: tiles of what has partition
// points.
TEST(Pad, NeighboursTurned) {
  for (std::string_view type : {"f32", "bf16", "f64", "c64"})
    for (const Dims& order : {Dims{2, 0, 1}, Dims{0, 2, 1}, Dims{2, 1, 0}, Dims{1, 0, 2}}) {
      const std::array dims = {21, 34, 19};
      const auto size = [&](size_t d) { return dims[static_cast<size_t>(order[d])]; };
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[21,34,19] parameter(0)
  y = {0}[21,34,19] parameter(1)
  z = {0}[] parameter(2)
  p = {0}[23,36,21] pad(x, z), padding=1_1x1_1x1_1
  a = {0}[21,34,19] slice(p), slice={{[0:21], [1:35], [1:20]}}
  b = {0}[21,34,19] slice(p), slice={{[1:22], [2:36], [1:20]}}
  c = {0}[21,34,19] slice(p), slice={{[1:22], [1:35], [2:21]}}
  ay = {0}[21,34,19] multiply(a, y)
  ab = {0}[21,34,19] add(ay, b)
  abc = {0}[21,34,19] subtract(ab, c)
  ROOT t = {0}[{1},{2},{3}] transpose(abc), dimensions={{{4},{5},{6}}}
}}
)",
                              type, size(0), size(1), size(2), order[0], order[1], order[2]));
    }
}

// Even and odd places are made apart and put together, twice; a rest is left of each row.
TEST(Pad, InteriorInTurns) {
  for (int size : {130, 131, 9}) {
    const int half = (size + 1) / 2, odd = size / 2, twice = 2 * half - 1;
    expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[7,{0}] parameter(0)
  z = f32[] constant(0)
  s = f32[7,{1}] slice(x), slice={{[0:7], [0:{0}:2]}}
  t = f32[7,{2}] slice(x), slice={{[0:7], [1:{0}:2]}}
  n = f32[7,{2}] negate(t)
  u = f32[7,{3}] pad(s, z), padding=0_0x0_0_1
  v = f32[7,{3}] pad(n, z), padding=0_0x1_{4}_1
  uv = f32[7,{3}] add(u, v)
  f = f32[7,1] slice(x), slice={{[0:7], [0:1]}}
  c = f32[7,{5}] concatenate(f, uv), dimensions={{1}}
  k = f32[7,{6}] pad(c, z), padding=0_0x3_1_1
  ROOT r = f32[7,{6}] reverse(k), dimensions={{1}}
}}
)",
                            size, half, odd, twice, twice - 1 - (2 * odd - 1), twice + 1,
                            2 * (twice + 1) - 1 + 4));
  }
}

TEST(Pad, ThroughWhatMovesPlaces) {
  expect_same(R"(HloModule m
ENTRY e {
  x = f32[37,130] parameter(0)
  z = f32[] parameter(1)
  w = f32[37,200] pad(x, z), padding=0_0x-5_-54_1
  wr = f32[37,200] reverse(w), dimensions={1}
  xt = f32[130,37] transpose(x), dimensions={1,0}
  xp = f32[160,47] pad(xt, z), padding=10_20x4_6
  back = f32[47,160] transpose(xp), dimensions={1,0}
  doubled = f32[47,160] add(back, back)
  apart = f32[37,390] pad(x, z), padding=0_0x1_1_2
  part = f32[1,130] slice(x), slice={[3:4], [0:130]}
  row = f32[130] reshape(part)
  long = f32[150] pad(row, z), padding=12_8
  all = f32[5,1,150] broadcast(long), dimensions={2}
  flat = f32[5,150] reshape(all)
  ROOT o = (f32[37,200], f32[47,160], f32[37,390], f32[5,150]) tuple(wr, doubled, apart, flat)
}
)");
}

// Arrays that are repeated side by side, and rows that are joined, are runs of a reshaped
// dimension: of two to five, whole and in parts, forwards and backwards.
TEST(Pad, RunsOfReshapes) {
  for (int times : {2, 3, 5})
    for (int size : {64, 77}) {
      const int all = times * size;
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[9,{0}] parameter(0)
  y = f32[9,{1},{0}] parameter(1)
  z = f32[] constant(3)
  b = f32[9,{1},{0}] broadcast(x), dimensions={{0,2}}
  r = f32[9,{2}] reshape(b)
  s = f32[9,{2}] reshape(y)
  p = f32[9,{3}] pad(r, z), padding=0_0x5_2
  q = f32[9,{3}] pad(s, z), padding=0_0x0_7
  o = f32[9,{3}] reverse(q), dimensions={{1}}
  t = f32[9,{3}] subtract(p, o)
  u = f32[9,{0}] slice(t), slice={{[0:9], [{4}:{3}:{1}]}}
  ROOT v = (f32[9,{3}], f32[9,{0}]) tuple(t, u)
}}
)",
                              size, times, all, all + 7, 7));
    }
}

// So are all elements of an array of one dimension.
TEST(Pad, RunsOfOneLine) {
  expect_same(R"(HloModule m
ENTRY e {
  x = f32[3,50000] parameter(0)
  z = f32[] constant(1)
  l = f32[150000] reshape(x)
  p = f32[150003] pad(l, z), padding=1_2
  ROOT n = f32[150003] negate(p)
}
)");
}

// Ranges of iterations begin and end anywhere between the partition points; all of one is padding.
TEST(Pad, OneLongDimension) {
  for (int high : {24, 25}) {
    const int size = 300030 + high;
    expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[300000] parameter(0)
  z = f32[] parameter(1)
  p = f32[{0}] pad(x, z), padding=30_{1}
  n = f32[{0}] negate(p)
  q = f32[1,{2}] reshape(n)
  i = f32[1,{2}] pad(q, z), padding=0_0x0_0
  d = f32[{3}] pad(n, z), padding=0_1_1
  e = f32[{3}] add(d, d)
  ROOT t = (f32[1,{2}], f32[{3}]) tuple(i, e)
}}
)",
                            size, high, size, 2 * size));
  }
}

// Rows of a few elements: what there is of them is read with masks, through what is computed and
// looked up, too.
TEST(Pad, NarrowRows) {
  for (std::string_view type : {"f32", "bf16", "s8", "f64", "c64"})
    for (int size : {1, 3, 5, 7})
      expect_same(fmt::format(R"(HloModule m
add {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT s = {0}[] add(a, b)
}}
ENTRY e {{
  x = {0}[33,{1}] parameter(0)
  z = {0}[] parameter(1)
  cube = {0}[33,{1},4] parameter(2)
  p = {0}[35,{2}] pad(x, z), padding=1_1x2_3
  n = {0}[35,{2}] negate(p)
  j = {0}[33,{3}] concatenate(x, x), dimensions={{1}}
  sums = {0}[33,{1}] reduce(cube, z), dimensions={{2}}, to_apply=add
  js = {0}[33,{4}] concatenate(j, sums), dimensions={{1}}
  q = {0}[33,{5}] pad(js, z), padding=0_0x-1_2
  i = s32[33,{1}] iota(), iota_dimension=0
  k = {0}[33,{1}] gather(cube, i), offset_dims={{}}, collapsed_slice_dims={{0,1,2}}, start_index_map={{0}}, index_vector_dim=2, slice_sizes={{1,1,1}}
  r = {0}[33,{2}] pad(k, z), padding=0_0x3_2
  ROOT t = ({0}[35,{2}], {0}[33,{5}], {0}[33,{2}]) tuple(n, q, r)
}}
)",
                              type, size, size + 5, 2 * size, 3 * size, 3 * size + 1));
}

// One element has no interior, however much is said to be there.
TEST(Pad, OneElement) {
  expect_same(R"(HloModule m
ENTRY e {
  x = f32[3,1] parameter(0)
  z = f32[] parameter(1)
  p = f32[3,100] pad(x, z), padding=0_0x40_59_9223372036854775807
  n = f32[3,100] negate(p)
  e = f32[3,0] slice(n), slice={[0:3], [5:5]}
  o = f32[3,20] pad(e, z), padding=0_0x9_11_3
  ROOT t = (f32[3,100], f32[3,20]) tuple(n, o)
}
)");
}

}  // namespace
}  // namespace hilo::test
