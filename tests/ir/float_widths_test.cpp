// In which shapes an op computes that mixes widths of floats.
#include <gtest/gtest.h>

#include "text/text.h"

namespace hilo {
namespace {

constexpr const char* before = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
pick { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  ROOT t = (f32[], s32[]) tuple(a, i) }
ENTRY main {
  f = f32[4,8] parameter(0)
  n = bf16[4,8] parameter(1)
  h = f16[4,8] parameter(2)
  d = f64[4,8] parameter(3)
  s = s32[4,8] parameter(4)
  q = pred[4,8] parameter(5)
  z = f32[] parameter(6)
  y = bf16[] parameter(7)
  i = s32[] parameter(8)
  c = c64[4,8] parameter(9)
  e = f8e5m2[4,8] parameter(10)
  u = bf16[2,3] parameter(11)
  ROOT x = )";

std::string types_of(const Shape& shape) {
  if (!shape.is_tuple()) return std::string(text_of(shape.type));
  std::string out;
  for (const Shape& element : shape.elements) out += (out.empty() ? "(" : ",") + types_of(element);
  return out + ")";
}

// "bf16 f32 -> f32", or "" where nothing is mixed.
std::string computed(const std::string& instruction) {
  const Result<Module> module = parse(before + instruction + "\n}\n");
  if (!module) return to_string(module.error());
  const auto widened = widened_shapes(*module, (*module)[(*module)[module->entry].root]);
  if (!widened) return "";
  std::string out;
  for (const Shape& operand : widened->operands) out += types_of(operand) + " ";
  return out + "-> " + types_of(widened->result);
}

TEST(FloatWidths, OneWidthIsNotMixed) {
  for (const char* instruction :
       {"f32[4,8] add(f, f)", "bf16[4,8] convert(f)", "pred[4,8] compare(n, n), direction=LT",
        "f32[4,8] select(q, f, f)", "(bf16[4,8], f32[4,8]) tuple(n, f)",
        "(f32[4,8], bf16[4,8]) sort(f, n), dimensions={0}, to_apply=add",
        "(f32[4,8], bf16[4,8]) all-reduce(f, n), replica_groups={}, to_apply=add",
        // Products add in what they state.
        "f32[4,4] dot(n, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "bf16[4,4] dot(n, f), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "s32[4,4] dot(s, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "f32[4,8] real(c)"})
    EXPECT_EQ(computed(instruction), "") << instruction;
}

TEST(FloatWidths, TheWidestOfOperandsAndResult) {
  EXPECT_EQ(computed("bf16[4,8] multiply(f, f)"), "f32 f32 -> f32");
  EXPECT_EQ(computed("bf16[4,8] multiply(f, n)"), "f32 f32 -> f32");
  EXPECT_EQ(computed("f32[4,8] multiply(n, n)"), "f32 f32 -> f32");
  EXPECT_EQ(computed("bf16[4,8] add(d, n)"), "f64 f64 -> f64");
  EXPECT_EQ(computed("f8e5m2[4,8] add(n, e)"), "bf16 bf16 -> bf16");
  EXPECT_EQ(computed("bf16[4,8] add(h, n)"), "f32 f32 -> f32");  // neither holds the other
  EXPECT_EQ(computed("pred[4,8] compare(n, f), direction=LT"), "f32 f32 -> pred");
  EXPECT_EQ(computed("f64[4,8] real(c)"), "c64 -> f32");
  EXPECT_EQ(computed("bf16[4,8] clamp(z, n, z)"), "f32 f32 f32 -> f32");
  EXPECT_EQ(computed("bf16[4,8] all-reduce(f), replica_groups={}, to_apply=add"), "f32 -> f32");
}

TEST(FloatWidths, MovesAreInTheTypeOfTheResult) {
  EXPECT_EQ(computed("bf16[4,8] copy(f)"), "bf16 -> bf16");
  EXPECT_EQ(computed("f32[4,8] copy(n)"), "f32 -> f32");
  EXPECT_EQ(computed("bf16[4,8] select(q, f, n)"), "pred bf16 bf16 -> bf16");
  EXPECT_EQ(computed("f32[4,8] dynamic-update-slice(f, u, i, i)"), "f32 f32 s32 s32 -> f32");
  EXPECT_EQ(computed("bf16[4,8] pad(n, z), padding=0_0x0_0"), "bf16 bf16 -> bf16");
}

TEST(FloatWidths, EachPairOfAReductionApart) {
  EXPECT_EQ(computed("(bf16[8], s32[8]) reduce(f, s, z, i), dimensions={0}, to_apply=pick"),
            "f32 s32 f32 s32 -> (f32,s32)");
  EXPECT_EQ(computed("f32[8] reduce(n, z), dimensions={0}, to_apply=add"), "f32 f32 -> f32");
  // What the computation gives is of another width than all else.
  EXPECT_EQ(computed("bf16[8] reduce(n, y), dimensions={0}, to_apply=add"), "bf16 bf16 -> f32");
}

TEST(FloatWidths, LayoutsAreTheStatedOnes) {
  const Result<Module> module = parse(std::string(before) + "bf16[4,8]{0,1} negate(f)\n}\n");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto widened = widened_shapes(*module, (*module)[(*module)[module->entry].root]);
  ASSERT_TRUE(widened);
  EXPECT_EQ(to_string(widened->result), "f32[4,8]{0,1}");
}

}  // namespace
}  // namespace hilo
