#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "text/text.h"

namespace hilo {
namespace {

// Texts in canonical form are their own print.
class CanonicalShape : public testing::TestWithParam<const char*> {};
TEST_P(CanonicalShape, ComesBack) {
  const Result<Shape> shape = parse_shape(GetParam());
  ASSERT_TRUE(shape.has_value()) << to_string(shape.error());
  EXPECT_EQ(to_string(*shape), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    Texts, CanonicalShape,
    testing::Values("f32[]", "f32[2,3]{1,0}", "f32[2,3]{0,1}", "f32[2,<=3]{1,0}", "f32[?]{0}",
                    "token[]", "opaque[]", "()", "(f32[2]{0}, (s32[], u4[3]{0:E(4)}))",
                    "b(f32[2]{0:S(1)})", "f32[4,8]{1,0:T(8,128)(2,1)S(1)}", "bf16[]{:T(256)}",
                    "f32[4]{0:T(8)L(2)#(u32)*(u8)E(32)S(1)}", "f32[4,8]{1,0:T(*,4)}",
                    "f32[4,8]{1,0:T(8,128)SC(0:1,2)(1:4)M(16)}", "u32[]{:S(2)}",
                    "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"));

TEST(ParseShape, DefaultsAndSpaces) {
  EXPECT_EQ(to_string(*parse_shape("f32[2,3]")), "f32[2,3]{1,0}");
  EXPECT_EQ(to_string(*parse_shape(" f32[ 2 , 3 ] { 0 , 1 } ")), "f32[2,3]{0,1}");
  EXPECT_FALSE(parse_shape("f32[2] x").has_value());
  EXPECT_FALSE(parse_shape("f32[4]{:T(128)}").has_value());
  EXPECT_FALSE(parse_shape("f32[4]{0:T(0)}").has_value());
  EXPECT_FALSE(parse_shape("f32[]{").has_value());
}

template <class T>
T value_of(const char* text, const char* shape) {
  const Result<Literal> literal = parse_literal(text, *parse_shape(shape));
  EXPECT_TRUE(literal.has_value()) << text << " " << to_string(literal.error());
  return literal ? literal->data<T>()[0] : T();
}

TEST(ParseLiteral, Scalars) {
  EXPECT_EQ(value_of<float>("1.5e-3", "f32[]"), 1.5e-3f);
  EXPECT_EQ(value_of<float>("-inf", "f32[]"), -INFINITY);
  EXPECT_EQ(value_of<double>("7", "f64[]"), 7.0);
  EXPECT_EQ(value_of<uint64_t>("18446744073709551615", "u64[]"), UINT64_MAX);
  EXPECT_EQ(value_of<int64_t>("-9223372036854775808", "s64[]"), INT64_MIN);
  EXPECT_EQ(value_of<bool>("2", "pred[]"), true);
  EXPECT_EQ(value_of<bool>("false", "pred[]"), false);
  EXPECT_EQ(value_of<std::complex<float>>("(1, -2)", "c64[]"), std::complex<float>(1, -2));
  EXPECT_EQ(int{value_of<S4>("-8", "s4[]")}, -8);
  EXPECT_EQ(float{value_of<F8E4M3FN>("448", "f8e4m3fn[]")}, 448.0f);
  EXPECT_EQ(float{value_of<F16>("65519", "f16[]")}, 65504.0f);
}

TEST(ParseLiteral, NanPayloads) {
  const auto bits = [](const char* text) {
    return std::bit_cast<uint32_t>(value_of<float>(text, "f32[]"));
  };
  EXPECT_EQ(bits("nan"), 0x7fc00000u);
  EXPECT_EQ(bits("-nan"), 0xffc00000u);
  EXPECT_EQ(bits("nan(0x123)"), 0x7f800123u);
  EXPECT_EQ(bits("-nan(0x400001)"), 0xffc00001u);
  EXPECT_EQ(value_of<BF16>("nan(0x1)", "bf16[]").bits, 0x7f81);
}

TEST(ParseLiteral, Arrays) {
  const Shape shape = *parse_shape("s32[2,1,3]");
  const Literal literal = *parse_literal("{ { { 1, 2, 3 } }, { /*i0=1*/ { 4 5 6 } } }", shape);
  const auto values = literal.data<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(values.begin(), values.end()),
            (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(parse_literal("{{}, {}}", *parse_shape("f32[2,0]")).has_value());
  EXPECT_TRUE(parse_literal("{}", *parse_shape("f32[0,2]")).has_value());
  EXPECT_FALSE(parse_literal("{{1},{2}}", *parse_shape("f32[2]")).has_value());
  EXPECT_FALSE(parse_literal("{1,2}", *parse_shape("f32[2,1]")).has_value());
}

TEST(ParseLiteral, TuplesAndElisions) {
  const Literal tuple =
      *parse_literal("(1, ({2, 3}, true))", *parse_shape("(f32[], (s8[2], pred[]))"));
  EXPECT_EQ(tuple.elements()[1].elements()[0].data<int8_t>()[1], 3);
  // XLA fills an elided array with the words 0, 1, 2, ...
  const Literal words = *parse_literal("{...}", *parse_shape("u32[3]"));
  EXPECT_EQ(words.data<uint32_t>()[2], 2u);
  const Literal preds = *parse_literal("{...}", *parse_shape("pred[5]"));
  EXPECT_FALSE(preds.data<bool>()[0]);
  EXPECT_TRUE(preds.data<bool>()[4]);
}

}  // namespace
}  // namespace hilo
