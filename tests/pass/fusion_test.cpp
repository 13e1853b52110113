// Fusion: what comes together, what stays apart, and the same bits afterwards.
#include <ctime>
#include <map>
#include <ranges>

#include "random_module.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

void expect_same_bits(const Module& before, const Module& after) {
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "")
      << print(before) << print(after);
}

std::vector<FusionKind> kinds_of(const Module& module) {
  std::vector<FusionKind> out;
  for (ComputationId id : module.post_order())
    for (InstructionId instruction : module[id].instructions)
      if (module[instruction].op == Op::Fusion)
        out.push_back(module.attributes<FusionAttributes>(instruction).kind);
  return out;
}

// Instructions of the entry but parameters, constants and what takes tuples apart.
int64_t count_steps(const Module& module) {
  int64_t out = 0;
  for (InstructionId id : module[module.entry].instructions) {
    const Op op = module[id].op;
    out +=
        op != Op::Parameter && op != Op::Constant && op != Op::GetTupleElement && op != Op::Tuple;
  }
  return out;
}

const char* const reducers = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
add_u32 { a = u32[] parameter(0)
 b = u32[] parameter(1)
 ROOT s = u32[] add(a, b) }
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = pred[] compare(a, b), direction=LT, type=TOTALORDER }
max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] maximum(a, b) }
ENTRY e { )";

struct Row {
  const char* name;
  int64_t steps;  // of the entry afterwards
  std::vector<FusionKind> kinds;
  const char* body;
};

const Row rows[] = {
    {"bits that are taken for another type of their width",
     1,
     {FusionKind::Loop},
     R"(x = f32[64] parameter(0)
 i = s32[64] bitcast-convert(x)
 m = s32[] constant(2147483647)
 mb = s32[64] broadcast(m), dimensions={}
 a = s32[64] and(i, mb)
 f = f32[64] bitcast-convert(a)
 ROOT s = f32[64] add(f, x))"},
    {"bits that are taken for elements of another width stay outside",
     3,
     {},
     R"(x = f32[64] parameter(0)
 a = f32[64] negate(x)
 i = u8[64,4] bitcast-convert(a)
 ROOT s = u8[64,4] not(i))"},
    {"rounds of which each gives two values to the next",
     1,
     {FusionKind::Loop},
     R"(x = u32[64] parameter(0)
 y = u32[64] parameter(1)
 a = u32[64] add(x, y)
 b = u32[64] xor(a, y)
 c = u32[64] add(a, b)
 d = u32[64] xor(c, b)
 e = u32[64] add(c, d)
 f = u32[64] xor(e, d)
 g = u32[64] add(e, f)
 h = u32[64] xor(g, f)
 ROOT r = (u32[64], u32[64]) tuple(g, h))"},
    {"elementwise ops and what moves elements", 1, {FusionKind::Loop}, R"(x = f32[4,6] parameter(0)
 y = f32[6] parameter(1)
 t = f32[6,4] transpose(x), dimensions={1,0}
 b = f32[6,4] broadcast(y), dimensions={0}
 m = f32[6,4] multiply(t, b)
 s = f32[3,2] slice(m), slice={[0:6:2], [1:3]}
 ROOT r = f32[3,2] exponential(s))"},
    {"a reduction with what makes its operand", 1, {FusionKind::Input}, R"(x = f32[4,6] parameter(0)
 z = f32[] constant(0)
 e = f32[4,6] exponential(x)
 ROOT r = f32[6] reduce(e, z), dimensions={0}, to_apply=add)"},
    {"softmax", 1, {FusionKind::Input}, R"(x = f32[4,6] parameter(0)
 z = f32[] constant(0)
 l = f32[] constant(-inf)
 m = f32[4] reduce(x, l), dimensions={1}, to_apply=max
 bm = f32[4,6] broadcast(m), dimensions={0}
 c = f32[4,6] subtract(x, bm)
 e = f32[4,6] exponential(c)
 s = f32[4] reduce(e, z), dimensions={1}, to_apply=add
 bs = f32[4,6] broadcast(s), dimensions={0}
 ROOT r = f32[4,6] divide(e, bs))"},
    {"layer norm", 1, {FusionKind::Input}, R"(x = bf16[2,4,6] parameter(0)
 g = bf16[6] parameter(1)
 z = f32[] constant(0)
 n = f32[] constant(6)
 o = f32[] constant(0.001)
 w = f32[2,4,6] convert(x)
 s = f32[2,4] reduce(w, z), dimensions={2}, to_apply=add
 bn = f32[2,4] broadcast(n), dimensions={}
 mean = f32[2,4] divide(s, bn)
 bm = f32[2,4,6] broadcast(mean), dimensions={0,1}
 c = f32[2,4,6] subtract(w, bm)
 q = f32[2,4,6] multiply(c, c)
 v = f32[2,4] reduce(q, z), dimensions={2}, to_apply=add
 vn = f32[2,4] divide(v, bn)
 bo = f32[2,4] broadcast(o), dimensions={}
 ve = f32[2,4] add(vn, bo)
 rs = f32[2,4] rsqrt(ve)
 br = f32[2,4,6] broadcast(rs), dimensions={0,1}
 y = f32[2,4,6] multiply(c, br)
 wg = f32[6] convert(g)
 bg = f32[2,4,6] broadcast(wg), dimensions={2}
 k = f32[2,4,6] multiply(y, bg)
 ROOT r = bf16[2,4,6] convert(k))"},
    {"a product with what follows it", 1, {FusionKind::Output}, R"(x = f32[4,6] parameter(0)
 y = f32[6,5] parameter(1)
 b = f32[5] parameter(2)
 d = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 c = f32[4,5] broadcast(b), dimensions={1}
 a = f32[4,5] add(d, c)
 ROOT r = f32[4,5] tanh(a))"},
    {"two results of one loop", 1, {FusionKind::Loop}, R"(x = f32[4,6] parameter(0)
 a = f32[4,6] exponential(x)
 b = f32[4,6] tanh(a)
 ROOT r = (f32[4,6], f32[4,6]) tuple(a, b))"},
    {"two reductions of one array", 1, {FusionKind::Input}, R"(x = f32[4,6] parameter(0)
 z = f32[] constant(0)
 q = f32[4,6] multiply(x, x)
 s = f32[6] reduce(x, z), dimensions={0}, to_apply=add
 t = f32[6] reduce(q, z), dimensions={0}, to_apply=add
 ROOT r = (f32[6], f32[6]) tuple(s, t))"},
    {"nothing is computed twice", 2, {}, R"(x = f32[6] parameter(0)
 a = f32[6] exponential(x)
 b = f32[4,6] broadcast(a), dimensions={1}
 ROOT r = f32[4,6] negate(b))"},
    {"what is written over", 1, {FusionKind::Loop}, R"(x = f32[8] parameter(0)
 i = s32[] parameter(1)
 d = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
 n = f32[2] negate(d)
 ROOT r = f32[8] dynamic-update-slice(x, n, i))"},
    {"what is written over at a place that is known",
     1,
     {FusionKind::Loop},
     R"(x = f32[8] parameter(0)
 i = s32[] constant(3)
 s = f32[2] slice(x), slice={[3:5]}
 n = f32[2] negate(s)
 ROOT r = f32[8] dynamic-update-slice(x, n, i))"},
    {"not where it comes back turned", 2, {FusionKind::Loop}, R"(x = f32[8] parameter(0)
 i = s32[] parameter(1)
 d = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
 n = f32[2] reverse(d), dimensions={0}
 ROOT r = f32[8] dynamic-update-slice(x, n, i))"},
    {"an update with what it reads beside its place",
     2,
     {FusionKind::Loop},
     R"(x = f32[8] parameter(0)
 i = s32[] constant(1)
 s = f32[6] slice(x), slice={[0:6]}
 t = f32[6] slice(x), slice={[2:8]}
 u = f32[6] slice(x), slice={[1:7]}
 n = f32[6] add(s, t)
 m = f32[6] subtract(n, u)
 ROOT r = f32[8] dynamic-update-slice(x, m, i))"},
    {"not what stands beside it", 2, {FusionKind::Loop}, R"(x = f32[8] parameter(0)
 i = s32[] parameter(1)
 s = f32[2] slice(x), slice={[3:5]}
 n = f32[2] exponential(s)
 d = f32[2] tanh(n)
 ROOT r = f32[8] dynamic-update-slice(x, d, i))"},
    {"a product, but not what it reads", 2, {FusionKind::Output}, R"(x = f32[4,4] parameter(0)
 a = f32[4,4] exponential(x)
 d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT r = f32[4,4] add(a, d))"},
    {"no two around results of another", 5, {}, R"(x = f32[4,4] parameter(0)
 early = f32[4,4] exponential(x)
 s = f32[4,4] sort(early), dimensions={1}, to_apply=less
 b = f32[4,4] add(s, x)
 a = f32[4,4] cosine(x)
 t = f32[4,4] sort(a), dimensions={1}, to_apply=less
 late = f32[4,4] add(early, t)
 ROOT r = (f32[4,4], f32[4,4]) tuple(b, late))"},
    {"no two around one that waits for a third", 4, {}, R"(x = f32[4,4] parameter(0)
 a = f32[4,4] exponential(x)
 s = f32[4,4] sort(a), dimensions={1}, to_apply=less
 u = f32[4,4] sort(x), dimensions={1}, to_apply=less, control-predecessors={s}
 b = f32[4,4] add(a, u)
 ROOT r = (f32[4,4], f32[4,4]) tuple(b, s))"},
    {"sums of a few elements, with what reads them",
     1,
     {FusionKind::Input},
     R"(x = f32[40,3] parameter(0)
 y = f32[50,3] parameter(1)
 a = f32[40,50,3] broadcast(x), dimensions={0,2}
 b = f32[40,50,3] broadcast(y), dimensions={1,2}
 d = f32[40,50,3] subtract(a, b)
 q = f32[40,50,3] multiply(d, d)
 z = f32[] constant(0)
 s = f32[40,50] reduce(q, z), dimensions={2}, to_apply=add
 e = f32[40,50] sqrt(s)
 n = f32[] constant(-inf)
 ROOT r = f32[40] reduce(e, n), dimensions={1}, to_apply=max)"},
    {"no sums of a few elements that are wanted again",
     2,
     {FusionKind::Input, FusionKind::Loop},
     R"(x = f32[40,3] parameter(0)
 q = f32[40,3] multiply(x, x)
 z = f32[] constant(0)
 s = f32[40] reduce(q, z), dimensions={1}, to_apply=add
 b = f32[50,40] broadcast(s), dimensions={1}
 ROOT r = f32[50,40] exponential(b))"},
    {"differences that sums over other dimensions make again",
     2,
     {},
     R"(x = f32[40,3] parameter(0)
 y = f32[50,3] parameter(1)
 a = f32[40,50,3] broadcast(x), dimensions={0,2}
 b = f32[40,50,3] broadcast(y), dimensions={1,2}
 d = f32[40,50,3] subtract(a, b)
 q = f32[40,50,3] multiply(d, d)
 z = f32[] constant(0)
 s = f32[40,50] reduce(q, z), dimensions={2}, to_apply=add
 t = f32[40,3] reduce(d, z), dimensions={1}, to_apply=add
 ROOT r = (f32[40,50], f32[40,3]) tuple(s, t))"},
    {"bits of a number that a sum over them makes again",
     2,
     {},
     R"(x = u32[40] parameter(0)
 y = u32[40] parameter(1)
 h = u32[40] xor(x, y)
 b = u32[40,8] broadcast(h), dimensions={0}
 i = u32[40,8] iota(), iota_dimension=1
 q = u32[40,8] shift-right-logical(b, i)
 z = u32[] constant(0)
 s = u32[40] reduce(q, z), dimensions={1}, to_apply=add_u32
 c = u32[40] popcnt(h)
 ROOT r = (u32[40], u32[40]) tuple(s, c))"},
    {"shifts that two steps make again",
     2,
     {},
     R"(x = u32[40] parameter(0)
 b = u32[40,8] broadcast(x), dimensions={0}
 i = u32[40,8] iota(), iota_dimension=1
 q = u32[40,8] shift-right-logical(b, i)
 z = u32[] constant(0)
 s = u32[8] reduce(q, z), dimensions={0}, to_apply=add_u32
 t = u8[40,8] convert(q)
 ROOT r = (u32[8], u8[40,8]) tuple(s, t))"},
    {"slices of a product that is reshaped",
     4,
     {},
     R"(x = f32[8,12] parameter(0)
 c = f32[] constant(3)
 b = f32[8,12] broadcast(c), dimensions={}
 m = f32[8,12] multiply(x, b)
 h = f32[8,3,4] reshape(m)
 u = f32[8,1,4] slice(h), slice={[0:8], [0:1], [0:4]}
 v = f32[8,1,4] slice(h), slice={[0:8], [1:2], [0:4]}
 s = f32[8,1,4] sort(u), dimensions={2}, to_apply=less
 t = f32[8,1,4] sort(v), dimensions={2}, to_apply=less
 ROOT r = f32[8,1,4] add(s, t))"},
    {"no exponentials of differences",
     3,
     {},
     R"(x = f32[40,3] parameter(0)
 y = f32[50,3] parameter(1)
 a = f32[40,50,3] broadcast(x), dimensions={0,2}
 b = f32[40,50,3] broadcast(y), dimensions={1,2}
 d = f32[40,50,3] subtract(a, b)
 e = f32[40,50,3] exponential(d)
 z = f32[] constant(0)
 s = f32[40,50] reduce(e, z), dimensions={2}, to_apply=add
 t = f32[40,3] reduce(e, z), dimensions={1}, to_apply=add
 ROOT r = (f32[40,50], f32[40,3]) tuple(s, t))"},
    {"products of arguments",
     2,
     {},
     R"(x = f32[40,50] parameter(0)
 y = f32[40,50] parameter(1)
 m = f32[40,50] multiply(x, y)
 z = f32[] constant(0)
 s = f32[40] reduce(m, z), dimensions={1}, to_apply=add
 t = f32[50] reduce(m, z), dimensions={0}, to_apply=add
 ROOT r = (f32[40], f32[50]) tuple(s, t))"},
    {"an array and one of its columns", 1, {FusionKind::Loop}, R"(x = s32[40,50] parameter(0)
 y = s32[40,50] parameter(1)
 m = s32[40,50] multiply(x, y)
 c = s32[40,1] slice(m), slice={[0:40], [3:4]}
 d = s32[40] reshape(c)
 b = s32[40,50] broadcast(d), dimensions={0}
 ROOT r = s32[40,50] subtract(m, b))"},
    {"no five times", 2, {}, R"(x = f32[40,50] parameter(0)
 m = f32[40,50] multiply(x, x)
 b = f32[40,5,50] broadcast(m), dimensions={0,2}
 ROOT r = f32[40,5,50] negate(b))"},
    {"no sum for which two arrays would be kept",
     5,
     {},
     R"(x = f32[40,50] parameter(0)
 a = f32[40,50] sort(x), dimensions={1}, to_apply=less
 b = f32[40,50] sort(x), dimensions={0}, to_apply=less
 m = f32[40,50] subtract(a, b)
 z = f32[] constant(0)
 s = f32[40] reduce(m, z), dimensions={1}, to_apply=add
 t = f32[50] reduce(m, z), dimensions={0}, to_apply=add
 ROOT r = (f32[40], f32[50]) tuple(s, t))"},
    {"what two steps make again",
     3,
     {FusionKind::Loop, FusionKind::Loop},
     R"(x = f32[4,4] parameter(0)
 c = f32[] constant(3)
 b = f32[4,4] broadcast(c), dimensions={}
 m = f32[4,4] multiply(x, b)
 s = f32[4,4] sort(m), dimensions={1}, to_apply=less
 ROOT r = f32[4,4] multiply(s, b))"},
    {"results whose shape is another at last", 3, {FusionKind::Loop}, R"(x = f32[1,6] parameter(0)
 a = f32[1,6] exponential(x)
 b = f32[1,6] sine(a)
 c = f32[1,6] cosine(a)
 s = f32[6] reshape(b)
 t = f32[6] reshape(c)
 ROOT r = (f32[6], f32[6]) tuple(s, t))"},
    {"no two around a third", 3, {}, R"(x = f32[4,4] parameter(0)
 a = f32[4,4] exponential(x)
 s = f32[4,4] sort(a), dimensions={1}, to_apply=less
 ROOT r = f32[4,4] add(a, s))"},
};

TEST(Fusion, BringsTogetherWhatOneLoopComputes) {
  for (const Row& row : rows) {
    const Module before = parsed(std::string(reducers) + row.body + " }");
    PipelineOptions options;
    options.verify = true;
    const Module after = after_passes(before, "fusion, dce", options);
    if (!row.kinds.empty()) {
      EXPECT_EQ(kinds_of(after), row.kinds) << row.name << print(after);
    }
    EXPECT_EQ(count_steps(after), row.steps) << row.name << print(after);
    expect_same_bits(before, after);
  }
}

// What is looked up is made, unless it is looked up more often than there are elements.
TEST(Fusion, MakesOfATableWhatIsLookedUp) {
  for (const auto& [rows, steps] : {std::pair(9, 1), std::pair(3, 2)}) {
    const Module before = parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = s32[{},6] parameter(0)
 i = s32[4,1] parameter(1)
 t = f32[{},6] convert(x)
 ROOT r = f32[4,6] gather(t, i), offset_dims={{1}}, collapsed_slice_dims={{0}},
   start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,6}} }})",
                                             rows, rows));
    PipelineOptions options;
    options.pass.fusion.gathers = true;
    const Module after = after_passes(before, "fusion, dce", options);
    EXPECT_EQ(count_steps(after), steps) << print(after);
    expect_same_bits(before, after);
  }
}

// Other dimensions of the same elements take divisions, which are little beside a slice.
TEST(Fusion, MakesWhatIsLookedUpThroughOtherDimensions) {
  for (const auto& [kept, steps] : {std::pair("9,1,6", 1), std::pair("9,3,2", 1)}) {
    const Module before = parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = s32[9,6] parameter(0)
 i = s32[4,1] parameter(1)
 c = f32[9,6] convert(x)
 t = f32[{}] reshape(c)
 g = f32[4,{}] gather(t, i), offset_dims={{1,2}}, collapsed_slice_dims={{0}},
   start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{}}}
 ROOT r = f32[4,{}] negate(g) }})",
                                             kept, kept + 2, kept + 2, kept + 2));
    PipelineOptions options;
    options.pass.fusion.gathers = true;
    const Module after = after_passes(before, "fusion, dce", options);
    EXPECT_EQ(count_steps(after), steps) << print(after);
    expect_same_bits(before, after);
  }
}

// Of what is put together from arrays little is looked up: then it is not put together.
TEST(Fusion, MakesOfAJoinedTableWhatIsLookedUp) {
  struct Row {
    int rows, steps;
    const char* gather;
  };
  const char* const slices =
      "f32[4,6] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1,6}";
  const char* const elements =
      "f32[4,1] gather(t, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
      "operand_batching_dims={1}, start_indices_batching_dims={1}, index_vector_dim=2, "
      "slice_sizes={1,1}";
  for (const Row& row :
       {Row{20, 1, slices}, Row{2, 1, slices}, Row{20, 1, elements}, Row{5, 2, elements}}) {
    const bool in_slices = row.gather == slices;
    const Module before = parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = f32[{0},{2}] parameter(0)
 i = s32[{4}] parameter(1)
 z = f32[] constant(1)
 p = f32[{0},{2}] pad(x, z), padding=1_-1x0_0
 t = f32[{1},{2}] concatenate(x, p), dimensions={{0}}
 ROOT r = {3} }})",
                                             row.rows, 2 * row.rows, in_slices ? 6 : 1, row.gather,
                                             in_slices ? "4,1" : "4,1,1"));
    PipelineOptions options;
    options.pass.fusion.gathers = true;
    const Module after = after_passes(before, "fusion, dce", options);
    EXPECT_EQ(count_steps(after), row.steps) << print(after);
    expect_same_bits(before, after);
  }
}

// Between four neighbours: what their index vectors are made of is made once, at one place.
TEST(Fusion, MakesWhatSeveralIndexVectorsShareOnce) {
  const Module before = parsed(R"(HloModule m
ENTRY e { x = f32[9,9] parameter(0)
 c = f32[1,20] parameter(1)
 d = f32[1,20] parameter(2)
 u = s32[] constant(1)
 b = s32[1,20] broadcast(u), dimensions={}
 f = f32[1,20] exponential(c)
 g = f32[1,20] exponential(d)
 i = s32[1,20] convert(f)
 j = s32[1,20] convert(g)
 k = s32[1,20] add(i, b)
 l = s32[1,20] add(j, b)
 ir = s32[20,1] reshape(i)
 jr = s32[20,1] reshape(j)
 kr = s32[20,1] reshape(k)
 lr = s32[20,1] reshape(l)
 p = s32[20,2] concatenate(ir, jr), dimensions={1}
 q = s32[20,2] concatenate(kr, jr), dimensions={1}
 s = s32[20,2] concatenate(ir, lr), dimensions={1}
 t = s32[20,2] concatenate(kr, lr), dimensions={1}
 gp = f32[20] gather(x, p), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
   index_vector_dim=1, slice_sizes={1,1}
 gq = f32[20] gather(x, q), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
   index_vector_dim=1, slice_sizes={1,1}
 gs = f32[20] gather(x, s), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
   index_vector_dim=1, slice_sizes={1,1}
 gt = f32[20] gather(x, t), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
   index_vector_dim=1, slice_sizes={1,1}
 v = f32[20] add(gp, gq)
 w = f32[20] add(gs, gt)
 ROOT r = f32[20] multiply(v, w) })");
  PipelineOptions options;
  options.pass.fusion.gathers = true;
  const Module after = after_passes(before, "fusion, dce", options);
  EXPECT_EQ(count_steps(after), 1) << print(after);
  expect_same_bits(before, after);
}

// A row that depends on another row is no row.
TEST(Fusion, KeepsRowsApart) {
  const Module before = parsed(std::string(reducers) + R"(x = f32[4,4] parameter(0)
 z = f32[] constant(0)
 e = f32[4,4] exponential(x)
 s = f32[4] reduce(e, z), dimensions={1}, to_apply=add
 b = f32[4,4] broadcast(s), dimensions={1}
 ROOT r = f32[4,4] divide(e, b) })");
  const Module after = after_passes(before, "fusion, dce");
  for (ComputationId id : after.post_order()) {
    int64_t here[2] = {};
    for (InstructionId instruction : after[id].instructions) {
      here[0] += after[instruction].op == Op::Reduce;
      here[1] += after[instruction].op == Op::Divide;
    }
    EXPECT_FALSE(here[0] && here[1]) << print(after);
  }
  expect_same_bits(before, after);
}

TEST(Fusion, LeavesCountersAndSchedulesAlone) {
  const Module before = parsed(R"(HloModule m
body { s = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[4] get-tuple-element(s), index=1
 one = s32[] constant(1)
 two = s32[] constant(2)
 k = s32[] multiply(i, two)
 j = s32[] subtract(k, one)
 e = f32[4] exponential(x)
 y = f32[4] negate(e)
 ROOT t = (s32[], f32[4]) tuple(j, y) }
condition { s = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(9)
 ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
 z = s32[] constant(2)
 s = (s32[], f32[4]) tuple(z, x)
 ROOT l = (s32[], f32[4]) while(s), condition=condition, body=body })");
  const Module after = after_passes(before, "fusion, dce");
  EXPECT_EQ(count_op(after, Op::Fusion), 1);
  expect_same_bits(before, after);
  Module scheduled = before;
  scheduled.header.is_scheduled = true;
  EXPECT_EQ(difference(scheduled, after_passes(scheduled, "fusion")), "");
}

// By how many chains of uses an instruction of a fusion reaches the fusion's result, at most.
int64_t most_chains(const Module& module) {
  int64_t out = 0;
  for (ComputationId id : module.post_order())
    for (InstructionId instruction : module[id].instructions) {
      if (module[instruction].op != Op::Fusion) continue;
      const ComputationId body = module.called(module[instruction])[0];
      std::map<InstructionId, int64_t> chains = {{module[body].root, 1}};
      std::vector<InstructionId> order = operands_first(module, body);
      for (InstructionId member : order | std::views::reverse) {
        for (InstructionId operand : module.operands(member)) chains[operand] += chains[member];
        if (module[member].op == Op::Add) out = std::max(out, chains[member]);
      }
    }
  return out;
}

// Prefix sums by halves: sums of pairs down, and what is between them up again.
TEST(Fusion, ComputesNoElementOfALadderAtManyPlaces) {
  std::string text = "HloModule m\nENTRY e { d0 = f32[256] parameter(0)\n z = f32[] constant(0)\n";
  for (int i = 1; i <= 8; ++i)
    text += fmt::format(
        " a{0} = f32[{1}] slice(d{2}), slice={{[0:{3}:2]}}\n"
        " b{0} = f32[{1}] slice(d{2}), slice={{[1:{3}:2]}}\n"
        " d{0} = f32[{1}] add(a{0}, b{0})\n",
        i, 256 >> i, i - 1, 512 >> i);
  for (int i = 8; i >= 1; --i)
    text += fmt::format(
        " p{0} = f32[{1}] pad({2}, z), padding=0_1_1\n q{0} = f32[{1}] pad({2}, z), padding=1_0_1\n"
        " {3}u{0} = f32[{1}] add(p{0}, q{0})\n",
        i, 512 >> i, i == 8 ? "d8" : fmt::format("u{}", i + 1), i == 1 ? "ROOT " : "");
  const Module before = parsed(text + "}");
  const Module after = after_passes(before, "fusion, dce");
  EXPECT_GE(count_op(after, Op::Fusion), 4);
  EXPECT_LE(most_chains(after), 2);
  expect_same_bits(before, after);
}

// Twice the size takes about twice the time: the ratio of a quadratic one would be near 16.
TEST(Fusion, IsLinear) {
  const auto seconds = [](int count) {
    std::string text = "HloModule m\nENTRY e { x0 = f32[64] parameter(0)\n";
    for (int i = 1; i <= count; ++i)
      text += fmt::format(" x{} = f32[64] {}\n", i,
                          i % 3 == 0 ? fmt::format("add(x{}, x{})", i - 1, i / 2)
                                     : fmt::format("tanh(x{})", i - 1));
    text += fmt::format(" ROOT r = f32[64] negate(x{}) }}\n", count);
    const Module module = parsed(text);
    double least = 1e9;  // of processor time, whatever else the machine does
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      after_passes(module, "fusion");
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  EXPECT_LT(seconds(16000), 9 * seconds(4000) + 0.01);
}

TEST(Fusion, KeepsEveryBitOfRandomModules) {
  int fused = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Module before = test::RandomModule(seed).make(40);
    PipelineOptions options;
    options.verify = true;
    const Module after = after_passes(before, "fusion, dce", options);
    fused += count_op(after, Op::Fusion) > 0;
    const std::string found = test::difference_in_values(before, after, Keeps::Bits, seed, 1);
    ASSERT_EQ(found, "") << "seed " << seed << print(before) << print(after);
    EXPECT_EQ(print(after), print(after_passes(before, "fusion, dce")));
  }
  EXPECT_GT(fused, 200);
}

}  // namespace
}  // namespace hilo
