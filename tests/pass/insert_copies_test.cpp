// Copies stand where one buffer would hold two values at once, and nowhere else.
#include <algorithm>

#include "same_program.h"

namespace hilo::test {
namespace {

// The users of the copies that were inserted, in order of their names: "while:0" a while's operand
// (or that of the tuple that it takes), "root" the root of a computation.
struct Copied {
  Module module;
  int copies = 0;
};
Copied copied(std::string_view text) {
  const Module original = sound_module(text);
  Copied out{original, 0};
  const auto done = insert_copies(out.module, {.machine = find_machine("cpu")});
  EXPECT_TRUE(done) << (done ? "" : to_string(done.error()));
  expect_same_program(original, out.module);
  for (ComputationId computation : out.module.post_order())
    for (InstructionId id : out.module[computation].instructions)
      out.copies += out.module[id].op == Op::Copy;
  EXPECT_EQ(done && *done, out.copies > 0);
  const auto again = insert_copies(out.module, {.machine = find_machine("cpu")});
  EXPECT_TRUE(again && !*again) << "a second run inserts more";
  return out;
}
int copies(std::string_view text) { return copied(text).copies; }

std::string entry(std::string_view body, std::string_view header = "") {
  return fmt::format("HloModule m{}\nENTRY e {{\n p = f32[4] parameter(0)\n{}}}\n", header, body);
}

TEST(InsertCopies, AnUpdateOfWhatNobodyElseReads) {
  EXPECT_EQ(copies(entry(" s = f32[4] sine(p)\n q = f32[2] slice(p), slice={[0:2]}\n i = s32[] "
                         "constant(1)\n ROOT u = f32[4] dynamic-update-slice(s, q, i)\n")),
            0);
}

// Without a schedule, readers come first; with one, its order stays and a copy is needed.
TEST(InsertCopies, AnUpdateOfWhatIsReadLater) {
  const std::string body =
      " s = f32[4] sine(p)\n q = f32[2] slice(p), slice={[0:2]}\n i = s32[] constant(1)\n u = "
      "f32[4] dynamic-update-slice(s, q, i)\n ROOT r = f32[4] add(u, s)\n";
  EXPECT_EQ(copies(entry(body)), 1);
  const std::string early =
      " s = f32[4] sine(p)\n q = f32[2] slice(p), slice={[0:2]}\n i = s32[] constant(1)\n u = "
      "f32[4] dynamic-update-slice(s, q, i)\n n = f32[4] negate(s)\n ROOT r = f32[4] add(u, n)\n";
  EXPECT_EQ(copies(entry(early)), 0);
  EXPECT_EQ(copies(entry(early, ", is_scheduled=true")), 1);
}

TEST(InsertCopies, AScheduleStays) {
  const Copied done = copied(entry(
      " s = f32[4] sine(p)\n q = f32[2] slice(p), slice={[0:2]}\n i = s32[] constant(1)\n u = "
      "f32[4] dynamic-update-slice(s, q, i)\n n = f32[4] negate(s)\n ROOT r = f32[4] add(u, n)\n",
      ", is_scheduled=true"));
  std::string order;
  for (InstructionId id : done.module[done.module.entry].instructions)
    if (done.module[id].op != Op::Copy) order += std::string(done.module[id].name) + " ";
  EXPECT_EQ(order, "p s q i u n r ");
}

// Zeros that two updates write over are spread twice: a copy would keep the first ones until then.
TEST(InsertCopies, AConstantIsSpreadAgain) {
  const Module original = sound_module(
      entry(" z = f32[] constant(0)\n s = f32[4] broadcast(z), dimensions={}\n q = f32[2] "
            "slice(p), slice={[0:2]}\n i = s32[] constant(1)\n j = s32[] constant(2)\n u = f32[4] "
            "dynamic-update-slice(s, q, i)\n v = f32[4] dynamic-update-slice(s, q, j)\n ROOT r = "
            "f32[4] add(u, v)\n"));
  Module module = original;
  const auto done = insert_copies(module, {.machine = find_machine("cpu")});
  EXPECT_TRUE(done && *done);
  expect_same_program(original, module);
  const auto& ids = module[module.entry].instructions;
  const auto count = [&](Op op) {
    return std::ranges::count_if(ids, [&](InstructionId id) { return module[id].op == op; });
  };
  EXPECT_EQ(count(Op::Copy), 0);
  EXPECT_EQ(count(Op::Broadcast), 2);
}

TEST(InsertCopies, TheCallersParameterIsKept) {
  const std::string body =
      " q = f32[2] slice(p), slice={[2:4]}\n i = s32[] constant(1)\n ROOT u = f32[4] "
      "dynamic-update-slice(p, q, i)\n";
  EXPECT_EQ(copies(entry(body)), 1);
  EXPECT_EQ(copies(entry(body, ", buffer_donor={ (0, {}) }")), 0);
  EXPECT_EQ(copies(entry(body, ", input_output_alias={ {}: (0, {}, must-alias) }")), 0);
}

TEST(InsertCopies, ResultsThatAreParametersConstantsOrTheSameTwice) {
  EXPECT_EQ(copies(entry(" ROOT t = (f32[4]) tuple(p)\n")), 1);
  EXPECT_EQ(copies(entry(" ROOT t = (f32[4]) tuple(p)\n",
                         ", input_output_alias={ {0}: (0, {}, may-alias) }")),
            0);
  EXPECT_EQ(copies(entry(" c = f32[4] constant({1,2,3,4})\n ROOT t = (f32[4]) tuple(c)\n")), 1);
  EXPECT_EQ(copies(entry(" s = f32[4] sine(p)\n ROOT t = (f32[4], f32[4]) tuple(s, s)\n")), 1);
}

// A result over a parameter that is read after the result is made.
TEST(InsertCopies, ADonatedParameterThatIsReadLater) {
  EXPECT_EQ(copies(entry(" s = f32[4] sine(p)\n r = f32[4] reverse(p), dimensions={0}\n ROOT t = "
                         "(f32[4], f32[4]) tuple(s, r)\n",
                         ", is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }")),
            1);
}

// Of two arrays; `results` are what the body makes of x and y.
std::string loop(std::string_view body, std::string_view x, std::string_view y,
                 std::string_view after) {
  return fmt::format(
      "HloModule m\nbody {{ s = (s32[], f32[4], f32[4]) parameter(0)\n i = s32[] "
      "get-tuple-element(s), index=0\n x = f32[4] get-tuple-element(s), index=1\n y = f32[4] "
      "get-tuple-element(s), index=2\n one = s32[] constant(1)\n j = s32[] add(i, one)\n{} ROOT t "
      "= (s32[], f32[4], f32[4]) tuple(j, {}, {}) }}\ntest {{ s = (s32[], f32[4], f32[4]) "
      "parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] constant(3)\n ROOT l = "
      "pred[] compare(i, n), direction=LT }}\nENTRY e {{ p = f32[4] parameter(0)\n a = f32[4] "
      "sine(p)\n b = f32[4] cosine(p)\n zero = s32[] constant(0)\n init = (s32[], f32[4], f32[4]) "
      "tuple(zero, a, b)\n w = (s32[], f32[4], f32[4]) while(init), condition=test, body=body\n v "
      "= f32[4] get-tuple-element(w), index=1\n z = f32[4] get-tuple-element(w), index=2\n{} }}\n",
      body, x, y, after);
}
constexpr std::string_view both = " ROOT r = f32[4] add(v, z)\n";

// The counter starts from a constant: that is one copy in each of these.
TEST(InsertCopies, ALoopThatUpdatesInPlace) {
  EXPECT_EQ(copies(loop(" n = f32[4] negate(x)\n", "n", "y", both)), 1);
}
// Three would do with one more place.
TEST(InsertCopies, ALoopThatSwaps) { EXPECT_LE(copies(loop("", "y", "x", both)), 5); }
// Each value moves on to the next place: the last place is free first, so there is one copy for
// each of them, wherever the first values come from, and one for the counter.
TEST(InsertCopies, ALoopThatShifts) {
  for (const bool constants : {false, true}) {
    std::string made;
    for (const char name : {'a', 'b', 'c', 'd'})
      made += constants
                  ? fmt::format(
                        " n{0} = f32[] constant({1})\n {0} = f32[4] broadcast(n{0}), "
                        "dimensions={{}}\n",
                        name, name - 'a')
                  : fmt::format(" s{0} = f32[4] sine({1})\n {0} = f32[4] cosine(s{0})\n", name,
                                name == 'a' ? std::string("p") : std::string(1, name - 1));
    const std::string state = "(s32[], f32[4], f32[4], f32[4], f32[4])";
    EXPECT_EQ(copies(fmt::format(R"(HloModule m
body {{ s = {0} parameter(0)
 i = s32[] get-tuple-element(s), index=0
 a = f32[4] get-tuple-element(s), index=1
 b = f32[4] get-tuple-element(s), index=2
 c = f32[4] get-tuple-element(s), index=3
 d = f32[4] get-tuple-element(s), index=4
 one = s32[] constant(1)
 j = s32[] add(i, one)
 n = f32[4] add(a, d)
 ROOT t = {0} tuple(j, n, a, b, c) }}
test {{ s = {0} parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT l = pred[] compare(i, n), direction=LT }}
ENTRY e {{ p = f32[4] parameter(0)
{1} zero = s32[] constant(0)
 init = {0} tuple(zero, a, b, c, d)
 ROOT w = {0} while(init), condition=test, body=body }}
)",
                                 state, made)),
              5);
  }
}
TEST(InsertCopies, ALoopThatReadsTheOldStateAfterTheNew) {
  EXPECT_EQ(copies(loop(" n = f32[4] reverse(x), dimensions={0}\n m = f32[4] reverse(x), "
                        "dimensions={0}\n k = f32[4] add(m, y)\n",
                        "n", "k", both)),
            2);
}
TEST(InsertCopies, WhatIsReadAfterTheLoopWroteOverIt) {
  EXPECT_EQ(copies(loop(" n = f32[4] negate(x)\n", "n", "y",
                        " c = f32[4] add(v, z)\n ROOT r = f32[4] add(c, a)\n")),
            2);
}

// Phis of the inner loop that stand for what the outer one carries unchanged.
TEST(InsertCopies, NoneForWhatNoLoopChanges) {
  EXPECT_EQ(copies(loop("", "x", "y", " c = f32[4] add(v, z)\n ROOT r = f32[4] add(c, a)\n")), 1);
}

TEST(InsertCopies, ABranchThatWritesOverWhatIsReadLater) {
  constexpr std::string_view text = R"(HloModule m, is_scheduled=true
yes { x = f32[4] parameter(0)
  q = f32[2] slice(x), slice={[1:3]}
  i = s32[] constant(0)
  ROOT u = f32[4] dynamic-update-slice(x, q, i) }
no { x = f32[4] parameter(0)
  ROOT n = f32[4] negate(x) }
ENTRY e { p = f32[4] parameter(0)
  s = f32[4] sine(p)
  which = pred[] constant(true)
  c = f32[4] conditional(which, s, s), true_computation=yes, false_computation=no
  ROOT r = f32[4] add(c, s) }
)";
  EXPECT_GE(copies(text), 1);
}

// What one branch hands on is read by another, which stands later, and the first writes over it.
TEST(InsertCopies, BranchesThatHandOnOneValue) {
  constexpr std::string_view text = R"(HloModule m, is_scheduled=true
same { x = f32[4] parameter(0)
  ROOT t = (f32[4], f32[4]) tuple(x, x) }
other { x = f32[4] parameter(0)
  n = f32[4] negate(x)
  ROOT t = (f32[4], f32[4]) tuple(n, x) }
last { x = f32[4] parameter(0)
  n = f32[4] sine(x)
  ROOT t = (f32[4], f32[4]) tuple(x, n) }
ENTRY e { p = f32[4] parameter(0)
  s = f32[4] copy(p)
  which = s32[] constant(1)
  c = (f32[4], f32[4]) conditional(which, s, s, s), branch_computations={same, other, last}
  a = f32[4] get-tuple-element(c), index=0
  b = f32[4] get-tuple-element(c), index=1
  ROOT r = f32[4] add(a, b) }
)";
  EXPECT_LE(copies(text), 7);  // one for each result of each branch, and the first
}

}  // namespace
}  // namespace hilo::test
