// Passes over calls, loops and branches: modules with what must be true of them afterwards.
#include <fmt/format.h>

#include <algorithm>

#include "judge.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

// A loop over (i, x, k, unused) of `rounds` rounds; k goes through unchanged, `unused` is changed
// and never looked at.
std::string loop(const std::string& rounds) {
  return R"(HloModule m
body { s = (s32[], f32[4], f32[4], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[4] get-tuple-element(s), index=1
 k = f32[4] get-tuple-element(s), index=2
 u = f32[4] get-tuple-element(s), index=3
 one = s32[] constant(1)
 j = s32[] add(i, one)
 w = f32[4] exponential(k)
 y = f32[4] multiply(x, w)
 v = f32[4] add(u, y)
 ROOT t = (s32[], f32[4], f32[4], f32[4]) tuple(j, y, k, v) }
condition { s = (s32[], f32[4], f32[4], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant()" +
         rounds + R"()
 ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
 k = f32[4] parameter(1)
 z = s32[] constant(0)
 s = (s32[], f32[4], f32[4], f32[4]) tuple(z, x, k, x)
 l = (s32[], f32[4], f32[4], f32[4]) while(s), condition=condition, body=body, backend_config={"known_trip_count":{"n":")" +
         rounds + R"("},"known_induction_variable":{"tuple_index":"0"}}
 y = f32[4] get-tuple-element(l), index=1
 q = f32[4] get-tuple-element(l), index=2
 ROOT r = f32[4] add(y, q) })";
}

InstructionId only(const Module& module, Op op) {
  InstructionId out;
  for (size_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed && module.instructions[i].op == op) {
      EXPECT_FALSE(out) << "more than one " << text_of(op);
      out = {static_cast<uint32_t>(i)};
    }
  return out;
}

void expect_same_values(const Module& before, const Module& after, Keeps keeps = Keeps::Bits) {
  EXPECT_EQ(test::difference_in_values(before, after, keeps), "") << print(before) << print(after);
}

TEST(Loops, OfOneRoundAreTheirBody) {
  const Module before = parsed(loop("1"));
  const Module after = after_passes(before, "while-loop-simplifier, dce");
  EXPECT_EQ(count_op(after, Op::While), 0);
  EXPECT_EQ(after.computations.size(), 1u);
  expect_same_values(before, after);
}

TEST(Loops, OfNoRoundAreTheirBeginning) {
  const Module before = parsed(loop("0"));
  const Module after = after_passes(before, "while-loop-simplifier, algebraic-simplifier, dce");
  EXPECT_EQ(count_op(after, Op::While), 0);
  EXPECT_EQ(count_op(after, Op::Exponential), 0);
  expect_same_values(before, after);
}

TEST(Loops, DropWhatNobodyNeeds) {
  const Module before = parsed(loop("9"));
  const Module after = after_passes(before, "while-loop-simplifier, dce");
  const InstructionId id = only(after, Op::While);
  EXPECT_EQ(after.shape(id).elements.size(), 3u);
  expect_same_values(before, after);
  // The rounds are still known, the place of the counter is not.
  EXPECT_EQ(after.extra(after[id]).backend_config, R"({"known_trip_count":{"n":"9"}})");
  // Behind the loop, what goes through it unchanged comes from before it.
  const InstructionId root = after[after.entry].root;
  EXPECT_EQ(after[after.operand(root, 1)].op, Op::Parameter);
}

TEST(Loops, InvariantValuesAreComputedOnce) {
  const Module before = parsed(loop("9"));
  const Module after =
      after_passes(before, "while-loop-simplifier, while-loop-invariant-code-motion, dce");
  const InstructionId exponential = only(after, Op::Exponential);
  EXPECT_EQ(after[exponential].computation, after.entry);
  expect_same_values(before, after);
}

// What is read where it stands is no value of its own; other parts are made once.
TEST(Loops, PartsInOnePieceAreTakenInEachRound) {
  for (const auto& [part, is_inside] : {std::pair{"f32[1,4] slice(k), slice={[1:2],[0:4]}", true},
                                        {"f32[1,4] slice(k), slice={[0:4:4],[0:4]}", false}}) {
    const Module before = parsed(fmt::format(R"(HloModule m
body {{ s = (s32[], f32[1,4], f32[4,4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[1,4] get-tuple-element(s), index=1
 k = f32[4,4] get-tuple-element(s), index=2
 one = s32[] constant(1)
 j = s32[] add(i, one)
 a = {}
 y = f32[1,4] add(x, a)
 ROOT t = (s32[], f32[1,4], f32[4,4]) tuple(j, y, k) }}
condition {{ s = (s32[], f32[1,4], f32[4,4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(9)
 ROOT c = pred[] compare(i, n), direction=LT }}
ENTRY e {{ x = f32[1,4] parameter(0)
 k = f32[4,4] parameter(1)
 z = s32[] constant(0)
 s = (s32[], f32[1,4], f32[4,4]) tuple(z, x, k)
 l = (s32[], f32[1,4], f32[4,4]) while(s), condition=condition, body=body
 ROOT r = f32[1,4] get-tuple-element(l), index=1 }})",
                                             part));
    const Module after = after_passes(before, "while-loop-invariant-code-motion, dce");
    EXPECT_EQ(after[only(after, Op::Slice)].computation != after.entry, is_inside) << part;
    expect_same_values(before, after);
  }
}

// A loop inside that is the same in each round, if both are done for certain.
TEST(Loops, InvariantLoopsAreDoneOnce) {
  for (const std::string_view rounds : {"n", "q"}) {
    const Module before = parsed(fmt::format(R"(HloModule m
body {{ s = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[4] get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[4] cosine(x)
 ROOT t = (s32[], f32[4]) tuple(j, y) }}
condition {{ s = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(20)
 ROOT c = pred[] compare(i, n), direction=LT }}
around {{ s = (s32[], f32[4], f32[4], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 a = f32[4] get-tuple-element(s), index=1
 x = f32[4] get-tuple-element(s), index=2
 m = s32[] get-tuple-element(s), index=3
 one = s32[] constant(1)
 j = s32[] add(i, one)
 z = s32[] constant(0)
 u = (s32[], f32[4]) tuple(z, x)
 l = (s32[], f32[4]) while(u), condition=condition, body=body
 y = f32[4] get-tuple-element(l), index=1
 b = f32[4] subtract(y, a)
 ROOT t = (s32[], f32[4], f32[4], s32[]) tuple(j, b, x, m) }}
to {{ s = (s32[], f32[4], f32[4], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 m = s32[] get-tuple-element(s), index=3
 n = s32[] constant(30)
 q = s32[] minimum(m, n)
 ROOT c = pred[] compare(i, {}), direction=LT }}
ENTRY e {{ a = f32[4] parameter(0)
 x = f32[4] parameter(1)
 m = s32[] parameter(2)
 z = s32[] constant(0)
 s = (s32[], f32[4], f32[4], s32[]) tuple(z, a, x, m)
 l = (s32[], f32[4], f32[4], s32[]) while(s), condition=to, body=around
 ROOT y = f32[4] get-tuple-element(l), index=1 }})",
                                             rounds));
    const Module after = after_passes(before, "while-loop-invariant-code-motion, dce");
    const auto in_entry = std::ranges::count_if(after[after.entry].instructions, [&](auto id) {
      return !after[id].removed && after[id].op == Op::While;
    });
    EXPECT_EQ(in_entry, rounds == "n" ? 2 : 1);
    EXPECT_EQ(count_op(after, Op::While), 2);
    expect_same_values(before, after);
  }
}

TEST(Loops, ShortOnesAreUnrolled) {
  const Module before = parsed(loop("3"));
  const Module after = after_passes(before, "while-loop-unroller, dce");
  EXPECT_EQ(count_op(after, Op::While), 0);
  EXPECT_EQ(count_op(after, Op::Exponential), 3);
  expect_same_values(before, after);
  EXPECT_EQ(count_op(after_passes(parsed(loop("30")), "while-loop-unroller"), Op::While), 1);
}

// Few rounds over elements become one loop over these.
TEST(Loops, FewRoundsByElementAreUnrolled) {
  const Module before = parsed(loop("8")), after = after_passes(before, "while-loop-unroller, dce");
  EXPECT_EQ(count_op(after, Op::While), 0);
  expect_same_values(before, after);
  EXPECT_EQ(count_op(after_passes(parsed(loop("9")), "while-loop-unroller"), Op::While), 1);
  std::string text = loop("8");
  const std::string_view by_element = "exponential(k)";
  text.replace(text.find(by_element), by_element.size(), "sort(k), dimensions={0}, to_apply=less");
  text.insert(text.find("body"), R"(less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
)");
  EXPECT_EQ(count_op(after_passes(parsed(text), "while-loop-unroller"), Op::While), 1);
}

// Each may then be changed by what it begins with.
TEST(Loops, ThatShareTheirComputationsGetTheirOwn) {
  std::string text = loop("3");
  const size_t entry = text.find("ENTRY e"), result = text.find(" ROOT r", entry);
  ASSERT_NE(result, text.npos);
  const size_t end = text.find('\n', result);
  std::string function = text.substr(entry, end == text.npos ? text.npos : end - entry);
  function.replace(0, std::string_view("ENTRY e").size(), "twice");
  text = text.substr(0, entry) + function + R"(
ENTRY main { x = f32[4] parameter(0)
 k = f32[4] parameter(1)
 a = f32[4] call(x, k), to_apply=twice
 ROOT b = f32[4] call(a, k), to_apply=twice })";
  const Module before = parsed(text), parted = after_passes(before, "call-inliner, dce"),
               after = after_passes(before, "call-inliner, dce, while-loop-unroller, dce");
  EXPECT_EQ(count_op(parted, Op::While), 2);
  expect_same_values(before, parted);
  EXPECT_EQ(count_op(after, Op::While), 0);
  expect_same_values(before, after);
}

// Only what goes through it unchanged is asked of the loop, so that nothing is left of it.
TEST(Loops, ThatComputeNothingAreGone) {
  const Module before = parsed(R"(HloModule m
body { s = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 k = f32[4] get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 ROOT t = (s32[], f32[4]) tuple(j, k) }
condition { s = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(20)
 ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
 z = s32[] constant(0)
 s = (s32[], f32[4]) tuple(z, x)
 l = (s32[], f32[4]) while(s), condition=condition, body=body
 y = f32[4] get-tuple-element(l), index=1
 ROOT r = f32[4] negate(y) })");
  const Module after = after_passes(before, "while-loop-simplifier");
  EXPECT_EQ(count_op(after, Op::While), 0);
  expect_same_values(before, after);
}

// Two count alike, the third goes by other steps.
TEST(Loops, CountersThatAreEqualAreOne) {
  const Module before = parsed(R"(HloModule m
body { s = (s32[], s32[], s32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 k = s32[] get-tuple-element(s), index=1
 l = s32[] get-tuple-element(s), index=2
 y = s32[] get-tuple-element(s), index=3
 one = s32[] constant(1)
 two = s32[] constant(2)
 j = s32[] add(i, one)
 m = s32[] add(one, k)
 n = s32[] add(l, two)
 p = s32[] multiply(k, l)
 z = s32[] xor(y, p)
 ROOT t = (s32[], s32[], s32[], s32[]) tuple(j, m, n, z) }
condition { s = (s32[], s32[], s32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(20)
 ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = s32[] parameter(0)
 z = s32[] constant(0)
 s = (s32[], s32[], s32[], s32[]) tuple(z, z, z, x)
 l = (s32[], s32[], s32[], s32[]) while(s), condition=condition, body=body
 k = s32[] get-tuple-element(l), index=1
 y = s32[] get-tuple-element(l), index=3
 ROOT r = s32[] add(k, y) })");
  const Module after = after_passes(before, "while-loop-simplifier, dce");
  EXPECT_EQ(after.shape(only(after, Op::While)).elements.size(), 3u);
  expect_same_values(before, after);
}

// A loop of 20 rounds over (i, x, w) of these shapes; w, which lines of the entry make, goes
// through unchanged, and lines of the body make y, the next x.
std::string loop_with(const std::string& x, const std::string& w, const std::string& w_lines,
                      const std::string& y_lines) {
  return fmt::format(R"(HloModule m
body {{ s = (s32[], {0}, {1}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = {0} get-tuple-element(s), index=1
 w = {1} get-tuple-element(s), index=2
 one = s32[] constant(1)
 j = s32[] add(i, one)
{3}
 ROOT t = (s32[], {0}, {1}) tuple(j, y, w) }}
condition {{ s = (s32[], {0}, {1}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(20)
 ROOT c = pred[] compare(i, n), direction=LT }}
ENTRY e {{ x = {0} parameter(0)
{2}
 z = s32[] constant(0)
 s = (s32[], {0}, {1}) tuple(z, x, w)
 l = (s32[], {0}, {1}) while(s), condition=condition, body=body
 ROOT y = {0} get-tuple-element(l), index=1 }})",
                     x, w, w_lines, y_lines);
}

// A part of a constant is there in any case: carried, it would take memory. Of other values it is
// taken once, before the loop.
TEST(Loops, PartsOfConstantsStayInside) {
  for (const bool is_constant : {true, false}) {
    const Module before = parsed(
        loop_with("f32[4]", "f32[8]", " w = f32[8] parameter(1)",
                  fmt::format(R"( a = f32[8] {}
 k = f32[4] slice(a), slice={{[2:6]}}
 y = f32[4] multiply(x, k))",
                              is_constant ? "constant({1, 2, 3, 4, 5, 6, 7, 8})" : "negate(w)")));
    const Module after = after_passes(before, "while-loop-invariant-code-motion, dce");
    EXPECT_EQ(after[only(after, Op::Slice)].computation == after.entry, !is_constant);
    expect_same_values(before, after);
  }
}

TEST(Loops, ConstantsAreMadeInside) {
  const Module before = parsed(loop_with("f32[4]", "f32[]", " w = f32[] constant(1.5)",
                                         R"( b = f32[4] broadcast(w), dimensions={}
 y = f32[4] multiply(x, b))"));
  const Module after = after_passes(before, "while-loop-simplifier, dce");
  EXPECT_EQ(after.shape(only(after, Op::While)).elements.size(), 2u);
  expect_same_values(before, after);
}

// Places of a grid that a loop is given are made where it reads them, unless it stores them.
TEST(Loops, PlacesAreMadeInside) {
  for (const auto& [use, carried] :
       {std::pair("add(x, w)", 2u),
        std::pair("dynamic-slice(w, i), dynamic_slice_sizes={4}", 3u)}) {
    const Module before =
        parsed(loop_with("f32[4]", "f32[4]", R"( k = f32[4] iota(), iota_dimension=0
 h = f32[] constant(0.5)
 b = f32[4] broadcast(h), dimensions={}
 w = f32[4] add(k, b))",
                         fmt::format(" y = f32[4] {}", use)));
    const Module after =
        after_passes(before, "while-loop-simplifier, while-loop-invariant-code-motion, dce");
    EXPECT_EQ(after.shape(only(after, Op::While)).elements.size(), carried);
    expect_same_values(before, after);
  }
}

// Long rows of what a loop is given are read there, whichever part of it they are.
TEST(Loops, LongRowsStayInside) {
  for (const int64_t columns : {4, 64}) {
    const std::string x = fmt::format("f32[4,{}]", columns),
                      w = fmt::format("f32[5,{}]", columns + 1);
    const Module before = parsed(loop_with(
        x, w, fmt::format(" w = {} parameter(1)", w),
        fmt::format(" k = {0} slice(w), slice={{[1:5], [1:{1}]}}\n y = {0} multiply(x, k)", x,
                    columns + 1)));
    const Module after = after_passes(before, "while-loop-invariant-code-motion, dce");
    EXPECT_EQ(after[only(after, Op::Slice)].computation == after.entry, columns < 64);
    expect_same_values(before, after);
  }
}

// What a loop sends or is asked to keep stays, whatever its values are for.
TEST(Loops, EffectsStay) {
  const Module before = parsed(R"(HloModule m
body { s = (s32[], f32[4], token[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[4] get-tuple-element(s), index=1
 k = token[] get-tuple-element(s), index=2
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[4] negate(x)
 o = token[] outfeed(y, k), outfeed_shape=f32[4]{0}
 ROOT t = (s32[], f32[4], token[]) tuple(j, y, o) }
condition { s = (s32[], f32[4], token[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(2)
 ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
 z = s32[] constant(0)
 k = token[] after-all()
 s = (s32[], f32[4], token[]) tuple(z, x, k)
 l = (s32[], f32[4], token[]) while(s), condition=condition, body=body
 ROOT r = s32[] get-tuple-element(l), index=0 })");
  const Module after = after_passes(before, "simplify");
  EXPECT_EQ(count_op(after, Op::While), 1);
  EXPECT_EQ(count_op(after, Op::Outfeed), 1);
  std::vector<std::vector<Literal>> seen[2];
  for (int i = 0; i < 2; ++i) {
    EvalOptions options;
    options.outfeed = &seen[i];
    const Module& module = i == 0 ? before : after;
    ASSERT_TRUE(
        evaluate(module, Inputs{{test::random_arguments(module, 1, true)}}, options).has_value());
  }
  ASSERT_EQ(seen[0].size(), seen[1].size());
  ASSERT_EQ(seen[0][0].size(), 2u);
  for (size_t k = 0; k < 2; ++k) EXPECT_TRUE(same_bits(seen[0][0][k], seen[1][0][k]));
}

TEST(Conditionals, OfAConstantAreABranch) {
  for (const char* number : {"0", "1", "2", "-1", "7"}) {
    const Module before = parsed(fmt::format(R"(HloModule m
a {{ x = f32[4] parameter(0)
 ROOT r = f32[4] negate(x) }}
b {{ x = f32[4] parameter(0)
 ROOT r = f32[4] add(x, x) }}
c {{ ROOT x = f32[4] parameter(0) }}
ENTRY e {{ x = f32[4] parameter(0)
 y = f32[4] parameter(1)
 i = s32[] constant({})
 ROOT r = f32[4] conditional(i, x, y, x), branch_computations={{a, b, c}} }})",
                                             number));
    const Module after = after_passes(before, "conditional-simplifier, dce");
    EXPECT_EQ(count_op(after, Op::Conditional), 0);
    expect_same_values(before, after);
  }
}

TEST(Conditionals, OfEqualBranchesAreOne) {
  const Module before = parsed(R"(HloModule m
a { x = f32[4] parameter(0)
 ROOT r = f32[4] negate(x) }
ENTRY e { x = f32[4] parameter(0)
 p = pred[] parameter(1)
 ROOT r = f32[4] conditional(p, x, x), true_computation=a, false_computation=a })");
  const Module after = after_passes(before, "conditional-simplifier, dce");
  EXPECT_EQ(count_op(after, Op::Conditional), 0);
  expect_same_values(before, after);
}

// f calls g twice, and so on: inlined whole it would be 2^40 instructions.
TEST(Calls, AreInlinedWithinLimits) {
  std::string text = "HloModule m\nf0 { x = f32[] parameter(0)\n ROOT r = f32[] negate(x) }\n";
  for (int i = 1; i <= 40; ++i)
    text += fmt::format(
        "f{} {{ x = f32[] parameter(0)\n a = f32[] call(x), to_apply=f{}\n ROOT b = f32[] call(a), "
        "to_apply=f{} }}\n",
        i, i - 1, i - 1);
  const Module before = parsed(text +
                               "ENTRY e { x = f32[] parameter(0)\n ROOT r = f32[] "
                               "call(x), to_apply=f40 }\n");
  PipelineOptions options;
  options.pass.grow_instructions = 1000;
  const Module after = after_passes(before, "call-inliner", options);
  EXPECT_GT(count_op(after, Op::Call), 0);
  EXPECT_LT(after.instructions.size(), 4000u);
  const Module small = parsed(text.substr(0, text.find("f4 ")) +
                              "ENTRY e { x = f32[] parameter(0)\n ROOT r = f32[] call(x), "
                              "to_apply=f3 }\n");
  const Module inlined = after_passes(small, "call-inliner, dce");
  EXPECT_EQ(count_op(inlined, Op::Negate), 8);
  EXPECT_EQ(inlined.computations.size(), 1u);
  expect_same_values(small, inlined);
}

TEST(Calls, FlattenedEachHasItsOwn) {
  const Module before = parsed(R"(HloModule m
f { x = f32[] parameter(0)
 ROOT r = f32[] negate(x) }
ENTRY e { x = f32[] parameter(0)
 a = f32[] call(x), to_apply=f
 ROOT b = f32[] call(a), to_apply=f })");
  const Module after = after_passes(before, "flatten-call-graph");
  EXPECT_EQ(after.computations.size(), 3u);
  expect_same_values(before, after);
}

TEST(Order, OfScheduledModulesStays) {
  const Module before = parsed(R"(HloModule m, is_scheduled=true
f { x = f32[] parameter(0)
 n = f32[] negate(x)
 ROOT r = f32[] exponential(n) }
ENTRY e { x = f32[] parameter(0)
 a = f32[] sine(x)
 b = f32[] call(a), to_apply=f
 c = f32[] cosine(x)
 ROOT r = f32[] add(b, c) })");
  const Module after = after_passes(before, "call-inliner, dce");
  EXPECT_TRUE(after.header.is_scheduled);
  std::vector<Op> ops;
  for (InstructionId id : after[after.entry].instructions) ops.push_back(after[id].op);
  EXPECT_EQ(ops, (std::vector<Op>{Op::Parameter, Op::Sine, Op::Cosine, Op::Negate, Op::Exponential,
                                  Op::Add}));
  expect_same_values(before, after);
}

}  // namespace
}  // namespace hilo
