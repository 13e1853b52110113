// The rules of StableHLO's specification for quantised types: what breaks one is an error of its op
// and line, what keeps all is read.
#include <gtest/gtest.h>

#include "eval/eval.h"
#include "wire/wire.h"

namespace hilo {
namespace {

Result<Module> read(std::string_view text) {
  return read_module(std::as_bytes(std::span(text)), Format::StableHloText, {.file = "m.mlir"});
}

// A main function without results; $q is a type of one scale, $x one of two along dimension 1.
std::string program(std::string_view arguments, std::string_view ops) {
  return fmt::format(
      "!q = !quant.uniform<i8:f32, 0.5:3>\n!x = !quant.uniform<i8:f32:1, {{0.5:3, 0.25:0}}>\n"
      "!k = !quant.uniform<i8:f32:1, {{0.5:0, 0.25:0}}>\n"
      "func.func @main({}) {{\n{}\nreturn }}\n",
      arguments, ops);
}

struct Mistake {
  const char *arguments, *ops, *part;
};

void expect_mistakes(std::span<const Mistake> mistakes, int64_t line) {
  for (const Mistake& one : mistakes) {
    const auto module = read(program(one.arguments, one.ops));
    ASSERT_FALSE(module) << one.ops;
    EXPECT_EQ(module.error().kind, ErrorKind::Shape) << to_string(module.error());
    EXPECT_TRUE(module.error().message.contains(one.part)) << to_string(module.error());
    EXPECT_EQ(module.error().place.line, line) << to_string(module.error());
    EXPECT_FALSE(module.error().place.op.empty()) << to_string(module.error());
  }
}

TEST(QuantisedRules, OfATypeByItself) {
  const Mistake mistakes[] = {
      {"%a: tensor<2x!quant.uniform<i8:f32, 1.0:300>>", "", "the zero point 300"},
      {"%a: tensor<2x!quant.uniform<i8<-10:10>:f32, 1.0:-11>>", "", "is not in [-10, 10]"},
      {"%a: tensor<2x!quant.uniform<i8<-129:10>:f32, 1.0>>", "", "the limits -129 and 10"},
      {"%a: tensor<2x!quant.uniform<u8<5:5>:f32, 1.0>>", "", "the limits 5 and 5"},
      {"%a: tensor<2x!quant.uniform<i8:f16, 1.0e5>>", "", "is no positive f16"},
      {"%a: tensor<2x!quant.uniform<i8:f16, 5.0e-8>>", "", "is no positive f16"},
      {"%a: tensor<2x!quant.uniform<i8:f32, -0.5>>", "", "the scale -0.5"},
      {"%a: tensor<2x!quant.uniform<i8:i32, 0.5>>", "", "a quantised type of s32"},
      {"%a: tensor<2x3x!quant.uniform<i8:f32:2, {0.5, 1.0}>>", "", "is not in [0, 2)"},
      {"%a: tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 1.0}>>", "", "2 scales along a dimension of"},
      {"%a: tensor<2x3x!quant.uniform<i8:f32, {0.5, 1.0}>>", "", "of 2 scales"},
  };
  expect_mistakes(mistakes, 4);
}

TEST(QuantisedRules, StorageIsSignlessOrUnsigned) {
  const auto module = read(program("%a: tensor<2x!quant.uniform<si8:f32, 1.0>>", ""));
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::Syntax);
  EXPECT_TRUE(module.error().message.contains("'si8' stores no quantised values"))
      << to_string(module.error());
}

TEST(QuantisedRules, OfOperandsAndResults) {
  const Mistake mistakes[] = {
      {"%a: tensor<3x2x!x>", "%0 = stablehlo.negate %a : tensor<3x2x!x>", "expected one scale"},
      {"%a: tensor<2x!q>", "%0 = stablehlo.not %a : tensor<2x!q>", "expected no quantised values"},
      {"%a: tensor<2x!q>",
       "%0 = \"stablehlo.abs\"(%a) : (tensor<2x!q>) -> tensor<2x!quant.uniform<i16:f32, 0.5:3>>",
       "differ in scales alone"},
      {"%a: tensor<2x!q>, %b: tensor<2xf32>",
       "%0 = \"stablehlo.multiply\"(%a, %b) : (tensor<2x!q>, tensor<2xf32>) -> tensor<2x!q>",
       "differ in scales alone"},
      {"%a: tensor<2x!q>",
       "%0 = \"stablehlo.add\"(%a, %a) : (tensor<2x!q>, tensor<2x!q>) -> "
       "tensor<2x!quant.uniform<i4:f32, 0.5:3>>",
       "the same storage and expressed"},
      {"%a: tensor<2x2x!x>",
       "%0 = \"stablehlo.add\"(%a, %a) : (tensor<2x2x!x>, tensor<2x2x!x>) -> "
       "tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:0}>>",
       "scales along the same dimension"},
      {"%a: tensor<2x!q>",
       "%0 = \"stablehlo.slice\"(%a) {start_indices = array<i64: 0>, "
       "limit_indices = array<i64: 1>, strides = array<i64: 1>} : "
       "(tensor<2x!q>) -> tensor<1x!quant.uniform<i8:f32, 0.5:4>>",
       "the same element type"},
      {"%a: tensor<2x!q>",
       "%0 = \"stablehlo.optimization_barrier\"(%a) : (tensor<2x!q>) -> "
       "tensor<2x!quant.uniform<i8:f32, 0.5:4>>",
       "the same element type"},
  };
  expect_mistakes(mistakes, 5);
}

TEST(QuantisedRules, OfScalesThatMoveAlong) {
  const Mistake mistakes[] = {
      {"%a: tensor<3x2x!x>",
       "%0 = \"stablehlo.transpose\"(%a) {permutation = array<i64: 1, 0>} : "
       "(tensor<3x2x!x>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3, "
       "0.25:1}>>",
       "the same scales and zero points"},
      {"%a: tensor<2x2x!x>",
       "%0 = \"stablehlo.transpose\"(%a) {permutation = array<i64: 1, 0>} : "
       "(tensor<2x2x!x>) -> tensor<2x2x!x>",
       "the dimension that permutation gives"},
      {"%a: tensor<2x2x!x>",
       "%0 = \"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = "
       "array<i64: 1, 2>} : (tensor<2x2x!x>) -> tensor<4x2x2x!x>",
       "the dimension that broadcast_dimensions gives"},
      {"%a: tensor<3x2x!x>",
       "%0 = \"stablehlo.reshape\"(%a) : (tensor<3x2x!x>) -> tensor<1x2x3x!x>",
       "a dimension that stays as it is"},
  };
  expect_mistakes(mistakes, 5);
}

std::string product(std::string_view left, std::string_view right, std::string_view result) {
  return fmt::format(
      "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({}, {}) -> {}", left,
      right, result);
}

TEST(QuantisedRules, OfProducts) {
  const std::string q = "tensor<2x2x!q>", k = "tensor<2x2x!k>", f = "tensor<2x2xf32>";
  const struct {
    std::string left, right, result;
    const char* part;
  } mistakes[] = {
      {f, k, q, "the left as the result"},
      {q, f, q, "expected the right operand quantised"},
      {q, q, q, "expected zero points that are 0"},
      {"tensor<2x2x!quant.uniform<i16:f32, 0.5>>", k, q, "the same storage type"},
      {"tensor<2x2x!quant.uniform<i8:f16, 0.5>>", k, q, "the same expressed type"},
      {"tensor<2x2xf16>", k, "tensor<2x2xf16>", "what the right operand expresses"},
      {q, "tensor<2x2x!quant.uniform<i8:f32, 0.5>>", "tensor<2x2x!x>", "one scale for the result"},
      {f, "tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>", f, "that is not contracted"},
  };
  for (const auto& one : mistakes) {
    const auto module = read(program(fmt::format("%a: {}, %b: {}", one.left, one.right),
                                     product(one.left, one.right, one.result)));
    ASSERT_FALSE(module) << one.part;
    EXPECT_TRUE(module.error().message.contains(one.part)) << to_string(module.error());
  }
  for (const auto& [left, result] : {std::pair(q, "tensor<2x2x!x>"), std::pair(f, f.c_str())}) {
    const auto module =
        read(program(fmt::format("%a: {}, %b: {}", left, k), product(left, k, result)));
    EXPECT_TRUE(module) << to_string(module.error());
  }
}

TEST(QuantisedRules, OfReducers) {
  const auto reduce = [](std::string_view region, std::string_view result) {
    return fmt::format(
        R"(%0 = "stablehlo.reduce"(%a, %z) ({{ ^bb0(%x: tensor<{0}>, %y: tensor<{0}>):
             %s = stablehlo.add %x, %y : tensor<{0}>
             stablehlo.return %s : tensor<{0}> }}) {{dimensions = array<i64: 0>}} :
             (tensor<4x!q>, tensor<!q>) -> tensor<{1}>)",
        region, result);
  };
  const std::string wide = "!quant.uniform<i32:f32, 0.5:3>", other = "!quant.uniform<i32:f64, 1.0>";
  const std::string arguments = "%a: tensor<4x!q>, %z: tensor<!q>";
  EXPECT_TRUE(read(program(arguments, reduce(wide, wide))));
  for (const auto& [region, result, part] :
       {std::tuple(other, other, "cannot become"),
        std::tuple(wide, std::string("!q"), "the same element type")}) {
    const auto module = read(program(arguments, reduce(region, result)));
    ASSERT_FALSE(module) << part;
    EXPECT_TRUE(module.error().message.contains(part)) << to_string(module.error());
  }
}

TEST(QuantisedRules, WhatKeepsThemIsRead) {
  const Mistake sound[] = {
      {"%a: tensor<2x!q>",
       "%0 = \"stablehlo.add\"(%a, %a) : (tensor<2x!q>, tensor<2x!q>) -> "
       "tensor<2x!quant.uniform<i8:f32, 0.25:7>>",
       ""},
      {"%a: tensor<3x2x!x>", "%0 = stablehlo.add %a, %a : tensor<3x2x!x>", ""},
      {"%a: tensor<3x2x!x>",
       "%0 = \"stablehlo.transpose\"(%a) {permutation = array<i64: 1, 0>} : "
       "(tensor<3x2x!x>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3, "
       "0.25:0}>>",
       ""},
      {"%a: tensor<3x2x!x>",
       "%0 = \"stablehlo.reshape\"(%a) : (tensor<3x2x!x>) -> tensor<3x2x1x!x>", ""},
      {"%a: tensor<1x!quant.uniform<i8:f32:0, {0.5:3}>>",
       "%0 = \"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = array<i64: 1>} : "
       "(tensor<1x!quant.uniform<i8:f32:0, {0.5:3}>>) -> "
       "tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3, 0.5:3}>>",
       ""},
      {"%a: tensor<2x!q>, %b: tensor<2x!q>",
       "%0 = stablehlo.compare LT, %a, %b : (tensor<2x!q>, tensor<2x!q>) -> tensor<2xi1>", ""},
  };
  for (const Mistake& one : sound) {
    const auto module = read(program(one.arguments, one.ops));
    EXPECT_TRUE(module) << to_string(module.error());
  }
}

// Iota counts numbers: 0, 1, 2 are stored as 3, 5, 7 of scale 0.5 and zero point 3.
TEST(QuantisedRules, IotaCountsNumbers) {
  const auto module = read(
      "func.func @main() -> tensor<3x!quant.uniform<i8:f32, 0.5:3>> {\n"
      "%0 = stablehlo.iota dim = 0 : tensor<3x!quant.uniform<i8:f32, 0.5:3>>\n"
      "return %0 : tensor<3x!quant.uniform<i8:f32, 0.5:3>> }\n");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto outputs = evaluate(*module, Inputs{.devices = std::vector<std::vector<Literal>>(1)});
  ASSERT_TRUE(outputs) << to_string(outputs.error());
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(outputs->devices[0].integer_at(i), 3 + 2 * i);
}

}  // namespace
}  // namespace hilo
