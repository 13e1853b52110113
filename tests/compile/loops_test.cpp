// Numbers that loops, branches and calls carry, and those who read and write them from outside.
#include "both.h"

namespace hilo::test {
namespace {

// A while of about twenty rounds whose state begins with a counter; `state` names the types after
// it, `body` makes next1, next2, ... of v1, v2, ... and i.
std::string loop_over(std::string_view computations, std::vector<std::string> state,
                      std::string_view body) {
  std::string types = "s32[]", parts, elements, parameters, firsts;
  for (size_t k = 1; k <= state.size(); ++k) {
    types += ", " + state[k - 1];
    parts += fmt::format(" v{} = {} get-tuple-element(p), index={}\n", k, state[k - 1], k);
    elements += fmt::format(", next{}", k);
    parameters += fmt::format(" x{} = {} parameter({})\n", k, state[k - 1], k - 1);
    firsts += fmt::format(", x{}", k);
  }
  return fmt::format(R"(HloModule m
{0}
body {{ p = ({1}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
{2} one = s32[] constant(1)
 next = s32[] add(i, one)
{3} ROOT t = ({1}) tuple(next{4}) }}
condition {{ p = ({1}) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 most = s32[] constant(21)
 ROOT c = pred[] compare(i, most), direction=LT }}
ENTRY e {{
{5} zero = s32[] constant(0)
 t = ({1}) tuple(zero{6})
 ROOT w = ({1}) while(t), condition=condition, body=body }}
)",
                     computations, types, parts, body, elements, parameters, firsts);
}

TEST(Loops, CarryNumbersOfEveryWidth) {
  expect_native(loop_over("", {"pred[]", "bf16[]", "f16[]", "s8[]", "u64[]", "c64[]", "c128[]"},
                          R"( next1 = pred[] not(v1)
 hb = bf16[] constant(0.75)
 b = bf16[] multiply(v2, hb)
 next2 = bf16[] add(b, hb)
 hh = f16[] constant(0.5)
 h = f16[] multiply(v3, hh)
 next3 = f16[] subtract(h, hh)
 s3 = s8[] constant(3)
 s = s8[] multiply(v4, s3)
 next4 = s8[] select(v1, s, v4)
 next5 = u64[] add(v5, v5)
 half = f32[] constant(0.5)
 zero = f32[] constant(0)
 z = c64[] complex(half, zero)
 next6 = c64[] add(v6, z)
 next7 = c128[] negate(v7)
)"));
}

// The second value is written over what it was, which the first one is made of at other places.
TEST(Loops, WriteValuesOverThemselves) {
  const std::string text = loop_over("", {"f32[60,90]", "f32[60,90]"}, R"( zero = f32[] constant(0)
 half = f32[] constant(0.5)
 h = f32[60,90] broadcast(half), dimensions={}
 a = f32[58,90] slice(v2), slice={[2:60], [0:90]}
 b = f32[58,90] slice(v2), slice={[0:58], [0:90]}
 c = f32[58,90] add(a, b)
 l = f32[60,90] pad(c, zero), padding=1_1x0_0
 s = f32[60,90] subtract(l, v2)
 m = f32[60,90] multiply(s, h)
 next1 = f32[60,90] add(v1, m)
 n = f32[60,90] multiply(next1, h)
 next2 = f32[60,90] add(v2, n)
)");
  const auto both = run_both(text);
  expect_native(both, text);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->report.temp_bytes, 0);
}

// A value that the body exchanges, and one that only the loop's condition would have to keep.
// The state is a tuple, of which nothing but the counter and the condition is beside the result.
TEST(Loops, TablesOfTuplesTakeNoMemory) {
  const auto both = run_both(R"(HloModule m
body { s = (s32[], f32[16]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[16] get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[16] cosine(x)
 ROOT t = (s32[], f32[16]) tuple(j, y) }
condition { s = (s32[], f32[16]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(50)
 ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[16] parameter(0)
 z = s32[] constant(0)
 s = (s32[], f32[16]) tuple(z, x)
 l = (s32[], f32[16]) while(s), condition=condition, body=body
 ROOT y = f32[16] get-tuple-element(l), index=1 })");
  ASSERT_TRUE(both);
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-5);
  EXPECT_LE(both->report.temp_bytes, 64 + 4);
}

TEST(Loops, ExchangeAndPassOnNumbers) {
  expect_native(loop_over("", {"f32[]", "f32[]", "s32[]", "f32[1,1]"},
                          R"( next1 = f32[] copy(v2)
 next2 = f32[] negate(v1)
 next3 = s32[] copy(v3)
 r = f32[] reshape(v4)
 a = f32[] add(r, v1)
 next4 = f32[1,1] reshape(a)
)"));
}

// What is written over is read before: added to, reshaped between, at a place that is moved inside,
// through a scatter that leaves out what does not fit; those in place, and others beside it.
TEST(Loops, UpdatesOfWhatIsRead) {
  const auto temp_bytes = [&](std::string_view body) {
    const std::string text = loop_over(
        "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }",
        {"f32[9,6]", "f32[6]"}, body);
    const auto both = run_both(text);
    expect_native(both, text);
    return both ? both->report.temp_bytes : INT64_MAX;
  };
  constexpr int64_t array = 9 * 6 * 4;  // bytes
  EXPECT_LT(temp_bytes(R"( zero = s32[] constant(0)
 d = f32[1,6] dynamic-slice(v1, i, zero), dynamic_slice_sizes={1,6}
 e = f32[6] reshape(d)
 f = f32[6] add(e, v2)
 g = f32[1,6] reshape(f)
 next1 = f32[9,6] dynamic-update-slice(v1, g, i, zero)
 next2 = f32[6] negate(v2)
)"),
            array);
  EXPECT_LT(temp_bytes(R"( k = s32[1] reshape(i)
 next1 = f32[9,6] scatter(v1, k, v2), update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=sum
 next2 = f32[6] negate(v2)
)"),
            array);
  temp_bytes(R"( k = s32[2] constant({1, 2})
 s = f32[3,4] slice(v1), slice={[1:4], [2:6]}
 w = f32[3,4] slice(v1), slice={[2:5], [1:5]}
 u = f32[3,4] add(s, w)
 next1 = f32[9,6] scatter(v1, k, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=sum
 next2 = f32[6] negate(v2)
)");
  temp_bytes(R"( zero = s32[] constant(0)
 d = f32[1,6] dynamic-slice(v1, i, zero), dynamic_slice_sizes={1,6}
 r = f32[1,6] reverse(d), dimensions={1}
 next1 = f32[9,6] dynamic-update-slice(v1, r, i, zero)
 next2 = f32[6] negate(v2)
)");
}

// Kernels read and write numbers, small arrays lie where numbers do, bits change their type.
TEST(Loops, KernelsSeeNumbers) {
  expect_native(loop_over(
      "most { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] maximum(a, b) }",
      {"f32[40]", "f32[]", "f32[2]", "s32[2]", "s32[]"},
      R"( zero = f32[] constant(0)
 m = s32[] multiply(i, one)
 u = f32[1] reshape(v2)
 next1 = f32[40] dynamic-update-slice(v1, u, m)
 sum = f32[] reduce(next1, zero), dimensions={0}, to_apply=most
 q = f32[] constant(0.125)
 s = f32[] multiply(sum, q)
 d = f32[1] dynamic-slice(v3, one), dynamic_slice_sizes={1}
 e = f32[] reshape(d)
 next2 = f32[] add(s, e)
 o = f32[2] broadcast(s), dimensions={}
 next3 = f32[2] subtract(o, v3)
 next4 = s32[2] bitcast-convert(next3)
 next5 = s32[] bitcast-convert(next2)
)"));
}

// f8 has no code, so that these steps are evaluated on the same memory.
TEST(Loops, EvaluatedStepsSeeNumbers) {
  const auto both = run_both(loop_over("", {"f32[]", "f8e4m3fn[4,4]"},
                                       R"( half = f32[] constant(0.5)
 next1 = f32[] multiply(v1, half)
 number = f8e4m3fn[] convert(next1)
 square = f8e4m3fn[4,4] broadcast(number), dimensions={}
 ones = f8e8m0fnu[4,1] constant({{1},{1},{1},{1}})
 product = f32[4,4] scaled-dot(v2, square, ones, ones), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 next2 = f8e4m3fn[4,4] convert(product)
)"));
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_FALSE(both->report.evaluated.empty());
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 0);
}

TEST(Loops, BranchesAndCallsPassNumbers) {
  expect_native(loop_over(R"(up { a = f32[] parameter(0)
 one = f32[] constant(1)
 ROOT r = f32[] add(a, one) }
down { a = f32[] parameter(0)
 half = f32[] constant(0.5)
 ROOT r = f32[] multiply(a, half) }
both { a = f32[] parameter(0)
 k = s32[] parameter(1)
 ROOT r = f32[] conditional(k, a, a, a), branch_computations={up, down, up} })",
                          {"f32[]", "s32[]"},
                          R"( three = s32[] constant(3)
 k = s32[] remainder(i, three)
 next1 = f32[] call(v1, k), to_apply=both
 next2 = s32[] add(v2, k)
)"));
}

// Loops in loops, more than stand in one function; each counts its rounds.
TEST(Loops, NestDeeply) {
  constexpr int depth = 20;
  const std::string state = "(s32[], s32[], s32[], f32[])";
  std::string text = "HloModule m\n";
  for (int k = depth; k-- > 0;) {
    text += fmt::format("body{} {{ p = {} parameter(0)\n", k, state);
    text += R"( i = s32[] get-tuple-element(p), index=0
 most = s32[] get-tuple-element(p), index=1
 n = s32[] get-tuple-element(p), index=2
 x = f32[] get-tuple-element(p), index=3
 one = s32[] constant(1)
 zero = s32[] constant(0)
 h = f32[] constant(0.5)
 y = f32[] multiply(x, h)
 z = f32[] add(y, h)
 next = s32[] add(i, one)
 more = s32[] add(n, one)
)";
    text += fmt::format(" t = {} tuple(zero, most, more, z)\n", state);
    if (k + 1 < depth)
      text +=
          fmt::format(" w = {0} while(t), condition=condition{1}, body=body{1}\n", state, k + 1);
    else text += fmt::format(" w = {0} copy(t)\n", state);
    text += fmt::format(R"( m = s32[] get-tuple-element(w), index=2
 v = f32[] get-tuple-element(w), index=3
 ROOT r = {0} tuple(next, most, m, v) }}
condition{1} {{ p = {0} parameter(0)
 i = s32[] get-tuple-element(p), index=0
 most = s32[] get-tuple-element(p), index=1
 ROOT c = pred[] compare(i, most), direction={2} }}
)",
                        state, k, k % 4 == 0 ? "LE" : "LT");
  }
  text += fmt::format(R"(ENTRY e {{ s = s32[] parameter(0)
 x = f32[] parameter(1)
 zero = s32[] constant(0)
 one = s32[] constant(1)
 most = s32[] minimum(one, s)
 least = s32[] maximum(most, one)
 t = {0} tuple(zero, least, zero, x)
 ROOT w = {0} while(t), condition=condition0, body=body0 }}
)",
                      state);
  expect_native(text);
}

// Long bodies, whose last elements are computed with a mask, of counts that fill no vector.
TEST(Loops, OddCountsHaveTheirLastElements) {
  for (int count : {1, 3, 17, 100, 1003}) {
    const std::string array = fmt::format("[{}]", count);
    std::string text = "HloModule m\nENTRY e {\n";
    for (const char* type : {"f32", "bf16", "s8"}) {
      text += fmt::format(" {0}.0 = {0}{1} parameter({2})\n", type, array,
                          type[0] == 'f'   ? 0
                          : type[0] == 'b' ? 1
                                           : 2);
      for (int k = 0; k < 24; ++k)
        text += fmt::format(" {0}.{2} = {0}{1} {4}({0}.{3}, {0}.{5})\n", type, array, k + 1, k,
                            k % 3 == 0   ? "subtract"
                            : k % 3 == 1 ? "add"
                                         : "maximum",
                            k / 2);
    }
    text += fmt::format(" ROOT r = (f32{0}, bf16{0}, s8{0}) tuple(f32.24, bf16.24, s8.24)\n}}\n",
                        array);
    expect_native(text);
  }
}

}  // namespace
}  // namespace hilo::test
