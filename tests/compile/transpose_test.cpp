// Transposes in tiles of all sides, whole ones and such that lie over others, alone and with
// elementwise ops around them; and elements that follow each other in turns.
#include "both.h"

namespace hilo::test {
namespace {

void expect_same(const std::string& text) {
  const auto both = run_both(text, 1, 2);
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  EXPECT_TRUE(same_bits(both->compiled, both->evaluated)) << text;
  EXPECT_TRUE(both->report.evaluated.empty()) << text;
}

struct Case {
  std::string_view from, to, order;
};
constexpr Case cases[] = {
    {"64,128", "128,64", "1,0"},
    {"100,37", "37,100", "1,0"},
    {"5,300", "300,5", "1,0"},
    {"70,9", "9,70", "1,0"},
    {"3,200,50", "3,50,200", "0,2,1"},
    {"2,3,40,24", "2,40,24,3", "0,2,3,1"},
    {"2,40,24,20", "2,20,40,24", "0,3,1,2"},
    {"17,18,19", "19,18,17", "2,1,0"},
    {"33,1,65,1", "65,1,33,1", "2,1,0,3"},
    {"400,33", "33,400", "1,0"},
    {"300,5", "5,300", "1,0"},
    {"12,300", "300,12", "1,0"},
    {"9,7,20,11", "7,20,11,9", "1,2,3,0"},
    {"8,1,9,10,12", "12,8,9,1,10", "4,0,2,1,3"},
    {"5,6,7,1,8", "7,1,8,5,6", "2,3,4,0,1"},
};

TEST(Transpose, AloneOfEveryWidth) {
  for (const Case& c : cases)
    for (std::string_view type : {"f32", "bf16", "s8", "pred", "f64", "c64", "c128"})
      expect_same(fmt::format(
          "HloModule m\nENTRY e {{\n  a = {0}[{1}] parameter(0)\n  ROOT r = {0}[{2}] transpose(a), "
          "dimensions={{{3}}}\n}}\n",
          type, c.from, c.to, c.order));
}

// What is turned is computed, and so is what is made of it; the result lies over y.
TEST(Transpose, BetweenElementwiseOps) {
  for (const Case& c : cases)
    expect_same(fmt::format(R"(HloModule m, input_output_alias={{ {{}}: (1, {{}}, may-alias) }}
fused {{
  a = bf16[{0}] parameter(0)
  y = f32[{1}] parameter(1)
  b = f32[{0}] convert(a)
  n = f32[{0}] negate(b)
  t = f32[{1}] transpose(n), dimensions={{{2}}}
  u = bf16[{1}] transpose(a), dimensions={{{2}}}
  v = f32[{1}] convert(u)
  p = f32[{1}] multiply(t, v)
  ROOT s = f32[{1}] add(p, y)
}}
ENTRY e {{
  a = bf16[{0}] parameter(0)
  y = f32[{1}] parameter(1)
  ROOT r = f32[{1}] fusion(a, y), kind=kLoop, calls=fused
}}
)",
                            c.from, c.to, c.order));
}

// A tile has the elements of the places that are written, not those that others are made of.
TEST(Transpose, ReadAtOtherPlacesToo) {
  for (const std::string_view other :
       {"reverse(t), dimensions={0}", "reverse(t), dimensions={1}", "reverse(t), dimensions={2}",
        "reverse(t), dimensions={0,1}", "pad(t, zero), padding=1_-1x0_0x0_0",
        "pad(t, zero), padding=0_0x-3_3x2_-2"})
    for (const auto& [from, to] :
         {std::pair{"5,16,24", "5,24,16"}, {"5,32,48", "5,48,32"}, {"4,19,40", "4,40,19"}})
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  p = s32[{0}] parameter(0)
  q = s32[{1}] parameter(1)
  zero = s32[] constant(0)
  t = s32[{1}] transpose(p), dimensions={{0,2,1}}
  m = s32[{1}] multiply(q, t)
  v = s32[{1}] {2}
  ROOT r = s32[{1}] subtract(v, m)
}}
)",
                              from, to, other));
}

TEST(Transpose, OfWhatIsReshaped) {
  expect_same(R"(HloModule m
ENTRY e {
  a = f32[4,33,96] parameter(0)
  b = f32[4,33,3,32] reshape(a)
  t = f32[4,3,32,33] transpose(b), dimensions={0,2,3,1}
  ROOT r = f32[4,3,32,33] negate(t)
}
)");
}

// A dimension that is too short for a tile stands behind the one that is read or written along.
TEST(Transpose, ShortDimensionsAreParts) {
  constexpr Case short_ones[] = {
      {"3,70,96", "96,70,3", "2,1,0"},
      {"2,9,33", "33,9,2", "2,1,0"},
      {"7,40,16", "16,40,7", "2,1,0"},
      {"5,2,64,1,17", "17,2,64,1,5", "4,1,2,3,0"},
      {"70,2,40,3", "40,2,3,70", "2,1,3,0"},
      {"33,2,17,7", "17,2,7,33", "2,1,3,0"},
      {"16,3,64,2,1", "64,3,1,2,16", "2,1,4,3,0"},
      {"1024,9,3", "9,3,1024", "1,2,0"},
      {"10,2,60,6", "60,6,2,10", "2,3,1,0"},
      {"130,144", "144,130", "1,0"},
  };
  for (const Case& c : short_ones)
    for (std::string_view type : {"s8", "bf16", "f32", "f64", "c64"})
      for (std::string_view root : {"transpose(x)", "transpose(n)", "concatenate"}) {
        const bool is_joined = root == "concatenate";
        const std::string transpose = fmt::format("{}[{}] {}, dimensions={{{}}}", type, c.to,
                                                  is_joined ? "transpose(n)" : root, c.order);
        const size_t comma = c.to.find(',');
        const std::string joined =
            fmt::format("{}[{}{}]", type, 2 * std::stoi(std::string(c.to)), c.to.substr(comma));
        expect_same(fmt::format(
            R"(HloModule m
ENTRY e {{
  x = {0}[{1}] parameter(0)
  n = {0}[{1}] negate(x)
  {2}t = {3}
{4}}}
)",
            type, c.from, is_joined ? "" : "ROOT ", transpose,
            is_joined ? fmt::format("  ROOT r = {} concatenate(t, t), dimensions={{0}}\n", joined)
                      : ""));
      }
}

TEST(Transpose, ElementsInTurns) {
  for (int size : {2, 3, 4, 5})
    for (int count : {7, 40, 64}) {
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  a = f32[9,{0}] parameter(0)
  b = f32[9,{0},{1}] broadcast(a), dimensions={{0,1}}
  c = f32[9,{2}] reshape(b)
  d = f32[9,{2}] parameter(1)
  ROOT r = f32[9,{2}] add(c, d)
}}
)",
                              count, size, count * size));
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  a = f32[9,{0}] parameter(0)
  b = f32[9,{0}] parameter(1)
  p = f32[9,{0},1] reshape(a)
  q = f32[9,{0},1] reshape(b)
  n = f32[9,{0},1] negate(q)
  c = f32[9,{0},3] concatenate(p, n, p), dimensions={{2}}
  d = f32[9,{1}] reshape(c)
  e = f32[9,{1}] parameter(2)
  ROOT r = f32[9,{1}] multiply(d, e)
}}
)",
                              count, 3 * count));
    }
}

}  // namespace
}  // namespace hilo::test
