// dce, cse, constant folding, zero-sized arrays, data movement: small modules and what must be true
// of them afterwards.
#include "judge.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

void expect_same_values(const Module& before, const Module& after, Keeps keeps = Keeps::Bits) {
  EXPECT_EQ(test::difference_in_values(before, after, keeps), "") << print(before) << print(after);
}

int64_t count_readers(const Module& module, InstructionId id) {
  std::vector<InstructionId> users = module.users(id);
  users.erase(std::ranges::unique(users).begin(), users.end());
  return std::ssize(users);
}

TEST(DeadCode, KeepsEffectsAndControlDependences) {
  const Module before = parsed(R"(HloModule m
unused { x = f32[] parameter(0)
 ROOT r = f32[] negate(x) }
ENTRY e { x = f32[4] parameter(0)
 dead = f32[4] negate(x)
 deader = f32[4] exponential(dead)
 held = f32[4] sine(x)
 t = token[] after-all()
 sent = token[] outfeed(x, t), outfeed_shape=f32[4]{0}
 pure = f32[4] custom-call(x), custom_call_target="Sharding"
 kept = f32[4] custom-call(x), custom_call_target="nobody", custom_call_has_side_effect=true
 ROOT r = f32[4] cosine(x), control-predecessors={held} })");
  const Module after = after_passes(before, "dce");
  EXPECT_EQ(after.computations.size(), 1u);
  EXPECT_EQ(count_op(after, Op::Negate) + count_op(after, Op::Exponential), 0);
  EXPECT_EQ(count_op(after, Op::Sine), 1);
  EXPECT_EQ(count_op(after, Op::Outfeed), 1);
  EXPECT_EQ(count_op(after, Op::CustomCall), 1);
}

// Equal loops and branches are made once; where devices meet in them, each stays.
TEST(CommonValues, LoopsAndBranchesAreMadeOnce) {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
body { p = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 one = s32[] constant(1)
 n = s32[] add(i, one)
 v = f32[4] get-tuple-element(p), index=1
 w = f32[4] MADE(v)
 ROOT t = (s32[], f32[4]) tuple(n, w) }
condition { p = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 few = s32[] constant(3)
 ROOT c = pred[] compare(i, few), direction=LT }
sine { a = f32[4] parameter(0)
 ROOT s = f32[4] sine(a) }
cosine { a = f32[4] parameter(0)
 ROOT s = f32[4] cosine(a) }
ENTRY e { x = f32[4] parameter(0)
 chosen = s32[] parameter(1)
 zero = s32[] constant(0)
 t = (s32[], f32[4]) tuple(zero, x)
 k = (s32[], f32[4]) while(t), condition=condition, body=body
 l = (s32[], f32[4]) while(t), condition=condition, body=body
 m = f32[4] conditional(chosen, x, x), branch_computations={sine, cosine}
 n = f32[4] conditional(chosen, x, x), branch_computations={sine, cosine}
 o = f32[4] conditional(chosen, x, x), branch_computations={cosine, sine}
 ROOT r = ((s32[], f32[4]), (s32[], f32[4]), f32[4], f32[4], f32[4]) tuple(k, l, m, n, o) })";
  const auto with = [&](std::string op) {
    return parsed(std::string(text).replace(text.find("MADE(v)"), 7, op));
  };
  const Module before = with("exponential(v)");
  const Module after = after_passes(before, "cse, dce");
  EXPECT_EQ(count_op(after, Op::While), 1);
  EXPECT_EQ(count_op(after, Op::Conditional), 2);
  expect_same_values(before, after);
  const Module meeting = after_passes(with("all-reduce(v), to_apply=add"), "cse, dce");
  EXPECT_EQ(count_op(meeting, Op::While), 2);
}

TEST(CommonValues, AreMadeOnce) {
  const Module before = parsed(R"(HloModule m
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
g { c = f32[] parameter(0)
 d = f32[] parameter(1)
 ROOT t = f32[] add(c, d) }
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] parameter(1)
 z = f32[] constant(0)
 w = f32[] constant(0)
 a = f32[4] add(x, y)
 b = f32[4] add(y, x)
 p = f32[] reduce(a, z), dimensions={0}, to_apply=f
 q = f32[] reduce(b, w), dimensions={0}, to_apply=g
 ROOT r = (f32[], f32[]) tuple(p, q) })");
  const Module after = after_passes(before, "cse, dce");
  EXPECT_EQ(count_op(after, Op::Reduce), 1);
  EXPECT_EQ(count_op(after, Op::Constant), 1);
  EXPECT_EQ(after.computations.size(), 2u);
  expect_same_values(before, after);
}

// Alike, but not the same: other attributes, shapes, shardings, order of subtraction, computations
// whose parameters stand in another order, random numbers, collectives.
TEST(CommonValues, ThatOnlyLookAlikeStay) {
  const Module before = parsed(R"(HloModule m
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] subtract(a, b) }
g { a = f32[] parameter(1)
 b = f32[] parameter(0)
 ROOT s = f32[] subtract(a, b) }
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] parameter(1)
 z = f32[] constant(0)
 n = f32[] constant(-0)
 a = f32[4] subtract(x, y)
 b = f32[4] subtract(y, x)
 c = pred[4] compare(x, y), direction=LT
 d = pred[4] compare(x, y), direction=GT
 g1 = f32[] reduce(x, z), dimensions={0}, to_apply=f
 g2 = f32[] reduce(x, z), dimensions={0}, to_apply=g
 s1 = f32[4] sine(x), sharding={replicated}
 s2 = f32[4] sine(x), sharding={maximal device=0}
 t1 = f32[4]{0:S(1)} tanh(x)
 t2 = f32[4] tanh(x)
 u1 = f32[4] rng(z, n), distribution=rng_uniform
 u2 = f32[4] rng(z, n), distribution=rng_uniform
 ROOT r = (f32[4], f32[4], pred[4], pred[4], f32[], f32[], f32[4], f32[4], f32[4]{0:S(1)}, f32[4], f32[4], f32[4]) tuple(a, b, c, d, g1, g2, s1, s2, t1, t2, u1, u2) })");
  const Module after = after_passes(before, "cse, dce");
  EXPECT_EQ(after.instructions.size(), before.instructions.size());
}

// A reciprocal of 8 or 11 bits is off by up to half a unit, and so is each product with it.
TEST(Arithmetic, QuotientsOfFewBitsStay) {
  for (const auto& [type, left] : {std::pair{"f32", 0}, {"f64", 0}, {"bf16", 1}, {"f16", 1}}) {
    const Module before = parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[4] parameter(0)
 three = {0}[] constant(3)
 threes = {0}[4] broadcast(three), dimensions={{}}
 ROOT r = {0}[4] divide(x, threes) }})",
                                             type));
    const Module after = after_passes(before, "algebraic-simplifier,constant-folding,dce");
    EXPECT_EQ(count_op(after, Op::Divide), left) << type;
  }
}

// Of a layer's activations only those behind the maximum are kept for the gradient.
TEST(MasksOfMaxima, AreFoundFromWhatIsKept) {
  struct Row {
    const char *extremum, *direction;
    const char* more;  // another reader of what the extremum is taken of
    bool is_found;
  };
  for (const Row& row : {Row{"maximum(sum, zeros)", "GT", "", true},
                         {"maximum(zeros, sum)", "LE", "", true},
                         {"minimum(sum, zeros)", "LT", "", true},
                         {"minimum(sum, zeros)", "GE", "", true},
                         {"maximum(sum, zeros)", "GE", "", false},
                         {"maximum(sum, zeros)", "EQ", "", false},
                         {"minimum(sum, zeros)", "GT", "", false},
                         {"maximum(sum, zeros)", "GT, type=TOTALORDER", "", false},
                         {"maximum(sum, zeros)", "GT", "more = f32[4,4] sine(sum)", false},
                         {"maximum(sum, ones)", "GT", "", false}}) {
    const Module before = parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = f32[4,4] parameter(0)
 y = f32[4,4] parameter(1)
 sum = f32[4,4] add(x, y)
 zero = f32[] constant(0)
 zeros = f32[4,4] broadcast(zero), dimensions={{}}
 one = f32[] constant(1)
 ones = f32[4,4] broadcast(one), dimensions={{}}
 kept = f32[4,4] {}
 mask = pred[4,4] compare(sum, zeros), direction={}
 {}
 chosen = f32[4,4] select(mask, y, zeros)
 ROOT product = f32[4,4] dot(kept, chosen), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }})",
                                             row.extremum, row.direction, row.more));
    const Module after = after_passes(before, "reuse-relu-mask");
    for (InstructionId id : after.computations.back().instructions)
      if (after[id].op == Op::Compare) {
        const Op of = after[after.operand(id, 0)].op;
        EXPECT_EQ(of == Op::Maximum || of == Op::Minimum, row.is_found) << print(before);
      }
    expect_same_values(before, after);
  }
}

TEST(Folding, ComputesWhatIsConstant) {
  const Module before = parsed(R"(HloModule m
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[3] parameter(0)
 c = f32[3] constant({1, 2, 3})
 d = f32[3] exponential(c)
 z = f32[] constant(0)
 s = f32[] reduce(d, z), dimensions={0}, to_apply=f
 b = f32[3] broadcast(s), dimensions={}
 i = s32[3] iota(), iota_dimension=0
 k = f32[3] convert(i)
 y = f32[3] add(b, k)
 ROOT r = f32[3] multiply(x, y) })");
  const Module after = after_passes(before, "constant-folding, dce");
  EXPECT_EQ(after.instructions.size(), 3u);
  expect_same_values(before, after);
}

// Larger than what is kept of others, for what the same numbers say elsewhere stays an iota.
TEST(Folding, IndicesOfGathersBecomeConstants) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[2000] parameter(0)
 n = s32[1000] iota(), iota_dimension=0
 three = s32[] constant(3)
 threes = s32[1000] broadcast(three), dimensions={}
 m = s32[1000] remainder(n, threes)
 i = s32[1000,1] reshape(m)
 g = f32[1000] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
  index_vector_dim=1, slice_sizes={1}
 k = s32[1000] multiply(n, n)
 c = f32[1000] convert(k)
 ROOT r = f32[1000] add(g, c) })");
  const Module after = after_passes(before, "constant-folding, dce");
  expect_same_values(before, after);
  EXPECT_EQ(count_op(after, Op::Remainder), 0);
  EXPECT_EQ(count_op(after, Op::Multiply), 1);
}

TEST(Folding, SmallConstantsAreWidened) {
  for (const auto& [count, left] : {std::pair(256, 0), std::pair(1024, 1)}) {
    std::string numbers = "0";
    for (int i = 1; i < count; ++i) numbers += fmt::format(",{}", i);
    const Module before = parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = c64[{0}] parameter(0)
 k = s32[{0}] constant({{{1}}})
 c = c64[{0}] convert(k)
 ROOT p = c64[{0}] multiply(x, c) }})",
                                             count, numbers));
    const Module after = after_passes(before, "constant-folding, dce");
    expect_same_values(before, after);
    EXPECT_EQ(count_op(after, Op::Convert), left) << count;
  }
}

// 4 MB would stand in the text where there was a number; what they are reduced to is folded.
TEST(Folding, MakesNothingLarge) {
  const Module before = parsed(R"(HloModule m
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] maximum(a, b) }
ENTRY e { x = f32[1024,1024] parameter(0)
 i = f32[1024,1024] iota(), iota_dimension=0
 j = f32[1024,1024] iota(), iota_dimension=1
 m = f32[1024,1024] multiply(i, j)
 z = f32[] constant(0)
 s = f32[] reduce(m, z), dimensions={0,1}, to_apply=f
 b = f32[1024,1024] broadcast(s), dimensions={}
 y = f32[1024,1024] subtract(b, m)
 ROOT r = f32[1024,1024] multiply(x, y) })");
  const Module after = after_passes(before, "constant-folding, dce");
  EXPECT_EQ(count_op(after, Op::Iota), 2);
  EXPECT_EQ(count_op(after, Op::Reduce), 0);
  EXPECT_LT(print(after).size(), 4000u);
  PipelineOptions options;
  options.pass.fold_steps = 1000;
  EXPECT_EQ(count_op(after_passes(before, "constant-folding", options), Op::Reduce), 1);
}

// A table of a function that costs more than reading it is made once, a table of products is not.
// A constant takes memory all the time, what is made of it only until it is read.
TEST(Folding, InPlaceNoConstantGrows) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[4,8] parameter(0)
 i = s32[4,8] iota(), iota_dimension=0
 j = s32[4,8] iota(), iota_dimension=1
 mask = pred[4,8] compare(i, j), direction=GE
 c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})
 d = f32[8] sine(c)
 wide = f32[4,8] broadcast(d), dimensions={1}
 two = f32[] constant(2)
 four = f32[] add(two, two)
 fours = f32[4,8] broadcast(four), dimensions={}
 y = f32[4,8] multiply(wide, fours)
 ROOT r = f32[4,8] select(mask, x, y) })");
  const Module after = after_passes(before, "constant-folding-in-place, dce");
  EXPECT_EQ(count_op(after, Op::Iota), 2);
  EXPECT_EQ(count_op(after, Op::Sine), 0);
  EXPECT_EQ(count_op(after, Op::Add), 0);
  EXPECT_EQ(count_op(after, Op::Broadcast), 2);
  expect_same_values(before, after);
  EXPECT_EQ(count_op(after_passes(before, "constant-folding, dce"), Op::Iota), 0);
}

TEST(Rematerialization, EachReaderMakesWhatTakesNoArithmetic) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[8] parameter(0)
 s = f32[] parameter(1)
 b = f32[8] broadcast(s), dimensions={}
 y = f32[8] add(x, b)
 z = f32[8] multiply(b, b)
 z0 = f32[] sine(s)
 held = f32[8] broadcast(z0), dimensions={}
 w = f32[8] subtract(z, held)
 row = f32[2] slice(x), slice={[0:2]}
 rows = f32[8,2] broadcast(row), dimensions={1}
 u = f32[8,2] sine(rows)
 v = f32[8,2] cosine(rows)
 square = f32[2,4] reshape(x)
 o = f32[2,4] negate(square)
 ROOT t = (f32[8], f32[8], f32[8], f32[8,2], f32[8,2], f32[2,4], f32[2,4])
  tuple(y, w, held, u, v, square, o) })");
  const Module after = after_passes(before, "rematerialization");
  EXPECT_EQ(count_op(after, Op::Broadcast), 5);  // two of b, two of held, one of rows
  EXPECT_EQ(count_op(after, Op::Reshape), 2);
  for (size_t i = 0; i < after.instructions.size(); ++i) {
    const InstructionId id{static_cast<uint32_t>(i)};
    const Op op = after[id].op;
    if (op == Op::Reshape || (op == Op::Broadcast && after.shape(id).dims.size() == 1)) {
      EXPECT_EQ(count_readers(after, id), 1);
    }
  }
  expect_same_values(before, after);
}

TEST(Folding, KeepsTablesOfCostlyFunctions) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[2,64,32] parameter(0)
 i = f32[64,32] iota(), iota_dimension=0
 j = f32[64,32] iota(), iota_dimension=1
 m = f32[64,32] multiply(i, j)
 c = f32[64,32] cosine(m)
 b = f32[2,64,32] broadcast(c), dimensions={1,2}
 d = f32[2,64,32] broadcast(m), dimensions={1,2}
 p = f32[2,64,32] multiply(x, b)
 ROOT r = f32[2,64,32] add(p, d) })");
  const Module after = after_passes(before, "constant-folding, dce");
  EXPECT_EQ(count_op(after, Op::Cosine), 0);
  EXPECT_EQ(count_op(after, Op::Iota), 2);
}

// A value that nobody knows, or that cannot be computed, does not stop the others.
TEST(Folding, LeavesWhatIsUnknown) {
  const Module before = parsed(R"(HloModule m
ENTRY e { p = u32[] replica-id()
 c = f32[20] constant({...})
 d = f32[20] negate(c)
 a = s32[] constant(7)
 b = s32[] add(a, a)
 ROOT r = (u32[], f32[20], s32[]) tuple(p, d, b) })");
  const Module after = after_passes(before, "constant-folding, dce");
  EXPECT_EQ(count_op(after, Op::Negate), 1);
  EXPECT_EQ(count_op(after, Op::Add), 0);
}

TEST(ZeroSized, ArraysBecomeConstants) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[0,4] parameter(0)
 y = f32[3,4] parameter(1)
 n = f32[0,4] negate(x)
 ROOT r = f32[3,4] concatenate(y, n), dimensions={0} })");
  const Module after = after_passes(before, "zero-sized-elimination, algebraic-simplifier, dce");
  EXPECT_EQ(count_op(after, Op::Negate) + count_op(after, Op::Concatenate), 0);
  expect_same_values(before, after);
}

TEST(Movement, BringsReshapesTogether) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[4,6] parameter(0)
 y = f32[4,6] parameter(1)
 a = f32[24] reshape(x)
 b = f32[24] reshape(y)
 two = f32[] constant(2)
 k = f32[24] broadcast(two), dimensions={}
 m = f32[24] multiply(a, k)
 s = f32[24] subtract(m, b)
 ROOT r = f32[4,6] reshape(s) })");
  const Module after = after_passes(before, "simplify");
  EXPECT_EQ(count_op(after, Op::Reshape), 0);
  expect_same_values(before, after);
}

TEST(Movement, BringsTransposesTogether) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[4,6] parameter(0)
 y = f32[4,6] parameter(1)
 a = f32[6,4] transpose(x), dimensions={1,0}
 b = f32[6,4] transpose(y), dimensions={1,0}
 c = pred[6,4] compare(a, b), direction=LT
 s = f32[6,4] select(c, a, b)
 ROOT r = f32[4,6] transpose(s), dimensions={1,0} })");
  const Module after = after_passes(before, "simplify");
  EXPECT_EQ(count_op(after, Op::Transpose), 0);
  expect_same_values(before, after);
}

// A channel's numbers are beside images in either order.
TEST(Movement, TransposesGoBehindOpsWithBroadcasts) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[2,5,3,4] parameter(0)
 m = f32[4] parameter(1)
 p = f32[4,5] parameter(2)
 a = f32[2,4,5,3] transpose(x), dimensions={0,3,1,2}
 b = f32[2,4,5,3] broadcast(m), dimensions={1}
 s = f32[2,4,5,3] subtract(a, b)
 c = f32[2,4,5,3] broadcast(p), dimensions={1,2}
 t = f32[2,4,5,3] multiply(s, b)
 k = pred[2,4,5,3] compare(t, b), direction=LT
 w = f32[2,4,5,3] select(k, b, t)
 r = f32[2,5,3,4] transpose(w), dimensions={0,2,3,1}
 q = f32[2,4,5,3] add(a, c)
 ROOT out = (f32[2,5,3,4], f32[2,4,5,3]) tuple(r, q) })");
  const Module after = after_passes(before, "simplify");
  EXPECT_EQ(count_op(after, Op::Transpose), 1);  // p's rows and columns would change places
  expect_same_values(before, after);
}

TEST(Movement, TransposesStayBeforeBroadcastsWhereNoInverseFollows) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[3,5] parameter(0)
 m = f32[5] parameter(1)
 a = f32[5,3] transpose(x), dimensions={1,0}
 b = f32[5,3] broadcast(m), dimensions={0}
 ROOT d = f32[5,3] divide(a, b) })");
  const Module after = after_passes(before, "simplify");
  EXPECT_EQ(after[after[after.entry].root].op, Op::Divide);
  expect_same_values(before, after);
}

TEST(Movement, OpsOnCopiesRunOnOne) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] parameter(1)
 two = f32[] constant(2)
 a = f32[6,4] broadcast(x), dimensions={1}
 b = f32[6,4] broadcast(y), dimensions={1}
 k = f32[6,4] broadcast(two), dimensions={}
 m = f32[6,4] multiply(a, k)
 s = f32[6,4] add(m, b)
 ROOT r = f32[6,4] sine(s) })");
  const Module after = after_passes(before, "simplify");
  EXPECT_EQ(after[after[after.entry].root].op, Op::Broadcast);
  EXPECT_EQ(after.shape(after.operand(after[after.entry].root, 0)).dims, (Dims{4}));
  expect_same_values(before, after);
}

// Marks of what is replaced are found again at what stands for it.
TEST(Marks, StayWithTheValue) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] negate(x)
 ROOT r = f32[4] negate(y), sharding={replicated}, frontend_attributes={a="b"}, metadata={op_name="here" source_line=7} })");
  const Module after = after_passes(before, "algebraic-simplifier");
  // A parameter does not take a sharding over, so that the value must stay.
  EXPECT_EQ(count_op(after, Op::Negate), 2);
  const Module sum = parsed(R"(HloModule m
ENTRY e { x = f32[4] parameter(0)
 y = f32[4] negate(x)
 ROOT r = f32[4] subtract(x, y), sharding={replicated}, frontend_attributes={a="b"}, metadata={op_name="here" source_line=7} })");
  const Module simple = after_passes(sum, "algebraic-simplifier");
  const InstructionId root = simple[simple.entry].root;
  EXPECT_EQ(simple[root].op, Op::Add);
  EXPECT_EQ(simple.metadata_of(simple[root]).op_name, "here");
  EXPECT_TRUE(simple.extra(simple[root]).sharding);
  EXPECT_TRUE(simple.extra(simple[root]).frontend_attributes.contains("a"));
}

}  // namespace
}  // namespace hilo
