// Two rounds of a loop in one: the values are the same for even and odd counts, and no copies are
// left where rounds read what they write.
#include <fmt/format.h>

#include "judge.h"

namespace hilo::test {
namespace {

// Of 512 numbers; a round takes each with its neighbour, and in another array what was before.
std::string loop(int rounds, std::string_view more = "", std::string_view in_condition = "") {
  return fmt::format(R"(HloModule m
body {{
  s = (s32[], f32[512], f32[512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[512] get-tuple-element(s), index=1
  y = f32[512] get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  a = f32[511] slice(x), slice={{[1:512]}}
  b = f32[1] slice(x), slice={{[0:1]}}
  c = f32[512] concatenate(a, b), dimensions={{0}}
  d = f32[512] subtract(c, y)
  {1}
  ROOT r = (s32[], f32[512], f32[512]) tuple(n, d, x)
}}
condition {{
  s = (s32[], f32[512], f32[512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({0})
  {2}
  ROOT r = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  x = f32[512] parameter(0)
  y = f32[512] parameter(1)
  z = s32[] constant(0)
  s = (s32[], f32[512], f32[512]) tuple(z, x, y)
  w = (s32[], f32[512], f32[512]) while(s), condition=condition, body=body
  i = s32[] get-tuple-element(w), index=0
  p = f32[512] get-tuple-element(w), index=1
  q = f32[512] get-tuple-element(w), index=2
  ROOT r = (s32[], f32[512], f32[512]) tuple(i, p, q)
}}
)",
                     rounds, more, in_condition);
}

constexpr std::string_view pipeline = "fusion, dce, loop-double-buffer, copy-insertion";

// Arrays that the body of the loop copies.
int64_t copies_in_body(const Module& module) {
  int64_t out = 0;
  for (InstructionId loop : module[module.entry].instructions)
    if (!module[loop].removed && module[loop].op == Op::While)
      for (InstructionId id : module[module.attributes<WhileAttributes>(loop).body].instructions)
        out += !module[id].removed && module[id].op == Op::Copy && module.shape(id).rank() > 0;
  return out;
}

TEST(DoubleBuffer, NothingIsCopiedFromRoundToRound) {
  for (const int rounds : {4, 5, 6, 9}) {
    const Module before = parsed(loop(rounds));
    EXPECT_GT(copies_in_body(after_passes(before, "fusion, dce, copy-insertion")), 0);
    const Module after = after_passes(before, pipeline);
    EXPECT_EQ(copies_in_body(after), 0) << print(after);
    EXPECT_EQ(count_op(after, Op::While), 1);
    EXPECT_EQ(difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

TEST(DoubleBuffer, LoopsThatAreShortOrHaveEffectsStay) {
  const auto changes = [](const std::string& text) {
    Module module = parsed(text);
    const auto changed = double_buffer_loops(module, {});
    return changed && *changed;
  };
  EXPECT_TRUE(changes(loop(4)));
  EXPECT_FALSE(changes(loop(3)));
  EXPECT_FALSE(changes(loop(8, "t = token[] after-all()\n f = token[] outfeed(d, t)")));
  EXPECT_FALSE(changes(loop(8, "", "t = token[] after-all()\n f = token[] outfeed(i, t)")));
}

}  // namespace
}  // namespace hilo::test
