// Functions of CHLO: their values, known to more digits than are compared here.
#include <gtest/gtest.h>

#include <cmath>

#include "eval/eval.h"
#include "wire/wire.h"

namespace hilo {
namespace {

// What a function without arguments returns, all results of one type one after the other.
std::vector<double> values(std::string_view type, std::string_view ops) {
  const std::string text =
      fmt::format("func.func @main() -> {} {{\n{}\nreturn %r : {}\n}}\n", type, ops, type);
  const auto module =
      read_module(std::as_bytes(std::span(text)), Format::StableHloText, {.file = "m.mlir"});
  EXPECT_TRUE(module) << to_string(module.error());
  if (!module) return {};
  const auto outputs = evaluate(*module, Inputs{{{}}});
  EXPECT_TRUE(outputs) << to_string(outputs.error());
  if (!outputs) return {};
  const Literal& out = outputs->devices[0];
  std::vector<double> all;
  for (int64_t i = 0; i < out.count(); ++i)
    all.push_back(is_floating(out.type()) ? out.number_at(i)
                                          : static_cast<double>(out.integer_at(i)));
  return all;
}

std::vector<double> of(std::string_view function, std::string_view type, std::string_view x) {
  return values(type, fmt::format("%x = stablehlo.constant dense<{}> : {}\n"
                                  "%r = chlo.{} %x : {}",
                                  x, type, function, type));
}
std::vector<double> of(std::string_view function, std::string_view type, std::string_view x,
                       std::string_view y) {
  return values(type, fmt::format("%x = stablehlo.constant dense<{}> : {}\n"
                                  "%y = stablehlo.constant dense<{}> : {}\n"
                                  "%r = chlo.{} %x, %y : {}, {} -> {}",
                                  x, type, y, type, function, type, type, type));
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted,
                 double relative) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isfinite(wanted[i]))
      EXPECT_NEAR(found[i], wanted[i], relative * std::abs(wanted[i])) << i;
    else EXPECT_EQ(std::isnan(found[i]) ? 0 : found[i], std::isnan(wanted[i]) ? 0 : wanted[i]) << i;
  }
}

constexpr double inf = INFINITY, nan = NAN, pi = 3.14159265358979323846;

TEST(Chlo, ErrorFunctions) {
  const std::vector<double> erfc = {0.4795001221869534623, 0.0046777349810472658379,
                                    1.9953222650189527342, 1.1224297172982927079e-29, 0};
  expect_near(of("erfc", "tensor<5xf64>", "[0.5, 2.0, -2.0, 8.0, 0x7FF0000000000000]"), erfc,
              1e-14);
  expect_near(of("erfc", "tensor<4xf32>", "[0.5, 2.0, -2.0, 8.0]"),
              {erfc[0], erfc[1], erfc[2], erfc[3]}, 2e-6);
  const std::vector<double> inverse = {0.4769362762044698734, -1.8213863677184496, inf, nan};
  expect_near(of("erf_inv", "tensor<4xf64>", "[0.5, -0.99, 1.0, 1.5]"), inverse, 1e-14);
  expect_near(of("erf_inv", "tensor<2xf32>", "[0.5, -0.99]"), {inverse[0], inverse[1]}, 2e-6);
}

TEST(Chlo, BesselFunction) {
  expect_near(of("bessel_i1e", "tensor<4xf64>", "[1.0, -1.0, 20.0, 0.0]"),
              {0.20791041534970844, -0.20791041534970844, 0.08750622218328867, 0}, 1e-14);
}

TEST(Chlo, ZetaAndPolygamma) {
  expect_near(of("zeta", "tensor<7xf64>", "[2.0, 4.0, 2.0, 2.0, 3.0, 1.0, 0.5]",
                 "[1.0, 1.0, 0.5, -1.0, -1.0, 2.0, 2.0]"),
              {pi * pi / 6, std::pow(pi, 4) / 90, pi * pi / 2, inf, nan, inf, nan}, 1e-14);
  expect_near(of("polygamma", "tensor<4xf64>", "[0.0, 1.0, 2.0, 1.5]", "[1.0, 1.0, 1.0, 1.0]"),
              {-0.57721566490153286, pi * pi / 6, -2.4041138063191885708, nan}, 1e-13);
}

TEST(Chlo, NextAfter) {
  expect_near(of("next_after", "tensor<6xf32>", "[1.0, 1.0, -1.0, 2.0, 0x7F800000, 3.0]",
                 "[2.0, 0.0, 0.0, 2.0, 0.0, 0x7FC00000]"),
              {1 + std::ldexp(1, -23), 1 - std::ldexp(1, -24), -1 + std::ldexp(1, -24), 2,
               3.4028234663852886e38, nan},
              0);
  // Bits, as subnormal numbers may be flushed: 0 goes to the smallest of the other's sign.
  const std::vector<double> bits =
      values("tensor<2xi32>",
             "%x = stablehlo.constant dense<0.0> : tensor<2xf32>\n"
             "%y = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf32>\n"
             "%n = chlo.next_after %x, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>\n"
             "%r = stablehlo.bitcast_convert %n : (tensor<2xf32>) -> tensor<2xi32>");
  EXPECT_EQ(bits, (std::vector<double>{1, -2147483647}));
}

TEST(Chlo, Infinities) {
  const std::string x =
      "%x = stablehlo.constant dense<[0xFF800000, 1.0, 0x7F800000]> : "
      "tensor<3xf32>\n";
  const auto are = [&](std::string_view op) {
    return values("tensor<3xi1>",
                  fmt::format("{}%r = chlo.{} %x : tensor<3xf32> -> tensor<3xi1>", x, op));
  };
  EXPECT_EQ(are("is_inf"), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(are("is_pos_inf"), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(are("is_neg_inf"), (std::vector<double>{1, 0, 0}));
}

TEST(Chlo, OperandsAreBroadcast) {
  EXPECT_EQ(values("tensor<2x3xi32>",
                   "%x = stablehlo.constant dense<[[10], [20]]> : tensor<2x1xi32>\n"
                   "%y = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
                   "%r = chlo.broadcast_add %x, %y : (tensor<2x1xi32>, tensor<3xi32>) -> "
                   "tensor<2x3xi32>"),
            (std::vector<double>{11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(values("tensor<2x2xi32>",
                   "%x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n"
                   "%y = stablehlo.constant dense<[10, 20]> : tensor<2xi32>\n"
                   "%r = chlo.broadcast_multiply %x, %y {broadcast_dimensions = array<i64: 0>} : "
                   "(tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>"),
            (std::vector<double>{10, 20, 60, 80}));
  EXPECT_EQ(values("tensor<2xi32>",
                   "%p = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n"
                   "%x = stablehlo.constant dense<7> : tensor<i32>\n"
                   "%y = chlo.constant_like %p {value = 3 : i32} : tensor<2xi1> -> tensor<2xi32>\n"
                   "%r = chlo.broadcast_select %p, %x, %y : (tensor<2xi1>, tensor<i32>, "
                   "tensor<2xi32>) -> tensor<2xi32>"),
            (std::vector<double>{7, 3}));
}

TEST(Chlo, ScanTakesSlicesInOrder) {
  const auto scan = [](std::string_view attributes) {
    return values("tensor<4xi32>",
                  fmt::format(R"(%x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
                    %z = stablehlo.constant dense<0> : tensor<i32>
                    %r, %c = chlo.scan(%x) inits(%z) dimension=0 {} {{
                    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
                      %s = stablehlo.add %a, %b : tensor<i32>
                      stablehlo.return %s, %s : tensor<i32>, tensor<i32>
                    }} : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>))",
                              attributes));
  };
  EXPECT_EQ(scan(""), (std::vector<double>{1, 3, 6, 10}));
  EXPECT_EQ(scan("attributes {is_reverse = true}"), (std::vector<double>{10, 9, 7, 4}));
}

TEST(Chlo, RaggedRowsHaveMatricesOfTheirGroups) {
  EXPECT_EQ(values("tensor<3x1xf32>",
                   R"(%x = stablehlo.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
                     %y = stablehlo.constant dense<[[[10.0]], [[100.0]]]> : tensor<2x1x1xf32>
                     %g = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
                     %r = "chlo.ragged_dot"(%x, %y, %g) {
                       ragged_dot_dimension_numbers = #chlo.ragged_dot<
                         lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
                         lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
                       precision_config = [#chlo<precision DEFAULT>]
                     } : (tensor<3x1xf32>, tensor<2x1x1xf32>, tensor<2xi32>) -> tensor<3x1xf32>)"),
            (std::vector<double>{10, 200, 300}));
}

TEST(Chlo, TopOfBooleans) {
  EXPECT_EQ(values("tensor<2xi32>",
                   R"(%x = stablehlo.constant dense<[false, true, true]> : tensor<3xi1>
                     %v, %r = chlo.top_k(%x, k = 2) : tensor<3xi1> -> (tensor<2xi1>, tensor<2xi32>))"),
            (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace hilo
