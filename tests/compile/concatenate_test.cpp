// Arrays one after the other: by loops of their own, in iterations before and at their dimension.
#include <fmt/ranges.h>

#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

struct Case {
  std::string_view first, second, third, result;
  int dimension;
};
constexpr Case cases[] = {
    {"40,30", "40,50", "40,1", "40,81", 1},
    {"3,20,7,9", "3,20,2,9", "3,20,1,9", "3,20,10,9", 2},
    {"5,80", "0,80", "33,80", "38,80", 0},
    {"2,3,70", "2,9,70", "2,1,70", "2,13,70", 1},
    {"100", "900", "24", "1024", 0},
    {"17,8", "17,3", "17,0", "17,11", 1},
    {"4,4,64,1", "4,4,64,2", "4,4,64,1", "4,4,64,4", 3},
};

TEST(Concatenate, PlainAgreesWithTheEvaluator) {
  for (const Case& c : cases)
    for (std::string_view type : {"f32", "bf16", "s8", "pred", "c64"}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  a = {0}[{1}] parameter(0)\n  b = {0}[{2}] parameter(1)\n  c "
          "= "
          "{0}[{3}] parameter(2)\n  ROOT r = {0}[{4}] concatenate(a, b, c), "
          "dimensions={{{5}}}\n}}\n",
          type, c.first, c.second, c.third, c.result, c.dimension);
      const auto both = run_both(text, 1, 2);
      ASSERT_TRUE(both) << to_string(both.error()) << text;
      EXPECT_TRUE(same_bits(both->compiled, both->evaluated)) << text;
      EXPECT_TRUE(both->report.evaluated.empty()) << text;
    }
}

// Whatever share of the rows a thread has.
TEST(Concatenate, SingleColumns) {
  for (int64_t columns : {2, 7, 8, 9, 16, 33, 64, 65})
    for (std::string_view type : {"f32", "bf16", "u8", "s4", "pred", "c64"}) {
      const int64_t rows = 4003;
      std::string parameters, names;
      for (int64_t i = 0; i < columns; ++i) {
        parameters += fmt::format("  p{2} = {0}[{1},1] parameter({2})\n", type, rows, i);
        names += fmt::format("{}p{}", i > 0 ? ", " : "", i);
      }
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n{}  ROOT r = {}[{},{}] concatenate({}), dimensions={{1}}\n}}\n",
          parameters, type, rows, columns, names);
      const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
      ASSERT_TRUE(one && seven) << text;
      EXPECT_TRUE(same_bits(one->compiled, one->evaluated)) << text;
      EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
    }
}

// Parts of all sizes of words, more than have loops, and parts of none; along the first, a middle
// and the last dimension, with whatever share a thread has.
TEST(Concatenate, ManyAndNarrowParts) {
  struct Parts {
    std::string_view before, behind;
    std::vector<int64_t> sizes;
  };
  std::vector<int64_t> all, hundred(100, 1), mixed;
  for (int64_t i = 0; i < 70; ++i) mixed.push_back(i % 3);
  for (int64_t i = 1; i < 40; ++i) all.push_back(i);
  const Parts cases[] = {{"501,", "", {2, 3}}, {"130,", ",3", {1, 4, 2}}, {"100,", "", {5, 0, 17}},
                         {"90,", "", all},     {"70,", "", hundred},      {"", "", hundred},
                         {"", ",3", mixed},    {"3,", "", mixed},         {"2,", ",700", all},
                         {"20,", "", {300, 7}}};
  for (const Parts& parts : cases)
    for (std::string_view type : {"f32", "bf16", "u8", "pred", "c128"}) {
      std::string parameters, names;
      int64_t number = 0, sum = 0;
      for (int64_t size : parts.sizes) {
        parameters += fmt::format("  p{3} = {0}[{1}{2}{4}] parameter({3})\n", type, parts.before,
                                  size, number, parts.behind);
        names += fmt::format("{}p{}", number > 0 ? ", " : "", number);
        number += 1;
        sum += size;
      }
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n{}  ROOT r = {}[{}{}{}] concatenate({}), "
          "dimensions={{{}}}\n}}\n",
          parameters, type, parts.before, sum, parts.behind, names, parts.before.empty() ? 0 : 1);
      const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
      ASSERT_TRUE(one && seven) << text;
      EXPECT_TRUE(same_bits(one->compiled, one->evaluated)) << text;
      EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      EXPECT_TRUE(one->report.evaluated.empty()) << text;
    }
}

// The number that all parts are multiplied by is made in each of their loops.
TEST(Concatenate, FusedPartsShareNumbers) {
  for (const Case& c : cases) {
    const std::string text = fmt::format(
        R"(HloModule m
fused {{
  a = f32[{0}] parameter(0)
  b = f32[{1}] parameter(1)
  c = f32[{2}] parameter(2)
  s = f32[] parameter(3)
  t = f32[] negate(s)
  q = f32[] multiply(t, s)
  qa = f32[{0}] broadcast(q), dimensions={{}}
  qb = f32[{1}] broadcast(q), dimensions={{}}
  qc = f32[{2}] broadcast(q), dimensions={{}}
  x = f32[{0}] multiply(a, qa)
  y = f32[{1}] add(b, qb)
  v = f32[{1}] reverse(y), dimensions={{{4}}}
  z = f32[{2}] subtract(qc, c)
  ROOT r = f32[{3}] concatenate(x, v, z), dimensions={{{4}}}
}}
ENTRY e {{
  a = f32[{0}] parameter(0)
  b = f32[{1}] parameter(1)
  c = f32[{2}] parameter(2)
  s = f32[] parameter(3)
  ROOT r = f32[{3}] fusion(a, b, c, s), kind=kLoop, calls=fused
}}
)",
        c.first, c.second, c.third, c.result, c.dimension);
    const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
    ASSERT_TRUE(one && seven) << text;
    EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-6) << text;
    EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
    EXPECT_TRUE(one->report.evaluated.empty()) << text;
  }
}

// Rotations of both dimensions, of a part of an array, and of arrays that differ; one is of
// nothing.
TEST(Concatenate, NeighboursOfElements) {
  for (std::string_view type : {"u8", "f32", "bf16", "s64", "pred"}) {
    const std::string_view sum = type == "pred" ? "xor" : "add";
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[37,130] parameter(0)
  y = {0}[37,130] parameter(1)
  a0 = {0}[36,130] slice(x), slice={{[1:37], [0:130]}}
  a1 = {0}[1,130] slice(x), slice={{[0:1], [0:130]}}
  a = {0}[37,130] concatenate(a0, a1), dimensions={{0}}
  b0 = {0}[37,129] slice(a), slice={{[0:37], [1:130]}}
  b1 = {0}[37,1] slice(a), slice={{[0:37], [0:1]}}
  b2 = {0}[37,0] slice(a), slice={{[0:37], [5:5]}}
  b = {0}[37,130] concatenate(b2, b0, b1), dimensions={{1}}
  c0 = {0}[37,7] slice(y), slice={{[0:37], [123:130]}}
  c1 = {0}[37,123] slice(x), slice={{[0:37], [3:126]}}
  c = {0}[37,130] concatenate(c0, c1), dimensions={{1}}
  ab = {0}[37,130] {1}(a, b)
  abc = {0}[37,130] {1}(ab, c)
  d0 = {0}[30,64] slice(abc), slice={{[4:34], [60:124]}}
  d1 = {0}[30,3] slice(x), slice={{[4:34], [2:5]}}
  d2 = {0}[30,60] slice(x), slice={{[4:34], [9:69]}}
  d = {0}[30,63] concatenate(d1, d2), dimensions={{1}}
  f0 = {0}[30,63] slice(d0), slice={{[0:30], [1:64]}}
  ROOT f = {0}[30,63] {1}(f0, d)
}}
)",
                                         type, sum);
    const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
    ASSERT_TRUE(one && seven) << text;
    EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-6) << text;
    EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
    EXPECT_TRUE(one->report.evaluated.empty()) << text;
  }
}

TEST(Concatenate, SlicesThatAreArrays) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[9] parameter(0)
  y = f32[40,40] parameter(1)
  a = f32[8] slice(x), slice={[1:9]}
  b = f32[1] slice(x), slice={[0:1]}
  r = f32[9] concatenate(a, b), dimensions={0}
  m = f32[40,40] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[40,20] slice(m), slice={[0:40], [20:40]}
  d = f32[40,20] slice(m), slice={[0:40], [0:20]}
  g = f32[40,40] concatenate(c, d), dimensions={1}
  n = f32[40,40] negate(g)
  o = f32[20,20] dot(c, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[8], f32[1], f32[9], f32[40,40], f32[20,20]) tuple(a, b, r, n, o)
}
)",
                1e-6);
}

// Parts that are read across their rows beside one that is not, along each dimension; blocks of
// tiles are shared out among threads.
TEST(Concatenate, TurnedParts) {
  for (std::string_view type : {"f32", "u8", "bf16", "c64"})
    for (size_t joined : {0, 1, 2}) {
      Dims whole = {9, 70, 45}, from = {9, 45, 70}, beside = {9, 70, 45};
      const size_t joined_before = joined == 0 ? 0 : 3 - joined;
      from[joined_before] = 33;
      beside[joined] = 18;
      Dims turned = whole;
      turned[joined] = 33;
      whole[joined] = 33 + 18 + 33;
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1}] parameter(0)
  y = {0}[{2}] parameter(1)
  z = {0}[{1}] parameter(2)
  s = {0}[{1}] add(x, z)
  t = {0}[{3}] transpose(s), dimensions={{0,2,1}}
  u = {0}[{3}] transpose(z), dimensions={{0,2,1}}
  a = {0}[{2}] add(y, y)
  ROOT j = {0}[{4}] concatenate(t, a, u), dimensions={{{5}}}
}}
)",
                                           type, fmt::join(from, ","), fmt::join(beside, ","),
                                           fmt::join(turned, ","), fmt::join(whole, ","), joined);
      const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
      expect_native(one, text, 0);
      ASSERT_TRUE(one && seven) << text;
      EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      EXPECT_EQ(one->report.temp_bytes, 0) << text;
    }
}

// A transpose that is a part of its own and that another part reads at other places.
TEST(Concatenate, TurnedPartsThatOthersRead) {
  for (std::string_view part : {"reverse(t), dimensions={0}", "minimum(v, t)"}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = s32[48,16] parameter(0)
  n = s32[48,16] negate(x)
  t = s32[16,48] transpose(n), dimensions={{1,0}}
  v = s32[16,48] reverse(t), dimensions={{0}}
  p = s32[16,48] {}
  ROOT j = s32[16,144] concatenate(t, p, t), dimensions={{1}}
}}
)",
                                         part);
    for (uint64_t seed : {0, 1, 3, 6})
      expect_native(run_both(text, seed, 1, processor_of(seed)), text, 0);
  }
}

// What is joined is read again by what is joined to it, along the same and other dimensions.
TEST(Concatenate, JoinedOfJoined) {
  for (std::string_view type : {"s8", "bf16", "f32", "c64"})
    for (const auto& [first, second] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}})
      for (const auto& [rows, columns] : {std::pair{1, 3000}, {300, 50}, {7, 257}}) {
        const auto shape = [&](int dim, int64_t r, int64_t c) {
          return fmt::format("{}[{},{}]", type, dim == 0 ? 2 * r : r, dim == 1 ? 2 * c : c);
        };
        const int64_t r = first == 0 ? 2 * rows : rows, c = first == 1 ? 2 * columns : columns;
        expect_native_on_threads(fmt::format(
            R"(HloModule m
ENTRY e {{
  x = {0}[{1},{2}] parameter(0)
  d = {0}[{1},{2}] add(x, x)
  j = {3} concatenate(x, d), dimensions={{{5}}}
  m = {3} multiply(j, j)
  ROOT k = {4} concatenate(j, m), dimensions={{{6}}}
}}
)",
            type, rows, columns, shape(first, rows, columns), shape(second, r, c), first, second));
      }
}

// Vectors of indices beside computed ones, whose rows ask for their places among the dimensions.
TEST(Concatenate, SingleElementsOfPlaces) {
  for (std::string_view dims : {"40,50", "3,20,33", "16,16", "5,40", "2000"}) {
    const bool has_rows = dims.contains(',');
    const std::string_view last = dims.substr(has_rows ? dims.rfind(',') + 1 : 0);
    const auto d = std::ranges::count(dims, ',');
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = s32[{0}] parameter(0)
  y = s32[{1}] parameter(1)
  i = s32[{0},1] iota(), iota_dimension=0
  b = s32[{0},1] broadcast(y), dimensions={{{2}}}
  c = s32[{0}] multiply(x, x)
  m = s32[{0},1] reshape(c)
  ROOT j = s32[{0},3] concatenate(i, b, m), dimensions={{{3}}}
}}
)",
                                         dims, last, d, d + 1);
    const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
    expect_native(one, text);
    ASSERT_TRUE(one && three) << text;
    EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
  }
}

// Five computed vectors, which one loop would choose from for each element: of them the work is cut
// at any place.
TEST(Concatenate, ManyStackedVectors) {
  for (int64_t size : {63, 64, 65, 1000, 40000}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[{0}] parameter(0)
  y = f32[{0}] parameter(1)
  v = f32[{0}] multiply(x, y)
  w = f32[{0}] add(x, y)
  a = f32[1,{0}] reshape(v)
  b = f32[1,{0}] reshape(w)
  c = f32[1,{0}] reshape(x)
  s = f32[{0}] subtract(x, y)
  d = f32[1,{0}] reshape(s)
  m = f32[{0}] maximum(x, y)
  n = f32[1,{0}] reshape(m)
  ROOT j = f32[5,{0}] concatenate(a, b, c, d, n), dimensions={{0}}
}}
)",
                                         size);
    const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
    expect_native(one, text);
    ASSERT_TRUE(one && three) << text;
    EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
  }
}

}  // namespace
}  // namespace hilo::test
