// Ops that move, reduce and update arrays; control flow; steps that are evaluated.
#include "both.h"

namespace hilo::test {
namespace {

TEST(Structural, MovesElements) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[4,6] parameter(0)
  y = f32[6] parameter(1)
  b = f32[4,6] broadcast(y), dimensions={1}
  r = f32[2,2,6] reshape(x)
  t = f32[6,4] transpose(x), dimensions={1,0}
  s = f32[2,3] slice(x), slice={[0:4:2], [1:6:2]}
  v = f32[4,6] reverse(x), dimensions={0,1}
  zero = f32[] constant(7)
  p = f32[6,13] pad(x, zero), padding=1_1_0x1_1_1
  n = f32[2,6] pad(x, zero), padding=-1_-1_0x0_0_0
  c = f32[4,12] concatenate(x, b), dimensions={1}
  i = s32[4,6] iota(), iota_dimension=1
  f = bf16[4,6] iota(), iota_dimension=0
  ROOT o = (f32[4,6], f32[2,2,6], f32[6,4], f32[2,3], f32[4,6], f32[6,13], f32[2,6], f32[4,12], s32[4,6], bf16[4,6]) tuple(b, r, t, s, v, p, n, c, i, f)
}
)");
}

TEST(Structural, CustomCallsThatGiveTheirOperandAreNothing) {
  expect_native(R"(HloModule m
ENTRY e {
  x = u32[2] parameter(0)
  s = u32[2] custom-call(x), custom_call_target="Sharding", sharding={replicated}
  h = u32[2] custom-call(x), custom_call_target="annotate_device_placement"
  ROOT r = u32[2] add(h, s)
}
)");
}

TEST(Structural, GathersOfNothingAreZero) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[0] parameter(0)
  k = s32[40] parameter(1)
  ROOT g = f32[40] gather(x, k), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0}
}
)");
}

TEST(Structural, SlicesAtIndices) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[5,7] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  u = f32[2,3] parameter(3)
  k = s32[6,2] parameter(4)
  s = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}
  d = f32[5,7] dynamic-update-slice(x, u, i, j)
  g = f32[6,3] gather(x, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,3}
  ROOT o = (f32[2,3], f32[5,7], f32[6,3]) tuple(s, d, g)
}
)");
}

constexpr const char* reducers = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
most { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
place { v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(v, w), direction=GE
  x = f32[] select(g, v, w)
  y = s32[] select(g, i, j)
  ROOT t = (f32[], s32[]) tuple(x, y) }
)";

TEST(Structural, ReducesAlongRowsColumnsAndBoth) {
  expect_native(std::string(reducers) + R"(ENTRY e {
  x = f32[6,5,300] parameter(0)
  z = f32[] constant(0.5)
  n = f32[] constant(-inf)
  a = f32[6,5] reduce(x, z), dimensions={2}, to_apply=add
  b = f32[5,300] reduce(x, z), dimensions={0}, to_apply=add
  c = f32[300] reduce(x, z), dimensions={0,1}, to_apply=add
  d = f32[6] reduce(x, n), dimensions={1,2}, to_apply=most
  f = f32[] reduce(x, z), dimensions={0,1,2}, to_apply=add
  g = f32[6,300] reduce(x, n), dimensions={1}, to_apply=most
  ROOT o = (f32[6,5], f32[5,300], f32[300], f32[6], f32[], f32[6,300]) tuple(a, b, c, d, f, g)
}
)",
                1e-6);
}

TEST(Structural, ReducesPairsInOrder) {
  expect_native(std::string(reducers) + R"(ENTRY e {
  x = f32[4,90] parameter(0)
  i = s32[4,90] iota(), iota_dimension=1
  n = f32[] constant(-inf)
  z = s32[] constant(0)
  a = (f32[4], s32[4]) reduce(x, i, n, z), dimensions={1}, to_apply=place
  b = (f32[90], s32[90]) reduce(x, i, n, z), dimensions={0}, to_apply=place
  ROOT o = ((f32[4], s32[4]), (f32[90], s32[90])) tuple(a, b)
}
)");
}

TEST(Structural, ReductionsOfFourBitsWrap) {
  for (const char* op : {"add", "multiply"})
    for (const char* type : {"s4", "u4"})
      expect_native(fmt::format(R"(HloModule m
f {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT r = {0}[] {1}(a, b) }}
ENTRY e {{
  x = {0}[4,70] parameter(0)
  z = {0}[] constant(3)
  a = {0}[4] reduce(x, z), dimensions={{1}}, to_apply=f
  b = {0}[70] reduce(x, z), dimensions={{0}}, to_apply=f
  c = {0}[4,69] reduce-window(x, z), window={{size=1x2}}, to_apply=f
  ROOT o = ({0}[4], {0}[70], {0}[4,69]) tuple(a, b, c)
}}
)",
                                type, op));
}

TEST(Structural, ReducesPairsToNothing) {
  expect_native(R"(HloModule m
larger { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  v = f32[] select(c, a, b)
  k = s32[] select(c, i, j)
  ROOT r = (f32[], s32[]) tuple(v, k) }
ENTRY e {
  x = f32[3,0] parameter(0)
  i = s32[3,0] iota(), iota_dimension=0
  z = f32[] constant(0)
  n = s32[] constant(0)
  ROOT r = (f32[0], s32[0]) reduce(x, i, z, n), dimensions={0}, to_apply=larger
}
)");
}

TEST(Structural, ReducesBf16InF32) {
  expect_native(R"(HloModule m
add { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b) }
ENTRY e {
  x = bf16[3,400] parameter(0)
  z = bf16[] constant(0)
  ROOT a = bf16[3] reduce(x, z), dimensions={1}, to_apply=add
}
)");
  // Short rows too are rounded once, at the end.
  auto module = parse(R"(HloModule m
add { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b) }
ENTRY e {
  x = f32[5] parameter(0)
  c = bf16[5] convert(x)
  z = bf16[] constant(0)
  ROOT a = bf16[] reduce(c, z), dimensions={0}, to_apply=add
}
)");
  ASSERT_TRUE(module);
  const auto executable = compile(std::move(*module));
  ASSERT_TRUE(executable) << to_string(executable.error());
  std::vector<Literal> arguments = {Literal::from<float>({5}, std::vector<float>{256, 1, 1, 1, 1})};
  const auto sum = executable->run(std::move(arguments));
  ASSERT_TRUE(sum) << to_string(sum.error());
  EXPECT_EQ(sum->number_at(0), 260);
}

TEST(Structural, ScattersAndSmallProducts) {
  expect_native(std::string(reducers) + R"(ENTRY e {
  x = f32[5,7] parameter(0)
  k = s32[6,1] parameter(1)
  u = f32[6,7] parameter(2)
  y = f32[7,3] parameter(3)
  h = bf16[4,8] parameter(4)
  s = f32[5,7] scatter(x, k, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  d = f32[5,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = bf16[4,4] dot(h, h), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  b = f32[7,5,3] dot(x, y), lhs_batch_dims={1}, rhs_batch_dims={0}
  ROOT o = (f32[5,7], f32[5,3], bf16[4,4], f32[7,5,3]) tuple(s, d, g, b)
}
)",
                1e-6);
}

// Threads take pieces of all windows, and each place its updates in order.
TEST(Structural, ScattersOfLongWindowsGiveTheSameBitsOnAnyThreads) {
  for (const char* array : {"f32[3,1000]", "f32[1000,3]"}) {
    const bool in_lines = std::string_view(array) == "f32[3,1000]";
    expect_native_on_threads(
        fmt::format(R"({0}ENTRY e {{
  x = {1} parameter(0)
  k = s32[700,1] parameter(1)
  u = {2} parameter(2)
  w = f32[] constant(0.3)
  ws = {2} broadcast(w), dimensions={{}}
  v = {2} multiply(u, ws)
  ROOT s = {1} scatter(x, k, v), update_window_dims={{{3}}}, inserted_window_dims={{{4}}}, scatter_dims_to_operand_dims={{{4}}}, index_vector_dim=1, to_apply=add
}}
)",
                    reducers, array, in_lines ? "f32[700,1000]" : "f32[1000,700]", in_lines ? 1 : 0,
                    in_lines ? 0 : 1),
        1e-5);
  }
}

// What is scattered is one number, which is no array: a constant, or one that is given.
TEST(Structural, ScatteredNumbersTakeNoMemory) {
  const std::string text = std::string(reducers) + R"(ENTRY e {
  x = f32[5,4,3] parameter(0)
  k = s32[60,1] parameter(1)
  n = f32[] parameter(2)
  c = f32[] constant(2)
  twos = f32[60,4,3] broadcast(c), dimensions={}
  numbers = f32[60,4,3] broadcast(n), dimensions={}
  s = f32[5,4,3] scatter(x, k, twos), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT t = f32[5,4,3] scatter(s, k, numbers), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
)";
  const auto both = run_both(text);
  expect_native(both, text, 1e-6);
  EXPECT_EQ(both->report.temp_bytes, 0);
}

TEST(Structural, SubnormalNumbersAreZeros) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[2] constant({1e-40, -1e-40})
  y = f32[2] parameter(0)
  z = f32[2] multiply(x, y)
  ROOT s = f32[2] add(x, z)
}
)");
}

TEST(Structural, FusionsAreOneLoop) {
  const auto both = run_both(std::string(reducers) + R"(f {
  x = f32[8,64] parameter(0)
  y = f32[8] parameter(1)
  b = f32[8,64] broadcast(y), dimensions={0}
  e = f32[8,64] exponential(x)
  s = f32[8,64] subtract(e, b)
  z = f32[] constant(0)
  r = f32[8] reduce(s, z), dimensions={1}, to_apply=add
  rb = f32[8,64] broadcast(r), dimensions={0}
  ROOT d = f32[8,64] divide(s, rb)
}
ENTRY e {
  x = f32[8,64] parameter(0)
  y = f32[8] parameter(1)
  ROOT f = f32[8,64] fusion(x, y), kind=kLoop, calls=f
}
)");
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6);
  EXPECT_EQ(both->report.kernels, 1);
}

TEST(Structural, LoopsAndBranchesAreMachineCode) {
  expect_native(R"(HloModule m
body {
  p = (s32[], f32[16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[16] get-tuple-element(p), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[16] add(x, x)
  h = f32[] constant(0.75)
  hb = f32[16] broadcast(h), dimensions={}
  z = f32[16] multiply(y, hb)
  ROOT t = (s32[], f32[16]) tuple(n, z)
}
condition {
  p = (s32[], f32[16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] constant(9)
  ROOT l = pred[] compare(i, k), direction=LT
}
up { p = f32[16] parameter(0)
  ROOT n = f32[16] negate(p) }
down { p = f32[16] parameter(0)
  ROOT n = f32[16] abs(p) }
ENTRY e {
  x = f32[16] parameter(0)
  q = pred[] parameter(1)
  j = s32[] parameter(2)
  zero = s32[] constant(0)
  t = (s32[], f32[16]) tuple(zero, x)
  w = (s32[], f32[16]) while(t), condition=condition, body=body
  v = f32[16] get-tuple-element(w), index=1
  c = f32[16] conditional(q, v, x), true_computation=up, false_computation=down
  d = f32[16] conditional(j, x, v, c), branch_computations={up, down, up}
  ROOT o = (f32[16], f32[16], f32[16]) tuple(v, c, d)
}
)");
}

// The array that is updated is another one's bytes under a shape of its own.
TEST(Structural, UpdatesOfReshaped) {
  expect_native(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[6,40] parameter(0)
  i = s32[] parameter(1)
  u = f32[3,1] parameter(2)
  s = f32[6,40] sort(x), dimensions={1}, to_apply=less
  r = f32[12,20] reshape(s)
  d = f32[12,20] dynamic-update-slice(r, u, i, i)
  t = f32[20,12] reshape(s)
  j = s32[3,1] constant({{1},{7},{1}})
  u1 = f32[3] reshape(u)
  w = f32[3,12] broadcast(u1), dimensions={0}
  a = f32[20,12] scatter(t, j, w), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT o = (f32[12,20], f32[20,12]) tuple(d, a)
}
)");
}

TEST(Structural, OrdersAreFoundInPlace) {
  expect_native(R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT }
ENTRY e {
  x = f32[3,600,2] parameter(0)
  y = f32[3,600,2] add(x, x)
  i = s32[3,600,2] iota(), iota_dimension=1
  s = (f32[3,600,2], s32[3,600,2]) sort(y, i), dimensions={1}, is_stable=true, to_apply=less
  k = s32[3,600,2] get-tuple-element(s), index=1
  v = f32[3,600,2] get-tuple-element(s), index=0
  t = f32[3,2,600] transpose(v), dimensions={0,2,1}
  p = (f32[3,2,9], s32[3,2,9]) topk(t), k=9, largest=false
  ROOT out = (f32[3,600,2], s32[3,600,2], (f32[3,2,9], s32[3,2,9])) tuple(v, k, p)
}
)");
}

// The first operand's place is written before the second one moves.
TEST(Structural, WideIntegersAreSortedInTheirPlace) {
  expect_native(R"(HloModule m
less { a = s64[] parameter(0)
  b = s64[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = s64[4,50] parameter(0)
  y = f32[4,50] parameter(1)
  u = s64[4,50] add(x, x)
  v = f32[4,50] add(y, y)
  ROOT s = (s64[4,50], f32[4,50]) sort(u, v), dimensions={1}, is_stable=true, to_apply=less
}
)");
}

TEST(Structural, TransformsAreFoundInPlace) {
  for (const int threads : {1, 2}) {
    const auto both = run_both(R"(HloModule m
ENTRY e {
  x = f32[40,60] parameter(0)
  y = f32[40,60] add(x, x)
  c = c64[40,31] fft(y), fft_type=RFFT, fft_length={40,60}
  ROOT r = f32[40,60] fft(c), fft_type=IRFFT, fft_length={40,60}
}
)",
                               1, threads);
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_EQ(both->report.evaluated.size(), 0u);
    EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0);
  }
}

TEST(Structural, WhatIsNotEmittedIsEvaluatedAndSaid) {
  const auto both = run_both(R"(HloModule m
largest { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
ENTRY e {
  x = f32[600] parameter(0)
  s = f32[] constant(-inf)
  ROOT c = f32[600] reduce-window(x, s), window={size=301 pad=150_150}, to_apply=largest
}
)");
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_EQ(both->report.evaluated.size(), 1u);
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 0);
}

TEST(Structural, WhatCannotBeRunIsUnsupportedWithItsPlace) {
  const auto both = run_both(R"(HloModule m
ENTRY e {
  x = f6e2m3fn[4]{0} parameter(0)
  ROOT d = s8[4]{0} bitcast(x)
}
)");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(both.error().place.instruction, "d");
}

// As in modules of TPUs: whatever moves elements may round them to another type.
TEST(Structural, MovesRoundToTheTypeOfTheResult) {
  expect_native(R"(HloModule m
larger { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] maximum(a, b)
}
rounded { x = f32[4,6] parameter(0)
  ROOT c = bf16[4,6] copy(x)
}
ENTRY e {
  g = f32[4,6] parameter(0)
  third = f32[] constant(0.3333333)
  thirds = f32[4,6] broadcast(third), dimensions={}
  x = f32[4,6] multiply(g, thirds)
  q = pred[4,6] parameter(1)
  c = bf16[4,6] copy(x)
  s = bf16[2,6] slice(x), slice={[1:3], [0:6]}
  z = bf16[] constant(0)
  zf = f32[] constant(-100)
  p = bf16[6,6] pad(x, z), padding=1_1x0_0
  l = bf16[4,6] select(q, c, x)
  r = bf16[4] reduce(x, zf), dimensions={1}, to_apply=larger
  cc = f32[4,6] copy(c)
  f = bf16[4,6] fusion(x), kind=kLoop, calls=rounded
  ROOT t = (bf16[4,6], bf16[2,6], bf16[6,6], bf16[4,6], bf16[4], f32[4,6], bf16[4,6]) tuple(c, s, p, l, r, cc, f)
}
)");
}

// Tables of tuples and the values of applied computations have no memory.
TEST(Memory, OnlyWhatIsUsed) {
  const auto both = run_both(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[16,8] parameter(0)
  zero = f32[] constant(0)
  r = f32[16] reduce(x, zero), dimensions={1}, to_apply=add
  n = f32[16,8] negate(x)
  ROOT o = (f32[16], f32[16,8]) tuple(r, n)
}
)");
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_EQ(both->report.temp_bytes, 0);
  EXPECT_EQ(both->report.run_bytes, 4 * (16 * 8 * 2 + 16));
}

// Lines of no elements side by side are no loops in turns.
TEST(Structural, NothingIsSorted) {
  expect_native(R"(HloModule m
more { a = c128[] parameter(0)
 b = c128[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 ra = f64[] real(a)
 rb = f64[] real(b)
 ROOT l = pred[] compare(ra, rb), direction=GT }
ENTRY e {
  x = c128[3,0,2] parameter(0)
  y = f32[3,0,2] parameter(1)
  d = c128[3,0,2] add(x, x)
  ROOT s = (c128[3,0,2], f32[3,0,2]) sort(d, y), dimensions={2}, is_stable=true, to_apply=more
}
)");
}

// Parts of it would be granted each, and then used.
TEST(Memory, MoreThanThereIs) {
  const int64_t each = available_memory() / 4 * 3 / 4;  // elements
  const std::string array = fmt::format("f32[{}]", each);
  const auto module = parse(fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[] parameter(0)
  y = f32[] sine(x)
  a = {0} broadcast(x), dimensions={{}}
  b = {0} broadcast(y), dimensions={{}}
  ROOT o = ({0}, {0}) tuple(a, b)
}}
)",
                                        array));
  ASSERT_TRUE(module) << to_string(module.error());
  const auto executable = compile(*module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  const auto out = executable->run({Literal::zeros(Shape::array(ElementType::F32, {}))});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().kind, ErrorKind::Memory);
  EXPECT_TRUE(out.error().message.contains(std::to_string(executable->report().run_bytes)));
}

}  // namespace
}  // namespace hilo::test
