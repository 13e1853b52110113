// Which steps share code, and that programs of many kernels are the same for any number of threads.
#include "both.h"

namespace hilo::test {
namespace {

int64_t count_kernels(std::string_view text) {
  const auto both = run_both(text);
  if (!both) {
    ADD_FAILURE() << to_string(both.error());
    return -1;
  }
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-5) << text;
  return both->report.kernels;
}

// Numbers between two kernels lie in the frame of a run.
TEST(Kernels, SmallProgramsTakeNoMemory) {
  const auto temp_bytes = [](int64_t size) {
    const std::string text = fmt::format(R"(HloModule m
add {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }}
ENTRY e {{
  x = f32[{0},8] parameter(0)
  z = f32[] constant(0)
  s = f32[{0}] reduce(x, z), dimensions={{1}}, to_apply=add
  v = f32[{0}] reverse(s), dimensions={{0}}
  f = f32[] reduce(s, z), dimensions={{0}}, to_apply=add
  ROOT o = (f32[{0}], f32[]) tuple(v, f) }}
)",
                                         size);
    const auto both = run_both(text);
    expect_native(both, text, 1e-6);
    return both ? both->report.temp_bytes : -1;
  };
  EXPECT_EQ(temp_bytes(300), 0);
  EXPECT_EQ(temp_bytes(1024), 0);
  EXPECT_GT(temp_bytes(1040), 4096);
}

TEST(Kernels, EqualStepsShareOne) {
  constexpr std::string_view products = R"(HloModule m
ENTRY e {{
  x = f32[9,9] parameter(0)
  w = f32[9,9] parameter(1)
  a = f32[9,9] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  b = f32[9,9] dot(a, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT c = f32[9,9] dot(b, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{}}}
}})";
  EXPECT_EQ(count_kernels(fmt::format(products, "w", 0)), 1);
  EXPECT_EQ(count_kernels(fmt::format(products, "w", 1)), 2);  // another attribute
  EXPECT_EQ(count_kernels(fmt::format(products, "b", 0)), 2);  // one array, read twice
}

// Sums of windows, of `init` and what `combine` adds.
std::string windows(std::string_view init, std::string_view combine) {
  return fmt::format(R"(HloModule m
first {{
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}}
second {{
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] {1}(p, q)
}}
ENTRY e {{
  x = f32[7,9] parameter(0)
  zero = f32[] constant(0)
  other = f32[] constant({0})
  a = f32[7,9] reduce-window(x, zero), window={{size=3x3 pad=1_1x1_1}}, to_apply=first
  ROOT b = f32[7,9] reduce-window(a, other), window={{size=3x3 pad=1_1x1_1}}, to_apply=second
}})",
                     init, combine);
}

TEST(Kernels, ComputationsAndConstantsMakeADifference) {
  EXPECT_EQ(count_kernels(windows("0", "add")), 1);
  EXPECT_EQ(count_kernels(windows("1", "add")), 2);
  EXPECT_EQ(count_kernels(windows("0", "maximum")), 2);
}

// Inside of fusions too, where parameters are told apart by their numbers.
TEST(Kernels, FusionsOfOtherOperandsOrConstantsDiffer) {
  constexpr std::string_view text = R"(HloModule m
first {{
  p = f32[5,7] parameter(0)
  q = f32[5,7] parameter(1)
  one = f32[5,7] constant({{{{1,2,3,4,5,6,7}},{{1,2,3,4,5,6,7}},{{1,2,3,4,5,6,7}},{{1,2,3,4,5,6,7}},{{1,2,3,4,5,6,7}}}})
  d = f32[5,7] subtract(p, q)
  ROOT s = f32[5,7] add(d, one)
}}
second {{
  p = f32[5,7] parameter({0})
  q = f32[5,7] parameter({1})
  one = f32[5,7] constant({{{{1,2,3,4,5,6,7}},{{1,2,3,4,5,6,7}},{{1,2,3,{2},5,6,7}},{{1,2,3,4,5,6,7}},{{1,2,3,4,5,6,7}}}})
  d = f32[5,7] subtract(p, q)
  ROOT s = f32[5,7] add(d, one)
}}
ENTRY e {{
  x = f32[5,7] parameter(0)
  y = f32[5,7] parameter(1)
  w = f32[7,7] parameter(2)
  z = f32[5,7] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  a = f32[5,7] fusion(z, y), kind=kLoop, calls=first
  b = f32[5,7] dot(a, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT c = f32[5,7] fusion(b, y), kind=kLoop, calls=second
}})";
  const int64_t same = count_kernels(fmt::format(text, 0, 1, 4));
  EXPECT_EQ(same, 2);
  EXPECT_EQ(count_kernels(fmt::format(text, 1, 0, 4)), same + 1);
  EXPECT_EQ(count_kernels(fmt::format(text, 0, 1, 9)), same + 1);
}

// Constants of several elements are arrays like others.
TEST(Kernels, ConstantArraysAreArguments) {
  EXPECT_EQ(count_kernels(R"(HloModule m
ENTRY e {
  x = f32[2,2] parameter(0)
  v = f32[2,2] constant({{1,2},{3,4}})
  w = f32[2,2] constant({{5,6},{7,8}})
  a = f32[2,2] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT b = f32[2,2] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"),
            1);
}

TEST(Kernels, PartsGiveTheSameBitsForAnyNumberOfThreads) {
  std::string text = "HloModule m\nENTRY e {\n  x0 = f32[5,9] parameter(0)\n";
  for (int i = 0; i < 12; ++i)
    text += fmt::format(
        "  w{0} = f32[{1},{2}] parameter({3})\n"
        "  x{3} = f32[5,{2}] dot(x{0}, w{0}), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{0}}\n",
        i, 9 + i, 10 + i, i + 1);
  text += "  ROOT r = f32[5,21] tanh(x12)\n}\n";
  const auto one = run_both(text, 1, 1), four = run_both(text, 1, 4);
  ASSERT_TRUE(one && four);
  EXPECT_GT(one->report.kernels, 10);
  EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-5);
  EXPECT_TRUE(same_bits(one->compiled, four->compiled));
}

// `lines` for each of the numbers, as many as more than one function has pointers at hand for.
constexpr int many_arrays = 100;
std::string for_many(std::string_view lines, std::string_view separator = "") {
  std::string out;
  for (int i = 0; i < many_arrays; ++i)
    out += (i > 0 ? std::string(separator) : "") +
           fmt::format(fmt::runtime(lines), i, i + 1, (i + 1) % many_arrays);
  return out;
}

// In each round all arrays go round, and half of the next one is added; each is then also moved.
std::string rounds_of_many() {
  const std::string state = "(s32[], " + for_many("f32[7]", ", ") + ")";
  return fmt::format(R"(HloModule m
body {{ p = {0} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[] constant(0.5)
  halves = f32[7] broadcast(half), dimensions={{}}
{1}  ROOT t = {0} tuple(next, {2}) }}
condition {{ p = {0} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }}
ENTRY e {{
  zero = s32[] constant(0)
{3}  t = {0} tuple(zero, {4})
  w = {0} while(t), condition=condition, body=body
{5}  ROOT r = ({6}) tuple({7}) }}
)",
                     state,
                     for_many("  x{0} = f32[7] get-tuple-element(p), index={1}\n") +
                         for_many("  h{0} = f32[7] multiply(x{0}, halves)\n"
                                  "  y{0} = f32[7] add(h{0}, x{2})\n"),
                     for_many("y{0}", ", "), for_many("  a{0} = f32[7] parameter({0})\n"),
                     for_many("a{0}", ", "),
                     for_many("  v{0} = f32[7] get-tuple-element(w), index={1}\n"
                              "  z{0} = f32[7] reverse(v{0}), dimensions={{0}}\n"),
                     for_many("f32[7]", ", "), for_many("z{0}", ", "));
}

// The time to make code grows with the values that live from the start of a function to its end.
TEST(Kernels, ManyArraysAreFoundWhereTheyAreUsed) {
  const std::string text = rounds_of_many();
  expect_native_on_threads(text, 1e-6);
  const auto module = parse(text);
  ASSERT_TRUE(module) << to_string(module.error());
  CompileOptions options;
  size_t at_start = 0;
  options.emit.see_ir = [&](std::string_view ir) {
    for (size_t at = 0; (at = ir.find("!invariant.load", at)) != std::string_view::npos; ++at)
      ++at_start;
  };
  ASSERT_TRUE(compile(*module, cpu_target(), options));
  EXPECT_GT(at_start, 0u);
  EXPECT_LT(at_start, 80u);
}

// Threads share a loop by the arithmetic of its elements, not by their number alone.
TEST(Kernels, FewElementsOfMuchWorkAreShared) {
  const auto is_shared = [](const std::string& value) {
    const auto module =
        parse("HloModule m\n\nENTRY e {\n  a = f32[16384] parameter(0)\n" + value + "}\n");
    EXPECT_TRUE(module) << to_string(module.error());
    CompileOptions options;
    bool found = false;
    options.emit.see_ir = [&](std::string_view ir) { found |= ir.contains(".tile"); };
    EXPECT_TRUE(compile(*module, cpu_target(), options));
    return found;
  };
  EXPECT_FALSE(is_shared("  ROOT b = f32[16384] add(a, a)\n"));
  std::string sines = "  b0 = f32[16384] sine(a)\n";
  for (int i = 1; i < 8; ++i) sines += fmt::format("  b{} = f32[16384] sine(b{})\n", i, i - 1);
  EXPECT_TRUE(is_shared(sines + "  ROOT c = f32[16384] add(b7, a)\n"));
  EXPECT_FALSE(is_shared(sines + "  ROOT c = f32[1] slice(b7), slice={[5:6]}\n"));
}

}  // namespace
}  // namespace hilo::test
